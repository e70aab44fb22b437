"""Tables of columns with dictionaries, against lists of cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.data.tables.table import Table, counted, encode_cells, row_keys
from shoal.errors import DataError


def drawn(seed: int, n: int = 40):
    rng = np.random.default_rng(seed)
    cells = {name: [None if v == 4 else f"v{v}" for v in rng.integers(0, 5, n)] for name in "ab"}
    columns = [encode_cells(name, np.array(given, dtype=object)) for name, given in cells.items()]
    return cells, Table.of(columns)


@pytest.mark.parametrize("seed", range(3))
def test_rows_are_taken_with_their_cells(seed: int) -> None:
    cells, table = drawn(seed)
    rows = np.random.default_rng(seed).integers(0, 40, 7)
    for taken in (table.take(rows), table.take(rows).compact()):
        assert taken.n_rows == 7
        for name in table.names:
            assert taken[name].cells().tolist() == [cells[name][r] for r in rows]
            assert taken[name].missing.tolist() == [cells[name][r] is None for r in rows]


def test_compact_forgets_values_that_nobody_has() -> None:
    _, table = drawn(0)
    first = table.take(np.zeros(1, np.intp)).compact()
    assert all(len(first[name].values) + len(first[name].markers) == 1 for name in first.names)


@pytest.mark.parametrize("seed", range(3))
def test_keys_are_equal_where_rows_are(seed: int) -> None:
    cells, table = drawn(seed)
    keys = row_keys([table["a"], table["b"]]).tolist()
    rows = list(zip(cells["a"], cells["b"], strict=True))
    for key, row in zip(keys, rows, strict=True):
        assert [k == key for k in keys] == [r == row for r in rows]


@pytest.mark.parametrize("cells", [[0.0, -0.0, 1.0], [-0.0, 1.0, 0.0], [-0.0, np.nan, -0.0]])
def test_negative_zero_is_zero(cells: list[float]) -> None:
    values = encode_cells("x", np.array(cells)).values
    assert values[0] == 0
    assert not np.signbit(values).any()


def test_columns_are_selected_and_replaced_by_name() -> None:
    _, table = drawn(0)
    assert table.select(["b"]).names == ["b"]
    assert table.with_columns({"a": table["b"]})["a"].cells().tolist() == table["b"].cells().tolist()
    with pytest.raises(DataError, match="'c'"):
        table["c"]


def test_rows_may_stand_for_several_records() -> None:
    table = replace(drawn(0)[1], weights=np.arange(40, dtype=np.int32))
    assert (table.n_rows, table.n_records) == (40, 780)
    rows = np.array([3, 7, 3])
    taken = table.take(rows).select(["a"]).compact()
    assert taken.weights is not None
    assert taken.weights.tolist() == [3, 7, 3]
    assert table["a"].counts(table.weights).sum() == 780
    keys = np.array([5, 2, 5])
    assert [part.tolist() for part in counted(keys)] == [[2, 5], [1, 2]]
    assert [part.tolist() for part in counted(keys, taken.weights)] == [[2, 5], [7, 6]]
