"""Penalties a cell for being generalised at all: minimal distortion and ILoss.

A cell is charged by the label that stands for it. Where a published column is given and its labels are nodes of the
attribute's hierarchy, or ranges of numbers and dates, those labels count; otherwise the least label that covers the
group does, as in `loss`. A suppressed record is charged in every cell as if it were generalised to the root.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.arrays import Codes, Floats, Rows
from shoal.data.tables.table import Column, spell
from shoal.errors import DataError
from shoal.utility.tables.grouping import Grouping, inner
from shoal.utility.tables.loss import meets
from shoal.utility.tables.scale import Scale
from shoal.utility.tables.spans import group_spans


@dataclass(frozen=True)
class Distortion:
    """Minimal distortion of a release.

    Attributes
    ----------
    penalty : int
        Cells that were generalised, changed or suppressed, one each.
    share : float
        The same over all quasi-identifying cells: 0 the best, 1 the worst.
    by_level : float
        Each such cell counts ``height of its label / height of the hierarchy``, without a hierarchy 1; summed.
    share_by_level : float
        The same over all cells. One minus it is Sweeney's precision.
    attributes : mapping of str to float
        Share of charged cells in each attribute.
    """

    penalty: int
    share: float
    by_level: float
    share_by_level: float
    attributes: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "attributes": dict(self.attributes)}


@dataclass(frozen=True)
class ILoss:
    """ILoss of a release.

    Attributes
    ----------
    total : float
        Weighted sum over all cells of ``(values under the label - 1) / values of the domain``.
    mean : float
        The total over records and weights: the loss of an average cell, 0 the best, always below 1.
    attributes : mapping of str to float
        Loss of an average cell of each attribute, unweighted.
    """

    total: float
    mean: float
    attributes: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "attributes": dict(self.attributes)}


def minimal_distortion(
    scales: Sequence[Scale],
    grouping: Grouping,
    published: Mapping[str, Column] | None = None,
    kept: Rows | None = None,
) -> Distortion:
    """One penalty for every cell that no longer shows its value.

    Parameters
    ----------
    scales : sequence of Scale
        The quasi-identifiers.
    published : mapping of str to Column, optional
        The published columns, for labels above the least ones.
    kept : intp array, optional
        The published rows behind ``grouping.rows``; by default all, in order.

    References
    ----------
    P. Samarati, "Protecting respondents' identities in microdata release", IEEE TKDE 13(6), 2001; L. Sweeney,
    "Achieving k-anonymity privacy protection using generalization and suppression", IJUFKS 10(5), 2002, definition of
    precision (by level).
    """
    charged: dict[str, float] = {}
    penalty, by_level = 0, 0.0
    for scale in scales:
        levels = level_shares(scale, grouping, *_labels(scale, published, kept))
        some = int(grouping.sizes[levels > 0].sum()) + grouping.n_suppressed
        penalty += some
        by_level += inner(levels, grouping.sizes) + grouping.n_suppressed
        charged[scale.name] = some / max(grouping.n_rows, 1)
    n_cells = max(len(scales) * grouping.n_rows, 1)
    return Distortion(penalty, penalty / n_cells, by_level, by_level / n_cells, charged)


def iloss(
    scales: Sequence[Scale],
    grouping: Grouping,
    weights: Mapping[str, float] | None = None,
    published: Mapping[str, Column] | None = None,
    kept: Rows | None = None,
) -> ILoss:
    """How many other values each label covers, as a share of the domain.

    The domain of a hierarchy are its leaves; of any other attribute the values that occur, and the missing one if any
    is. A range covers the values of the domain inside it.

    Parameters
    ----------
    weights : mapping of str to float, optional
        Importance of attributes, 1 where none is given.

    References
    ----------
    X. Xiao, Y. Tao, "Personalized privacy preservation", SIGMOD 2006 (ILoss).
    """
    unknown = set(weights or {}) - {s.name for s in scales}
    if unknown:
        raise DataError(f"a weight is given for {min(unknown)!r}, which is not a quasi-identifier; remove it")
    weight = {s.name: float((weights or {}).get(s.name, 1.0)) for s in scales}
    if any(not 0 <= w < np.inf for w in weight.values()):
        raise DataError("a weight of an attribute is negative or no number; give 0 or more")
    means: dict[str, float] = {}
    for scale in scales:
        covered, domain = covered_values(scale, grouping, *_labels(scale, published, kept))
        lost = inner(covered - 1, grouping.sizes) + (domain - 1) * grouping.n_suppressed
        means[scale.name] = lost / domain / max(grouping.n_rows, 1)
    total = sum(weight[name] * mean for name, mean in means.items()) * grouping.n_rows
    return ILoss(total, total / max(grouping.n_rows * sum(weight.values()), 1e-300), means)


def level_shares(scale: Scale, grouping: Grouping, column: Column | None = None, kept: Rows | None = None) -> Floats:
    """Height of each group's label over the height of the hierarchy; without one, 1 where a group mixes values."""
    height = _heights(scale, grouping, column, kept)
    if height is not None:
        assert scale.ancestors is not None
        return np.asarray(height / (scale.ancestors.shape[1] - 1), dtype=np.float64)
    return (grouping.variety(scale.codes, scale.n_values + 1) > 1).astype(np.float64)


