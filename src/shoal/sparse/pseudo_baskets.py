"""Pseudo-baskets: the items of groups of near records, dealt anew. Condensation for sets.

Records are put into groups of at least k (`shoal.sparse.near_groups`). An item that at least `support` records of a
group hold is dealt anew to as many pseudo-records of the group; one that fewer hold, in the smallest pool of 2, 4, 8,
... neighbouring groups in which so many are left to be dealt. So it is with pairs of items that occur together far more
often than apart and that k records hold: they are dealt as one. How many items a pseudo-record has is permuted within
its group.

Where a person may have several records (`Sparse.persons`), persons are counted in the place of records throughout.

**Guarantee**: every pool has at least k records; every published item is held by at least
`support` records of its pool and k of all; the numbers of items of a group's pseudo-records are none but its records',
or smaller, and k of the class have so many; a weight is a mean over k holders, or all of the class, in which none
counts for more than `support` of them reach; no pseudo-record equals a record that fewer than k hold. **Not
protected**: what a whole pool has in common; that a record is in the data; nothing here is differential privacy.

References
----------
C. C. Aggarwal, P. S. Yu, "A condensation approach to privacy preserving data mining", EDBT 2004, for numbers; the
dealing of items is ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask, Signs, Words
from shoal.data.ragged import count_codes, ragged_places, runs_of_rows
from shoal.data.sparse.records import Sparse, Weights, count_distinct, ones
from shoal.data.sparse.written import compact
from shoal.errors import Infeasible
from shoal.kernels.sparse.dealing import deal, swap_copies
from shoal.kernels.sparse.pairs import list_owners, match_pairs, opens_pair, strong_pairs
from shoal.progress import Progress
from shoal.sparse.content_order import canonical_order
from shoal.sparse.near_groups import NearGroups, new_state, person_groups

REASONS = ("kept", "empty", "small_class", "rare_items", "emptied", "copies")
_EMPTY, _CLASS, _RARE = 1, 2, 3
SUPPORT = 3
"""With it one-more-item stays below 0.05, at the upper end, on 180,000 baskets of C20.I4 and 90,000 of T10I4D100K; on
180,000 of C20.I6 it reaches 0.07. Chosen on earlier measurements of these sets."""
TOGETHER = 16
LEAST_LIFT = 3.0
"""How much oftener together than apart items are that are dealt as one. Chosen on T10I4D100K."""
MOST_SHARED = 0.5
"""The largest share of a pool that may hold an item, unless as large a share of all do."""
DIGITS = 3
UNITS_AT_ONCE = 1 << 20
"""Units that are dealt at once: some ten MB; a pool is never parted."""


@dataclass(frozen=True)
class PseudoBaskets:
    """What is published, and what stays home.

    Attributes
    ----------
    baskets : Sparse
        To be published, sorted by content; its names are those of items that occur.
    groups : int64 array (n_published,)
        The group of each pseudo-record; groups are numbered in the order of their tree. Private, as is all below.
    original_groups : int64 array (n_records,)
        The group of each record; -1 where it has none.
    reasons : int8 array (n_records,)
        Why a record is in no group: an index into `REASONS`.
    n_emptied, n_copies : int
        Pseudo-records that were left out, as nothing was left to deal to them, or as they stayed copies.
    n_rare_items, n_rare_entries : int
        Items that fewer than k records hold, and in how many places.
    n_left_over : int
        Places of other items that were left out, as no record of the pool had room.
    n_entries : int
        Places of items in all.
    n_joined : int
        Places that were dealt in pairs.
    """

    baskets: Sparse
    groups: Ints
    original_groups: Ints
    reasons: Signs
    n_emptied: int
    n_copies: int
    n_rare_items: int
    n_rare_entries: int
    n_left_over: int
    n_entries: int
    n_joined: int


def pseudo_baskets(
    records: Sparse,
    k: int,
    *,
    support: int = SUPPORT,
    together: int = TOGETHER,
    seed: int | None = None,
    progress: Progress | None = None,
) -> PseudoBaskets:
    """Deal the items of records anew, within groups of at least k.

    Parameters
    ----------
    support : int
        How many of a pool hold an item that is dealt in it.
    together : int
        How many items that occur together far more often than apart, and that k records hold together, are dealt as
        one: 1, 2, 4, 8, ... With 1, no pattern of items is sought, and of more than two classes records are grouped by
        how they are drawn to other classes, which keeps these apart as they were (`class_pulls`).

    Raises
    ------
    Infeasible
        If there are fewer than k records with items that k hold.
    """
    order = canonical_order(records)
    kept, rows, reasons, rare = without_rare(_by_appearance(records.take(order)), k)
    if not len(kept):
        raise nothing_left(records, k)
    rng = np.random.default_rng(seed)
    if progress is not None:
        progress("grouping records", 0, 0)
    groups = person_groups(kept, k, rng, by_pulls=together == 1)
    if progress is not None:
        progress("dealing items", 0, 0)
    ordered = kept.take(groups.order)
    del kept
    dealt, n_left_over, n_joined = _dealt(ordered, groups, k, support, together.bit_length() - 1, rng)
    originals = records if records.sizes.all() else records.take(np.flatnonzero(records.sizes > 0))
    is_copy = _without_copies(dealt, groups, originals, k, rng)
    sizes = dealt.filled
    is_out = is_copy | (sizes == 0)
    made = _settled(dealt, ordered, groups, (k, support), np.flatnonzero(~is_out))
    by_content = canonical_order(made)
    original_groups = np.full(len(records), -1, np.int64)
    original_groups[order[rows[groups.order]]] = groups.groups
    reasons_back = np.empty_like(reasons)
    reasons_back[order] = reasons
    return PseudoBaskets(
        made.take(by_content),
        groups.groups[~is_out][by_content],
        original_groups,
        reasons_back,
        int((sizes == 0).sum()),
        int((is_copy & (sizes > 0)).sum()),
        *rare,
        n_left_over,
        len(records.items),
        n_joined,
    )


def _by_appearance(records: Sparse) -> Sparse:
    """The same with persons numbered by their first record."""
    if records.persons is None:
        return records
    _, firsts, persons = np.unique(records.persons, return_index=True, return_inverse=True)
    return replace(records, persons=np.argsort(np.argsort(firsts))[persons].astype(np.int64))


def kept_sizes(records: Sparse, k: int) -> Ints:
    """How many items of each record k of all hold; 0 where there are not k records of its class with such items."""
    kept, rows, *_ = without_rare(records, k)
    sizes = np.zeros(len(records), np.int64)
    sizes[rows] = kept.sizes
    return sizes


def nothing_left(records: Sparse, k: int) -> Infeasible:
    """That no record can be published, in words."""
    n = len(records if records.persons is None else np.unique(records.persons))
    if n < k:
        one = "record" if records.persons is None else "person"
        told = f"is 1 {one}" if n == 1 else f"are {n:,} {one}s"
        return Infeasible(f"there {told}, fewer than k = {k:,}; lower k or add {one}s")
    return Infeasible(
        f"nothing can be published: no k = {k:,} records of a class hold items that k of all hold; lower k, add "
        "records, or leave out the classes"
    )


def without_rare(records: Sparse, k: int) -> tuple[Sparse, Ints, Signs, tuple[int, int]]:
    """Records with the items that k of all hold, whose rows they are, why others have none, and what was taken out."""
    reasons = np.zeros(len(records), np.int8)
    reasons[records.sizes == 0] = _EMPTY
    supports = records.holders
    is_kept = (supports >= k)[records.items]
    dropped = np.searchsorted(records.starts, np.flatnonzero(~is_kept), side="right") - 1
    n_kept = records.sizes - np.bincount(dropped, minlength=len(records))
    reasons[(reasons == 0) & (n_kept == 0)] = _RARE
    rows = np.flatnonzero(reasons == 0)
    labels = np.zeros(len(records), np.int32) if records.labels is None else records.labels
    persons = np.arange(len(records)) if records.persons is None else records.persons
    left = count_distinct(labels[rows], persons[rows], max(len(records.classes), 1))
    reasons[rows[left[labels[rows]] < k]] = _CLASS
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(n_kept)])
    weights = ones(int(starts[-1])) if records.is_binary else records.weights[is_kept]
    slim = replace(records, starts=starts, items=records.items[is_kept], weights=weights)
    rows = np.flatnonzero(reasons == 0)
    n_rare = int(((supports > 0) & (supports < k)).sum())
    return slim if len(rows) == len(slim) else slim.take(rows), rows, reasons, (n_rare, len(dropped))


@dataclass(frozen=True)
class _Dealt:
    """Pseudo-records in the order of the groups: ``items[starts[i]:starts[i] + filled[i]]``."""

    starts: Ints
    filled: Ints
    items: Codes


@dataclass(frozen=True)
class _Units:
    """What is dealt as one: a record's row, ascending, and the number of a unit, and the items of each unit."""

    rows: Codes
    numbers: Codes
    starts: Ints
    items: Codes

    @property
    def sizes(self) -> Ints:
        """How many items each has that a record holds."""
        return np.diff(self.starts)[self.numbers]

    def take(self, which: Codes) -> _Units:
        """Some of them."""
        return replace(self, rows=self.rows[which], numbers=self.numbers[which])

    def apart(self) -> _Units:
        """Every item by itself."""
        places, _ = ragged_places(self.starts, self.numbers)
        distinct, numbers = np.unique(self.items[places], return_inverse=True)
        rows = np.repeat(self.rows, self.sizes)
        return _Units(rows, numbers.astype(np.int32), np.arange(len(distinct) + 1), distinct.astype(np.int32))


