"""Distinct records of a table, and what it costs to publish some of them with the same labels.

A group's label in an attribute covers its least to its greatest rank, as leaves of a taxonomy stand from left to right.
"""

from __future__ import annotations

from typing import NamedTuple

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled


class Cells(NamedTuple):
    """Distinct records and what it costs not to tell values apart.

    Attributes
    ----------
    ranks : int32 array (n_distinct, m)
    counts : int64 array (n_distinct,)
        How many records each stands for.
    widths : int64 array (m,)
        Number of levels of each attribute's tree, leaves and root included.
    starts : int64 array (m,)
        Where each attribute begins in `nodes` and `penalties`: entry ``starts[a] + rank * widths[a] + height``.
    nodes : int32 array
        The node above each rank at each height, from 0 and ascending with the ranks.
    penalties : float64 array
        The loss of a cell published as that node, 0 to 1.
    lines : int64 array (m,)
        Where the attribute begins in `positions` if the loss of a cell is the length from its least to its greatest
        value; -1 if it is that of the lowest node above both.
    positions : float64 array
        Values between 0 and 1; a missing one at 2.
    """

    ranks: Codes
    counts: Ints
    widths: Ints
    starts: Ints
    nodes: Codes
    penalties: Floats
    lines: Ints
    positions: Floats


@compiled
def penalty(cells: Cells, a: int, low: int, high: int) -> float:
    """The loss of a cell whose label covers the ranks low .. high."""
    if low == high:
        return 0.0
    if cells.lines[a] >= 0:
        return float(min(cells.positions[cells.lines[a] + high] - cells.positions[cells.lines[a] + low], 1.0))
    below, above = cells.starts[a] + low * cells.widths[a], cells.starts[a] + high * cells.widths[a]
    while cells.nodes[below] != cells.nodes[above]:
        below += 1
        above += 1
    return float(cells.penalties[below])
