"""Groups of persons whose whole histories look alike."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.frames import from_frame
from shoal.errors import Infeasible, PolicyError
from shoal.tables.encoding import rank
from shoal.tables.history import common_counts, history_labels, person_vectors, records_to_keep


@pytest.mark.parametrize(
    ("counts", "k", "kept"),
    [
        ([1, 1, 2, 2], 2, [1, 1, 2, 2]),
        ([1, 1, 2, 3], 2, [1, 1, 2, 2]),
        ([1, 2, 3, 9], 2, [1, 1, 3, 3]),
        ([1, 2, 2, 2], 3, [0, 2, 2, 2]),
        ([1, 5, 5, 5], 2, [0, 5, 5, 5]),
        ([3, 3, 4, 4, 4], 3, [3, 3, 3, 3, 3]),
        ([4, 4, 4], 3, [4, 4, 4]),
    ],
)
def test_numbers_of_records_are_lowered_until_k_persons_have_each(counts, k, kept):
    found = common_counts(np.array(counts), k)
    assert found.tolist() == kept
    assert min(n for number, n in Counter(found.tolist()).items() if number) >= k


def test_which_records_go_depends_on_the_seed_alone():
    persons = np.array([0, 0, 0, 1, 2, 2, 1, 2, 2, 3, 3])
    rows = records_to_keep(persons, 2, 5, 7)
    assert np.bincount(persons[rows]).tolist() == [3, 2, 3, 2]
    assert rows.tolist() == records_to_keep(persons, 2, 5, 7).tolist()
    drawn = {tuple(records_to_keep(persons, 2, seed, 7).tolist()) for seed in range(20)}
    assert len(drawn) == 4


def test_a_person_is_the_span_of_its_records():
    table = from_frame(pd.DataFrame({"age": [30, 31, 50, 50], "sex": ["f", "f", "m", "m"]}))
    ranked = [
        rank(table["age"], Attribute("age", "continuous", "quasi")),
        rank(table["sex"], Attribute("sex", "nominal", "quasi")),
    ]
    persons = np.array([0, 0, 1, 1])
    low, high, sex = person_vectors(ranked, persons)
    assert (low.ranks.tolist(), high.ranks.tolist(), sex.ranks.tolist()) == ([0, 2], [1, 2], [0, 1])
    labels = history_labels(ranked, persons, lambda vectors: np.arange(len(vectors[0].ranks)))
    assert labels.tolist() == [0, 0, 1, 1]


def visits(n=300, n_persons=80, seed=1):
    rng = np.random.default_rng(seed)
    who = rng.integers(0, n_persons, n)
    born = rng.integers(1940, 2000, n_persons)
    return pd.DataFrame(
        {
            "who": who,
            "born": born[who],
            "town": rng.choice(list("abcd"), n),
            "ill": rng.choice(["flu", "cold", "gout"], n),
        }
    )


def histories(release, frame):
    """The published history of each person, counted by hand."""
    persons = frame["who"].to_numpy()[release._rows]
    columns = [release.table[n] for n in ("born", "town")]
    texts = list(zip(*(np.array(c.texts(), dtype=object)[c.codes] for c in columns), strict=True))
    found = {}
    for person, text in zip(persons.tolist(), texts, strict=True):
        found.setdefault(person, []).append(text)
    return Counter(tuple(sorted(h)) for h in found.values())


@pytest.mark.parametrize("way", [{}, {"partition": "k-member"}, {"partition": "mdav"}, {"l": 2.0}])
def test_every_history_is_that_of_k_persons(way):
    frame = visits()
    policy = shoal.Policy.of(
        quasi=["born", "town"], sensitive=["ill"], person="who", person_knowledge="history", k=3, suppression=0.2, **way
    )
    release = shoal.anonymize(frame, policy, seed=2)
    assert min(histories(release, frame).values()) >= 3
    first = release.guarantees[0]
    assert first.holds
    assert first.achieved == min(histories(release, frame).values())
    assert "all records of a person" in first.sentence


def test_a_row_is_not_a_history_and_the_release_says_so():
    frame = visits()
    policy = shoal.Policy.of(quasi=["born", "town"], person="who", k=3, insensitive=["ill"], singled_out=1.0)
    release = shoal.anonymize(frame, policy, seed=2)
    found = histories(release, frame)
    share = sum(n == 1 for n in found.values()) / sum(found.values())
    first = release.guarantees[0]
    assert first.details["unique_histories"] == pytest.approx(share)
    assert share > 0.1
    assert "have a published history of their own" in first.sentence


def test_what_cannot_be_is_said():
    frame = visits()
    asked = {"quasi": ["born", "town"], "k": 3, "person_knowledge": "history"}
    with pytest.raises(PolicyError, match="say by person whose row it is"):
        shoal.Policy.of(**asked)
    with pytest.raises(PolicyError, match="histories are made alike"):
        shoal.Policy.of(**asked, person="who", partition="full-domain")
    with pytest.raises(Infeasible, match=r"records have to be left out.*suppression = 0\.\d+"):
        shoal.anonymize(frame, shoal.Policy.of(**asked, person="who", insensitive=["ill"]), seed=1)
    with pytest.raises(PolicyError, match="cannot be quasi"):
        shoal.Policy.of(quasi=["who"], person="who")
    with pytest.raises(PolicyError, match="did you mean 'who'"):
        shoal.anonymize(frame, shoal.Policy.of(quasi=["town"], person="whom"))
    with pytest.raises(Infeasible, match="81 persons are required but the table has"):
        shoal.anonymize(frame, shoal.Policy.of(quasi=["town"], person="who", k=81))
    with pytest.raises(PolicyError, match="histories are made alike"):
        shoal.anonymize(frame, shoal.Policy.of(**asked, person="who", insensitive=["ill"], publish="condense"), seed=1)