def _dealt(
    ordered: Sparse,
    groups: NearGroups,
    k: int,
    support: int,
    n_rounds: int,
    rng: np.random.Generator,
) -> tuple[_Dealt, int, int]:
    # Within each group the sizes in a random order; how many items the longest has would be theirs alone.
    by_chance = np.lexsort((rng.random(len(ordered)), groups.groups))
    sizes = np.minimum(ordered.sizes, _largest(ordered, groups, k))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[by_chance])])
    dealt = _Dealt(starts, np.zeros(len(ordered), np.int64), np.empty_like(ordered.items))
    units = joined_units(ordered, k, n_rounds)
    sizes = np.diff(units.starts)
    n_joined = int((count_codes(units.numbers, len(sizes)) * sizes)[sizes > 1].sum())
    state = new_state(rng)
    left = _deal_levels(dealt, units, ordered, groups, support, rng, state)
    if (left.sizes > 1).any():  # what had no room as a whole anywhere
        left = _deal_levels(dealt, left.apart(), ordered, groups, support, rng, state)
    return dealt, int(left.sizes.sum()), n_joined


def _largest(ordered: Sparse, groups: NearGroups, k: int) -> Ints:
    """For each record, the largest size that k of its class reach."""
    of_class = _classes_of(ordered, groups)
    persons = np.arange(len(ordered)) if ordered.persons is None else ordered.persons
    _, largest = reached(of_class, persons, ordered.sizes.astype(np.float64), k)
    return np.asarray(largest[of_class], np.int64)


