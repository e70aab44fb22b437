"""The information loss of groups: how far their records lie apart, as a share of the whole table.

References
----------
J.-W. Byun, A. Kamra, E. Bertino, N. Li, "Efficient k-anonymization using clustering techniques", DASFAA 2007 (the
information loss of an equivalence class).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Codes, Floats, Rows
from shoal.data.tables.table import count_codes
from shoal.kernels.tables.width_tree import WidthPoints
from shoal.tables.encoding import Ranked

FINEST = 2.0**-40  # sums of thousands of multiples of it are exact, so they depend on no order and ties are true ties
MISSING = 2.0  # a coordinate at least 1 from all that are present


def width_points(ranked: Sequence[Ranked]) -> WidthPoints:
    """Lay out quasi-identifiers as points of which any group has the width D(e) as a plain sum over columns.

    The width of a group is the sum over columns of ``weight * min(highest - lowest, 1)``. Numbers and ordered
    categories are one column from 0 to 1, with a missing value at 2: a group that mixes missing and present values
    has width 1. Plain categories are their ranks. A taxonomy of height H becomes H columns of weight 1 / H, one a
    level, that hold the node above each leaf; a group differs in as many as the height at which it meets.
    """
    n_rows = len(ranked[0].ranks)
    cells: list[Floats] = []
    weights: list[float] = []
    for attribute in sorted(ranked, key=lambda a: a.name):
        coordinates: list[tuple[Floats, float]] = []
        if attribute.kind in ("number", "order"):
            coordinates.append((_unit(attribute), 1.0))
        elif attribute.kind == "category":
            coordinates.append((np.arange(attribute.n_values, dtype=np.float64), 1.0))
        else:
            assert attribute.ancestors is not None, "a tree has ancestors"
            height = attribute.ancestors.shape[1] - 1
            for h in range(height):
                _, first, node = np.unique(attribute.ancestors[:, h], return_index=True, return_inverse=True)
                coordinates.append((first[node].astype(np.float64), _round(1 / height)))
        for coordinate, weight in coordinates:
            column = coordinate[attribute.ranks]
            if (column != column[0]).any():  # a constant widens no group
                cells.append(column)
                weights.append(weight)
    if not cells:
        return WidthPoints(np.zeros((n_rows, 1)), np.ones(1))
    return WidthPoints(np.ascontiguousarray(np.column_stack(cells)), np.array(weights))


def _round(value: float) -> float:
    return float(np.rint(value / FINEST) * FINEST)


def _unit(attribute: Ranked) -> Floats:
    """The place of each rank between the least, 0, and the greatest, 1."""
    n_present = attribute.n_values - attribute.has_missing
    values = attribute.positions if attribute.kind == "number" else np.arange(attribute.n_values, dtype=np.float64)
    unit = np.full(attribute.n_values, MISSING)
    if n_present:
        present = np.ldexp(values[:n_present], -2)  # the range of the largest numbers does not overflow
        offsets = present - present[0]
        # Steps of whole numbers get one length, so that equal differences stay equal.
        step = np.float64(np.float32(1 / offsets[-1])) if 1e-30 < offsets[-1] < 1e30 else 0.0
        if not step and offsets[-1] > 0:
            offsets, step = offsets / offsets[-1], 1.0
        unit[:n_present] = np.minimum(np.rint(offsets * step / FINEST) * FINEST, 1.0)
    return unit


def group_losses(ranked: Sequence[Ranked], labels: Codes, weights: Codes | None = None) -> Floats:
    """IL(e) of each group: ``|e| * D(e)``.

    D(e) is the sum over numbers of range / range of the table (of ordered categories the same in ranks), over
    taxonomies of the height at which the values meet / height of the tree, and over plain categories, taken for a
    tree of height 1, of 1 where they differ. An attribute of which some values are missing and some are not counts 1.

    Parameters
    ----------
    ranked : sequence of Ranked
        Their dictionaries say what the whole table holds.
    labels : int array (n_rows,)
        The group of each record, 0 .. g - 1.
    weights : int32 array (n_rows,), optional
        How many records each row stands for.
    """
    sizes = np.bincount(labels)
    widths = np.zeros(len(sizes))
    used = sizes > 0
    order, starts = np.argsort(labels, kind="stable"), (np.cumsum(sizes) - sizes)[used]
    for attribute in ranked:
        cells = attribute.ranks[order]
        widths[used] += _widths(attribute, np.minimum.reduceat(cells, starts), np.maximum.reduceat(cells, starts))
    return np.asarray(count_codes(labels, weights) * widths)


def _widths(attribute: Ranked, low: Rows, high: Rows) -> Floats:
    """Widths of groups from their least and greatest ranks; leaves of a tree lie from left to right."""
    if attribute.kind == "category":
        return np.asarray(low != high, dtype=np.float64)
    if attribute.kind == "tree":
        assert attribute.ancestors is not None, "a tree has ancestors"
        apart = (attribute.ancestors[low] != attribute.ancestors[high]).sum(axis=1)
        return np.asarray(apart / max(1, attribute.ancestors.shape[1] - 1))
    n_present = attribute.n_values - attribute.has_missing
    values = attribute.positions if attribute.kind == "number" else np.arange(attribute.n_values, dtype=np.float64)
    values = np.ldexp(np.append(values[:n_present], [0.0] * attribute.has_missing), -2)
    extent = values[n_present - 1] - values[0] if n_present else 0.0
    mixed = (low < n_present) & (high >= n_present)
    return np.where(mixed, 1.0, (values[high] - values[low]) / (extent or 1.0))


def information_loss(ranked: Sequence[Ranked], labels: Codes, weights: Codes | None = None) -> float:
    """Total-IL: the sum of `group_losses`; 0 where all groups are of equal records, and at most records * attributes.

    >>> age = Ranked("age", "number", np.array([0, 1, 2, 3], np.int32), np.array([20.0, 30.0, 50.0, 60.0]))
    >>> information_loss([age], np.array([0, 0, 1, 1]))
    1.0
    """
    return float(group_losses(ranked, labels, weights).sum())
