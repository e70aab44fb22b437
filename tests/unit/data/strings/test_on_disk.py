"""Strings in a file are those that were put there, in any order."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data import ragged, ragged_rows
from shoal.data.strings import on_disk
from shoal.data.strings.on_disk import DiskWriter, StringsOnDisk
from shoal.data.strings.strings import Strings
from shoal.errors import DataError


def put(strings: Strings, n_at_once: int = 7) -> StringsOnDisk:
    writer = DiskWriter(strings.alphabet, strings.is_tokens, strings.source)
    for low in range(0, len(strings), n_at_once):
        part = strings.take(np.arange(low, min(low + n_at_once, len(strings))))
        writer.add(part.symbols, part.lengths)
    return writer.done()


def some(seed: int, n: int, n_symbols: int) -> Strings:
    rng = np.random.default_rng(seed)
    texts = [[f"t{i}" for i in rng.integers(0, n_symbols, rng.integers(0, 9))] for _ in range(n)]
    return Strings.of(texts, alphabet=[f"t{i}" for i in range(n_symbols)])


@given(
    st.integers(0, 99),
    st.integers(1, 60),
    st.sampled_from([3, 300, 70_000]),
    st.sampled_from([1, 5, 40, 10**6]),
    st.sampled_from([1, 9, 10**6]),
    st.sampled_from([0, 3, 10**6]),
)
def test_strings_come_back_as_they_were_in_any_order(
    seed: int, n: int, n_symbols: int, at_once: int, of_a_range: int, gap: int
) -> None:
    strings, rng = some(seed, n, n_symbols), np.random.default_rng(seed)
    with (
        patch.object(on_disk, "SYMBOLS_AT_ONCE", at_once),
        patch.object(ragged, "ENTRIES_AT_ONCE", at_once),
        patch.multiple(ragged_rows, ENTRIES_OF_A_RANGE=of_a_range, GAP=gap),
    ):
        disk = put(strings)
        assert (len(disk), disk.n_symbols) == (n, len(strings.symbols))
        assert [text for low, high in disk.runs() for text in disk.part(low, high).texts()] == strings.texts()
        rows = rng.permutation(n)[: rng.integers(1, n + 1)]
        for chosen in (rows, np.sort(rows), np.arange(n), rng.integers(0, n, 5)):
            assert disk.take(chosen).texts() == strings.take(chosen).texts()
        moved = disk.in_order(rows)
        assert moved.take(np.arange(len(rows))).texts() == strings.take(rows).texts()
        low = int(rng.integers(0, len(rows)))
        again = moved.slice(low, len(rows)).in_order(np.arange(len(rows) - low)[::-1])
        assert again.take(np.arange(len(again))).texts() == strings.take(rows[low:][::-1]).texts()


def test_the_file_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    disk = put(some(1, 30, 4))
    assert os.listdir(tmp_path) == []
    assert disk.take(np.arange(0)).texts() == []
    disk.rows.files[0]._file.truncate(3)
    with pytest.raises(DataError, match="cut short"):
        disk.part(0, 30)