def _classes_of(ordered: Sparse, groups: NearGroups) -> Ints:
    """The class of each record, numbered as the groups' segments are."""
    bounds = groups.starts[groups.segments]
    return np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))


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
    low, high = bounds
    near = np.where(np.abs(low) < np.abs(high), low, high)
    return np.where(low > high, near, low), np.where(low > high, near, high)


def _deal_levels(
    dealt: _Dealt,
    units: _Units,
    ordered: Sparse,
    groups: NearGroups,
    support: int,
    rng: np.random.Generator,
    state: Words,
) -> _Units:
    """Deal units level by level; those that are left."""
    n_units, unit_sizes = len(units.starts) - 1, np.diff(units.starts)
    group_of, persons = groups.groups, ordered.persons
    shares = ordered.supports[units.items[units.starts[:-1]]] / len(ordered)
    left = np.arange(len(units.numbers), dtype=np.int32)
    for level in range(groups.n_levels):
        if not len(left):
            break
        pool_of, pools = groups.pools(level)
        still_left = []
        for some in _whole_pools(left, units.rows, pool_of[group_of], pools):
            rows = units.rows[some]
            batches, inverse, counts = np.unique(
                pool_of[group_of[rows]] * n_units + units.numbers[some], return_inverse=True, return_counts=True
            )
            pool, unit = np.divmod(batches, n_units)
            is_dealt = _n_holders(inverse, counts, persons, rows) >= support
            if level + 1 < groups.n_levels:  # what most of a pool share would be told of all of it
                is_dealt &= counts <= np.maximum(MOST_SHARED, shares[unit]) * np.diff(pools)[pool]
            chosen = np.flatnonzero(is_dealt)
            # Large units come before small ones of their pool, as they need more room, and the common before the rest.
            by = (rng.random(len(chosen)), -counts[chosen], -unit_sizes[unit[chosen]], pool[chosen])
            chosen = chosen[np.lexsort(by)]
            n_over = counts[chosen]
            out = (dealt.starts, dealt.filled, dealt.items)
            deal(*out, pools, pool[chosen], unit[chosen], n_over, units.starts, units.items, state)
            # What found no room is dealt with what is left of the next larger pool; whose it was plays no part.
            counts[chosen] = n_over
            still_left.append(some[_rank_within(inverse) < counts[inverse]])
        left = np.concatenate(still_left)
    return units.take(left)


