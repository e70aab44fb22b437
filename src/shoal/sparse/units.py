"""What is dealt as one: items, and items that stand together far more often than apart.

Records are looked at run by run. What is held are the units, and counts of pairs of them; where these do not fit, they
are counted in several passes, each for some of the units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.data.ragged import ragged_places
from shoal.data.ragged_rows import AnyRows, Ragged
from shoal.data.sparse.record_rows import RecordRows
from shoal.data.sparse.records import count_distinct
from shoal.errors import Infeasible
from shoal.kernels.sparse.pairs import count_pairs, join_pairs, match_pairs

LEAST_LIFT = 3.0
"""How much oftener together than apart items are that are dealt as one. Chosen on T10I4D100K."""
MOST_PARTNERS, FEWEST_PLACES = 32, 16


@dataclass(frozen=True)
class Units:
    """The units of each record, by their numbers, and the items of each unit."""

    rows: AnyRows
    starts: Ints
    items: Codes

    @property
    def n_units(self) -> int:
        """How many different ones there are."""
        return len(self.starts) - 1

    @property
    def sizes(self) -> Ints:
        """How many items each has."""
        return np.diff(self.starts)

    def counts(self) -> Ints:
        """How many records have each."""
        counts = np.zeros(self.n_units, np.int64)
        for part in self.rows.parts():
            counts += np.bincount(part.values[0], minlength=self.n_units)
        return counts

    def apart(self, n_items: int) -> Units:
        """Every item by itself."""
        writer = self.rows.writer(np.int32)
        for part in self.rows.parts():
            places, starts = ragged_places(self.starts, part.values[0])
            writer.add(np.diff(starts[part.starts]), self.items[places])
        return single_units(writer.done(), n_items)


def single_units(rows: AnyRows, n_items: int) -> Units:
    """Every item is one."""
    return Units(rows, np.arange(n_items + 1), np.arange(n_items, dtype=np.int32))


def joined_units(records: RecordRows, k: int, n_rounds: int, most_pairs: int, *, is_bounded: bool = False) -> Units:
    """The items of each record, joined in each round with one that they stand with far more often than apart.

    Both are dealt as one then: pairs after one round, up to four items after two. At least k records hold each unit.

    Parameters
    ----------
    most_pairs : int
        Places of a table of counts of pairs. With fewer, records are read more often.
    is_bounded : bool
        Whether what does not fit into such a table even so is refused.
    """
    units = single_units(records.rows.columns(0), records.n_items)
    for _ in range(n_rounds):
        partners = _partners(units, k, most_pairs, is_bounded)
        opened = units.rows.beside(np.int32, partners.matched)
        counts = _times_opened(opened, len(partners.partners), records.persons)
        # A pair that fewer than k records are left with, as others have a stronger one, is no pair.
        chosen = np.flatnonzero(counts >= k)
        if not len(chosen):
            break
        units = _joined(units, opened, partners, chosen)
    return units


@dataclass(frozen=True)
class _Partners:
    """The units that each stands with in k records at least and often enough, the strongest first, and how often."""

    starts: Ints
    partners: Codes
    lifts: Floats

    def matched(self, part: Ragged) -> Codes:
        """The pairs that some records are cut into."""
        return match_pairs(part.starts, part.values[0], self.starts, self.partners, self.lifts)

    @property
    def firsts(self) -> Ints:
        """Whose partner each is."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


