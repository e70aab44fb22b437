"""Rolling up classes, against a dictionary of tuples."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.tables.lattice import roll_up

pytestmark = pytest.mark.usefixtures("either_way")


def slow_roll_up(cells, rows, counts, nodes, starts, sizes):
    """The definition: classes with the same tuple of nodes are one."""
    number: dict[tuple[int, ...], int] = {}
    of, new_rows, new_counts = [], [], []
    for row, count in zip(rows, counts, strict=True):
        key = tuple(int(nodes[s + r]) for s, r in zip(starts, cells[row], strict=True))
        if key not in number:
            number[key] = len(number)
            new_rows.append(row)
            new_counts.append(0)
        of.append(number[key])
        new_counts[number[key]] += count
    return of, new_rows, new_counts


def random_levels(rng, n_values: list[int], most: int):
    """One level an attribute: a node below `most` for each value, all nodes used."""
    levels = []
    for n in n_values:
        size = int(rng.integers(1, min(n, most) + 1))
        levels.append(rng.permutation(np.concatenate([np.arange(size), rng.integers(0, size, n - size)])))
    starts = np.cumsum([0] + n_values)[:-1].astype(np.int64)
    return np.concatenate(levels).astype(np.int32), starts, np.array([x.max() + 1 for x in levels], dtype=np.int64)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("n_columns", "n_values"), [(1, 1), (1, 50), (4, 3), (3, 9), (40, 7)])
def test_agrees_with_a_dictionary(seed: int, n_columns: int, n_values: int) -> None:
    rng = np.random.default_rng(seed)
    values = [n_values] * n_columns
    # Few distinct rows among many, so that classes have several members also with 40 columns.
    cells = rng.integers(0, n_values, (60, n_columns))[rng.integers(0, 60, 300)].astype(np.int32)
    rows = np.sort(rng.choice(300, 200, replace=False)).astype(np.int32)
    counts = rng.integers(1, 9, 200)
    nodes, starts, sizes = random_levels(rng, values, n_values)
    got = roll_up(cells, rows, counts, nodes, starts, sizes)
    for mine, slow in zip(got, slow_roll_up(cells, rows, counts, nodes, starts, sizes), strict=True):
        assert mine.tolist() == slow


def test_numbers_that_overflow_are_told_apart() -> None:
    # With 70 columns of two nodes, the first columns are shifted out of 64 bits: only comparing nodes tells these apart.
    cells = np.zeros((4, 70), dtype=np.int32)
    cells[1, 0] = cells[2, 3] = cells[3, 0] = 1
    nodes = np.tile(np.array([0, 1], dtype=np.int32), 70)
    starts, sizes = np.arange(70, dtype=np.int64) * 2, np.full(70, 2, dtype=np.int64)
    of, rows, counts = roll_up(cells, np.arange(4, dtype=np.int32), np.ones(4, dtype=np.int64), nodes, starts, sizes)
    assert of.tolist() == [0, 1, 2, 1]
    assert rows.tolist() == [0, 1, 2]
    assert counts.tolist() == [1, 2, 1]