def _whole_pools(left: Codes, rows: Codes, pool_of_row: Ints, pools: Ints) -> Iterator[Codes]:
    """The units that are left in runs of whole pools; `rows` are those of all units, ascending."""
    begin = 0
    while begin < len(left):
        end = min(begin + UNITS_AT_ONCE, len(left))
        if end < len(left):
            low, high = (int(pools[pool_of_row[rows[left[end]]] + i]) for i in (0, 1))
            end, after = (int(np.searchsorted(left, np.searchsorted(rows, np.int32(row)))) for row in (low, high))
            end = end if end > begin else after
        yield left[begin:end]
        begin = end


def _n_holders(inverse: Ints, counts: Ints, persons: Ints | None, rows: Ints | Codes) -> Ints:
    """How many persons there are among the holders of each; as many as records where each is of another."""
    return counts if persons is None else count_distinct(inverse, persons[rows], len(counts))


def _rank_within(keys: Ints) -> Ints:
    """How many equal keys stand before each."""
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    ranks = np.empty(len(keys), np.int64)
    ranks[order] = np.arange(len(keys)) - np.searchsorted(ranked, ranked)
    return ranks


def joined_units(records: Sparse, k: int, n_rounds: int) -> _Units:
    """The items of each record, joined in each round with one that they stand with far more often than apart.

    Both are dealt as one then: pairs after one round, up to four items after two. At least k records hold each unit.
    """
    rows = np.repeat(np.arange(len(records), dtype=np.int32), records.sizes)
    numbers, starts, items = records.items.copy(), np.arange(records.n_items + 1), np.arange(records.n_items)
    for _ in range(n_rounds):
        n_units = len(starts) - 1
        mate, is_first = _mates(rows, numbers, records, n_units, k)
        firsts = np.flatnonzero(is_first)
        if not len(firsts):
            break
        keys = numbers[firsts].astype(np.int64) * n_units + numbers[mate[firsts]]
        distinct, inverse = np.unique(keys, return_inverse=True)
        parts = np.stack(np.divmod(distinct, n_units), axis=1).ravel()
        places, part_starts = ragged_places(starts, parts)
        numbers[firsts] = n_units + inverse
        starts = np.concatenate([starts, starts[-1] + part_starts[2::2]])
        items = np.concatenate([items, items[places]])
        is_kept = is_first | (mate < 0)
        rows, numbers = rows[is_kept], numbers[is_kept]
    return _Units(rows, numbers, starts, items.astype(np.int32))


def _mates(rows: Codes, numbers: Codes, records: Sparse, n_units: int, k: int) -> tuple[Codes, Mask]:
    """Which entry of its record each is joined with, -1 where with none; and whether that one stands after it."""
    starts = np.searchsorted(rows, np.arange(len(records) + 1, dtype=np.int32)).astype(np.int64)
    owner_starts, owners = list_owners(starts, numbers, n_units)
    partners = strong_pairs(starts, numbers, owner_starts, owners, np.diff(owner_starts), k, LEAST_LIFT)
    del owners
    mate = match_pairs(starts, numbers, *partners, n_units)
    is_first = np.empty(len(mate), np.bool_)
    opens_pair(mate, is_first)
    # A pair that fewer than k records are left with, as others have a stronger one, is no pair.
    firsts = np.flatnonzero(is_first)
    _, inverse, counts = np.unique(
        numbers[firsts].astype(np.int64) * n_units + numbers[mate[firsts]], return_inverse=True, return_counts=True
    )
    few = firsts[_n_holders(inverse, counts, records.persons, rows[firsts])[inverse] < k]
    mate[mate[few]] = -1
    mate[few] = -1
    is_first[few] = False
    return mate, is_first


