"""Segments of sorted string lengths: the paper's greedy scan, and the one that leaves out as few as possible."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Ints
from shoal.kernels.compile import compiled


@compiled
def greedy_runs(lengths: Ints, limits: Ints, k: int) -> Ints:
    """The segment of each length, -1 where it is left out.

    ``lengths`` ascend; ``limits[i]`` is the largest length that may stand in a segment that begins at i.
    """
    n = len(lengths)
    out = np.full(n, -1, np.int64)
    n_segments, i, end = 0, 0, 0
    while i < n:
        end = max(end, i)
        while end < n and lengths[end] <= limits[i]:
            end += 1
        if end - i < k:
            i += 1
            continue
        out[i:end] = n_segments
        n_segments += 1
        i = end
    return out


@compiled
def optimal_runs(lengths: Ints, limits: Ints, k: int) -> Ints:
    """As `greedy_runs`, with the fewest lengths left out; of several such segmentations one of long segments.

    ``cost[j]`` is the fewest left out among the first j lengths. A segment that ends with the j-th may begin after
    any i for which both bounds of the window grow with j, so a queue of ascending costs holds the best of them.
    """
    n = len(lengths)
    cost = np.zeros(n + 1, np.int64)
    begin = np.full(n + 1, -1, np.int64)  # where the segment begins that ends here; -1: this length is left out
    queue = np.empty(n + 1, np.int64)
    head, tail = 0, 0
    for j in range(1, n + 1):
        cost[j] = cost[j - 1] + 1
        i = j - k
        if i >= 0:
            while tail > head and cost[queue[tail - 1]] > cost[i]:
                tail -= 1
            queue[tail] = i
            tail += 1
        while head < tail and limits[queue[head]] < lengths[j - 1]:
            head += 1
        if head < tail and cost[queue[head]] <= cost[j]:
            cost[j] = cost[queue[head]]
            begin[j] = queue[head]
    out = np.full(n, -1, np.int64)
    n_segments, j = 0, n
    while j > 0:
        if begin[j] < 0:
            j -= 1
            continue
        out[begin[j] : j] = n_segments
        n_segments += 1
        j = begin[j]
    for i in range(n):
        if out[i] >= 0:
            out[i] = n_segments - 1 - out[i]
    return out
