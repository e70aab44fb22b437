"""The tests of `check/tables/copies.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.tables.alongside import alongside
from shoal.check.tables.copies import no_copies
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import MARKERS, Table, encode_cells


def column(name: str, cells) -> object:
    """Texts with None for missing, or numbers."""
    if not any(isinstance(c, str) or c is None for c in cells):
        return encode_cells(name, np.asarray(cells))
    objects = np.empty(len(cells), dtype=object)
    objects[:] = cells
    return encode_cells(name, objects)


def table(**columns) -> Table:
    return Table.of([column(n, c) for n, c in columns.items()])


def attributes(**types: str) -> dict[str, Attribute]:
    return {n: Attribute(n, t, "quasi") for n, t in types.items()}  # type: ignore[arg-type]


def pairs(published: Table, original: Table, **types: str):
    return alongside(published, original, list(types), MARKERS, attributes(**types))


@pytest.mark.parametrize(
    ("published", "k", "copies"),
    [
        (["1", "2", "9", "9", "9"], 2, 0),  # 9 is nobody's; 1 and 2 are each shared by two
        (["1", "2", "9", "9", "9"], 3, 2),
        (["1.0", "2", "9", "9", "9"], 3, 2),  # by value, not by spelling
        (["3", "9", "9", "9", "9"], 2, 1),
        (["9", "9", "9", "9", "9"], 2, 0),
        ([None, "9", "9", "9", "9"], 2, 0),  # no original lacks it
    ],
)
def test_copies_are_counted_among_all_originals(published, k: int, copies: int) -> None:
    original = table(x=["1", "1", "2", "2", "3"])
    found = no_copies(pairs(table(x=published), original, x="continuous"), k)
    assert found.details["copies"] == found.n_failing == copies
    assert found.holds == (copies == 0)
    assert found.achieved == (k if not copies else (1 if "3" in published else 2))
    assert "repeat" in found.sentence


def test_a_copy_is_one_in_all_columns_whatever_the_spelling() -> None:
    original = table(x=["1", "2"], w=["HIV", "flu"])
    same = pairs(table(x=["1", "2"], w=["hiv ", "HIV"]), original, x="continuous", w="nominal")
    assert no_copies(same, 2).details["copies"] == 1


def test_what_may_hide_any_value_is_no_crowd() -> None:
    original = table(x=[None, None, None, "1", "1", "1"])
    both = pairs(table(x=[None, "1"]), original, x="continuous")
    assert no_copies(both, 3).holds
    assert no_copies(both, 3, missing="any").details["copies"] == 1


def test_an_edited_cell_does_not_hide_copies_that_are_spelled_otherwise() -> None:
    original = table(x=["1", "2", "3"], y=["1", "2", "3"], z=["007", "7", "8"])
    published = table(x=["1.0", "zzz", "9"], y=["1.0", "zzz", "9"], z=["7", "zzz", "9"])
    for kind in ("nominal", "ordinal"):
        assert no_copies(pairs(published, original, x=kind), 2).details["copies"] == 1
    assert no_copies(pairs(published, original, x="continuous", y="nominal"), 2).details["copies"] == 1
    assert no_copies(pairs(published, original, x="nominal", z="prefix"), 2).details["copies"] == 0  # codes by spelling
    shouted = table(x=["LOW", "x", "y"])
    words = table(x=["low", "mid", "high"])
    assert no_copies(pairs(shouted, words, x="nominal"), 2).details["copies"] == 1
    assert no_copies(pairs(shouted, words, x="ordinal"), 2).details["copies"] == 0
