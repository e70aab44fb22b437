"""Sketches of the sums of groups of k near records, which stand once for each record of the group.

C. C. Aggarwal and P. S. Yu ("On privacy-preservation of text and sparse binary data with sketches", SDM 2007) sketch
single records; condensing groups of k first is C. C. Aggarwal, P. S. Yu, "A condensation approach to privacy preserving
data mining", EDBT 2004. What is sketched is a sum, to which the delta rule and the recovery cap apply as to a record.

**Guarantee**: every published sketch is that of the sum of at least k records, of one class, and stands there at least
k times; no item that fewer than k records hold has a part in any, and no weight of one that fewer reach. **Not
protected**: what a group has in common, once the key is known; whether a record is in the data; see also
`shoal.sparse.sketch`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Ints, Signs
from shoal.data.ragged import ragged_places
from shoal.data.sparse.record_rows import RecordRows
from shoal.data.sparse.records import MOST_WEIGHT, Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.progress import Progress
from shoal.sparse.anonymize import REASONS, AnonymizedSparse, anonymize_sparse
from shoal.sparse.content_order import canonical_order
from shoal.sparse.mean_weights import reached
from shoal.sparse.near_groups import near_groups
from shoal.sparse.pseudo_baskets import REASONS as REASONS_OF_GROUPS
from shoal.sparse.pseudo_baskets import nothing_left, without_rare


@dataclass(frozen=True)
class GroupSums:
    """The sums of groups of near records.

    Attributes
    ----------
    sums : Sparse
        One record for each group: the weights of its records added up, of items that k records hold.
    groups : int64 array (n_records,)
        The group of each record; -1 where it has none.
    reasons : int8 array (n_records,)
        Why a record has none: an index into `shoal.sparse.anonymize.REASONS`.
    """

    sums: Sparse
    groups: Ints
    reasons: Signs


@dataclass(frozen=True)
class GroupSketches:
    """What is published of groups, and what stays home.

    Attributes
    ----------
    made : AnonymizedSparse
        The sketches as they are published, each as often as its group has records.
    once : Sketches
        The same, each once.
    once_of : int64 array
        The group of each of these.
    summed : GroupSums
    """

    made: AnonymizedSparse
    once: Sketches
    once_of: Ints
    summed: GroupSums


def group_sums(records: Sparse, k: int, seed: int | None) -> GroupSums:
    """Group near records, class by class, and add them up."""
    order = canonical_order(records)
    kept, rows, why = without_rare(records.take(order), k)
    if not len(kept):
        raise nothing_left(records, k)
    found = near_groups(RecordRows.of(kept), k, np.random.default_rng(seed))
    kept = _without_extremes(kept, k)
    groups, reasons = np.full(len(records), -1, np.int64), np.zeros(len(records), np.int8)
    groups[order[rows[found.order]]] = found.groups
    codes = np.array([REASONS.index(name) for name in REASONS_OF_GROUPS if name in REASONS], np.int8)
    reasons[order] = codes[why]
    return GroupSums(_added(kept.take(found.order), found.groups, found.n_groups), groups, reasons)


def _without_extremes(records: Sparse, k: int) -> Sparse:
    """The same with weights of an item that fewer than k records reach cut to what k do: else a sum is that of one."""
    if records.is_binary:
        return records
    items = records.items.astype(np.int64)
    owners = np.repeat(np.arange(len(records)), records.sizes)
    low, high = (bound[items] for bound in reached(items, owners, records.weights.astype(np.float64), k))
    cut = np.clip(records.weights, low, high)
    return replace(records, weights=cut.astype(np.int64) if records.is_integral else cut.astype(np.float64))


def _added(records: Sparse, groups: Ints, n_groups: int) -> Sparse:
    """The sum of the records of each group, which stand one after another."""
    keys = np.repeat(groups, records.sizes) * records.n_items + records.items
    distinct, inverse = np.unique(keys, return_inverse=True)
    totals = np.bincount(inverse, records.weights)
    if np.abs(totals).max(initial=0.0) > MOST_WEIGHT:
        raise DataError("the weights of a group add up to more than 2**31; scale the weights of the records")
    is_left = totals != 0  # weights of different signs may cancel
    owners, items = np.divmod(distinct[is_left], records.n_items)
    firsts = np.searchsorted(groups, np.arange(n_groups))
    return replace(
        records,
        starts=np.searchsorted(owners, np.arange(n_groups + 1)).astype(np.int64),
        items=items.astype(np.int32),
        weights=np.rint(totals[is_left]).astype(np.int64) if records.is_integral else totals[is_left],
        labels=None if records.labels is None else records.labels[firsts],
        persons=None,
    )


def anonymize_groups(
    records: Sparse, policy: SparsePolicy, key: bytes, *, seed: int | None = None, progress: Progress | None = None
) -> GroupSketches:
    """Sketch the sums of groups as a policy asks."""
    assert policy.k is not None
    if progress is not None:
        progress("grouping records", 0, 0)
    summed = group_sums(records, policy.k, seed)
    made = anonymize_sparse(summed.sums, of_sums(policy), key, progress=progress)
    members = np.argsort(summed.groups, kind="stable")
    starts = np.searchsorted(summed.groups[members], np.arange(len(summed.sums) + 1)).astype(np.int64)
    places, _ = ragged_places(starts, made.rows)
    each = np.repeat(np.arange(len(made.rows)), np.diff(starts)[made.rows])
    inside = summed.groups >= 0
    reasons, counts = summed.reasons.copy(), np.zeros(len(records), np.int64)
    reasons[inside], counts[inside] = made.reasons[summed.groups[inside]], made.counts[summed.groups[inside]]
    published = replace(
        made, sketches=made.sketches.take(each), rows=members[places], counts=counts, reasons=reasons, neighbours=None
    )
    return GroupSketches(published, made.sketches, made.rows, summed)


def of_sums(policy: SparsePolicy) -> SparsePolicy:
    """What sums are held to: a group has k records of its class, so that no class of a published one is rare."""
    return policy.changed(rare=1)
