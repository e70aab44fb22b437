"""The Hilbert curve through the cells of a grid: an order of records in which near ones are seldom far apart.

References
----------
J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707, 2004: the place of a cell on the curve.
That grids are turned and shifted, so that records which one curve parts are together on another, is ours.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Ints, Words
from shoal.kernels.compile import compiled

AXES = 8  # of a grid at most; 8 bits are left for each


@compiled
def _curve_keys(axes: Floats, frame: Floats, shift: float, n_bits: int, keys: Words) -> None:
    """Place of each record on the Hilbert curve through the cells of a turned and shifted cubic grid."""
    n_axes, n_turned = frame.shape
    turned, cell = np.zeros(n_turned), np.zeros(n_turned, np.int64)
    low, high = np.full(n_turned, np.inf), np.full(n_turned, -np.inf)
    steps = 0.0
    for counting in range(2):
        for row in range(len(axes)):
            for e in range(n_turned):
                total = 0.0
                for j in range(n_axes):
                    total += axes[row, j] * frame[j, e]
                turned[e] = total
            if counting == 0:
                for e in range(n_turned):
                    low[e], high[e] = min(low[e], turned[e]), max(high[e], turned[e])
                continue
            for e in range(n_turned):
                cell[e] = min(max(int((turned[e] - low[e]) * steps), 0), (1 << n_bits) - 1)
            # From the coarsest bit down, cells are turned back as the curve is inside the cell that holds them.
            bit = 1 << (n_bits - 1)
            while bit > 1:
                finer = bit - 1
                for e in range(n_turned):
                    if cell[e] & bit:
                        cell[0] ^= finer
                    else:
                        change = (cell[0] ^ cell[e]) & finer
                        cell[0] ^= change
                        cell[e] ^= change
                bit >>= 1
            for e in range(1, n_turned):  # the rest is a Gray code
                cell[e] ^= cell[e - 1]
            flips, bit = 0, 1 << (n_bits - 1)
            while bit > 1:
                if cell[n_turned - 1] & bit:
                    flips ^= bit - 1
                bit >>= 1
            key = np.uint64(0)
            for b in range(n_bits - 1, -1, -1):
                for e in range(n_turned):
                    key = (key << np.uint64(1)) | np.uint64(((cell[e] ^ flips) >> b) & 1)
            keys[row] = key
        if counting == 0:
            extent = 0.0
            for e in range(n_turned):
                extent = max(extent, high[e] - low[e])
            extent *= 1.0 + shift
            for e in range(n_turned):
                low[e] -= shift * extent / 2.0
            steps = (1 << n_bits) / extent if extent > 0.0 else 0.0


def curve_order(axes: Floats, frame: Floats, shift: float) -> Ints:
    """Rows in the order of a Hilbert curve; rows in the same cell stay as they are."""
    keys = np.empty(len(axes), np.uint64)
    _curve_keys(axes, frame, shift, min(64 // frame.shape[1], 31), keys)
    return np.argsort(keys, kind="stable")


def turned_frames(n_axes: int, n_curves: int) -> list[tuple[Floats, float]]:
    """Axes and shifts of grids: always the same, and rounded so that they are the same on every machine.

    The first is not turned, unless there are more than `AXES` axes: then all grids lie in a random subspace.
    """
    rng = np.random.default_rng(1)
    n_turned = min(n_axes, AXES)
    frames = []
    for i in range(n_curves):
        frame = np.linalg.qr(rng.normal(size=(n_axes, n_turned)))[0]
        if i == 0 and n_axes == n_turned:
            frame = np.eye(n_axes)
        frames.append((np.ascontiguousarray(np.rint(frame * 2**20) / 2**20), float(rng.random()) if i else 0.0))
    return frames
