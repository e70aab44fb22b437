"""Greedy k-member clustering: groups of at least k that grow one record at a time, by least added information loss.

A cluster starts at the record farthest from the one that was added last, and takes in k - 1 times the record that
widens it least (`shoal.tables.information_loss`). What is left, fewer than k, joins the clusters whose loss it adds to
least.

**Guarantee**: every group has at least k records.

**Not protected**: what a group has in common. Groups are made from the quasi-identifiers alone, so a group may hold
one sensitive value only, and what is published in place of the records decides whether the table is k-anonymous.

References
----------
J.-W. Byun, A. Kamra, E. Bertino, N. Li, "Efficient k-anonymization using clustering techniques", DASFAA 2007. We
depart from it in the start, which is random there: our first cluster starts at the record farthest from the first row,
and leftovers join in the order of rows; in the ties (to the smallest row); and in how records are found: by a tree
instead of a scan, with the same result (`shoal.kernels.tables.k_member`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.tables.encoding import Ranked
from shoal.tables.partition.base import PARTITIONS, Partition, PartitionMethod, refuse_infeasible


def number_records(ranked: Sequence[Ranked]) -> Ints:
    """A number for each distinct record."""
    number = np.zeros(len(ranked[0].ranks), dtype=np.int64)
    span = 1
    for attribute in ranked:
        if span * attribute.n_values >= 2**62:
            distinct, number = np.unique(number, return_inverse=True)
            span = len(distinct)
        number = number * attribute.n_values + attribute.ranks
        span *= attribute.n_values
    return number


def k_member_labels(ranked: Sequence[Ranked], k: int) -> Codes:
    """Partition records into groups of at least k by greedy k-member clustering.

    Groups are numbered in the order in which they form. Ties go to the smallest row.

    Parameters, result and errors are those of every partition (`shoal.tables.partition.base.GroupRecords`).
    """
    from shoal.kernels.tables.k_member import label_k_member
    from shoal.tables.information_loss import width_points

    refuse_infeasible(ranked, k)
    return label_k_member(width_points(ranked), number_records(ranked), int(k))


class KMember(Partition):
    """Greedy k-member clustering; see the module for the algorithm and its reference.

    Notes
    -----
    **Guarantee**: every group has at least k records. **Not protected**: a group may share one sensitive value.

    Groups are numbered in the order in which they form.

    Examples
    --------
    >>> KMember(k=2).fit([[0.0], [10.0], [0.5], [11.0], [5.0]]).labels_.tolist()
    [1, 0, 1, 0, 1]
    """

    grouping = staticmethod(k_member_labels)


PARTITIONS.register(
    PartitionMethod(
        name="k-member",
        help="k-member: groups grow by the record that widens them least",
        reference="Byun, Kamra, Bertino, Li, DASFAA 2007",
        by_widths=k_member_labels,
        proposed_for="numbers",
        most_records=500_000,
        place=2,
    )
)