def covered_values(
    scale: Scale, grouping: Grouping, column: Column | None = None, kept: Rows | None = None
) -> tuple[Floats, int]:
    """How many values of the domain the label of each group covers, and how many there are."""
    height = _heights(scale, grouping, column, kept)
    if height is not None:
        assert scale.ancestors is not None
        n_leaves = int(scale.leaves[-1].sum())
        covered = np.ones(grouping.n_groups)
        _, node_of = _some_value(scale, grouping)
        for h, leaves in enumerate(scale.leaves):
            at = (height == h) & (node_of >= 0)
            covered[at] = leaves[scale.ancestors[node_of[at], h]]
        covered[(height == len(scale.leaves) - 1) & (node_of < 0)] = n_leaves
        return covered, max(n_leaves, 1)
    used = scale.counts > 0
    domain = max(int(np.count_nonzero(used)), 1)
    if scale.positions is None:
        return grouping.variety(scale.codes, scale.n_values + 1).astype(np.float64), domain
    codes = scale.codes[grouping.rows]
    distinct = np.unique(scale.positions[used[:-1]])
    domain = max(len(distinct) + int(used[-1]), 1)  # spellings of one number are one value
    low, high = group_spans(scale, grouping, column, kept)
    width = np.where(
        np.isnan(low), 0, np.searchsorted(distinct, high, side="right") - np.searchsorted(distinct, low, side="left")
    )
    return width + (grouping.count(codes == scale.n_values) > 0), domain


def _labels(
    scale: Scale, published: Mapping[str, Column] | None, kept: Rows | None
) -> tuple[Column | None, Rows | None]:
    return (published or {}).get(scale.name), kept


def _some_value(scale: Scale, grouping: Grouping) -> tuple[Codes, Rows]:
    """The codes by group, and the code of one present member of each group, -1 where there is none."""
    codes = scale.codes[grouping.rows]
    present = np.where(codes < scale.n_values, codes, -1)
    return codes, grouping.greatest(present).astype(np.intp)


def _heights(scale: Scale, grouping: Grouping, column: Column | None, kept: Rows | None) -> Rows | None:
    """Height of the label of each group in its hierarchy; None without one."""
    if scale.ancestors is None:
        return None
    top = scale.ancestors.shape[1] - 1
    height, _ = meets(scale, grouping)
    codes, some = _some_value(scale, grouping)
    n_missing = grouping.count(codes == scale.n_values)
    height = np.where(some < 0, 0, height)  # nothing but missing values: published as missing
    height = np.where((n_missing > 0) & (some >= 0), top, height)
    if column is None or scale.attribute.hierarchy is None:
        return np.asarray(height)
    rows = np.arange(len(grouping.rows)) if kept is None else kept
    shown = column.codes[rows[grouping.order[grouping.starts]]] if grouping.n_groups else column.codes[:0]
    lowest = {}
    for h in range(top, -1, -1):  # a label may stay itself over several heights: the lowest says what it covers
        lowest.update(dict.fromkeys(scale.attribute.hierarchy.nodes(h), h))
    of_value = np.array([lowest.get(text, -1) for text in spell(column.values)] + [-1], dtype=np.intp)
    given = of_value[np.minimum(shown, len(column.values))]
    return np.asarray(np.where(given >= 0, np.maximum(given, height), height))
