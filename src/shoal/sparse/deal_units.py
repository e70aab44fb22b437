"""Units of items dealt anew to pseudo-records, level by level, over whole pools.

Pools are runs of records in the order of a tree. Of a pool only the units that are left are looked at, and the
pseudo-records that still have room; so what is held at once is that of one pool, or of some small ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Words
from shoal.data.ragged import runs_of_rows
from shoal.data.ragged_rows import AnyRows, Ragged
from shoal.data.sparse.records import count_distinct
from shoal.errors import Infeasible
from shoal.kernels.sparse.dealing import deal
from shoal.sparse.near_groups import NearGroups
from shoal.sparse.units import Units

MOST_SHARED = 0.5
"""The largest share of a pool that may hold an item, unless as large a share of all do."""
UNITS_AT_ONCE = 1 << 20
"""Units that are dealt at once, with places of pseudo-records that have room: some ten MB; a pool is never parted."""


@dataclass(frozen=True)
class Dealt:
    """Pseudo-records in the order of the groups, by the room that each has, and how much of it is filled."""

    rows: AnyRows
    filled: Codes

    def runs(self, bounds: Ints) -> Iterator[tuple[int, int]]:
        """Rows from and to, in runs that part none of what is between bounds."""
        return ((int(bounds[low]), int(bounds[high])) for low, high in runs_of_rows(self.rows.starts[bounds]))

    def items(self, rows: Ints) -> Ragged:
        """The items that some have been dealt."""
        taken, filled = self.rows.take(rows), self.filled[rows].astype(np.int64)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(filled)])
        places = np.arange(starts[-1]) + np.repeat(taken.starts[:-1] - starts[:-1], filled)
        return Ragged(starts, [taken.values[0][places]])


def deal_units(
    dealt: Dealt,
    units: Units,
    groups: NearGroups,
    shares: Floats,
    persons: Ints | None,
    support: int,
    rng: np.random.Generator,
    state: Words,
    room: int | None = None,
) -> Units:
    """Deal units level by level; those that are left.

    Parameters
    ----------
    shares : float64 array (n_items,)
        Of all records, those that hold an item.
    room : int, optional
        How many entries may be looked at once: of a pool two units count as one, and ten places of pseudo-records.
    """
    at_once = UNITS_AT_ONCE if room is None else min(UNITS_AT_ONCE, room)
    left, shares = units.rows, shares[units.items[units.starts[:-1]]]
    for level in range(groups.n_levels):
        if not left.n_entries:
            break
        _, pools = groups.pools(level)
        has_room = dealt.filled < dealt.rows.sizes
        load = np.concatenate([np.zeros(1, np.int64), np.cumsum(left.sizes + has_room * dealt.rows.sizes)])
        writer = left.writer(np.int32)
        for low, high in runs_of_rows(load[pools], at_once):
            first, last = int(pools[low]), int(pools[high])
            n_left = int(left.starts[last] - left.starts[first])
            n_places = int(load[last] - load[first]) - n_left
            if room is not None and high - low == 1 and n_left // 2 + n_places // 10 > room:
                raise Infeasible(
                    f"{n_left:,} items are left to be dealt among records with {n_places:,} items at once, which does "
                    "not fit into the bound: raise memory or leave it out"
                )
            part = left.part(first, last)
            own = (pools[low : high + 1] - first, np.flatnonzero(has_room[first:last]))
            shared = None if level + 1 == groups.n_levels else shares
            whose = None if persons is None else persons[first:last]
            is_left = _deal_run(dealt, part, first, own, units, shared, whose, support, rng, state)
            counts = np.bincount(np.repeat(np.arange(len(part)), part.sizes)[is_left], minlength=len(part))
            writer.add(counts, part.values[0][is_left])
        left = writer.done()
    return Units(left, units.starts, units.items)


def _deal_run(
    dealt: Dealt,
    part: Ragged,
    first: int,
    own: tuple[Ints, Ints],
    units: Units,
    shares: Floats | None,
    persons: Ints | None,
    support: int,
    rng: np.random.Generator,
    state: Words,
) -> Ints:
    """Deal the units of some records, which are whole pools; which are left.

    Parameters
    ----------
    part : Ragged
        The units of the records from `first` on.
    own : pair of int64 arrays
        Where each pool begins among these records, and which of them have room.
    shares : float64 array (n_units,), optional
        What share of all hold the first item of each unit, unless this is the last level.
    """
    pools, open_rows = own
    n_units = units.n_units
    pool_of = np.repeat(np.repeat(np.arange(len(pools) - 1), np.diff(pools)), part.sizes)
    batches, inverse, counts = np.unique(pool_of * n_units + part.values[0], return_inverse=True, return_counts=True)
    pool, unit = np.divmod(batches, n_units)
    holders = counts
    if persons is not None:
        holders = count_distinct(inverse, np.repeat(persons, part.sizes), len(counts))
    is_dealt = holders >= support
    if shares is not None:  # what most of a pool share would be told of all of it
        is_dealt &= counts <= np.maximum(MOST_SHARED, shares[unit]) * np.diff(pools)[pool]
    chosen = np.flatnonzero(is_dealt)
    # Large units come before small ones of their pool, as they need more room, and the common before the rest.
    chosen = chosen[np.lexsort((rng.random(len(chosen)), -counts[chosen], -units.sizes[unit[chosen]], pool[chosen]))]
    n_over, rows = counts[chosen], open_rows + first
    taken, filled = dealt.rows.take(rows), dealt.filled[rows].astype(np.int64)
    out = taken.values[0].copy()
    deal(
        taken.starts,
        filled,
        out,
        np.searchsorted(open_rows, pools),
        np.diff(pools),
        pool[chosen],
        unit[chosen],
        n_over,
        units.starts,
        units.items,
        state,
    )
    dealt.filled[rows] = filled
    dealt.rows.overwrite(rows, out)
    # What found no room is dealt with what is left of the next larger pool; whose it was plays no part.
    counts[chosen] = n_over
    return np.flatnonzero(rank_within(inverse) < counts[inverse])


def rank_within(keys: Ints) -> Ints:
    """How many equal keys stand before each."""
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    ranks = np.empty(len(keys), np.int64)
    ranks[order] = np.arange(len(keys)) - np.searchsorted(ranked, ranked)
    return ranks
