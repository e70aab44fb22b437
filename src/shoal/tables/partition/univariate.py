"""Optimal univariate microaggregation: the groups of one number that lose least.

Sorted, the records are cut into groups of k to 2k - 1 so that the sum of squared deviations from the means of groups is
least of all partitions into groups of at least k; the cut is a shortest path (`shoal.kernels.tables.shortest_path`).

Missing values are apart from all others by 1 standard deviation beside their distance from the mean, where they stand.
If there are k or more, they come after the largest value, else between the values beside the mean.

**Guarantee**: every group has k to 2k-1 records. Without missing values no partition into groups of at least k has a
smaller sum of squares.

**Not protected**: what a group has in common. Groups are made from the quasi-identifier alone, so a group may hold one
sensitive value only.

References
----------
S. L. Hansen, S. Mukherjee, "A polynomial algorithm for optimal univariate microaggregation", IEEE TKDE 15(4), 2003.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.arrays import Codes
from shoal.errors import PolicyError
from shoal.tables.encoding import Ranked
from shoal.tables.partition.base import PARTITIONS, Partition, PartitionMethod, refuse_infeasible
from shoal.tables.partition.mdav import mixed_points


def univariate_labels(ranked: Sequence[Ranked], k: int) -> Codes:
    """Partition records by one number, or one ordered category, at the least sum of squares.

    Parameters
    ----------
    ranked : sequence of one Ranked
        The quasi-identifier. Ordered categories count by their steps.
    k : int
        Smallest size of a group, 2 at least.

    Returns
    -------
    int32 array (n_rows,)
        The group of each record, in ascending order of the values.

    Raises
    ------
    PolicyError
        If k is not an integer of 2 or more, there is more than one quasi-identifier, or it is not ordered.
    Infeasible
        If there are fewer than k records.
    DataError
        If there is no attribute, or a number is infinite.
    """
    from shoal.kernels.tables.shortest_path import cut_order

    refuse_infeasible(ranked, k)
    if len(ranked) > 1:
        raise PolicyError(
            f"the univariate partition groups by one quasi-identifier, and there are {len(ranked)}; "
            "keep one, or choose a partition of many"
        )
    if ranked[0].kind not in ("number", "order"):
        raise PolicyError(
            f"the univariate partition needs numbers or ordered categories, and {ranked[0].name!r} is neither; "
            "choose another partition"
        )
    data = mixed_points(ranked)
    missing = ranked[0].ranks == ranked[0].n_values - 1 if ranked[0].has_missing else np.zeros(len(data.points), bool)
    value = data.points[:, 0]
    order = np.lexsort((value, missing)) if missing.sum() >= k else np.lexsort((missing, value))
    return cut_order(data.points, data.weights, data.n_metric, order, int(k))[0]


class Univariate(Partition):
    """Optimal univariate microaggregation; see the module for the algorithm and its reference.

    Notes
    -----
    **Guarantee**: every group has k to 2k-1 records. **Not protected**: a group may share one sensitive value.

    `fit` takes one column, or a flat array. Groups are numbered in ascending order of the values.

    Examples
    --------
    >>> Univariate(k=2).fit([[0.0], [10.0], [0.5], [11.0], [5.0]]).labels_.tolist()
    [0, 1, 0, 1, 0]
    """

    grouping = staticmethod(univariate_labels)

    def _rank(self, X: Any) -> list[Ranked]:
        return super()._rank(np.reshape(X, (-1, 1)) if np.ndim(X) == 1 else X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, False
        return tags


PARTITIONS.register(
    PartitionMethod(
        name="univariate",
        help="the best possible cut of one sorted column",
        reference="Hansen, Mukherjee, IEEE TKDE 15(4), 2003",
        at_once=univariate_labels,
        publication="aggregate",
        few_records=10_000,
        place=8,
    )
)