def _partners(units: Units, k: int, most: int, is_bounded: bool) -> _Partners:
    """At most 32 of each unit; of equally strong ones the first."""
    supports, n_units, n = units.counts(), units.n_units, len(units.rows)
    found: list[tuple[Ints, Ints, Floats]] = []
    first, end, n_strong = 0, n_units, 0
    while first < n_units:
        is_last = end - first == 1 and not is_bounded
        table = _counted(units, supports, k, first, end, np.iinfo(np.int64).max if is_last else most)
        if table is None:
            if end - first == 1:
                raise Infeasible(
                    "the pairs of one item with all others do not fit into the bound: raise memory, or ask for "
                    "together = 1"
                )
            end = first + (end - first) // 2
            continue
        keys, counts = table
        unit, other = np.divmod(keys, n_units)
        lifts = counts * float(n) / (supports[unit].astype(np.float64) * supports[other])
        strong = lifts >= LEAST_LIFT
        found.append((unit[strong], other[strong], lifts[strong]))
        n_strong += int(strong.sum())
        if is_bounded and n_strong > most:
            raise Infeasible(
                f"{n_strong:,} pairs of items and more stand together far more often than apart, which do not fit into "
                "the bound: raise memory, or ask for together = 1"
            )
        first, end = end, min(end + 2 * (end - first), n_units)
    unit, other, lift = (np.concatenate(part) for part in zip(*found, strict=True)) if found else (np.zeros(0),) * 3
    order = np.lexsort((other, -lift, unit))
    unit, other, lift = unit[order].astype(np.int64), other[order].astype(np.int32), lift[order]
    is_kept = np.arange(len(unit)) - np.searchsorted(unit, unit) < MOST_PARTNERS
    starts = np.searchsorted(unit[is_kept], np.arange(n_units + 1)).astype(np.int64)
    return _Partners(starts, other[is_kept], lift[is_kept])


def _counted(units: Units, supports: Ints, k: int, first: int, end: int, most: int) -> tuple[Ints, Codes] | None:
    """Keys of pairs of some units with others that k records have at least, and how many; None if they do not fit."""
    keys, counts, n_used = np.full(FEWEST_PLACES, -1, np.int64), np.zeros(FEWEST_PLACES, np.int32), 0
    # Of records that are held all counts of a unit are made at once, so that those below k need no place.
    parts, least = ([units.rows], k) if isinstance(units.rows, Ragged) else (units.rows.parts(), 1)
    for part in parts:
        keys, counts, n_used = count_pairs(
            part.starts, part.values[0], supports, k, first, end, keys, counts, n_used, most, least
        )
        if n_used < 0:
            return None
    chosen = np.flatnonzero(counts >= k)
    return keys[chosen], counts[chosen]


def _times_opened(opened: AnyRows, n_pairs: int, persons: Ints | None) -> Ints:
    """How many records, or persons, are joined by each pair."""
    counts = np.zeros(n_pairs, np.int64)
    met: list[tuple[Codes, Ints]] = [(np.zeros(0, np.int32), np.zeros(0, np.int64))]
    for low, high in opened.runs():
        part = opened.part(low, high)
        at = np.flatnonzero(part.values[1] >= 0)
        pair = part.values[1][at]
        if persons is None:
            counts += np.bincount(pair, minlength=n_pairs)
        else:
            met.append((pair, np.repeat(persons[low:high], part.sizes)[at]))
    if persons is None:
        return counts
    pair, whose = (np.concatenate(side) for side in zip(*met, strict=True))
    return count_distinct(pair, whose, n_pairs)


def _joined(units: Units, opened: AnyRows, partners: _Partners, chosen: Ints) -> Units:
    """The same with some pairs as units of their own, behind the others."""
    firsts, seconds = partners.firsts[chosen], partners.partners[chosen].astype(np.int64)
    order = np.lexsort((seconds, firsts))
    joined = np.full(len(partners.partners), -1, np.int32)
    joined[chosen[order]] = units.n_units + np.arange(len(chosen))
    parts = np.stack([firsts[order], seconds[order]], axis=1).ravel()
    places, part_starts = ragged_places(units.starts, parts)
    writer = opened.writer(np.int32)
    for part in opened.parts():
        writer.add(*join_pairs(part.starts, part.values[0], part.values[1], partners.partners, joined))
    return Units(
        writer.done(),
        np.concatenate([units.starts, units.starts[-1] + part_starts[2::2]]),
        np.concatenate([units.items, units.items[places]]),
    )
