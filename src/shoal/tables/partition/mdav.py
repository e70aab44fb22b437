"""MDAV-generic: groups of at least k from the outside in.

While 3k records or more are left: x_r is the record farthest from their average, x_s the one farthest from
x_r; each forms a cluster with the k-1 records nearest to it. Of 2k to 3k-1 records, the one farthest from the
average forms a cluster and the others form the last; fewer than 2k records form one.

The distance of two records is the root of the sum of their squared distances in each attribute:

========  ===================================================================  =========================
kind      distance                                                             average
========  ===================================================================  =========================
number    difference over the population standard deviation                    mean
order     categories between over the number of categories                     median category
category  0 if equal, else 1                                                   most frequent category
tree      height at which they meet over the height of the tree                most frequent leaf
========  ===================================================================  =========================

A missing number or ordered category stands at the mean or the median, and an attribute of its own, with
distance 1, tells it from those that are present. A missing category is a category.

**Guarantee**: every group has k to 2k-1 records.

**Not protected**: what a group has in common. Groups are made from the quasi-identifiers alone, so a group
may hold one sensitive value only, and what is published in place of the records decides whether the table is
k-anonymous.

References
----------
J. Domingo-Ferrer, V. Torra, "Ordinal, continuous and heterogeneous k-anonymity through microaggregation",
Data Mining and Knowledge Discovery 11(2), 2005 (MDAV-generic). We depart from it in the
ties (to the smallest row), and in how clusters are found: by a tree instead of a scan, with the same result
(`shoal.kernels.tables.mdav`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints
from shoal.tables.encoding import Ranked
from shoal.tables.partition.base import PARTITIONS, Partition, PartitionMethod, refuse_infeasible

if TYPE_CHECKING:
    from shoal.kernels.tables.mdav import MixedPoints


class _Columns:
    """Collects the columns of `MixedPoints`, each given by its coordinate at every rank of an attribute."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self.metric: list[tuple[Floats, int, Floats, float]] = []  # cells, owner, coordinates, weight
        self.other: list[tuple[Floats, int, Floats, float]] = []
        self.codes: list[Codes] = []
        self.sizes: list[int] = []
        self.is_median: list[int] = []

    def count(self, codes: npt.NDArray[Any], n_values: int, is_median: bool = False) -> int:
        """Add an attribute whose average is a category."""
        self.codes.append(codes.astype(np.int32))
        self.sizes.append(n_values)
        self.is_median.append(int(is_median))
        return len(self.codes) - 1

    def add(self, ranks: npt.NDArray[Any], coordinates: Floats, owner: int = -1, weight: float = 0.0) -> None:
        """Add a column: metric if it has no weight. A constant adds nothing to a distance and is left out."""
        cells = coordinates[ranks]
        if (cells != cells[0]).any():
            (self.other if weight else self.metric).append((cells, owner, coordinates, weight))

    def finish(self) -> MixedPoints:
        """Lay the columns side by side."""
        from shoal.kernels.tables.mdav import MixedPoints

        columns = self.metric + self.other or [(np.zeros(self.n_rows), -1, np.zeros(0), 0.0)]
        dictionaries = [c[2] if c[1] >= 0 else np.zeros(0) for c in columns]
        ends = np.cumsum([len(d) for d in dictionaries], dtype=np.int64)
        return MixedPoints(
            points=np.ascontiguousarray(np.column_stack([c[0] for c in columns])),
            weights=np.array([c[3] for c in columns]),
            codes=np.column_stack(self.codes) if self.codes else np.zeros((self.n_rows, 0), np.int32),
            starts=np.cumsum([0, *self.sizes], dtype=np.int64),
            is_median=np.array(self.is_median, dtype=np.int64),
            owner=np.array([c[1] for c in columns], dtype=np.int64),
            offsets=np.concatenate([[0], ends[:-1]]).astype(np.int64),
            coordinates=np.concatenate(dictionaries),
            n_metric=len(self.metric) or int(not self.other),
        )


def _short(value: float) -> float:
    """Round to 24 digits, so that small multiples and sums are exact and equal distances compare equal."""
    return float(np.float32(value))


def standardised(positions: Floats, counts: Ints) -> Floats:
    """Values of mean 0 and standard deviation 1; zeros if they are all the same."""
    values = np.ldexp(positions, -int(np.frexp(np.abs(positions).max())[1]))  # no square overflows or vanishes
    values = values - (values * counts).sum() / counts.sum()
    scale = np.sqrt((values * values * counts).sum() / counts.sum())
    return np.asarray(values / scale if scale > 0 else np.zeros(len(values)))


