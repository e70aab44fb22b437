"""The check of pseudo-baskets that are in a file, against originals that are in another one, neither of them held.

The same is recomputed as in `shoal.check.sparse.baskets`. Originals are read twice: their items are counted, and then
they are put into a file by the numbers of these, and that into the order of their groups. So is what was published.
What is held are some numbers for each record, and tables of items by classes. Copies are known by 64-bit words alone:
two different sets have the same one once in 2^64 times, and then one copy too many is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask, Words
from shoal.check.guarantee import Guarantee
from shoal.check.sparse.basket_guarantees import (
    BasketsAsked,
    GroupedSide,
    groups_of_k,
    is_no_mean,
    misfits,
    sizes_within,
    told_item_support,
    told_pool_support,
    told_rare_copies,
    told_weights,
)
from shoal.check.verdict import Verdict
from shoal.data.ragged import runs_of_rows
from shoal.data.ragged_rows import DiskRows, RaggedOnDisk, ValueFile
from shoal.data.sparse.records import Sparse
from shoal.errors import DataError, Infeasible

ENTRIES_AT_ONCE = 1_000_000
"""Places of items that are looked at together with their holders; some 100 MB."""
BYTES_A_PLACE = 100
"""Of the bound for each item of a class that is counted, and for each place of an item that no small pool explains."""

Read = Callable[[], Iterable[Sparse]]


@dataclass(frozen=True)
class _File:
    """Records in a file, items and weights by the numbers of the originals' items; -1 for a stranger.

    `hashes` tell sets of items apart.
    """

    rows: RaggedOnDisk
    side: GroupedSide
    hashes: Words
    is_binary: bool


def verify_baskets_in_blocks(
    published: Read, asked: BasketsAsked, read: Read, original_groups: Codes, groups: Codes, n_bytes: int
) -> Verdict:
    """Recompute everything of published pseudo-baskets, with the groups.

    Parameters
    ----------
    published, read : callable
        What was published, and all originals, block by block, each time in the same order.
    original_groups : int32 array (n_originals,)
        The group of each original, negative where it was in none.
    groups : int32 array (n_published,)
        The group of each pseudo-record.
    n_bytes : int
        About how much memory may be used.
    """
    items, classes = _names(read())
    if len(items) * max(len(classes), 1) * BYTES_A_PLACE > n_bytes:
        raise Infeasible(
            f"{len(items):,} items of {max(len(classes), 1):,} classes are counted, which does not fit into the bound: "
            "raise memory or leave it out"
        )
    keys = np.random.default_rng().integers(0, 2**64, size=len(items) + 1, dtype=np.uint64)
    original = _put(read(), items, classes, original_groups, keys)
    shown = _put(published(), items, classes, groups, keys)
    n, n_shown = len(original.rows), len(shown.rows)
    if not n_shown:
        raise DataError("nothing would be published: there are no pseudo-baskets; ask for less or give more data")
    findings = []
    if not shown.rows.sizes.all():
        n_empty = int((shown.rows.sizes == 0).sum())
        findings.append(f"{n_empty:,} published records are empty; such records are to be left out")
    if n_shown > n:
        findings.append(f"there are {n_shown:,} pseudo-records of {n:,} records")
    supports = _supports(original.rows, len(items))
    held = np.append(supports, 0)[np.flatnonzero(_supports(shown.rows, len(items) + 1))]
    alone = (told_item_support(held, asked.k, "records"), _no_rare_copies(shown, original, asked.k))
    original, shown = (replace(side, hashes=np.zeros(0, np.uint64)) for side in (original, shown))
    if len(groups) != n_shown or len(original_groups) != n:
        findings.append("the kept groups are not those of this release and original: another release's?")
        return Verdict(alone, (), tuple(findings))
    if groups.min() < 0 or groups.max() > original_groups.max(initial=-1):
        findings.append("some pseudo-records are of a group that no record is in")
        return Verdict(alone, (), tuple(findings))
    findings += misfits(shown.side, original.side)
    first = groups_of_k(original_groups, None, groups, asked.k, "records")
    sizes = sizes_within(
        shown.rows.sizes,
        groups,
        _kept_sizes(original.rows, supports >= asked.k),
        original.side,
        None,
        asked.k,
        "records",
    )
    is_weighed = not (shown.is_binary and original.is_binary)
    pools = _Pools.of(original, len(items), asked.support, n_bytes)
    ours = _by_group(shown)
    with_groups = [first, pools.told_support(ours), sizes]
    if is_weighed:
        with_groups.append(pools.told_weights(ours, asked.k))
    return Verdict((*with_groups, *alone), (), tuple(findings))


def _names(blocks: Iterable[Sparse]) -> tuple[dict[str, int], tuple[str, ...]]:
    """The number of each item, and the classes, both ascending."""
    items: set[str] = set()
    classes: set[str] = set()
    for block in blocks:
        items.update(block.names)
        classes.update(block.classes)
    return {name: number for number, name in enumerate(sorted(items))}, tuple(sorted(classes))


def _put(
    blocks: Iterable[Sparse], items: dict[str, int], classes: tuple[str, ...], groups: Codes, keys: Words
) -> _File:
    """Records in a file, by the numbers of items and classes; the last of the keys is that of strangers."""
    writer = DiskRows(ValueFile(np.int32), ValueFile(np.int64))
    place = {name: label for label, name in enumerate(classes)}
    labels: list[Codes] = [np.zeros(0, np.int32)]
    hashes: list[Words] = [np.zeros(0, np.uint64)]
    is_binary = has_classes = True
    for block in blocks:
        codes = np.array([items.get(name, -1) for name in block.names], np.int32)[block.items]
        order = np.lexsort((codes, np.repeat(np.arange(len(block)), block.sizes)))
        if not block.is_integral:
            raise DataError("the weights are not whole numbers: they changed while they were read")
        writer.add(block.sizes, codes[order], block.weights[order])
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(keys[codes], dtype=np.uint64)])
        hashes.append(sums[block.starts[1:]] - sums[block.starts[:-1]])
        is_binary = is_binary and block.is_binary
        has_classes = has_classes and block.labels is not None
        if block.labels is not None:
            numbers = np.array([place.get(name, len(place)) for name in block.classes], np.int32)
            labels.append(numbers[block.labels])
    side = GroupedSide(np.concatenate(labels) if has_classes else None, (*classes, "\0"), groups)
    return _File(writer.done(), side, np.concatenate(hashes), is_binary)


def _supports(rows: RaggedOnDisk, n_items: int) -> Ints:
    """How many records have each item; strangers count as the last one."""
    counts = np.zeros(n_items, np.int64)
    for part in rows.parts():
        own = np.where(part.values[0] < 0, n_items - 1, part.values[0])
        counts += np.bincount(own, minlength=n_items)
    return counts


def _kept_sizes(rows: RaggedOnDisk, is_common: Mask) -> Ints:
    """How many items of each record are common."""
    found = [np.zeros(0, np.int64)]
    for part in rows.parts():
        owners = np.repeat(np.arange(len(part)), part.sizes)
        found.append(np.bincount(owners[is_common[part.values[0]]], minlength=len(part)))
    return np.concatenate(found)


def _no_rare_copies(shown: _File, original: _File, k: int) -> Guarantee:
    is_filled = original.rows.sizes > 0
    ascending = np.sort(original.hashes[is_filled])
    firsts = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1])[: len(ascending)])
    rare = ascending[firsts[np.diff(np.append(firsts, len(ascending))) < k]]
    del ascending, firsts
    at = np.searchsorted(rare, shown.hashes)
    is_copy = np.append(rare, np.uint64(0))[at] == shown.hashes
    is_copy &= (at < len(rare)) & (shown.rows.sizes > 0)
    return told_rare_copies(int(is_copy.sum()), len(shown.rows), k)


@dataclass(frozen=True)
class _ByGroup:
    """Records in a file in the order of their groups, those of none left out; and the group and class of each."""

    rows: RaggedOnDisk
    groups: Ints | Codes
    labels: Codes


def _by_group(records: _File) -> _ByGroup:
    order = np.argsort(records.side.groups, kind="stable").astype(np.int32)
    order = order[int((records.side.groups < 0).sum()) :]
    labels = np.zeros(len(records.rows), np.int32) if records.side.labels is None else records.side.labels
    return _ByGroup(records.rows.in_order(order), records.side.groups[order], labels[order])


@dataclass(frozen=True)
class _Entries:
    """Places of items, and of what group, class and weight they are."""

    groups: Ints | Codes
    labels: Codes
    items: Ints
    weights: Floats

    @classmethod
    def of(cls, records: _ByGroup, low: int, high: int) -> _Entries:
        part = records.rows.part(low, high)
        rows = np.repeat(np.arange(low, high), part.sizes)
        weights = part.values[1].astype(np.float64)
        return cls(records.groups[rows], records.labels[rows], part.values[0].astype(np.int64), weights)

    def take(self, which: Ints | Mask) -> _Entries:
        """Some of them."""
        return _Entries(self.groups[which], self.labels[which], self.items[which], self.weights[which])


@dataclass(frozen=True)
class _Pools:
    """Who holds which item in which group, and which groups are a pool at each level."""

    held: _ByGroup
    n_items: int
    support: int
    first_of: Ints
    class_of: Ints
    n_levels: int
    n_bytes: int

    @classmethod
    def of(cls, original: _File, n_items: int, support: int, n_bytes: int) -> _Pools:
        held = _by_group(original)
        class_of = np.zeros(int(held.groups[-1]) + 1, np.int64)
        class_of[held.groups] = held.labels
        first_of, longest = np.zeros(int(class_of.max()) + 1, np.int64), 1
        for label in np.unique(class_of).tolist():
            members = np.flatnonzero(class_of == label)
            first_of[label] = members[0]
            longest = max(longest, int(members[-1] - members[0]) + 1)
        return cls(held, n_items, support, first_of, class_of, (longest - 1).bit_length() + 1, n_bytes)

    def pool_of(self, groups: Ints | Codes, level: int) -> Ints:
        """A pool is called by where its class begins and the run of groups in it."""
        first = self.first_of[self.class_of[groups]]
        return np.asarray(first + ((groups - first) >> level), np.int64)

    def told_support(self, shown: _ByGroup) -> Guarantee:
        """Every shown item is held by so many of its pool, and none is shown more often than it is held."""
        least, n, n_few = len(self.held.rows), 0, 0
        for found, _, _ in self._looked_up(shown, self.support, None):
            least, n = min(least, int(found.min(initial=least))), n + len(found)
            n_few += int((found < self.support).sum())
        n_more = int(np.maximum(self._by_class(shown) - self._by_class(self.held), 0).sum())
        return told_pool_support(least, n, n_few + n_more, self.support, "records")

    def told_weights(self, shown: _ByGroup, k: int) -> Guarantee:
        """Every shown item weighs what its holders do on average."""
        least, n, n_failing = len(self.held.rows), 0, 0
        for found, mean, weights in self._looked_up(shown, max(k, self.support), self._ends()):
            least, n = min(least, int(found.min(initial=least))), n + len(found)
            n_failing += int(((found >= self.support) & is_no_mean(weights, mean, is_integral=True)).sum())
        return told_weights(least, n, n_failing, self.support)

    def _by_class(self, records: _ByGroup) -> Ints:
        """How often each class has each item; of groups, not of what is said of a record."""
        counts = np.zeros(len(self.first_of) * self.n_items, np.int64)
        for low, high in records.rows.runs():
            some = _Entries.of(records, low, high)
            keys = self.class_of[some.groups] * self.n_items + some.items
            counts += np.bincount(keys[some.items >= 0], minlength=len(counts))
        return counts

    def _ends(self) -> Floats:
        """For each item of a class the weights that `support` records reach from below and from above."""
        n_keys, n = len(self.first_of) * self.n_items, self.support
        if n_keys * n * 40 > self.n_bytes:
            raise Infeasible(
                f"the weights of {n_keys:,} items of classes are cut to what {n:,} records reach, which does not fit "
                "into the bound: raise memory, or ask for less support"
            )
        bounds = []
        for sign in (1.0, -1.0):
            keys, values = np.zeros(0, np.int64), np.zeros(0)
            for low, high in self.held.rows.runs():
                some = _Entries.of(self.held, low, high)
                keys = np.concatenate([keys, self.class_of[some.groups] * self.n_items + some.items])
                values = np.concatenate([values, sign * some.weights])
                order = np.lexsort((values, keys))
                keys, values = keys[order], values[order]
                is_least = np.arange(len(keys)) - np.searchsorted(keys, keys) < n
                keys, values = keys[is_least], values[is_least]
            last = np.searchsorted(keys, np.arange(n_keys), "right") - 1
            bounds.append(sign * np.append(values, 0.0)[last])
        low_end, high_end = bounds
        near = np.where(np.abs(low_end) < np.abs(high_end), low_end, high_end)
        is_crossed = low_end > high_end
        return np.stack([np.where(is_crossed, near, low_end), np.where(is_crossed, near, high_end)])

    def _looked_up(self, shown: _ByGroup, support: int, ends: Floats | None) -> Iterator[tuple[Ints, Floats, Floats]]:
        """Of shown items: how many of the smallest pool with so many hold them, their mean weight, and the shown one.

        Groups are looked at in runs that no pool of the lower levels reaches across; what is not met there, which is
        little, in all groups together.
        """
        level, cuts = self._runs(shown)
        rows, held = np.searchsorted(shown.groups, cuts), np.searchsorted(self.held.groups, cuts)
        left: list[_Entries] = []
        n_left = 0
        for i in range(len(cuts) - 1):
            some = _Entries.of(shown, int(rows[i]), int(rows[i + 1]))
            holders = self._holders(int(held[i]), int(held[i + 1]), ends)
            found, mean = np.zeros(len(some.items), np.int64), np.zeros(len(some.items))
            open_ = np.flatnonzero(some.items >= 0)
            for at_level in range(level + 1):
                open_ = self._meet(some, holders, at_level, open_, found, mean, support)
            if level + 1 < self.n_levels and len(open_):
                left.append(some.take(open_))
                n_left += len(open_)
                if 2 * n_left * BYTES_A_PLACE > self.n_bytes:
                    raise Infeasible(
                        f"{n_left:,} items and more are held by too few of small pools, which are looked for in all "
                        "together, and do not fit into the bound: raise memory or leave it out"
                    )
                is_met = np.ones(len(found), bool)
                is_met[open_] = False
                yield found[is_met], mean[is_met], some.weights[is_met]
            else:
                yield found, mean, some.weights
        if left:
            names = ("groups", "labels", "items", "weights")
            yield self._in_all(
                _Entries(*(np.concatenate([getattr(e, n) for e in left]) for n in names)), level, support, ends
            )

    def _runs(self, shown: _ByGroup) -> tuple[int, Ints]:
        """A level, and where runs of groups begin that no pool of it or below reaches across, and the end."""
        n_groups = len(self.class_of)
        entries = np.zeros(n_groups + 1, np.int64)
        for records in (shown, self.held):
            entries += records.rows.starts[np.searchsorted(records.groups, np.arange(n_groups + 1))]
        level = self.n_levels - 1
        all_groups = np.arange(n_groups)
        while True:
            pools = self.pool_of(all_groups, level) * (len(self.first_of) + 1) + self.class_of
            starts = np.append(np.flatnonzero(np.diff(pools, prepend=-1)), n_groups)
            if not level or np.diff(entries[starts]).max() <= ENTRIES_AT_ONCE:
                break
            level -= 1
        bounds = [low for low, _ in runs_of_rows(entries[starts], ENTRIES_AT_ONCE)]
        return level, starts[np.array([*bounds, len(starts) - 1])]

    def _holders(self, low: int, high: int, ends: Floats | None) -> _Entries:
        """The entries of some originals, with weights as far as they count."""
        some = _Entries.of(self.held, low, high)
        if ends is None:
            return some
        keys = self.class_of[some.groups] * self.n_items + some.items
        weights = np.minimum(np.maximum(some.weights, ends[0, keys]), ends[1, keys])
        return _Entries(some.groups, some.labels, some.items, weights)

    def _meet(
        self, some: _Entries, holders: _Entries, level: int, open_: Ints, found: Ints, mean: Floats, support: int
    ) -> Ints:
        """Fill in what is found of some entries at a level; those not met."""
        if not len(open_):
            return open_
        held = self.pool_of(holders.groups, level) * self.n_items + holders.items
        keys, inverse, counts = np.unique(held, return_inverse=True, return_counts=True)
        means = np.bincount(inverse, holders.weights, len(keys)) / np.maximum(counts, 1)
        wanted = self.pool_of(some.groups[open_], level) * self.n_items + some.items[open_]
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        is_there = keys[at] == wanted if len(keys) else np.zeros(len(open_), bool)
        found[open_[is_there]], mean[open_[is_there]] = counts[at[is_there]], means[at[is_there]]
        return open_[found[open_] < support]

    def _in_all(self, some: _Entries, level: int, support: int, ends: Floats | None) -> tuple[Ints, Floats, Floats]:
        """The same for what was not met, level by level among all originals."""
        found, mean = np.zeros(len(some.items), np.int64), np.zeros(len(some.items))
        open_ = np.arange(len(some.items))
        for at_level in range(level + 1, self.n_levels):
            wanted = self.pool_of(some.groups[open_], at_level) * self.n_items + some.items[open_]
            keys, inverse = np.unique(wanted, return_inverse=True)
            counts, sums = np.zeros(len(keys), np.int64), np.zeros(len(keys))
            for low, high in self.held.rows.runs():
                holders = self._holders(low, high, ends)
                held = self.pool_of(holders.groups, at_level) * self.n_items + holders.items
                at = np.minimum(np.searchsorted(keys, held), len(keys) - 1)
                met = keys[at] == held
                counts += np.bincount(at[met], minlength=len(keys))
                sums += np.bincount(at[met], holders.weights[met], len(keys))
            is_there = counts[inverse] > 0
            found[open_[is_there]] = counts[inverse[is_there]]
            mean[open_[is_there]] = (sums / np.maximum(counts, 1))[inverse[is_there]]
            open_ = open_[found[open_] < support]
            if not len(open_):
                break
        return found, mean, some.weights
