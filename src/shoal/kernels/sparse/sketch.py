"""Sketches of sparse records: signed sums of weights, one component after another.

Components `first`, `first` + 1, ... of record r are written behind ``out_starts[r]``, as far as ``counts[r]`` reaches.
All run over tiles of 64 components, of which `table` has a whole number, and take the signs of an item as a slice: the
inner loop then has a fixed length over adjacent numbers and becomes a few vector instructions.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Signs
from shoal.kernels.compile import compiled

TILE = 64
_MOST_8 = 127  # what lanes of 8 and 16 bits hold
_MOST_16 = 32767


@compiled
def sketch_sets(
    starts: Ints,
    items: Codes,
    table: Signs,
    counts: Ints,
    out_starts: Ints,
    first: int,
    begin: int,
    end: int,
    out: Ints,
) -> None:
    """Records whose weights are all 1, rows `begin` to `end`: sums in lanes of 8 bits, 127 items at a time."""
    sums = np.empty(TILE, np.int8)
    for row in range(begin, end):
        n = min(counts[row] - first, table.shape[1])
        for tile in range(0, n, TILE):
            to = out_starts[row] + first + tile
            ours = out[to : to + min(TILE, n - tile)]
            t = starts[row]
            while True:
                stop = min(t + _MOST_8, starts[row + 1])
                for j in range(TILE):
                    sums[j] = 0
                # Four at a time: a sum that has just been stored is not soon ready to be added to.
                fours = stop - (stop - t) % 4
                for place in range(t, fours, 4):
                    a = table[items[place], tile : tile + TILE]
                    b = table[items[place + 1], tile : tile + TILE]
                    c = table[items[place + 2], tile : tile + TILE]
                    d = table[items[place + 3], tile : tile + TILE]
                    for j in range(TILE):
                        sums[j] += a[j] + b[j] + c[j] + d[j]
                for place in range(fours, stop):
                    signs = table[items[place], tile : tile + TILE]
                    for j in range(TILE):
                        sums[j] += signs[j]
                if t == starts[row]:
                    for j in range(len(ours)):
                        ours[j] = sums[j]
                else:
                    for j in range(len(ours)):
                        ours[j] += sums[j]
                t = stop
                if t >= starts[row + 1]:
                    break


@compiled
def sketch_counts(
    starts: Ints,
    items: Codes,
    weights: Ints,
    table: Signs,
    counts: Ints,
    out_starts: Ints,
    first: int,
    begin: int,
    end: int,
    out: Ints,
) -> None:
    """Records of whole numbers, rows `begin` to `end`: in lanes of 16 bits where they fit; 63 bits must hold them."""
    narrow = np.empty(TILE, np.int16)
    wide = np.empty(TILE, np.int64)
    for row in range(begin, end):
        n = min(counts[row] - first, table.shape[1])
        total = np.int64(0)
        for t in range(starts[row], starts[row + 1]):
            total += abs(weights[t])
        for tile in range(0, n, TILE):
            to = out_starts[row] + first + tile
            ours = out[to : to + min(TILE, n - tile)]
            if total <= _MOST_16:
                for j in range(TILE):
                    narrow[j] = 0
                for t in range(starts[row], starts[row + 1]):
                    signs = table[items[t], tile : tile + TILE]
                    light = np.int16(weights[t])
                    for j in range(TILE):
                        narrow[j] += light * signs[j]
                for j in range(len(ours)):
                    ours[j] = narrow[j]
            else:
                for j in range(TILE):
                    wide[j] = 0
                for t in range(starts[row], starts[row + 1]):
                    signs = table[items[t], tile : tile + TILE]
                    weight = weights[t]
                    for j in range(TILE):
                        wide[j] += weight * signs[j]
                for j in range(len(ours)):
                    ours[j] = wide[j]


@compiled
def sketch_reals(
    starts: Ints,
    items: Codes,
    weights: Floats,
    table: Signs,
    counts: Ints,
    out_starts: Ints,
    first: int,
    begin: int,
    end: int,
    step: float,
    out: Floats,
) -> None:
    """Records of real numbers, rows `begin` to `end`, added in the order of the items, rounded to multiples of step."""
    sums = np.empty(TILE, np.float64)
    for row in range(begin, end):
        n = min(counts[row] - first, table.shape[1])
        for tile in range(0, n, TILE):
            for j in range(TILE):
                sums[j] = 0.0
            for t in range(starts[row], starts[row + 1]):
                signs = table[items[t], tile : tile + TILE]
                weight = weights[t]
                for j in range(TILE):
                    sums[j] += weight * signs[j]
            to = out_starts[row] + first + tile
            ours = out[to : to + min(TILE, n - tile)]
            for j in range(len(ours)):
                # + 0.0 makes a negative zero positive: its sign would tell what was rounded away.
                ours[j] = np.rint(sums[j] / step) * step + 0.0
