"""The tests of `attack/tables/intersection.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.cases import TableCase
from shoal.attack.tables import Intersection
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table, encode_cells


def texts(name, cells):
    return encode_cells(name, np.array(cells, dtype=object))


def grouped(secrets, **more):
    """Classes of three records, whose secrets are given."""
    n = len(secrets)
    labels = [f"[{3 * (i // 3)}..{3 * (i // 3) + 2}]" for i in range(n)]
    original = Table.of([encode_cells("q", np.arange(n)), encode_cells("s", np.array(secrets, **more))])
    attributes = {
        "q": Attribute("q", "continuous", "quasi"),
        "s": Attribute("s", "nominal" if more else "continuous", "sensitive"),
    }
    published = original.with_columns({"q": texts("q", labels)})
    return TableCase(published, original, None, ["q"], ["s"], attributes, rows=np.arange(n))


def test_two_releases_tell_more_than_one(release, rng):
    first = release(partition="mondrian", publish="generalise")
    second = release(k=5, partition="mdav", publish="generalise")
    both = Intersection().run(replace(first, other=second.published), rng)
    assert both.main.value > both.baseline.value + 0.05
    assert both.succeeds
    same = Intersection().run(replace(first, other=first.published), rng)
    assert same.main.value == pytest.approx(same.baseline.value)
    assert "no second release" in Intersection().missing(first)


def test_intersection_by_hand(rng):
    case = grouped(["a", "b", "c", "d", "e", "f"], dtype=object)
    labels = ["[0..0]", "[1..4]", "[1..4]", "[1..4]", "[1..4]", "[5..5]"]
    other = case.published.with_columns({"q": texts("q", labels)})
    result = Intersection().run(replace(case, other=other), rng)
    # of 0 and 5 the second tells; 3 and 4 share d and e, 1 and 2 share b and c
    assert result.main.successes == 2
    assert result.details["first_alone"] == 0
