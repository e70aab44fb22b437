"""Distinct records of a table, and what it costs to publish some of them with the same labels.

A group's label in an attribute covers its least to its greatest rank, as leaves of a taxonomy stand from left to right.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

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


class NarrowCells(NamedTuple):
    """Some of the records, with a table of the losses between their values, for loops that are not compiled.

    Attributes
    ----------
    ranks : int64 array (m, n_records)
        Among the values that these records have; without attributes in which they are all equal.
    widths : int64 array (m, 1)
        How many values these are.
    losses : float64 array
        The loss of a cell by the least and the greatest value that its label covers, attribute by attribute.
    begins : int64 array (m, 1)
        Where each attribute begins in `losses`.
    """

    ranks: Ints
    widths: Ints
    losses: Floats
    begins: Ints

    @classmethod
    def of(cls, cells: Cells, rows: Ints) -> NarrowCells:
        """Narrow cells to some rows, of which two differ."""
        values = cells.ranks[rows]
        various = np.flatnonzero((values != values[:1]).any(axis=0))
        ranks, tables = np.empty((len(various), len(rows)), dtype=np.int64), []
        for i, a in enumerate(various):
            distinct, ranks[i] = np.unique(values[:, a], return_inverse=True)
            tables.append(_penalties_between(cells, int(a), distinct))
        begins = np.cumsum([0, *(table.size for table in tables)])[:-1, None]
        return cls(ranks, np.array([[len(t)] for t in tables]), np.concatenate([t.ravel() for t in tables]), begins)

    def loss(self, low: Ints, high: Ints) -> Floats:
        """The loss of a record of each group, by its extremes; added up attribute by attribute, as in the loops."""
        return np.asarray(np.add.accumulate(self.losses[self.begins + low * self.widths + high])[-1])

    def widened(self, low: Ints, high: Ints, records: Any) -> tuple[Ints, Ints]:
        """The extremes of groups together with a record each, or of one group with each of some records."""
        ranks = self.ranks[:, np.atleast_1d(records)]
        return np.minimum(low, ranks), np.maximum(high, ranks)


def _penalties_between(cells: Cells, a: int, ranks: Codes) -> Floats:
    """The loss of a cell whose label covers one of some ascending ranks to another; of no use where that is less."""
    if cells.lines[a] >= 0:
        positions = cells.positions[cells.lines[a] + ranks]
        return np.asarray(np.minimum(positions - positions[:, None], 1.0))
    levels = cells.starts[a] + ranks[:, None] * cells.widths[a] + np.arange(cells.widths[a])
    nodes = cells.nodes[levels]
    heights = (nodes[:, None] == nodes).argmax(axis=2)
    penalties = cells.penalties[levels[np.arange(len(ranks))[:, None], heights]]
    np.fill_diagonal(penalties, 0.0)
    return np.asarray(penalties)
