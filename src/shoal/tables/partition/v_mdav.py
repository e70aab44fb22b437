"""V-MDAV: groups of variable size around far records, which suits records that lie in clusters.

While k records or more are left: the one farthest from the average of all forms a group with the k-1 records nearest to
it. Then, up to 2k-1 records, the record nearest to a member joins if its distance from that member is less than gamma
times its distance from the nearest other record that is left. What is left in the end, fewer than k, joins the group
of the nearest record. Distances and averages are those of MDAV (`shoal.tables.partition.mdav`).

**Guarantee**: every group has at least k records; not more than 2k-1 but for what is left in the end.

**Not protected**: what a group has in common. Groups are made from the quasi-identifiers alone, so a group may hold
one sensitive value only, and what is published in place of the records decides whether the table is k-anonymous.

References
----------
A. Solanas, A. Martinez-Balleste, "V-MDAV: a multivariate microaggregation with variable group size", COMPSTAT 2006.
We take as the distance from a group that from its nearest record for leftovers too; ties go to the smallest
row; and neighbours are found by a tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Codes, Floats
from shoal.errors import PolicyError
from shoal.tables.encoding import Ranked
from shoal.tables.partition.base import PARTITIONS, Partition, PartitionMethod, refuse_infeasible
from shoal.tables.partition.mdav import mixed_points

if TYPE_CHECKING:
    from shoal.kernels.tables.mdav import MixedPoints


def average_point(data: MixedPoints) -> Floats:
    """The average record: mean, median category (the first with half of the records), or most frequent category."""
    n_rows = len(data.points)
    average = data.points.mean(axis=0)
    for j, owner in enumerate(data.owner):
        if owner >= 0:
            counts = np.bincount(data.codes[:, owner])
            rank = np.searchsorted(2 * np.cumsum(counts), n_rows) if data.is_median[owner] else counts.argmax()
            average[j] = data.coordinates[data.offsets[j] + rank]
    return np.asarray(average)


def v_mdav_labels(ranked: Sequence[Ranked], k: int, gamma: float = 0.2) -> Codes:
    """Partition records into groups of at least k by V-MDAV.

    Groups are numbered in the order in which they form; ties go to the smallest row. `gamma` says how readily they
    grow: 0 never; the paper takes 0.2 for scattered and 1.1 for clustered records.

    Parameters, result and errors are those of every partition (`shoal.tables.partition.base.GroupRecords`).
    """
    refuse_infeasible(ranked, k)
    if isinstance(gamma, bool) or not isinstance(gamma, int | float | np.number) or not 0 <= float(gamma) < np.inf:
        raise PolicyError(f"gamma must be a number of 0 or more, not {gamma!r}; 0.2 suits scattered records")
    return label_mixed(mixed_points(ranked), k, gamma)


def label_mixed(data: MixedPoints, k: int, gamma: float = 0.2) -> Codes:
    """Partition records that are laid out as points already."""
    from shoal.kernels.tables.v_mdav import label_v_mdav

    return label_v_mdav(data.points, data.weights, data.n_metric, average_point(data), int(k), float(gamma))


class VMDAV(Partition):
    """MDAV with variable group sizes; see the module for the algorithm and its reference.

    Parameters
    ----------
    k : int, default 5
        Smallest size of a group.
    gamma : float, default 0.2
        How readily groups grow beyond k.

    Notes
    -----
    **Guarantee**: every group has at least k records. **Not protected**: a group may share one sensitive value.

    Groups are numbered in the order in which they form.

    Examples
    --------
    >>> VMDAV(k=2, gamma=1.1).fit([[0.0], [0.1], [0.2], [7.0], [7.1], [7.3]]).labels_.tolist()
    [1, 1, 1, 0, 0, 0]
    """

    grouping = staticmethod(v_mdav_labels)

    def __init__(self, k: int = 5, gamma: float = 0.2) -> None:
        super().__init__(k)
        self.gamma = gamma


PARTITIONS.register(
    PartitionMethod(
        name="v-mdav",
        help="V-MDAV: as MDAV, and groups take in records that lie nearer to them than to others",
        reference="Solanas, Martinez-Balleste, COMPSTAT 2006",
        publication="aggregate",
        by_squares=label_mixed,
        place=6,
    )
)
