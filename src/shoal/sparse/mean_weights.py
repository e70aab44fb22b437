"""What the items of pseudo-records weigh: means over the holders of small pools, in which nobody counts for too much.

Pools that fit are looked at in runs of whole ones, all of their levels at once; what found no k holders there, level by
level over all records.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.data.ragged import runs_of_rows
from shoal.data.ragged_rows import AnyRows, Ragged
from shoal.data.sparse.record_rows import RecordRows
from shoal.data.sparse.records import Weights, count_distinct
from shoal.errors import Infeasible
from shoal.kernels.sparse.ends import keep_least
from shoal.sparse.near_groups import NearGroups

DIGITS = 3
NEARLY_NONE = 1e-12
"""What real weights are that cancel out: of a weight of 0 files do not tell that the item is there at all."""
ENTRIES_OF_A_RUN = 1 << 19
"""Entries of pools that are looked at together, with all of their levels."""


def weigh_rows(
    made: AnyRows,
    rows: Ints,
    ordered: RecordRows,
    groups: NearGroups,
    least: tuple[int, int],
    *,
    is_integral: bool,
    room: int | None = None,
) -> AnyRows:
    """Pseudo-records with weights: the mean of those who hold the item in its smallest pool of k holders, or its class.

    What fewer than `support` persons of a class reach is cut to what so many do, so that the mean is nobody's.

    Parameters
    ----------
    made : AnyRows
        Their items.
    rows : int64 array (n_made,)
        Which place each has in the order of the groups, ascending.
    ordered : RecordRows
        The originals, in this order.
    least : (int, int)
        k, and `support`.
    room : int, optional
        Items of all classes that may be counted at once.
    """
    holders = _Holders.of(ordered, groups, least, room)
    found, left = _in_small_pools(made, rows, holders, room)
    for level in range(left.level, groups.n_levels):
        if not len(left.places):
            break
        left.look(holders, level)
    writer, at = made.writer(np.int32, np.int64 if is_integral else np.float64), 0
    for low, high in made.runs():
        part, weights = made.part(low, high), found.part(low, high).values[0].copy()
        first, last = np.searchsorted(left.all_places, (at, at + len(weights)))
        weights[left.all_places[first:last] - at] = left.weights[first:last]
        writer.add(part.sizes, part.values[0], _rounded(weights, is_integral))
        at += len(weights)
    return writer.done()


def _rounded(weights: Floats, is_integral: bool) -> Weights:
    if is_integral:
        return np.where(np.rint(weights) == 0, np.where(weights < 0, -1, 1), np.rint(weights)).astype(np.int64)
    scale = 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.maximum(np.abs(weights), 1e-300))))
    return np.asarray(np.where(weights == 0, NEARLY_NONE, np.rint(weights * scale) / scale), np.float64)


def classes_of(groups: NearGroups) -> Ints:
    """The class of each record in the order of the groups, numbered as their segments are."""
    bounds = groups.starts[groups.segments]
    return np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))


@dataclass(frozen=True)
class _Holders:
    """The records that were grouped, in the order of the groups; and how far weights of each class may reach."""

    records: RecordRows
    groups: NearGroups
    of_class: Codes
    low: Floats
    high: Floats
    least: int

    @classmethod
    def of(cls, records: RecordRows, groups: NearGroups, least: tuple[int, int], room: int | None) -> _Holders:
        of_class, n_items = classes_of(groups).astype(np.int32), records.n_items
        if room is None:
            whole = records.held()
            owners = np.repeat(np.arange(len(records)), whole.sizes)
            keys = of_class[owners].astype(np.int64) * n_items + whole.values[0]
            whose = owners if records.persons is None else records.persons[owners]
            low, high = reached(keys, whose, whole.values[1].astype(np.float64), least[1])
            return cls(records, groups, of_class, low, high, max(least))
        n_keys = (len(groups.segments) - 1) * n_items
        if n_keys * least[1] > room:
            raise Infeasible(
                f"the weights of {n_keys:,} items of classes are cut to what {least[1]:,} records reach, which does "
                "not fit into the bound: raise memory, or ask for less support"
            )
        ends, counts = np.full((2, n_keys, least[1]), np.inf), np.zeros(n_keys, np.int64)
        for first, last in records.rows.runs():
            part = records.rows.part(first, last)
            keys = np.repeat(of_class[first:last], part.sizes).astype(np.int64) * n_items + part.values[0]
            keep_least(ends[0], keys, part.values[1].astype(np.float64))
            keep_least(ends[1], keys, -part.values[1].astype(np.float64))
            counts += np.bincount(keys, minlength=n_keys)
        at = np.maximum(np.minimum(counts, least[1]) - 1, 0)
        bounds = np.where(counts > 0, ends[:, np.arange(n_keys), at], 0.0)
        return cls(records, groups, of_class, *nearer(bounds[0], -bounds[1]), max(least))

    def entries(self, first: int, last: int) -> tuple[Ints, Ints, Floats]:
        """Of the records from one to before another: the row and item of each entry, and its weight as it counts."""
        part = self.records.rows.part(first, last)
        rows = np.repeat(np.arange(first, last), part.sizes)
        items = part.values[0].astype(np.int64)
        keys = self.of_class[rows].astype(np.int64) * self.records.n_items + items
        return rows, items, np.clip(part.values[1].astype(np.float64), self.low[keys], self.high[keys])


def reached(keys: Ints, persons: Ints, values: Floats, n: int) -> tuple[Floats, Floats]:
    """For each key the values that n persons reach from below and from above; those of fewer, what all of them do.

    Where the lower one is above the upper, both are the one that is nearer to 0.
    """
    width = int(persons.max(initial=0)) + 1
    pairs, inverse = np.unique(keys * width + persons, return_inverse=True)
    starts = np.searchsorted(pairs // width, np.arange(int(keys.max(initial=-1)) + 2))
    at = np.minimum(starts[:-1] + n, starts[1:]) - 1
    bounds = []
    for sign in (-1.0, 1.0):
        most = np.full(len(pairs), -np.inf)
        np.maximum.at(most, inverse, sign * values)
        ranked = most[np.lexsort((-most, pairs // width))]
        bounds.append(sign * np.where(np.diff(starts) > 0, ranked[at], 0.0))
    return nearer(bounds[0], bounds[1])


def nearer(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Both bounds; where the lower one is above the upper, the one that is nearer to 0 for both."""
    near = np.where(np.abs(low) < np.abs(high), low, high)
    return np.where(low > high, near, low), np.where(low > high, near, high)


