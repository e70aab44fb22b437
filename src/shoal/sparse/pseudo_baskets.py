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

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from shoal.arrays import Codes, Ints, Mask, Signs, Words
from shoal.data.ragged_rows import AnyRows
from shoal.data.sparse.record_rows import RecordRows
from shoal.data.sparse.records import Sparse, count_distinct
from shoal.data.sparse.written import compact
from shoal.errors import Infeasible
from shoal.kernels.sparse.dealing import record_hashes, swap_copies
from shoal.progress import Progress
from shoal.sparse.content_order import order_of_rows
from shoal.sparse.deal_units import Dealt, deal_units
from shoal.sparse.mean_weights import classes_of, reached, weigh_rows
from shoal.sparse.near_groups import NearGroups, new_state, person_groups
from shoal.sparse.units import joined_units

REASONS = ("kept", "empty", "small_class", "rare_items", "emptied", "copies")
_EMPTY, _CLASS, _RARE = 1, 2, 3
SUPPORT = 3
"""With it one-more-item stays below 0.05, at the upper end, on 180,000 baskets of C20.I4 and 90,000 of T10I4D100K; on
180,000 of C20.I6 it reaches 0.07. Chosen on earlier measurements of these sets."""
TOGETHER = 16
MOST_PAIRS = 1 << 23
"""Places of a table of counts of pairs of units, of 12 bytes; with more pairs some units are counted at a time."""


