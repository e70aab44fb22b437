"""Tables that are kept as steps come back as they were."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.tables.kept_table import IN_FILES, TABLE, keep_table, kept_table
from shoal.data.tables.parquet import absent
from shoal.data.tables.spill import SpilledTable, kept_in, spill
from shoal.data.tables.table import Column, Source, Table, encode_cells
from shoal.resume import StepFolder

TEXTS = st.text(st.characters(), max_size=5)
CELLS = {
    "O": st.one_of(st.none(), TEXTS),
    "i8": st.integers(-(2**63), 2**63 - 1),
    "f8": st.floats(),
    "?": st.booleans(),
    "M8[us]": st.integers(-(10**15), 10**15),
}


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Columns of every type that is read, some of them dropped, with weights or without."""
    n_rows = draw(st.integers(1, 6))
    columns = []
    for i in range(draw(st.integers(1, 4))):
        dtype = draw(st.sampled_from([*CELLS, ""]))
        if not dtype:
            columns.append(replace(absent(n_rows), name=f"dropped {i}"))
            continue
        cells = draw(st.lists(CELLS[dtype], min_size=n_rows, max_size=n_rows))
        made = np.empty(n_rows, dtype=object)
        made[:] = cells
        column = encode_cells(f"{draw(TEXTS)}{i}", made if dtype == "O" else np.array(cells).astype(dtype))
        columns.append(replace(column, markers=(*column.markers, "?")) if draw(st.booleans()) else column)
    weights = draw(st.none() | st.lists(st.integers(1, 9), min_size=n_rows, max_size=n_rows))
    source = Source("people", "parquet", notes=tuple(draw(st.lists(TEXTS, max_size=2))))
    return replace(
        Table.of(columns, source),
        weights=None if weights is None else np.array(weights, np.int32),
        is_one_each=draw(st.booleans()),
    )


def assert_equal(one: Table, other: Table) -> None:
    assert (one.names, one.source, one.is_one_each) == (other.names, other.source, other.is_one_each)
    for name, column in one.columns.items():
        again = other[name]
        assert (column.name, column.markers) == (again.name, again.markers)
        assert column.values.dtype == again.values.dtype
        assert column.codes.dtype == again.codes.dtype
        assert column.values.tobytes() == again.values.tobytes() or column.values.tolist() == again.values.tolist()
        assert np.array_equal(column.codes, again.codes)
    assert (one.weights is None) == (other.weights is None)
    assert one.weights is None or np.array_equal(one.weights, other.weights)


def reopened(folder: Path) -> StepFolder:
    return StepFolder.open(folder / "kept", {})


@given(tables())
def test_a_table_in_memory_comes_back(table: Table) -> None:
    with tempfile.TemporaryDirectory() as name:
        steps = reopened(Path(name))
        keep_table(steps, table)
        steps.close()
        steps = reopened(Path(name))
        found = steps.found(TABLE)
        assert found is not None
        assert_equal(kept_table(found, steps), table)


@given(tables())
def test_a_table_in_files_comes_back(table: Table) -> None:
    table = replace(table, weights=np.arange(1, table.n_rows + 1, dtype=np.int32))
    names = [column.name for column in table.columns.values() if not column.name.startswith("dropped")]
    with tempfile.TemporaryDirectory() as name:
        steps = reopened(Path(name))
        with kept_in(steps):
            spilled = spill(table, names)
        keep_table(steps, spilled)
        rows = spilled.rows.file.read()
        spilled.rows.folder.close()
        steps.close()
        steps = reopened(Path(name))
        found = steps.found(TABLE)
        assert found is not None
        again = kept_table(found, steps)
        assert isinstance(again, SpilledTable)
        assert_equal(again, spilled)
        assert np.array_equal(again.rows.file.read(), rows)
        assert again.rows.names == spilled.rows.names
        assert again.n_records == table.n_records
        assert {n: c.tolist() for n, c in again.rows.counts.items()} == {
            n: c.tolist() for n, c in spilled.rows.counts.items()
        }
        again.rows.folder.close()
        assert steps.names == {TABLE, IN_FILES[0]}


@pytest.mark.parametrize(
    "spoil",
    [
        {"codes-0.npy": np.array([0, 1, 9], np.int32)},
        {"codes-0.npy": np.array([0, 1, -1], np.int32)},
        {"codes-0.npy": np.array([0, 1], np.int32)},
        {"codes-0.npy": np.array([0.0, 1, 1])},
        {"weights.npy": np.array([1, 0, 1], np.int32)},
        {"values-0.npy": np.array([{"any": "object"}], dtype=object)},
    ],
)
def test_numbers_that_are_no_places_are_refused(tmp_path: Path, spoil: dict[str, np.ndarray]) -> None:
    """Even if somebody made the checksums fit; and nothing that is there is ever run."""
    steps = reopened(tmp_path)
    column = Column("age", np.array([0, 1, 1], np.int32), np.array([3, 5]))
    keep_table(steps, replace(Table.of([column]), weights=np.ones(3, np.int32)))
    found = steps.found(TABLE)
    assert found is not None
    json.loads((found.path / "step.json").read_text())
    for name, array in spoil.items():
        np.save(found.path / name, array, allow_pickle=True)
    with pytest.raises(ValueError, match=r"numbers of a table|allow_pickle=False"):
        kept_table(found, steps)