def _median(counts: Ints) -> int:
    """The smallest rank that has half of the records up to it."""
    return int(np.searchsorted(2 * np.cumsum(counts), counts.sum()))


def _content(attribute: Ranked) -> tuple[str, int, bytes, bytes]:
    """Sorts attributes, so that sums do not depend on the order in which they are given."""
    return attribute.kind, attribute.n_values, attribute.positions.tobytes(), attribute.ranks.tobytes()


def mixed_points(ranked: Sequence[Ranked]) -> MixedPoints:
    """Lay out quasi-identifiers as points between which the distance of this module is a plain sum.

    A taxonomy of height H becomes H columns, one a level, which differ for two leaves that have not met at
    this level. With weights ``(h + 1)^2 / H^2 - h^2 / H^2`` they add up to the squared height of the meeting
    over that of the tree.
    """
    columns = _Columns(len(ranked[0].ranks))
    for attribute in sorted(ranked, key=_content):
        ranks, n_values = attribute.ranks, attribute.n_values
        if attribute.kind in ("number", "order"):
            n_present = n_values - attribute.has_missing
            missing = ranks >= n_present
            counts = np.bincount(ranks[~missing], minlength=n_present)
            if missing.all():
                continue
            if missing.any():
                indicator = columns.count(missing, 2)
                columns.add(missing.astype(np.intp), np.array([0.0, 1.0]), indicator, weight=1.0)
            if attribute.kind == "number":
                standard = np.zeros(n_values)
                standard[:n_present] = standardised(attribute.positions[:n_present], counts)
                columns.add(ranks, standard)
            else:
                filled = np.where(missing, _median(counts), ranks)
                owner = columns.count(filled, n_present, is_median=True)
                columns.add(filled, np.arange(n_present, dtype=np.float64) * _short(1 / n_present), owner)
        elif attribute.kind == "category":
            columns.add(ranks, np.arange(n_values, dtype=np.float64), columns.count(ranks, n_values), weight=1.0)
        else:
            assert attribute.ancestors is not None, "a tree has ancestors"
            owner = columns.count(ranks, n_values)
            height = attribute.ancestors.shape[1] - 1
            for h in range(height):
                _, first, node = np.unique(attribute.ancestors[:, h], return_index=True, return_inverse=True)
                left_to_right = first[node].astype(np.float64)  # the leftmost leaf below stands for the node
                columns.add(ranks, left_to_right, owner, weight=_short((2 * h + 1) / height**2))
    return columns.finish()


def points_of(coordinates: Floats) -> MixedPoints:
    """Records that are given by their coordinates."""
    from shoal.kernels.tables.mdav import MixedPoints

    n_rows, n_columns = coordinates.shape
    return MixedPoints(
        points=coordinates,
        weights=np.zeros(n_columns),
        codes=np.zeros((n_rows, 0), np.int32),
        starts=np.zeros(1, dtype=np.int64),
        is_median=np.zeros(0, dtype=np.int64),
        owner=np.full(n_columns, -1, dtype=np.int64),
        offsets=np.zeros(n_columns, dtype=np.int64),
        coordinates=np.zeros(0),
        n_metric=n_columns,
    )


def mdav_labels(ranked: Sequence[Ranked], k: int) -> Codes:
    """Partition records into groups of k to 2k-1 by MDAV-generic.

    Groups are numbered in the order in which they form. Ties go to the smallest row.

    Parameters, result and errors are those of every partition (`shoal.tables.partition.base.GroupRecords`).
    """
    from shoal.kernels.tables.mdav import label_mdav

    refuse_infeasible(ranked, k)
    return label_mdav(mixed_points(ranked), k)


class MDAV(Partition):
    """Maximum distance to average vector, generic form; see the module for the algorithm and its reference.

    Notes
    -----
    **Guarantee**: every group has k to 2k-1 records. **Not protected**: a group may share one sensitive value.

    Groups are numbered in the order in which they form. Ties go to the earlier row, so the groups of tied
    records depend on the order of the rows; the pipeline sorts them first.

    Examples
    --------
    >>> MDAV(k=2).fit([[0.0], [10.0], [0.5], [11.0], [5.0]]).labels_.tolist()
    [1, 0, 1, 0, 1]
    """

    grouping = staticmethod(mdav_labels)


def _exact(data: MixedPoints, k: int) -> Codes:
    from shoal.kernels.tables.mdav import label_mdav

    return label_mdav(data, k)


PARTITIONS.register(
    PartitionMethod(
        name="mdav",
        help="MDAV: groups of near records, built around those farthest from the average",
        reference="Domingo-Ferrer, Torra, DMKD 11, 2005",
        publication="aggregate",
        by_squares=_exact,
        place=5,
    )
)
