"""The Hilbert curve through the cells of a grid: an order of records in which near ones are seldom far apart.

References
----------
J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707, 2004: the place of a cell on the curve.
That grids are turned and shifted, so that records which one curve parts are together on another, is ours.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Ints, Words
from shoal.kernels.compile import compiled_beside

AXES = 8  # of a grid at most; 8 bits are left for each
_LEAST_EXTENT = 1e-290  # of narrower grids the number of steps to a unit is none


def _turned(axes: Floats, frame: Floats) -> Floats:
    """Records on turned axes, added up column by column as the loops do, so that no digit differs."""
    total = np.zeros((len(axes), frame.shape[1]))
    for j in range(len(frame)):
        total += axes[:, j, None] * frame[j]
    return total


def _stretch_all(axes: Floats, frame: Floats, low: Floats, high: Floats) -> None:
    turned = _turned(axes, frame)
    np.minimum(low, turned.min(axis=0, initial=np.inf), out=low)
    np.maximum(high, turned.max(axis=0, initial=-np.inf), out=high)


def _all_curve_keys(axes: Floats, frame: Floats, low: Floats, steps: float, n_bits: int, keys: Words) -> None:
    most = (1 << n_bits) - 1
    cell = np.clip((_turned(axes, frame) - low) * steps, 0, most).astype(np.int64).T.copy()
    n_turned = len(cell)
    for level in range(n_bits - 1, 0, -1):
        finer = (1 << level) - 1
        for e in range(n_turned):
            is_set = (cell[e] >> level & 1) != 0
            change = np.where(is_set, finer, (cell[0] ^ cell[e]) & finer)
            cell[e] ^= np.where(is_set, 0, change)
            if e:
                cell[0] ^= change
            else:
                cell[0] = np.where(is_set, cell[0] ^ finer, cell[0])
    np.bitwise_xor.accumulate(cell, axis=0, out=cell)
    flips = np.zeros_like(cell[0])
    for level in range(n_bits - 1, 0, -1):
        flips ^= np.where(cell[-1] >> level & 1, (1 << level) - 1, 0)
    cell ^= flips
    keys[:] = 0
    for level in range(n_bits - 1, -1, -1):
        for e in range(n_turned):
            keys[:] = (keys << np.uint64(1)) | (cell[e] >> level & 1).astype(np.uint64)


@compiled_beside(_stretch_all)
def _stretch_ends(axes: Floats, frame: Floats, low: Floats, high: Floats) -> None:
    """Move the ends of the turned axes apart until they hold all records."""
    n_axes, n_turned = frame.shape
    for row in range(len(axes)):
        for e in range(n_turned):
            total = 0.0
            for j in range(n_axes):
                total += axes[row, j] * frame[j, e]
            low[e], high[e] = min(low[e], total), max(high[e], total)


@compiled_beside(_all_curve_keys)
def _curve_keys(axes: Floats, frame: Floats, low: Floats, steps: float, n_bits: int, keys: Words) -> None:
    """Place of each record on the Hilbert curve through the cells of a turned cubic grid that begins at ``low``."""
    n_axes, n_turned = frame.shape
    cell = np.zeros(n_turned, np.int64)
    for row in range(len(axes)):
        for e in range(n_turned):
            total = 0.0
            for j in range(n_axes):
                total += axes[row, j] * frame[j, e]
            cell[e] = min(max(int((total - low[e]) * steps), 0), (1 << n_bits) - 1)
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


class CurveGrid:
    """A turned and shifted cubic grid around records that are shown to it, in as many pieces as one likes."""

    def __init__(self, frame: Floats, shift: float) -> None:
        self._frame, self._shift, self._n_bits = frame, shift, min(64 // frame.shape[1], 31)
        self._low, self._high = np.full(frame.shape[1], np.inf), np.full(frame.shape[1], -np.inf)

    def show(self, axes: Floats) -> None:
        """Make the grid large enough for these records too."""
        _stretch_ends(axes, self._frame, self._low, self._high)

    def keys(self, axes: Floats) -> Words:
        """Place of each record on the curve; that of one does not depend on which others are asked for with it."""
        extent = float((self._high - self._low).max()) * (1.0 + self._shift)
        steps = (1 << self._n_bits) / extent if extent > _LEAST_EXTENT else 0.0
        keys = np.empty(len(axes), np.uint64)
        _curve_keys(axes, self._frame, self._low - self._shift * extent / 2.0, steps, self._n_bits, keys)
        return keys


def curve_order(axes: Floats, frame: Floats, shift: float) -> Ints:
    """Rows in the order of a Hilbert curve; rows in the same cell stay as they are."""
    grid = CurveGrid(frame, shift)
    grid.show(axes)
    return np.argsort(grid.keys(axes), kind="stable")


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
