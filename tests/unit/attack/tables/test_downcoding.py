"""The tests of `attack/tables/downcoding.py`."""

from __future__ import annotations

import numpy as np

from shoal.attack.tables.case import TableCase
from shoal.attack.tables.downcoding import Downcoding
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table, encode_cells


def texts(name, cells):
    return encode_cells(name, np.array(cells, dtype=object))


def test_members_of_tight_sets_are_values(release, rng):
    result = Downcoding().run(release(k=3, partition="mondrian", publish="generalise"), rng)
    assert result.main.value == 1
    assert result.details["claims"] > 0


def test_downcoding_needs_ranges(raw, release):
    assert "as a set" in Downcoding().missing(raw)
    assert "slices" in Downcoding().missing(release(l=3, publish="screen"))


def test_members_of_sets_are_claimed(rng):
    original = Table.of([texts("q", ["a", "b", "c", "c"]), texts("s", list("wxyz"))])
    published = original.with_columns({"q": texts("q", ["{a, b}", "{a, b}", "{b, c}", "{b, c}"])})
    attributes = {"q": Attribute("q", "nominal", "quasi"), "s": Attribute("s", "nominal", "sensitive")}
    case = TableCase(published, original, None, ["q"], ["s"], attributes, rows=np.arange(4))
    result = Downcoding().run(case, rng)
    assert (result.main.successes, result.main.attempts) == (3, 4)  # nobody in the second class has b