@dataclass
class _Left:
    """Entries of pseudo-records whose items no small pool has k holders of.

    `all_places` and `weights` are those of all such entries, ascending; `places` points at those that still look.
    """

    all_places: Ints
    rows: Ints
    items: Ints
    weights: Floats
    places: Ints
    level: int

    def look(self, holders: _Holders, level: int) -> None:
        """Look among the pools of a level, over all records."""
        _, pools = holders.groups.pools(level)
        n_items = holders.records.n_items
        wanted = (np.searchsorted(pools, self.rows[self.places], "right") - 1) * n_items + self.items[self.places]
        keys, inverse = np.unique(wanted, return_inverse=True)
        counts, sums = np.zeros(len(keys)), np.zeros(len(keys))
        for low, high in holders.records.rows.runs():
            rows, items, weights = holders.entries(low, high)
            own = (np.searchsorted(pools, rows, "right") - 1) * n_items + items
            at = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
            met = keys[at] == own
            counts += np.bincount(at[met], minlength=len(keys))
            sums += np.bincount(at[met], weights[met], len(keys))
        is_there = counts[inverse] > 0
        means = sums / np.maximum(counts, 1)
        self.weights[self.places[is_there]] = means[inverse[is_there]]
        self.places = self.places[counts[inverse] < holders.least]


def _in_small_pools(made: AnyRows, rows: Ints, holders: _Holders, room: int | None) -> tuple[AnyRows, _Left]:
    """Weights of all entries, and those for which larger pools have to be looked at."""
    groups, records = holders.groups, holders.records
    level = groups.n_levels - 1
    if records.persons is None:
        starts = records.rows.starts
        while level and np.diff(starts[groups.pools(level)[1]]).max() > ENTRIES_OF_A_RUN:
            level -= 1
    all_pools = [groups.pools(below)[1] for below in range(level + 1)]
    writer, at, n_left = made.writer(np.float64), 0, 0
    left: list[tuple[Ints, Ints, Ints, Floats]] = []
    n_at_once = records.rows.n_entries if records.persons is not None else ENTRIES_OF_A_RUN
    for low, high in runs_of_rows(records.rows.starts[all_pools[-1]], max(n_at_once, 1)):
        first, last = int(all_pools[-1][low]), int(all_pools[-1][high])
        begin, end = np.searchsorted(rows, (first, last)).tolist()
        part = made.part(begin, end)
        weights, looking = _look_in(part, rows[begin:end], holders, (first, last), all_pools)
        own = np.repeat(rows[begin:end], part.sizes)[looking]
        left.append((looking + at, own, part.values[0][looking].astype(np.int64), weights[looking]))
        writer.add(part.sizes, weights)
        at, n_left = at + len(weights), n_left + len(looking)
        if room is not None and n_left > room:
            raise Infeasible(
                f"{n_left:,} items and more are held by few of small pools, whose weights are looked for in all "
                "together and do not fit into the bound: raise memory or leave it out"
            )
    places, own, items, found = (np.concatenate(side) for side in zip(*left, strict=True))
    return writer.done(), _Left(places, own, items, found, np.arange(len(places)), level + 1)


def _look_in(
    part: Ragged, own: Ints, holders: _Holders, among: tuple[int, int], all_pools: list[Ints]
) -> tuple[Floats, Ints]:
    """Weights of the entries of some pseudo-records, and those that have no pool of k holders among some records."""
    rows, items, held = holders.entries(*among)
    n_items, persons = holders.records.n_items, holders.records.persons
    ours, our_items = np.repeat(own, part.sizes), part.values[0].astype(np.int64)
    weights, left = np.zeros(len(ours)), np.arange(len(ours))
    for pools in all_pools:
        if not len(left):
            break
        keys, inverse, counts = np.unique(
            (np.searchsorted(pools, rows, "right") - 1) * n_items + items, return_inverse=True, return_counts=True
        )
        means = np.bincount(inverse, held) / counts
        if persons is not None:
            counts = count_distinct(inverse, persons[rows], len(counts))
        wanted = (np.searchsorted(pools, ours[left], "right") - 1) * n_items + our_items[left]
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        is_there = keys[at] == wanted
        weights[left[is_there]] = means[at[is_there]]
        left = left[~(is_there & (counts[at] >= holders.least))]
    return weights, left
