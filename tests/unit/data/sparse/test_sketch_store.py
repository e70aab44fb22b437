"""Sketches in a store are written as those in memory, and found again by record."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

from shoal.data.sparse.sketch_files import read_sketches, write_sketches
from shoal.data.sparse.sketch_store import sketch_store, written_sketches
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError
from shoal.sparse.content_order import published_order


def drawn(has_classes: bool, n: int = 200) -> Sketches:
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 5, n)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    labels = rng.integers(0, 3, n).astype(np.int32) if has_classes else None
    components = rng.integers(-3, 4, starts[-1])
    return Sketches(starts, components, 1.0, labels, ("a", "it's", "ü") if has_classes else ())


@pytest.mark.parametrize("has_classes", [False, True])
def test_the_file_is_that_of_sketches_in_memory(tmp_path: Path, has_classes: bool) -> None:
    sketches = drawn(has_classes)
    write_sketches(sketches.take(published_order(sketches)), tmp_path / "held")
    with sketch_store() as store:
        for rows in np.array_split(np.arange(200), 7):
            store.add(rows + 10, sketches.take(rows))
        rows = store.write(tmp_path / "stored", has_classes=has_classes)
    assert (tmp_path / "stored").read_bytes() == (tmp_path / "held").read_bytes()
    again = sketches.take(rows - 10)
    assert again.components.tolist() == read_sketches(tmp_path / "held").components.tolist()
    with written_sketches(tmp_path / "stored", rows) as written:
        assert (written.n, sum(written.counts.values())) == (200, 200)
        owners, some = written.of_records(20, 40)
        assert owners.tolist() == list(range(20, 40))
        assert some.components.tolist() == sketches.take(np.arange(10, 30)).components.tolist()
        first = written.in_file(0, 3)
        assert first.components.tolist() == again.take(np.arange(3)).components.tolist()


def test_small_classes_are_dropped() -> None:
    sketches = drawn(True, 20)
    sizes = np.bincount(sketches.labels, minlength=3)
    with sketch_store() as store:
        store.add(np.arange(20), sketches)
        assert store.drop_small_classes(int(sizes.max())) == int(sizes[sizes < sizes.max()].sum())


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT NULL::INTEGER[] AS sketch UNION ALL SELECT [1]", "is a null"),
        ("SELECT [1, NULL] AS sketch", "is a null"),
        ("SELECT [1] AS sketch, NULL::VARCHAR AS label", "is a null"),
        ("SELECT [0.5::DOUBLE] AS sketch", "real numbers"),
        ("SELECT 1 AS x", "there is no column 'sketch'"),
    ],
)
def test_what_is_no_file_of_such_sketches_is_refused(tmp_path: Path, query: str, message: str) -> None:
    path = tmp_path / "data.parquet"
    duckdb.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    with pytest.raises(DataError, match=message), written_sketches(path, np.arange(1)):
        pass
    path.write_bytes(b"PAR1" + b"\0" * 40 + b"PAR1")
    with pytest.raises(DataError, match="damaged"), written_sketches(path, np.arange(1)):
        pass
