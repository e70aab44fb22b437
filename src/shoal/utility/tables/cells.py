"""Cells of a histogram between round numbers, so that no edge is a value of a record."""

from __future__ import annotations

import math

import numpy as np

from shoal.arrays import Floats

SMALLEST = 1e-300


def round_width(width: float) -> float:
    """The next of 1, 2, 5, 10, ... times a power of ten; 1 where there is no width.

    >>> round_width(0.3), round_width(17), round_width(0)
    (0.5, 20.0, 1.0)
    """
    if width < SMALLEST:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    return float(next(m * power for m in (1, 2, 5, 10, 20) if m * power >= width * (1 - 1e-9)))


def round_edges(low: float, high: float, n_cells: int) -> Floats:
    """Edges of about `n_cells` cells of one round width that hold low .. high.

    Rounding can put the first edge a hair above `low`: count values clipped to the edges.

    >>> round_edges(0.17, 0.98, 4).tolist()
    [0.0, 0.5, 1.0]
    """
    size = max(abs(low), abs(high))
    # Far from zero, cells must be wide enough for their edges to be different numbers.
    width = round_width(max((high - low) / n_cells, size * 1e-9) if low < high else max(1.0, size * 1e-3))
    return np.arange(math.floor(low / width), math.floor(high / width) + 2, dtype=np.float64) * width


def whole_edges(low: float, high: float, n_cells: int) -> Floats:
    """The same for whole numbers: edges lie halfway between them, and each cell holds equally many.

    >>> whole_edges(1, 3, 24).tolist()
    [0.5, 1.5, 2.5, 3.5]
    """
    width = max(1.0, round_width(math.ceil((high - low + 1) / n_cells)))
    return np.arange(math.floor(low / width), math.floor(high / width) + 2, dtype=np.float64) * width - 0.5
