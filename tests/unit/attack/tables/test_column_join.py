"""The tests of `attack/tables/column_join.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.attack.cases import TableCase
from shoal.attack.tables import ColumnJoin
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import Layout
from shoal.data.tables.table import Table, encode_cells


def texts(name, cells):
    return encode_cells(name, np.array(cells, dtype=object))


def screened(zips, swapped):
    """The printed table of screening in small: zip codes of the first slice tell the secret of one row."""
    layout = Layout.of([["zip", "s"], ["age", "s"]])
    original = Table.of(
        [
            encode_cells("age", np.array([21, 22, 31, 32])),
            texts("zip", ["40101", "40201", "40202", "40203"]),
            texts("s", ["low", "mid", "high", "top"]),
        ]
    )
    order = np.array(swapped)
    published = Table.of(
        [
            encode_cells("bucket", np.ones(4, dtype=np.int64)),
            texts("zip", zips).take(order),
            replace(original["s"], name="s@1").take(order),
            texts("age", ["[21..32]"] * 4),
            replace(original["s"], name="s@2"),
        ]
    )
    attributes = {
        "age": Attribute("age", "continuous", "quasi"),
        "zip": Attribute("zip", "prefix", "quasi"),
        "s": Attribute("s", "nominal", "sensitive"),
    }
    return TableCase(published, original, None, ["age", "zip"], ["s"], attributes, "screen", layout)


def test_the_join_finds_what_the_printed_check_does_not(rng):
    weak = screened(["401**", "402**", "402**", "402**"], [2, 0, 3, 1])
    result = ColumnJoin().run(weak, rng)
    assert result.main.successes == 1
    assert result.main.attempts == 4
    assert result.details["without_join"] == 0
    strong = screened(["40***"] * 4, [2, 0, 3, 1])
    assert ColumnJoin().run(strong, rng).main.successes == 0


def test_releases_that_were_checked_withstand_the_join(release, rng):
    result = ColumnJoin().run(release(l=3, publish="screen"), rng)
    assert result.main.value == 0
    assert not result.succeeds
