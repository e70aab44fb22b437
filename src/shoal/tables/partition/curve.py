"""Curve order: near records in a row, cut into the best groups of consecutive ones; for tables of any size.

Records are ordered along a path through near records, which starts as a Hilbert curve
(`shoal.kernels.tables.near_path`). The path is cut into groups of k to 2k - 1 so that the sum of squares within groups
is least, by a shortest path. Distances are those of MDAV (`shoal.tables.partition.mdav`); of categories, whose squares
have no mean, the sum of squares of a group is that of the distances of its pairs over its size, which is the same thing
for numbers. The cost grows as n log n.

**Guarantee**: every group has k to 2k-1 records, and no other cut of the same order has a smaller sum of squares.

**Not protected**: what a group has in common. Groups are made from the quasi-identifiers alone, so a group may hold
one sensitive value only, and what is published in place of the records decides whether the table is k-anonymous.

References
----------
J. Domingo-Ferrer, A. Martinez-Balleste, J. M. Mateo-Sanz, F. Sebe, "Efficient multivariate data-oriented
microaggregation", VLDB Journal 15(4), 2006 (MHM: the cut of Hansen and Mukherjee along a path through
multivariate records). We depart from it in the path; theirs come from quadratic heuristics.
"""

from __future__ import annotations

from collections.abc import Sequence

from shoal.arrays import Codes
from shoal.tables.encoding import Ranked
from shoal.tables.partition.base import PARTITIONS, Partition, PartitionMethod, refuse_infeasible
from shoal.tables.partition.mdav import mixed_points


def curve_order_labels(ranked: Sequence[Ranked], k: int) -> Codes:
    """Partition records into groups of k to 2k-1 that are consecutive in an order of near records.

    Groups are numbered along the path. Ties go to the smallest row.

    Parameters, result and errors are those of every partition (`shoal.tables.partition.base.GroupRecords`).
    """
    from shoal.kernels.tables.near_path import near_order
    from shoal.kernels.tables.shortest_path import cut_order

    refuse_infeasible(ranked, k)
    data = mixed_points(ranked)
    order = near_order(data.points, data.weights, data.n_metric, int(k))
    return cut_order(data.points, data.weights, data.n_metric, order, int(k))[0]


class CurveOrder(Partition):
    """Groups of consecutive records on a short path; see the module for the algorithm and its reference.

    Notes
    -----
    **Guarantee**: every group has k to 2k-1 records. **Not protected**: a group may share one sensitive value.

    Groups are numbered along the path.

    Examples
    --------
    >>> CurveOrder(k=2).fit([[0.0], [10.0], [0.5], [11.0], [5.0]]).labels_.tolist()
    [0, 1, 0, 1, 0]
    """

    grouping = staticmethod(curve_order_labels)


PARTITIONS.register(
    PartitionMethod(
        name="curve",
        help="a path through near records, cut where the groups differ least inside",
        reference="Domingo-Ferrer, Martinez-Balleste, Mateo-Sanz, Sebe, VLDB Journal 15(4), 2006",
        at_once=curve_order_labels,
        publication="aggregate",
        place=7,
    )
)
