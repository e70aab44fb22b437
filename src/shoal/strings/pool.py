"""What the strings of a class give where a group gives nothing: symbols after symbols, and about a place, counted.

`shoal.strings.windows` tells when. A symbol is drawn from a list of all that stand somewhere, such as after another
one. Lists are kept as the number of times that each symbol stands in them, so they take what a table of pairs of
symbols takes, however many strings there are; and strings are counted part by part, so that they need not be held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask
from shoal.data.ragged import distinct, runs_of_rows
from shoal.errors import Infeasible
from shoal.kernels.strings.windows import SymbolRuns, count_pairs, distances_back, mark_few

MOST_CELLS = 1 << 22
FEWEST_CELLS = 1 << 16
"""Pairs of symbols of which a table is filled: so many always, and up to the others where there are as many places."""
STRINGS_A_SHARE_OF_CLASS = 1
"""How many strings a class needs for each symbol that is drawn from it about a place."""
MOST_BINS_OF_CLASS = 20
REACH = 3
"""How many places before a symbol another may stand that it is drawn after."""
PLACES_AT_ONCE = 1 << 21
MOST_WAITING = 1 << 22

Part = tuple[Codes, Ints, Mask]
"""Some strings of a class, none of them empty, and at which places too few members of their own group have the symbol
about there."""


class ClassSymbols(NamedTuple):
    """What follows what in the strings of a class that stand in groups.

    Attributes
    ----------
    every : SymbolRuns
        One list: all symbols.
    after : SymbolRuns
        For each symbol those that follow it within a string.
    rare_after : SymbolRuns
        The same of the places at which too few members of their own group have the symbol.
    left_first : SymbolRuns
        One list of leftovers, which none but the fourth way can give: the first symbols of strings that too few members
        of their own group have there, or all first ones where groups do not count; none where they would tell too much.
    left : SymbolRuns
        For each bin of relative places the leftovers of later places: symbols that too few strings of the class have
        after the one before them.
    pairs : int64 array
        ``first * n_symbols + second`` of each pair that enough of the strings have, ascending.
    apart : SymbolRuns
        For each symbol, and for each distance up to `REACH` within it, those that are drawn so far after it. None for
        the distance 1, since `after` has these.
    shares : float64 array
        How often a place so far after the symbol is one of these; for the distance 1, one of a pair that enough have.
        Empty where nothing is drawn after earlier symbols.
    """

    every: SymbolRuns
    after: SymbolRuns
    rare_after: SymbolRuns
    left_first: SymbolRuns
    left: SymbolRuns
    pairs: Ints
    apart: SymbolRuns
    shares: Floats


def make_pool(
    symbols: Codes, starts: Ints, is_rare: Mask, n_symbols: int, support: int, order: int = 2, reach: int = 1
) -> ClassSymbols:
    """Count the strings of a class that are held; the parameters are those of `count_class`, and of a `Part`."""

    def parts() -> Iterator[Part]:
        for low, high in runs_of_rows(starts, PLACES_AT_ONCE):
            first, last = starts[low], starts[high]
            yield symbols[first:last], starts[low : high + 1] - first, is_rare[first:last]

    return count_class(parts, len(symbols), n_symbols, support, order, reach)


def count_class(
    parts: Callable[[], Iterable[Part]],
    n_places: int,
    n_symbols: int,
    support: int,
    order: int = 2,
    reach: int = 1,
    most_pairs: int | None = None,
) -> ClassSymbols:
    """Count the strings of a class.

    Parameters
    ----------
    parts : callable
        The strings, part by part; it is called several times.
    n_places : int
        How many symbols they have in all.
    n_symbols : int
        Of the alphabet.
    support : int
        How many strings must have a pair.
    order : int
        1: no symbol depends on the one before.
    reach : int
        How many places before a symbol another may stand that it is drawn after; 1 is the one before alone.
    most_pairs : int, optional
        How many different pairs may be held.

    Raises
    ------
    Infeasible
        If there are more.
    """
    counts = _Counts(n_symbols, reach, n_places, most_pairs)
    for part in parts():
        counts.add(*part)
    pairs = _PairHolders(parts, n_symbols, 1, n_places, support, most_pairs).found()[0]
    near = np.zeros(0, np.int64)
    is_apart = reach > 1 and order > 1 and counts.after.n_keys > len(pairs)
    if is_apart:
        near = _near(_PairHolders(parts, n_symbols, reach, n_places, support, most_pairs), counts.n_strings)
    looking = _Looking(n_symbols, order, reach, pairs, near, is_apart)
    n_bins = _bins(counts.n_strings, n_symbols)
    while True:
        left = _Leftovers(looking, n_bins, n_places, most_pairs)
        for part in parts():
            left.add(*part)
        wanted = _bins(counts.n_strings, left.n_symbols_left)
        if wanted == n_bins:
            break
        n_bins = wanted
    first = counts.rare_first if counts.has_rare else counts.first
    if STRINGS_A_SHARE_OF_CLASS * np.count_nonzero(first) > counts.n_strings:
        first = np.zeros(n_symbols, np.int64)
    return ClassSymbols(
        _one_list(counts.every),
        counts.after.runs(n_symbols),
        counts.rare_after.runs(n_symbols),
        _one_list(first),
        left.left.runs(n_bins),
        pairs,
        left.apart.runs(n_symbols * reach if is_apart else 0),
        left.n_drawn / np.maximum(counts.n_there().ravel(), 1e-9) if is_apart else np.zeros(0),
    )


def near_pairs(symbols: Codes, starts: Ints, n_symbols: int, support: int, reach: int) -> Ints:
    """The pairs, ascending, that enough strings have within `reach` places; of many, those that most have.

    There are at most as many as strings for a share of each, as of what is drawn from the class about a place.
    """
    parts = [(symbols, starts, np.zeros(len(symbols), np.bool_))]
    return _near(_PairHolders(lambda: parts, n_symbols, reach, len(symbols), support, None), len(starts) - 1)


def _near(holders: _PairHolders, n_strings: int) -> Ints:
    found, n_holders = holders.found()
    most = n_strings // STRINGS_A_SHARE_OF_CLASS
    if len(found) > most:
        found = found[n_holders > np.partition(n_holders, len(found) - most - 1)[len(found) - most - 1]]
    return found


def _bins(n_strings: int, n_left: int) -> int:
    return int(np.clip(n_strings // max(STRINGS_A_SHARE_OF_CLASS * n_left, 1), 1, MOST_BINS_OF_CLASS))


def _one_list(counts: Ints) -> SymbolRuns:
    found = np.flatnonzero(counts)
    return SymbolRuns(found.astype(np.int32), np.cumsum(counts[found]), np.array([0, len(found)], np.int64))


def _is_dense(n_cells: int, n_places: int) -> bool:
    return n_cells <= max(FEWEST_CELLS, min(n_places, MOST_CELLS))


class _Tally:
    """How often each list of symbols has each of its symbols: ``list * n_symbols + symbol``."""

    def __init__(self, n_lists: int, n_symbols: int, n_places: int, most: int | None) -> None:
        self._n_symbols, self._most = n_symbols, most
        n_cells = n_lists * n_symbols
        self._table = np.zeros(n_cells, np.int64) if _is_dense(n_cells, n_places) else None
        self._keys, self._counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]

    def add(self, keys: Ints) -> None:
        """Count some more."""
        if self._table is not None:
            self._table += np.bincount(keys, minlength=len(self._table))
        else:
            self.add_counted(*np.unique(keys, return_counts=True))

    def add_counted(self, keys: Ints, counts: Ints) -> None:
        """The same of keys that ascend, each with how often it is there."""
        self._keys.append(keys)
        self._counts.append(counts)
        if sum(map(len, self._keys)) > 2 * len(self._keys[0]) + MOST_WAITING:
            self._merge()

    def _merge(self) -> None:
        keys, counts = np.concatenate(self._keys), np.concatenate(self._counts)
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
        heads = np.flatnonzero(np.diff(keys, prepend=-1))
        if len(heads):
            keys, counts = keys[heads], np.add.reduceat(counts, heads)
        if self._most is not None and len(keys) > self._most:
            raise Infeasible(
                f"the strings have more than {self._most:,} different pairs of symbols, which do not fit into the "
                "bound: raise memory or leave it out, or join symbols"
            )
        self._keys, self._counts = [keys], [counts]

    def counted(self) -> tuple[Ints, Ints]:
        """The keys, ascending, and how often each was."""
        if self._table is not None:
            found = np.flatnonzero(self._table)
            return found, self._table[found]
        self._merge()
        return self._keys[0], self._counts[0]

    @property
    def n_keys(self) -> int:
        """How many different keys there are."""
        return len(self.counted()[0])

    def runs(self, n_lists: int) -> SymbolRuns:
        """The lists."""
        keys, counts = self.counted()
        starts = np.searchsorted(keys, np.arange(n_lists + 1) * self._n_symbols)
        return SymbolRuns((keys % self._n_symbols).astype(np.int32), np.cumsum(counts), starts.astype(np.int64))


class _Counts:
    """What can be counted of strings without knowing anything of others."""

    def __init__(self, n_symbols: int, reach: int, n_places: int, most: int | None) -> None:
        self._n_symbols, self._reach, self._n_places = n_symbols, reach, 0
        self.n_strings, self.has_rare = 0, False
        self.every, self.first, self.rare_first, self._last = (np.zeros(n_symbols, np.int64) for _ in range(4))
        self.after, self.rare_after = (_Tally(n_symbols, n_symbols, n_places, most) for _ in range(2))
        self._n_far = np.zeros(reach, np.int64)

    def add(self, symbols: Codes, starts: Ints, is_rare: Mask) -> None:
        """Count some strings."""
        n, sizes = self._n_symbols, np.diff(starts)
        begin, last = starts[:-1][sizes > 0], (starts[1:] - 1)[sizes > 0]
        self._n_places += len(symbols)
        self.n_strings += len(sizes)
        self.has_rare |= bool(is_rare.any())
        self.every += np.bincount(symbols, minlength=n)
        self.first += np.bincount(symbols[begin], minlength=n)
        self.rare_first += np.bincount(symbols[begin[is_rare[begin]]], minlength=n)
        self._last += np.bincount(symbols[last], minlength=n)
        self._n_far += [np.maximum(sizes - d, 0).sum() for d in range(1, self._reach + 1)]
        is_second = np.ones(len(symbols), np.bool_)
        is_second[begin] = False
        second = np.flatnonzero(is_second)
        pair = symbols[second - 1].astype(np.int64) * n + symbols[second]
        self.after.add(pair)
        self.rare_after.add(pair[is_rare[second]])

    def n_there(self) -> Floats:
        """Of each symbol, how many places stand so far after it as are looked at; of all but the first on average."""
        n_there = self.every[:, None] * (self._n_far / max(self._n_places, 1))
        n_there[:, 0] = self.every - self._last
        return np.asarray(n_there)


class _PairHolders:
    """Pairs of symbols within some places of each other, and how many strings have each."""

    def __init__(
        self,
        parts: Callable[[], Iterable[Part]],
        n_symbols: int,
        reach: int,
        n_places: int,
        support: int,
        most: int | None,
    ) -> None:
        self._parts, self._n_symbols, self._reach, self._support = parts, n_symbols, reach, support
        self._n_places, self._most = n_places, most

    def found(self) -> tuple[Ints, Ints]:
        """Those that enough strings have, ascending, and how many have each."""
        n_cells = self._n_symbols**2
        if _is_dense(n_cells, self._n_places):
            counts = np.zeros(n_cells, np.int64)
            for symbols, starts, _ in self._parts():
                count_pairs(symbols, starts, self._n_symbols, self._reach, counts)
            found = np.flatnonzero(counts >= self._support)
            return found, counts[found]
        # Pairs are first counted in buckets, and only those are sorted whose bucket has enough.
        n_buckets = max(FEWEST_CELLS, min(self._n_places, 2 * MOST_CELLS))
        n_there = np.zeros(n_buckets, np.int64)
        for part in self._parts():
            for _, pair in self._pairs(part):
                n_there += np.bincount(pair % n_buckets, minlength=n_buckets)
        tally = _Tally(self._n_symbols, self._n_symbols, 0, self._most)
        for part in self._parts():
            kept, n_rows = [np.zeros(0, np.int64)], len(part[1]) - 1
            for owner, pair in self._pairs(part):
                is_kept = n_there[pair % n_buckets] >= self._support
                kept.append(pair[is_kept] * n_rows + owner[is_kept])
            held = distinct(np.concatenate(kept)) // n_rows
            tally.add_counted(*np.unique(held, return_counts=True))
        keys, n_holders = tally.counted()
        is_held = n_holders >= self._support
        return keys[is_held], n_holders[is_held]

    def _pairs(self, part: Part) -> Iterator[tuple[Ints, Ints]]:
        symbols, starts, _ = part
        owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        for distance in range(1, self._reach + 1):
            first = np.flatnonzero(owner[distance:] == owner[:-distance])
            yield owner[first], symbols[first].astype(np.int64) * self._n_symbols + symbols[first + distance]


@dataclass(frozen=True)
class _Looking:
    """How leftovers are told from what is drawn after other symbols."""

    n_symbols: int
    order: int
    reach: int
    pairs: Ints
    near: Ints
    is_apart: bool


class _Leftovers:
    """What is drawn after earlier symbols than the one before, and what is drawn after none.

    A symbol counts wherever it stands, and as often as any symbol has a place so far after it. Symbols that stand near
    the end of strings have few such places, and seldom stand as near to it when they are drawn.
    """

    def __init__(self, looking: _Looking, n_bins: int, n_places: int, most: int | None) -> None:
        n, reach = looking.n_symbols, looking.reach
        self._looking, self._n_bins = looking, n_bins
        self.left = _Tally(n_bins, n, n_places, most)
        self.apart = _Tally(n * reach, n, n_places if looking.is_apart else 0, most)
        self.n_drawn = np.zeros(n * reach, np.int64)
        self._is_left = np.zeros(n, np.bool_)

    def add(self, symbols: Codes, starts: Ints, is_rare: Mask) -> None:
        """Count some strings."""
        how, n = self._looking, self._looking.n_symbols
        if how.order > 1:
            is_left = np.zeros(len(symbols), np.bool_)
            mark_few(symbols, starts, n, how.pairs, is_left)
        else:
            is_left = is_rare.copy()
            is_left[starts[:-1]] = False
        if how.is_apart:
            back = distances_back(symbols, starts, n, is_left, how.near, how.reach)
            places = np.flatnonzero(back)
            distance = back[places].astype(np.int64)
            cell = symbols[places - distance].astype(np.int64) * how.reach + distance - 1
            self.n_drawn += np.bincount(cell, minlength=len(self.n_drawn))
            is_far = distance > 1
            self.apart.add(cell[is_far] * n + symbols[places[is_far]])
            is_left &= back == 0
        left = np.flatnonzero(is_left)
        owner = np.searchsorted(starts, left, side="right") - 1
        own = (2 * (left - starts[owner]) + 1) * self._n_bins // (2 * np.diff(starts)[owner])
        self.left.add(own * n + symbols[left])
        self._is_left[symbols[left]] = True

    @property
    def n_symbols_left(self) -> int:
        """How many different symbols are left over."""
        return int(np.count_nonzero(self._is_left))
