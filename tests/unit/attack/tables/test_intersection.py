"""The tests of `attack/tables/intersection.py`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shoal.attack.tables.intersection import Intersection
from tests.unit.attack.tables.small_cases import grouped, texts


def test_two_releases_tell_more_than_one(release, rng):
    first = release(partition="mondrian", publish="generalise")
    second = release(k=5, partition="mdav", publish="generalise")
    both = Intersection().run(replace(first, others=(replace(first, published=second.published),)), rng)
    assert both.main.value > both.baseline.value + 0.05
    assert both.succeeds
    same = Intersection().run(replace(first, others=(first,)), rng)
    assert same.main.value == pytest.approx(same.baseline.value)
    assert "no second release" in Intersection().missing(first)


def test_intersection_by_hand(rng):
    case = grouped(["a", "b", "c", "d", "e", "f"], dtype=object)
    labels = ["[0..0]", "[1..4]", "[1..4]", "[1..4]", "[1..4]", "[5..5]"]
    other = case.published.with_columns({"q": texts("q", labels)})
    result = Intersection().run(replace(case, others=(replace(case, published=other),)), rng)
    # of 0 and 5 the second tells; 3 and 4 share d and e, 1 and 2 share b and c
    assert result.main.successes == 2
    assert result.details["first_alone"] == 0
