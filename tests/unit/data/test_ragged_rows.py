"""Rows that are held and rows in files are read, put in order and overwritten alike."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data import ragged, ragged_rows
from shoal.data.ragged_rows import AnyRows, DiskRows, Ragged, RaggedOnDisk, ValueFile
from shoal.errors import DataError


def some(seed: int, n: int) -> Ragged:
    rng = np.random.default_rng(seed)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(rng.integers(0, 9, n))])
    return Ragged(starts, [rng.integers(0, 50, starts[-1]).astype(np.int32), rng.random(starts[-1])])


def on_disk(rows: Ragged) -> RaggedOnDisk:
    writer = DiskRows(ValueFile(np.uint8, np.int32), ValueFile(np.float64))
    for low, high in rows.runs(20):
        part = rows.part(low, high)
        writer.add(part.sizes, *part.values)
    return writer.done()


def texts(rows: AnyRows) -> list[list[tuple[int, float]]]:
    held = rows.part(0, len(rows))
    pairs = list(zip(held.values[0].tolist(), held.values[1].tolist(), strict=True))
    return [pairs[low:high] for low, high in zip(held.starts[:-1], held.starts[1:], strict=True)]


@given(
    st.integers(0, 99),
    st.integers(1, 50),
    st.sampled_from([3, 40, 10**6]),
    st.sampled_from([1, 9, 10**6]),
    st.sampled_from([0, 3, 10**6]),
    st.sampled_from([lambda rows: rows, on_disk]),
)
def test_rows_are_those_that_were_put_there(
    seed: int, n: int, at_once: int, of_a_range: int, gap: int, how: Callable[[Ragged], AnyRows]
) -> None:
    plain, rng = some(seed, n), np.random.default_rng(seed)
    expected = texts(plain)
    with (
        patch.object(ragged, "ENTRIES_AT_ONCE", at_once),
        patch.multiple(ragged_rows, ENTRIES_OF_A_RANGE=of_a_range, GAP=gap),
    ):
        rows = how(plain)
        assert (len(rows), rows.n_entries, rows.n_values) == (n, int(plain.starts[-1]), 2)
        assert rows.sizes.tolist() == plain.sizes.tolist()
        assert [row for part in rows.parts() for row in texts(part)] == expected
        chosen = rng.permutation(n)[: rng.integers(1, n + 1)]
        for which in (chosen, np.sort(chosen), np.arange(n), rng.integers(0, n, 7)):
            assert texts(rows.take(which)) == [expected[i] for i in which]
        assert texts(rows.in_order(chosen)) == [expected[i] for i in chosen]
        in_turn = rows.in_turn(chosen)
        assert [row for part in in_turn.parts() for row in texts(part)] == [expected[i] for i in chosen]
        doubled = rows.beside(np.int64, lambda part: 2 * part.values[0]).columns(2, 1)
        assert texts(doubled) == [[(2 * a, b) for a, b in row] for row in expected]
        other = rows.columns(0).in_order(np.arange(n))
        ascending = np.sort(chosen)
        values = -np.arange(int(plain.sizes[ascending].sum()), dtype=np.int32) % 250
        other.overwrite(ascending, values)
        found, at = other.take(np.arange(n)), 0
        for row in range(n):
            own = found.values[0][found.starts[row] : found.starts[row + 1]].tolist()
            if row in chosen:
                assert own == values[at : at + len(own)].tolist()
                at += len(own)
            else:
                assert own == [a for a, _ in expected[row]]
        writer = rows.writer(np.int32, np.float64)
        for part in rows.parts():
            writer.add(part.sizes, *part.values)
        assert texts(writer.done()) == expected
        room = rows.empty(plain.starts, np.int32)
        room.overwrite(np.arange(n), plain.values[0])
        assert room.part(0, n).values[0].tolist() == plain.values[0].tolist()


def test_the_files_have_no_name_and_are_read_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    disk = on_disk(some(1, 30))
    assert os.listdir(tmp_path) == []
    assert len(disk.take(np.arange(0))) == 0
    disk.files[0]._file.truncate(3)
    with pytest.raises(DataError, match="cut short"):
        disk.part(0, 30)
