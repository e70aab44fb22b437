"""The tests of `attack/tables/own_rows.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.tables.own_rows import OwnRows, candidates_left
from tests.unit.attack.tables.small_cases import grouped


def slow_left(classes, providers, persons, coalition):
    """For each row, the largest other providers of its class are taken away in turn."""
    found = []
    for own_class, own in zip(classes, providers, strict=True):
        inside = classes == own_class
        counts = {p: len(set(persons[inside & (providers == p)].tolist())) for p in set(providers[inside].tolist())}
        taken = sorted((c for p, c in counts.items() if p != own), reverse=True)[:coalition]
        found.append(max(1, len(set(persons[inside].tolist())) - sum(taken)))
    return found


@pytest.mark.parametrize("coalition", [1, 2, 3])
@pytest.mark.parametrize("by_person", [False, True])
def test_what_is_left_is_counted_for_each_row(coalition, by_person):
    rng = np.random.default_rng(coalition)
    classes, providers, persons = rng.integers(0, 5, 80), rng.integers(0, 6, 80), rng.integers(0, 50, 80)
    left, _ = candidates_left(classes, providers, persons if by_person else None, coalition)
    assert left.tolist() == slow_left(classes, providers, persons if by_person else np.arange(80), coalition)


def test_a_provider_finds_the_only_other_record_of_a_class(rng):
    case = replace(grouped(["a", "b", "c"] * 2, dtype=object), providers=np.array([0, 0, 1, 0, 1, 2]), coalition=1)
    result = OwnRows().run(case, rng)
    # the first class leaves 1 row to the other provider, and 2 to those of the large one; the second 2 to each
    assert result.main.successes == pytest.approx(1 / 2 + 1 / 2 + 1 + 3 / 2)
    assert result.details["fewest_left"] == 1


def test_it_is_for_releases_of_several_providers():
    case = grouped(["a", "b", "c"], dtype=object)
    assert OwnRows().missing(case) == "The records are not said to be from several providers."
    named = replace(case, providers=np.zeros(3, dtype=np.int64), coalition=1)
    assert OwnRows().missing(named) is None
    assert "give what the owner kept" in OwnRows().missing(replace(named, providers=None))
