"""Rows in files are parted as rows that are held are, and the tree does what it is for."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from shoal.data.ragged_rows import DiskRows, Ragged, RaggedOnDisk, ValueFile
from shoal.data.sparse.record_rows import RecordRows
from shoal.data.sparse.records import Sparse
from shoal.errors import Infeasible
from shoal.sparse.bisect_rows import bisect_rows
from shoal.sparse.near_groups import tf_idf_rows


def topics(n: int) -> Ragged:
    rng = np.random.default_rng(1)
    rows = [[f"c{i % 4}{x}" for x in rng.choice(9, 4, replace=False)] for i in range(n)]
    rows += [[f"r{x}" for x in rng.integers(0, 40, 3)] for _ in range(n // 4)]
    found = tf_idf_rows(RecordRows.of(Sparse.of([sorted(set(row)) for row in rows])))
    assert isinstance(found, Ragged)
    return found


def on_disk(rows: Ragged) -> RaggedOnDisk:
    writer = DiskRows(ValueFile(np.int32), ValueFile(np.float32))
    writer.add(rows.sizes, *rows.values)
    return writer.done()


def state() -> np.ndarray:
    return np.array([5], np.uint64)


@pytest.mark.parametrize(("most", "fewest"), [(60, 7), (1, 1), (1000, 500)])
def test_the_tree_is_the_same_whatever_is_held(most: int, fewest: int) -> None:
    rows = topics(3000)
    n_items = int(rows.values[0].max()) + 1
    order, leaves = bisect_rows(rows, n_items, most, fewest, state())
    assert sorted(order.tolist()) == list(range(len(rows)))
    sizes = np.diff(leaves)
    assert sizes.min() >= fewest
    assert sizes.max() <= max(most, 2 * fewest - 1)
    for room in (9000, 12_000, 10**6):
        again = bisect_rows(on_disk(rows), n_items, most, fewest, state(), room)
        assert again[0].tolist() == order.tolist()
        assert again[1].tolist() == leaves.tolist()


def test_leaves_hold_like_rows() -> None:
    rows = topics(1200).part(0, 1200)
    order, leaves = bisect_rows(rows, int(rows.values[0].max()) + 1, 60, 7, state())
    pure = [len(set((order[low:high] % 4).tolist())) == 1 for low, high in pairwise(leaves)]
    assert np.mean(pure) > 0.7


def test_a_sample_that_does_not_fit_is_refused() -> None:
    rows = topics(3000)
    with pytest.raises(Infeasible, match=r"records hold .* items, which do not fit into the bound: raise memory"):
        bisect_rows(on_disk(rows), int(rows.values[0].max()) + 1, 60, 7, state(), 1000)
