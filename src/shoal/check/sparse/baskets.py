"""Pseudo-baskets: recomputed from what is published, the originals, and who stood together.

From the published baskets alone nothing can be verified. With the original, that at least k records of all hold every
published item, and that no pseudo-record equals a record that fewer than k hold. With the groups too, everything:

- k-anonymity: every group has at least k records, of one class, and pools are made of whole groups;
- pool-support: every item of a pseudo-record is held by at least `support` records of its pool, the smallest run of 1,
  2, 4, ... groups of its class with so many holders, and no class shows an item more often than it has it;
- sizes: in every group, as many pseudo-records as have a number of items or more, records have it too; and k records of
  the class do;
- pool-weights: an item weighs what its holders do on average, in the smallest pool of k holders or in all of the class;
  weights that fewer than `support` of the class reach are cut to what so many do.

Where the original says whose a record is, persons are counted in the place of records, but for sizes and for how often
an item is shown.

That nothing else of the originals decides which pseudo-record of a pool gets an item cannot be seen from any release.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask
from shoal.check.guarantee import Guarantee
from shoal.check.sparse.basket_guarantees import (
    BasketsAsked,
    GroupedSide,
    groups_of_k,
    is_no_mean,
    misfits,
    n_persons,
    sizes_within,
    told_item_support,
    told_pool_support,
    told_rare_copies,
    told_weights,
)
from shoal.check.verdict import Verdict
from shoal.data.sparse.records import Sparse
from shoal.errors import DataError

NEEDS_ORIGINAL = (
    "From pseudo-baskets alone it cannot be told what they protect: everything needs the original and who stood "
    "together in groups (--original, and --private of a release that was made with --keep groups)."
)
NEEDS_GROUPS = (
    "That groups have {k} records, that {support} of a pool hold each item and that sizes are those of the group needs "
    "the groups; the owner may have kept them (--keep groups when it is made, --private now)."
)
BATCH_ENTRIES = 1_000_000  # some hundred MB


@dataclass(frozen=True)
class BasketsEvidence:
    """Secrets to check pseudo-baskets against; what is None is not there.

    Attributes
    ----------
    original : Sparse, optional
        All records as they came in.
    original_groups : int64 array (n_original,), optional
        The group of each record, negative where it was in none; neighbours of a class have successive numbers.
    groups : int64 array (n_published,), optional
        The group of each pseudo-record.
    """

    original: Sparse | None = field(default=None, repr=False)
    original_groups: Ints | None = field(default=None, repr=False)
    groups: Ints | None = field(default=None, repr=False)


def verify_baskets(published: Sparse, asked: BasketsAsked, evidence: BasketsEvidence) -> Verdict:
    """Recompute what can be recomputed of pseudo-baskets."""
    if not len(published):
        raise DataError("nothing would be published: there are no pseudo-baskets; ask for less or give more data")
    findings = []
    n_empty = int((published.sizes == 0).sum())
    if n_empty:
        findings.append(f"{n_empty:,} published records are empty; such records are to be left out")
    original = evidence.original
    if original is None:
        return Verdict((), (NEEDS_ORIGINAL,), tuple(findings))
    if len(published) > len(original):
        findings.append(f"there are {len(published):,} pseudo-records of {len(original):,} records")
    items = _codes_in(published, original)
    alone = (_held_by_k(items, original, asked.k), _no_rare_copies(published, items, original, asked.k))
    if evidence.groups is None or evidence.original_groups is None:
        needs = NEEDS_GROUPS.format(k=asked.k, support=asked.support)
        return Verdict(alone, (needs,), tuple(findings))
    groups, original_groups = np.asarray(evidence.groups), np.asarray(evidence.original_groups)
    if len(groups) != len(published) or len(original_groups) != len(original):
        findings.append("the kept groups are not those of this release and original: another release's?")
        return Verdict(alone, (), tuple(findings))
    if groups.min() < 0 or groups.max() > original_groups.max(initial=-1):
        findings.append("some pseudo-records are of a group that no record is in")
        return Verdict(alone, (), tuple(findings))
    findings += misfits(
        GroupedSide(published.labels, published.classes, groups),
        GroupedSide(original.labels, original.classes, original_groups),
    )
    pools = _Pools.of(original, original_groups, asked.support)
    order = np.argsort(groups, kind="stable")
    shown = _Shown(published.take(order), groups[order], _codes_in(published.take(order), original))
    found, _ = pools.holders(shown, is_weighed=False)
    with_groups = [
        groups_of_k(original_groups, _whose(original), groups, asked.k, _noun(original)),
        _pool_support(shown, found, pools),
        _sizes(published, original, groups, original_groups, asked.k),
    ]
    if not (published.is_binary and original.is_binary):
        with_groups.append(_weights(shown, pools, asked.k))
    return Verdict((*with_groups, *alone), (), tuple(findings))


def _codes_in(published: Sparse, original: Sparse) -> Codes:
    """The item of each published entry by its number in the original; -1 where that has none of the name."""
    place = {name: code for code, name in enumerate(original.names)}
    codes = np.array([place.get(name, -1) for name in published.names], np.int32)
    return codes[published.items]


def _batches(starts: Ints) -> Iterator[tuple[int, int]]:
    """Rows from and to, with about `BATCH_ENTRIES` entries together."""
    parcel = (starts[1:] - starts[0]) // BATCH_ENTRIES
    bounds = [0, *(np.flatnonzero(np.diff(parcel)) + 1).tolist(), len(parcel)]
    return pairwise(bounds)


def _held_by_k(items: Codes, original: Sparse, k: int) -> Guarantee:
    supports = _item_holders(original)
    shown = np.unique(
        np.concatenate([np.unique(items[a : a + BATCH_ENTRIES]) for a in range(0, len(items), BATCH_ENTRIES)])
    )
    held = np.where(shown >= 0, supports[np.maximum(shown, 0)], 0)
    return told_item_support(held, k, _noun(original))


def _noun(original: Sparse) -> str:
    return "records" if original.persons is None else "persons"


def _whose(original: Sparse) -> Ints:
    """The person of each record: another for each where nothing is said."""
    return np.arange(len(original)) if original.persons is None else np.asarray(original.persons, np.int64)


def _item_holders(original: Sparse) -> Ints:
    if original.persons is not None:
        persons = np.repeat(_whose(original), original.sizes)
        return n_persons(original.items.astype(np.int64), persons, original.n_items)
    holders = np.zeros(original.n_items, np.int64)
    for low, high in _batches(original.starts):  # records of different persons can be counted apart
        sizes = np.diff(original.starts[low : high + 1])
        items = original.items[original.starts[low] : original.starts[high]].astype(np.int64)
        holders += n_persons(items, np.repeat(np.arange(low, high), sizes), original.n_items)
    return holders


def _no_rare_copies(published: Sparse, items: Codes, original: Sparse, k: int) -> Guarantee:
    """By sizes: rows of equally many items, sorted, are told apart as bytes."""
    n_copies = 0
    ours = np.empty_like(items)
    for low, high in _batches(published.starts):
        first, last = published.starts[low], published.starts[high]
        own, sizes = items[first:last], np.diff(published.starts[low : high + 1])
        ours[first:last] = own[np.lexsort((own, np.repeat(np.arange(low, high), sizes)))]
    for size in np.unique(published.sizes).tolist():
        if size == 0:
            continue
        shown = _matrix(published.starts, ours, published.sizes == size, size)
        held = _matrix(original.starts, original.items, original.sizes == size, size)
        if not len(held):
            continue
        distinct, inverse = np.unique(_as_bytes(held), return_inverse=True)
        counts = n_persons(inverse.astype(np.int64), _whose(original)[original.sizes == size], len(distinct))
        rare = distinct[counts < k]
        n_copies += int(np.isin(_as_bytes(shown), rare).sum())
    return told_rare_copies(n_copies, len(published), k)


def _matrix(starts: Ints, items: Codes, chosen: Mask, size: int) -> Codes:
    return np.ascontiguousarray(items[starts[:-1][chosen][:, None] + np.arange(size)], np.int32)


def _as_bytes(rows: Codes) -> Any:
    """Each row as one value that can be compared."""
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()


def _sizes(published: Sparse, original: Sparse, groups: Ints, original_groups: Ints, k: int) -> Guarantee:
    is_common = _item_holders(original) >= k
    rare = np.searchsorted(original.starts, np.flatnonzero(~is_common[original.items]), side="right") - 1
    kept = original.sizes - np.bincount(rare, minlength=len(original))
    theirs = GroupedSide(original.labels, original.classes, original_groups)
    return sizes_within(published.sizes, groups, kept, theirs, _whose(original), k, _noun(original))


@dataclass(frozen=True)
class _Shown:
    """Pseudo-records by their groups, ascending, and the item of each entry by its number in the original."""

    records: Sparse
    groups: Ints
    items: Codes


@dataclass(frozen=True)
class _Pools:
    """Who holds which item in which group, and which groups are a pool at each level: records by their groups."""

    support: int
    held: Sparse
    groups: Ints
    persons: Ints
    class_of: Ints
    first_of: Ints
    n_levels: int
    noun: str

    @classmethod
    def of(cls, original: Sparse, original_groups: Ints, support: int) -> _Pools:
        inside = np.flatnonzero(original_groups >= 0)
        n_groups = int(original_groups.max(initial=-1)) + 1
        class_of = np.zeros(n_groups, np.int64)
        if original.labels is not None:
            class_of[original_groups[inside]] = original.labels[inside]
        first_of = np.zeros(int(class_of.max(initial=0)) + 1, np.int64)
        longest = 1
        for label in np.unique(class_of).tolist():
            members = np.flatnonzero(class_of == label)
            first_of[label] = members.min()
            longest = max(longest, int(members.max() - members.min()) + 1)
        order = inside[np.argsort(original_groups[inside], kind="stable")]
        held = original.take(order)
        if not held.is_binary:
            whose = np.repeat(_whose(original)[order], held.sizes)
            keys = np.repeat(class_of[original_groups[order]], held.sizes) * np.int64(max(held.n_items, 1)) + held.items
            held = replace(held, weights=cut_ends(held.weights.astype(np.float64), keys, whose, support))
        return cls(
            support,
            held,
            original_groups[order],
            _whose(original)[order],
            class_of,
            first_of,
            (longest - 1).bit_length() + 1,
            _noun(original),
        )

    def keys(self, groups: Ints, items: Codes, level: int) -> Ints:
        """A number for an item in a pool, which is called by where its class begins and the run of groups in it."""
        first = self.first_of[self.class_of[groups]]
        return np.asarray((first + ((groups - first) >> level)) * np.int64(self.held.n_items) + items, np.int64)

    def counted(self, level: int, items: Codes, low: int, high: int) -> tuple[Ints, Ints, Floats]:
        """Of some items in some of the records: keys at a level, ascending, how many hold them, and mean weights."""
        is_asked = np.zeros(self.held.n_items, bool)
        is_asked[items] = True
        first, last = self.held.starts[low], self.held.starts[high]
        entry = np.flatnonzero(is_asked[self.held.items[first:last]]) + first
        row = np.searchsorted(self.held.starts[low : high + 1], entry, side="right") - 1 + low
        keys, inverse, counts = np.unique(
            self.keys(self.groups[row], self.held.items[entry], level), return_inverse=True, return_counts=True
        )
        means = np.bincount(inverse, self.held.weights[entry], len(keys)) / np.maximum(counts, 1)
        return keys, n_persons(inverse.astype(np.int64), self.persons[row], len(keys)), means

    def holders(self, shown: _Shown, *, is_weighed: bool) -> tuple[Codes, Floats | None]:
        """Of each shown item: how many of its smallest pool hold it, and their mean weight if that is asked for.

        Groups are looked at in runs that no pool of the lower levels reaches across; what is not met there, which is
        little, in all groups together.
        """
        found = np.zeros(len(shown.items), np.int32)
        mean = np.zeros(len(shown.items)) if is_weighed else None
        level, cuts = self._runs(len(shown.items))
        rows, held = np.searchsorted(shown.groups, cuts), np.searchsorted(self.groups, cuts)
        left = [np.zeros(0, np.int64)]
        for i in range(len(cuts) - 1):
            entries = np.arange(shown.records.starts[rows[i]], shown.records.starts[rows[i + 1]])
            left.append(self._meet(shown, entries, range(level + 1), (held[i], held[i + 1]), found, mean))
        everyone = (0, len(self.held))
        self._meet(shown, np.concatenate(left), range(level + 1, self.n_levels), everyone, found, mean)
        return found, mean

    def _runs(self, n_shown: int) -> tuple[int, Ints]:
        """A level, and where runs of groups begin that no pool of it or below reaches across, and the end."""
        n_groups = len(self.class_of)
        a_group = (n_shown + len(self.held.items)) / max(n_groups, 1)
        level = min(int(np.log2(max(BATCH_ENTRIES / max(a_group, 1.0), 1.0))), self.n_levels - 1)
        first = self.first_of[self.class_of]
        pool = first + ((np.arange(n_groups) - first) >> level)
        return level, np.append(
            np.flatnonzero(np.diff(pool * (len(self.first_of) + 1) + self.class_of, prepend=-1)), n_groups
        )

    def _meet(
        self, shown: _Shown, left: Ints, levels: range, held: tuple[int, int], found: Codes, mean: Floats | None
    ) -> Ints:
        """Fill in what is found of some entries at some levels, among the records from and to; those not met."""
        left = left[shown.items[left] >= 0]
        for level in levels:
            if not len(left):
                break
            items = shown.items[left]
            groups = shown.groups[np.searchsorted(shown.records.starts, left, side="right") - 1]
            keys, counts, means = self.counted(level, items, *held)
            wanted = self.keys(groups, items, level)
            at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
            is_there = (keys[at] == wanted) if len(keys) else np.zeros(len(left), bool)
            found[left[is_there]] = counts[at[is_there]]
            if mean is not None:
                mean[left[is_there]] = means[at[is_there]]
            left = left[found[left] < self.support]
        return left

    def by_class(self, records: Sparse, groups: Ints, items: Codes) -> Ints:
        """How often each class has each item, in the records of these groups."""
        n_items = self.held.n_items
        counts = np.zeros(len(self.first_of) * n_items, np.int64)
        for low, high in _batches(records.starts):
            label = np.repeat(self.class_of[groups[low:high]], np.diff(records.starts[low : high + 1]))
            own = items[records.starts[low] : records.starts[high]]
            counts += np.bincount((label * n_items + own)[own >= 0], minlength=len(counts))
        return counts


def _pool_support(shown: _Shown, found: Codes, pools: _Pools) -> Guarantee:
    # No class may show an item more often than its records have it.
    n_dealt = pools.by_class(shown.records, shown.groups, shown.items)
    n_held = pools.by_class(pools.held, pools.groups, pools.held.items)
    n_more = int(np.maximum(n_dealt - n_held, 0).sum())
    n_failing = int((found < pools.support).sum()) + n_more
    return told_pool_support(int(found.min()), len(found), n_failing, pools.support, pools.noun)


def cut_ends(weights: Floats, keys: Ints, persons: Ints, support: int) -> Floats:
    """Weights, cut to what at least `support` persons reach, from above and from below, of each key.

    Of so few that both ends cannot be had, all weigh what the one nearer to 0 does.
    """
    ends = []
    for ranked in (np.lexsort((weights, persons, keys)), np.lexsort((-weights, persons, keys))):
        key, person = keys[ranked], persons[ranked]
        is_first = np.ones(len(key), bool)  # of each person of a key: the least weight, or the largest
        is_first[1:] = (key[1:] != key[:-1]) | (person[1:] != person[:-1])
        ends.append((key[is_first], weights[ranked][is_first]))
    bounds = []
    for (key, value), sign in zip(ends, (1, -1), strict=True):
        order = np.lexsort((sign * value, key))
        key, value = key[order], value[order]
        opens, closes = np.searchsorted(key, keys, "left"), np.searchsorted(key, keys, "right")
        bounds.append(value[np.minimum(opens + support, closes) - 1])
    low, high = bounds
    nearer = np.where(np.abs(low) < np.abs(high), low, high)
    inside = np.minimum(np.maximum(weights, low), high)
    return np.asarray(np.where(low > high, nearer, inside), np.float64)


def _weights(of: _Shown, pools: _Pools, k: int) -> Guarantee:
    published = of.records
    found, mean = replace(pools, support=max(k, pools.support)).holders(of, is_weighed=True)
    assert mean is not None
    off = is_no_mean(published.weights.astype(np.float64), mean, is_integral=published.is_integral)
    n_failing = int(((found >= pools.support) & off).sum())
    least = int(found.min()) if len(found) else 0
    return told_weights(least, len(found), n_failing, pools.support)
