"""Nearest neighbours: each record that is left, in turn, is grouped with the k - 1 nearest that are left.

The baseline to which k-member clustering is compared. The distance of two records is the width of the two
(`shoal.tables.information_loss`): the difference over the range for numbers, the height at which they meet over the
height of the tree for categories. What is left, fewer than k, joins the groups whose information loss it adds to
least.

**Guarantee**: every group has at least k records.

**Not protected**: what a group has in common, as for every partition.

References
----------
J.-W. Byun, A. Kamra, E. Bertino, N. Li, "Efficient k-anonymization using clustering techniques", DASFAA 2007 (the
k-nearest neighbour algorithm of the experiments). Records come in the order of rows, and ties go to the
smallest row, where the paper leaves both open.
"""

from __future__ import annotations

from collections.abc import Sequence

from shoal.arrays import Codes
from shoal.tables.encoding import Ranked
from shoal.tables.partition.base import PARTITIONS, Partition, PartitionMethod, refuse_infeasible
from shoal.tables.partition.k_member import number_records


def nearest_neighbours_labels(ranked: Sequence[Ranked], k: int) -> Codes:
    """Partition records into groups of at least k nearest neighbours.

    Groups are numbered in the order of their first rows; rows come in turn.

    Parameters, result and errors are those of every partition (`shoal.tables.partition.base.GroupRecords`).
    """
    from shoal.kernels.tables.k_member import label_neighbours
    from shoal.tables.information_loss import width_points

    refuse_infeasible(ranked, k)
    return label_neighbours(width_points(ranked), number_records(ranked), int(k))


class NearestNeighbours(Partition):
    """Groups of nearest neighbours; see the module for the algorithm and its reference.

    Notes
    -----
    **Guarantee**: every group has at least k records. **Not protected**: a group may share one sensitive value.

    Groups are numbered in the order of their first rows.

    Examples
    --------
    >>> NearestNeighbours(k=2).fit([[0.0], [10.0], [0.5], [11.0], [5.0]]).labels_.tolist()
    [0, 1, 0, 1, 0]
    """

    grouping = staticmethod(nearest_neighbours_labels)


PARTITIONS.register(
    PartitionMethod(
        name="nearest-neighbours",
        help="nearest neighbours: each record not yet in a group gathers those nearest to it",
        reference="Byun, Kamra, Bertino, Li, DASFAA 2007",
        by_widths=nearest_neighbours_labels,
        place=3,
    )
)
