"""m-privacy as the checker recomputes it, beside the plain check of every table that a coalition leaves."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from shoal.check.tables import providers as module
from shoal.check.tables.providers import verify_without
from shoal.check.tables.verify import verify
from shoal.models.alpha_k import AlphaK
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness
from tests.unit.check.tables.slow_check import table

REQUIRED = [
    KAnonymity(k=3),
    LDiversity(l=2),
    LDiversity(l=2, kind="probabilistic"),
    LDiversity(l=1.7, kind="entropy"),
    LDiversity(l=2, kind="recursive", c=2.0),
    AlphaK(alpha=0.7, k=2),
    TCloseness(t=0.4),
    BetaLikeness(beta=1.5),
]
IS_LOW_WORSE = [True, True, True, True, False, False, False, False]


def drawn(seed):
    """Classes, sensitive values, providers and persons of a few rows."""
    rng = np.random.default_rng(seed)
    n, n_classes, n_providers = int(rng.integers(12, 80)), int(rng.integers(1, 5)), int(rng.integers(2, 7))
    data = table(a=[f"c{i}" for i in rng.integers(0, n_classes, n)], s=rng.choice(list("pqrst"), n).tolist())
    return data, rng.integers(0, n_providers, n), rng.integers(0, max(4, int(n * 0.7)), n), int(rng.integers(1, 4))


def by_trial(data, whose, persons, coalition, required, is_low):
    """The worst of all coalitions, and whether all hold; None if a class may have nothing left."""
    n_classes = len(set(data["a"].codes.tolist()))
    reached, holds = [], []
    for size in range(coalition + 1):
        for members in combinations(range(int(whose.max()) + 1), size):
            rows = np.flatnonzero(~np.isin(whose, members))
            if len(set(data["a"].codes[rows].tolist())) < n_classes:
                return None
            left = None if persons is None else persons[rows]
            found = verify(data.take(rows), [required], ["a"], ["s"], persons=left)[0]
            reached.append(found.achieved)
            holds.append(found.holds)
    return (min if is_low else max)(reached), all(holds)


@pytest.mark.parametrize("by_person", [False, True])
def test_what_the_worst_coalition_leaves_is_found(by_person, monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", 200)  # several chunks, of which some are passed over
    seen = set()
    for seed in range(4 if by_person else 8):
        data, whose, persons, coalition = drawn(seed)
        persons = persons if by_person else None
        for required, is_low in zip(REQUIRED, IS_LOW_WORSE, strict=True):
            expected = by_trial(data, whose, persons, coalition, required, is_low)
            found = verify_without(
                data, [required], ["a"], ["s"], providers=whose, coalition=coalition, persons=persons
            )[0]
            if expected is None:
                assert (found.holds, found.achieved) == (False, 0)
                assert "nothing is left" in found.sentence
            elif required.model == "k-anonymity" or not by_person:
                assert (found.achieved, found.holds) == expected, (seed, required)
            else:  # by persons and by records, of which one may fail and the other reach less
                assert found.holds == expected[1], (seed, required)
            seen.add((required.model, expected is None, found.holds))
    assert {holds for _, is_empty, holds in seen if not is_empty} == {True, False}


def test_sentences_say_without_whose_rows():
    data = table(a=["c"] * 6 + ["d"] * 6, s=list("pqrpqr") * 2)
    whose = np.array([0, 0, 1, 1, 2, 2] * 2)
    found = verify_without(data, [KAnonymity(k=4), LDiversity(l=2)], ["a"], ["s"], providers=whose, coalition=1)
    assert found[0].sentence.startswith("Without the rows of any one provider, every record shares its published")
    assert [g.achieved for g in found] == [4, 3]
    assert [g.details["coalition"] for g in found] == [1, 1]
    two = verify_without(data, [KAnonymity(k=4)], ["a"], providers=whose, coalition=2)[0]
    assert two.sentence.startswith("Without the rows of some two providers, k-anonymity fails in 2 of 2 groups")
    assert not verify_without(data, [KAnonymity(k=4)], ["a"], providers=whose, coalition=3)[0].holds


def test_missing_values_that_may_hide_any_are_the_worst():
    data = table(a=["c"] * 6, s=["p", "p", "q", None, "q", "p"])
    whose = np.array([0, 1, 0, 1, 2, 2])
    asked = {"providers": whose, "coalition": 1, "missing": "any"}
    found = verify_without(data, [LDiversity(l=2)], ["a"], ["s"], **asked)[0]
    assert (found.holds, found.achieved) == (True, 2)
    even = verify_without(data, [LDiversity(l=2, kind="probabilistic")], ["a"], ["s"], **asked)[0]
    assert not even.holds


def test_a_person_with_rows_from_two_providers_stays_with_the_rows_of_the_other():
    data = table(a=["c"] * 4)
    whose, persons = np.array([0, 1, 0, 1]), np.array([5, 5, 6, 7])
    found = verify_without(data, [KAnonymity(k=2)], ["a"], providers=whose, coalition=1, persons=persons)[0]
    assert (found.holds, found.achieved) == (True, 2)