@dataclass(frozen=True)
class DealtAnew:
    """Pseudo-records, which may lie in files, and what stays home.

    Attributes
    ----------
    rows : RecordRows
        The pseudo-records, sorted by content, with the items of the originals by their numbers.
    groups : int32 array (n_published,)
        The group of each pseudo-record; groups are numbered in the order of their tree. Private, as is all below.
    original_groups : int32 array (n_records,)
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

    rows: RecordRows
    groups: Codes
    original_groups: Codes
    reasons: Signs
    n_emptied: int
    n_copies: int
    n_rare_items: int
    n_rare_entries: int
    n_left_over: int
    n_entries: int
    n_joined: int


@dataclass(frozen=True)
class PseudoBaskets(DealtAnew):
    """The same of records that are held.

    Attributes
    ----------
    baskets : Sparse
        The pseudo-records, to be published; its names are those of items that occur.
    """

    baskets: Sparse


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
    made = deal_anew(RecordRows.of(records), k, support=support, together=together, seed=seed, progress=progress)
    published = replace(compact(made.rows.like(records)), labels=made.rows.labels, classes=records.classes)
    return PseudoBaskets(**vars(made), baskets=published)


def deal_anew(
    records: RecordRows,
    k: int,
    *,
    support: int = SUPPORT,
    together: int = TOGETHER,
    seed: int | None = None,
    progress: Progress | None = None,
    room: int | None = None,
) -> DealtAnew:
    """See `pseudo_baskets`.

    Parameters
    ----------
    room : int, optional
        How many entries of records in files may be held at once; without it all are.
    """
    order = order_of_rows(records).astype(np.int32)
    slim, rows, reasons, rare = without_rare_rows(records, k)
    if not len(slim):
        raise nothing_left(records, k)
    place = np.full(len(records), -1, np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    order = order[place[order] >= 0]  # of those that are left
    kept = slim.in_order(place[order])
    del slim, place, rows
    if kept.persons is not None:  # numbered by their first record
        _, firsts, persons = np.unique(kept.persons, return_index=True, return_inverse=True)
        kept = replace(kept, persons=np.argsort(np.argsort(firsts))[persons].astype(np.int64))
    rng = np.random.default_rng(seed)
    if progress is not None:
        progress("grouping records", 0, 0)
    groups = person_groups(kept, k, rng, by_pulls=together == 1, room=room)
    if progress is not None:
        progress("dealing items", 0, 0)
    ordered = kept.in_order(groups.order)
    del kept
    dealt, n_left_over, n_joined = _dealt(ordered, groups, k, support, together.bit_length() - 1, rng, room)
    is_copy = _without_copies(dealt, groups, records, k, rng)
    is_out = is_copy | (dealt.filled == 0)
    n_copies = int((is_copy & (dealt.filled > 0)).sum())
    n_emptied = int((dealt.filled == 0).sum())
    of_group = groups.groups.astype(np.int32)
    original_groups = np.full(len(records), -1, np.int32)
    original_groups[order[groups.order]] = of_group
    chosen = np.flatnonzero(~is_out)
    made = _settled(dealt, ordered, groups, (k, support), chosen, room)
    del dealt, ordered
    by_content = order_of_rows(made)
    return DealtAnew(
        made.in_order(by_content),
        of_group[chosen][by_content],
        original_groups,
        reasons,
        n_emptied,
        n_copies,
        *rare,
        n_left_over,
        records.rows.n_entries,
        n_joined,
    )


def kept_sizes(records: Sparse, k: int) -> Ints:
    """How many items of each record k of all hold; 0 where there are not k records of its class with such items."""
    kept, rows, *_ = without_rare(records, k)
    sizes = np.zeros(len(records), np.int64)
    sizes[rows] = kept.sizes
    return sizes


def nothing_left(records: Sparse | RecordRows, k: int) -> Infeasible:
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


def without_rare(records: Sparse, k: int) -> tuple[Sparse, Ints, Signs]:
    """Records with the items that k of all hold, whose rows they are, and why others have none."""
    kept, rows, reasons, _ = without_rare_rows(RecordRows.of(records), k)
    return kept.like(records), rows, reasons


def without_rare_rows(records: RecordRows, k: int) -> tuple[RecordRows, Ints, Signs, tuple[int, int]]:
    """The same of records that may lie in files, and what was taken out."""
    supports, sizes = records.holders, records.sizes
    is_kept = supports >= k
    n_kept = np.zeros(len(records), np.int64)
    for low, high in records.rows.runs():
        part = records.rows.part(low, high)
        kept = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_kept[part.values[0]])])
        n_kept[low:high] = kept[part.starts[1:]] - kept[part.starts[:-1]]
    reasons = np.zeros(len(records), np.int8)
    reasons[sizes == 0] = _EMPTY
    reasons[(reasons == 0) & (n_kept == 0)] = _RARE
    rows = np.flatnonzero(reasons == 0)
    labels = np.zeros(len(records), np.int32) if records.labels is None else records.labels
    persons = np.arange(len(records)) if records.persons is None else records.persons
    left = count_distinct(labels[rows], persons[rows], int(labels.max(initial=0)) + 1)
    reasons[rows[left[labels[rows]] < k]] = _CLASS
    rows = np.flatnonzero(reasons == 0)
    writer = records.rows.writer(*(values.dtype for values in records.rows.part(0, 0).values))
    for low, high in records.rows.runs():
        part = records.rows.part(low, high)
        own = is_kept[part.values[0]] & np.repeat(reasons[low:high] == 0, part.sizes)
        writer.add(n_kept[low:high][reasons[low:high] == 0], *(values[own] for values in part.values))
    slim = replace(
        records,
        rows=writer.done(),
        labels=None if records.labels is None else records.labels[rows],
        persons=None if records.persons is None else records.persons[rows],
    )
    n_rare = int(((supports > 0) & (supports < k)).sum())
    return slim, rows, reasons, (n_rare, int(sizes.sum() - n_kept.sum()))


def _dealt(
    ordered: RecordRows,
    groups: NearGroups,
    k: int,
    support: int,
    n_rounds: int,
    rng: np.random.Generator,
    room: int | None,
) -> tuple[Dealt, int, int]:
    # Within each group the sizes in a random order; how many items the longest has would be theirs alone.
    by_chance = np.lexsort((rng.random(len(ordered)), groups.groups))
    sizes = np.minimum(ordered.sizes, _largest(ordered, groups, k))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[by_chance])])
    del by_chance, sizes
    dealt = Dealt(ordered.rows.empty(starts, np.int32), np.zeros(len(ordered), np.int32))
    most_pairs = MOST_PAIRS if room is None else min(room, MOST_PAIRS)
    units = joined_units(ordered, k, n_rounds, most_pairs, is_bounded=room is not None)
    n_joined = int((units.counts() * units.sizes)[units.sizes > 1].sum())
    state = new_state(rng)
    told = (groups, ordered.supports / len(ordered), ordered.persons, support, rng, state, room)
    left = deal_units(dealt, units, *told)
    n_left = int((left.counts() * left.sizes).sum())
    if n_left > left.rows.n_entries:  # what had no room as a whole anywhere
        left = deal_units(dealt, left.apart(ordered.n_items), *told)
        n_left = left.rows.n_entries
    return dealt, n_left, n_joined


def _largest(ordered: RecordRows, groups: NearGroups, k: int) -> Ints:
    """For each record, the largest size that k of its class reach."""
    of_class = classes_of(groups)
    if ordered.persons is None:
        bounds = groups.starts[groups.segments]
        runs = (ordered.sizes[low:high] for low, high in pairwise(bounds.tolist()))
        found = [np.partition(sizes, -min(k, len(sizes)))[-min(k, len(sizes))] for sizes in runs]
        return np.array(found, np.int64)[of_class]
    _, largest = reached(of_class, ordered.persons, ordered.sizes.astype(np.float64), k)
    return np.asarray(largest[of_class], np.int64)


def _without_copies(dealt: Dealt, groups: NearGroups, originals: RecordRows, k: int, rng: np.random.Generator) -> Mask:
    """Swap items until no pseudo-record is one that fewer than k hold; which still are."""
    keys = rng.integers(0, 2**64, size=originals.n_items, dtype=np.uint64)
    rare, state = _rare_hashes(originals, keys, k), new_state(rng)
    is_copy = np.zeros(len(dealt.filled), bool)
    for first, last in dealt.runs(groups.starts):
        low, high = np.searchsorted(groups.starts, (first, last))
        part, filled = dealt.rows.part(first, last), dealt.filled[first:last].astype(np.int64)
        out, bounds = part.values[0].copy(), groups.starts[low : high + 1] - first
        is_copy[first:last] = swap_copies(part.starts, filled, out, bounds, keys, rare, state)
        dealt.rows.overwrite(np.arange(first, last), out)
    return is_copy


def _rare_hashes(originals: RecordRows, keys: Words, k: int) -> Words:
    """Those of records that fewer than k hold, ascending."""
    filled = np.flatnonzero(originals.sizes > 0)
    hashes = np.concatenate([record_hashes(part.starts, part.values[0], keys) for part in originals.rows.parts()])
    if originals.persons is not None:
        held, inverse = np.unique(hashes[filled], return_inverse=True)
        return held[count_distinct(inverse, originals.persons[filled], len(held)) < k]
    hashes = np.sort(hashes[filled])
    firsts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1]))
    return hashes[firsts[np.diff(np.append(firsts, len(hashes))) < k]]


def _settled(
    dealt: Dealt, ordered: RecordRows, groups: NearGroups, least: tuple[int, int], rows: Ints, room: int | None
) -> RecordRows:
    """Pseudo-records with items in order, and their weights."""
    writer = dealt.rows.writer(np.int32)
    for first, last in dealt.rows.runs():
        low, high = np.searchsorted(rows, (first, last))
        part = dealt.items(rows[low:high])
        items = part.values[0]
        writer.add(part.sizes, items[np.lexsort((items, np.repeat(np.arange(len(part)), part.sizes)))])
    made: AnyRows = writer.done()
    if not ordered.is_binary:
        is_integral = ordered.rows.part(0, 0).values[1].dtype.kind == "i"
        made = weigh_rows(made, rows, ordered, groups, least, is_integral=is_integral, room=room)
    return RecordRows(made, ordered.n_items, None if ordered.labels is None else ordered.labels[rows])
