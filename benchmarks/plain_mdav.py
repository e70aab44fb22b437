"""MDAV by the plain scan: what `shoal.kernels.tables.mdav` is measured against.

No tree and no bounds, but nothing wasted either: live records lie side by side in one array, a removed one is
overwritten by the last, x_s and the neighbours of x_r cost one pass each, and the k nearest are kept in a
small heap that ties cannot slow down. The labels are those of `shoal.tables.partition.mdav.MDAV`, to the bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.kernels.compile import compiled
from shoal.kernels.tables.mdav import add_exactly, sum_exactly
from shoal.tables.partition.base import rank_array
from shoal.tables.partition.mdav import mixed_points

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@compiled
def _squared(points: Floats, i: int, query: Floats) -> float:
    total = 0.0
    for j in range(len(query)):
        difference = points[i, j] - query[j]
        total += difference * difference
    return total


@compiled
def _farthest(points: Floats, rows: Ints, n_alive: int, query: Floats) -> int:
    best, place = -1.0, 0
    for i in range(n_alive):
        distance = _squared(points, i, query)
        if distance > best or (distance == best and rows[i] < rows[place]):
            best, place = distance, i
    return place


@compiled
def _nearest(points: Floats, rows: Ints, n_alive: int, query: Floats, heap: Floats, members: Ints) -> None:
    """Keep the nearest in a heap with the worst (distance, row) on top."""
    size = len(members)
    for i in range(size):
        heap[i], members[i] = np.inf, 2**62
    for i in range(n_alive):
        distance, row = _squared(points, i, query), rows[i]
        if distance > heap[0] or (distance == heap[0] and row > members[0]):
            continue
        hole = 0
        while 2 * hole + 1 < size:
            child = 2 * hole + 1
            if child + 1 < size and (
                heap[child + 1] > heap[child]
                or (heap[child + 1] == heap[child] and members[child + 1] > members[child])
            ):
                child += 1
            if heap[child] < distance or (heap[child] == distance and members[child] < row):
                break
            heap[hole], members[hole] = heap[child], members[child]
            hole = child
        heap[hole], members[hole] = distance, row


@compiled
def _scan(
    points: Floats,
    rows: Ints,
    places: Ints,
    sums: Floats,
    rests: Floats,
    k: int,
    labels: npt.NDArray[np.int32],
) -> int:
    n_alive, n_columns = points.shape
    label, is_partner = 0, False
    query, seed = np.zeros(n_columns), np.zeros(n_columns)
    heap, members = np.zeros(k - 1), np.zeros(k - 1, np.int64)
    while n_alive >= 2 * k:
        for j in range(n_columns):
            query[j] = seed[j] if is_partner else sums[j] / n_alive
        row = rows[_farthest(points, rows, n_alive, query)]
        is_partner = not is_partner and n_alive >= 3 * k
        for i in range(k):
            if i == 1:
                _nearest(points, rows, n_alive, seed, heap, members)
            if i > 0:
                row = members[i - 1]
            place = places[row]
            n_alive -= 1
            for j in range(n_columns):
                value = points[place, j]
                if i == 0:
                    seed[j] = value
                add_exactly(sums, rests, j, -value)
                points[place, j] = points[n_alive, j]
            rows[place] = rows[n_alive]
            places[rows[place]] = place
            labels[row] = label
        label += 1
    return label


def plain_mdav(X: Any, k: int) -> npt.NDArray[np.int32]:
    """Label the rows of a numeric array without missing values."""
    points = mixed_points(rank_array(X)).points.copy()
    sums, rests = np.zeros(points.shape[1]), np.zeros(points.shape[1])
    sum_exactly(points, sums, rests)
    rows = np.arange(len(points))
    labels = np.full(len(points), -1, np.int32)
    last = _scan(points, rows, rows.copy(), sums, rests, k, labels)
    labels[labels < 0] = last
    return labels