def _without_copies(dealt: _Dealt, groups: NearGroups, originals: Sparse, k: int, rng: np.random.Generator) -> Mask:
    """Swap items until no pseudo-record is one that fewer than k hold; which still are."""
    keys = rng.integers(0, 2**64, size=originals.n_items, dtype=np.uint64)
    held, inverse, counts = np.unique(record_hashes(originals, keys), return_inverse=True, return_counts=True)
    counts = _n_holders(inverse, counts, originals.persons, np.arange(len(originals)))
    return swap_copies(dealt.starts, dealt.filled, dealt.items, groups.starts, keys, held[counts < k], new_state(rng))


def record_hashes(records: Sparse, keys: Words) -> Words:
    """The sum of the keys of each record's items: equal for equal sets."""
    hashes = np.empty(len(records), np.uint64)
    for low, high in runs_of_rows(records.starts):
        starts = records.starts[low : high + 1]
        terms = keys[records.items[starts[0] : starts[-1]]]
        total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
        hashes[low:high] = total[starts[1:] - starts[0]] - total[starts[:-1] - starts[0]]
    return hashes


def _settled(dealt: _Dealt, ordered: Sparse, groups: NearGroups, least: tuple[int, int], rows: Ints) -> Sparse:
    """Pseudo-records with items in order, and the names of no items but theirs."""
    sizes = dealt.filled[rows]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    items = np.empty(int(starts[-1]), np.int32)
    for low, high in runs_of_rows(starts):
        first, last = int(starts[low]), int(starts[high])
        places = np.arange(first, last) + np.repeat(
            dealt.starts[:-1][rows[low:high]] - starts[low:high], sizes[low:high]
        )
        own = dealt.items[places]
        items[first:last] = own[np.lexsort((own, np.repeat(np.arange(low, high), sizes[low:high])))]
    weights = _mean_weights(ordered, groups, least, np.repeat(rows, 0 if ordered.is_binary else sizes), items)
    labels = None if ordered.labels is None else ordered.labels[rows]
    made = replace(ordered, starts=starts, items=items, weights=weights, labels=labels, persons=None)
    return replace(compact(made), labels=labels, classes=ordered.classes)


def _mean_weights(ordered: Sparse, groups: NearGroups, least: tuple[int, int], rows: Ints, items: Codes) -> Weights:
    """What each entry weighs: the mean of those who hold the item in its smallest pool of k holders, or in its class.

    What fewer than `support` persons of a class reach is cut to what so many do, so that the mean is nobody's. `rows`
    are those of the entries in the order of the groups; they are not looked at where records are sets.
    """
    if ordered.is_binary:
        return ones(len(items))
    k, support = least
    group_of = groups.groups[rows]
    holders = np.repeat(groups.groups, ordered.sizes)
    owners = np.repeat(np.arange(len(ordered)), ordered.sizes)
    whose = owners if ordered.persons is None else ordered.persons[owners]
    of_class = _classes_of(ordered, groups)[owners] * ordered.n_items + ordered.items
    low, high = (bound[of_class] for bound in reached(of_class, whose, ordered.weights.astype(np.float64), support))
    held = np.clip(ordered.weights, low, high)
    weights = np.zeros(len(items))
    left = np.arange(len(items))
    for level in range(groups.n_levels):
        pool_of, _ = groups.pools(level)
        keys, inverse, counts = np.unique(
            pool_of[holders] * ordered.n_items + ordered.items, return_inverse=True, return_counts=True
        )
        means = np.bincount(inverse, held) / counts
        counts = _n_holders(inverse, counts, ordered.persons, owners)
        wanted = pool_of[group_of[left]] * ordered.n_items + items[left]
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        is_there = keys[at] == wanted
        weights[left[is_there]] = means[at[is_there]]
        left = left[~(is_there & (counts[at] >= max(k, support)))]
        if not len(left):
            break
    if ordered.is_integral:
        return np.where(np.rint(weights) == 0, np.where(weights < 0, -1, 1), np.rint(weights)).astype(np.int64)
    scale = 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.maximum(np.abs(weights), 1e-300))))
    return np.asarray(np.rint(weights * scale) / scale, np.float64)
