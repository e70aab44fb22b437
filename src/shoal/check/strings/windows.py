"""Whether pseudo-strings can have been drawn from windows of their groups, and from how many strings at least.

Recomputed from what `shoal.strings.windows` promises, in another way: every symbol of every member becomes a row
(window, context, symbol, member), rows are sorted, and each published symbol is looked up. A symbol at place t of a
published string of length m belongs to bin ``(2 t + 1) B // (2 m)`` of the B bins of its group. B is the length of the
members where they have one, and else the shortest length, at most 1.5 divided by the window; a window is a bin and,
where it has 1 divided by the window or more, one neighbour to either side. Where the shares that the windows tell (in
each one less than the symbols that `support` members have there), counted twice, or four times where lengths are one,
are more than the n members times the bins of a window, there are only ``3 B n // shares`` bins, of which a window has
three, or one where ``shares >= B n``; not so where places have names, or lengths are one and there are fewer shares
than places. The symbol is possible if one of these holds, where each is looked at only if the ones before can fail:

1. it follows, in a window of some member, the longest context that `support` members carry there, and `support` members
   have it in the window; this can fail where no context has so many carriers, or where one of the symbols that follow
   it has fewer;
2. `pairs` strings of its class have it after the symbol before; this can fail where some pair that begins so has
   fewer, or the symbol before is the last one wherever it stands;
3. `support` members have it in the window, and it follows one that is the last one wherever it stands, or it is the
   first symbol of its string and of that of a member, if members begin in the window; this can fail where a symbol of
   the window, or one that a member begins with, has fewer;
4. its class has it, after an earlier symbol or not. (How many strings must is checked apart: `rare_symbols`.)

Where the first way can fail, much is possible; how often it fails is known, though: as often as a symbol is drawn that
too few members have. A string in which it failed at more places than chance explains was not drawn from the group. The
test is that of `shoal.check.strings.support`, for each string by itself, and takes into account that a string may be
the best of `MOST_DRAWS`, as copies are drawn again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Ints, Mask
from shoal.check.strings.originals import batches
from shoal.check.strings.support import FALSE_ALARM, surprise
from shoal.data.strings.on_disk import SomeStrings
from shoal.data.strings.strings import Strings

BATCH_SYMBOLS = 1_000_000  # a third of a GB
STRINGS_A_SHARE = np.array([2, 4])  # members for each share of a symbol that windows, or columns, tell
CELLS_A_ROW = 16  # of one byte
MOST_WAITING = 4_000_000  # pairs of batches, before they are added up: some hundred MB
NOTHING = 2  # follows the symbol before, or there is none
MOST_DRAWS = 1000  # of one string, until it is no copy and no near one


@dataclass(frozen=True)
class WindowRule:
    """How symbols were drawn.

    Attributes
    ----------
    order, support, pairs : int
        `pairs`: how many strings of a class must have two symbols one after the other.
    window : float
        Share of a string to either side of a place.
    by_group : bool
        Whether from groups, or from classes alone.
    is_named : bool
        Whether places have names, as variants have: then a window is never made wider.
    """

    order: int
    support: int
    pairs: int
    window: float
    by_group: bool
    is_named: bool = False


@dataclass(frozen=True)
class _Text:
    """Symbols of strings in a row, each with its string, its place in it and its window's bin."""

    symbols: Ints
    string: Ints
    place: Ints
    group: Ints
    bin: Ints
    member: Ints  # the number of the string in its group


class _Table:
    """Distinct rows of two numbers, with a count or a flag each."""

    def __init__(self, keys: Ints, values: Ints) -> None:
        self.keys, self.values = keys, values

    def get(self, keys: Ints, missing: int = 0) -> Ints:
        """The value of each key."""
        if not len(self.keys):
            return np.full(len(keys), missing, np.int64)
        if int(self.keys[-1]) < 4 * len(keys) and int(self.keys[0]) >= 0:
            dense = np.full(int(self.keys[-1]) + 2, missing, np.int64)
            dense[self.keys] = self.values
            return dense[np.clip(keys, -1, len(dense) - 1)]
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, self.values[at], missing)


def possible_by_windows(
    published: SomeStrings,
    groups: Ints,
    original: SomeStrings,
    original_groups: Ints,
    classes: Ints,
    rule: WindowRule,
    n_at_once: int = BATCH_SYMBOLS,
) -> tuple[Mask, Mask]:
    """Which published strings can have been drawn, and which are not impossible but left the group too often.

    Parameters
    ----------
    published, original : Strings or StringsOnDisk
        In the same codes; the original without rare symbols.
    groups, original_groups : int64 arrays
        The group of each, numbered from 0 on; negative where an original has none.
    classes : int64 array (n_groups,)
        The class of each group.
    rule : WindowRule
    n_at_once : int
        About how many symbols are looked at together.
    """
    n_symbols = max(len(original.alphabet), len(published.alphabet), 1)
    rows = np.flatnonzero((original_groups >= 0) & (original.lengths > 0))
    rows = rows[np.argsort(original_groups[rows], kind="stable")]
    pairs, is_open, known = _of_classes(original, rows, classes[original_groups[rows]], n_symbols, rule.pairs)
    is_possible, is_suspect = np.ones(len(published), bool), np.zeros(len(published), bool)
    limit = np.log(max(len(published), 1) * MOST_DRAWS / FALSE_ALARM)
    n_groups = len(classes)
    sizes = np.bincount(original_groups[rows], weights=original.lengths[rows], minlength=n_groups)
    sizes += np.bincount(groups, weights=published.lengths, minlength=n_groups)
    parcel = (np.cumsum(sizes) // n_at_once).astype(np.int64)
    parts = np.arange(int(parcel[-1]) + 2 if len(parcel) else 1)
    by_group = np.argsort(groups, kind="stable")
    cuts, drawn_cuts = (np.searchsorted(parcel[g], parts) for g in (original_groups[rows], groups[by_group]))
    for part in parts[:-1]:
        chosen = rows[cuts[part] : cuts[part + 1]]
        drawn = np.sort(by_group[drawn_cuts[part] : drawn_cuts[part + 1]])
        if not len(drawn):
            continue
        ours = published.take(drawn)
        bins, reach, is_even = _bins(original.lengths[chosen], original_groups[chosen], n_groups, rule.window)
        members, spread = _spread(original.take(chosen), original_groups[chosen], bins, reach, n_symbols)
        if rule.by_group and not rule.is_named:
            n_members = np.bincount(original_groups[chosen], minlength=n_groups)
            n_shares = _told(spread, bins, n_symbols, rule.support)
            needed = n_shares * STRINGS_A_SHARE[is_even.astype(np.int64)]
            is_wide = (needed > n_members * (2 * reach + 1)) & ~(is_even & (n_shares < bins))
            is_whole = is_wide & (needed >= bins * n_members)
            fewer = np.minimum(3 * bins * n_members // np.maximum(needed, 1), bins)
            bins = np.where(is_whole, 1, np.where(is_wide, fewer, bins))
            reach = np.where(is_whole, 0, np.where(is_wide, 1, reach))
            if is_wide.any():
                members, spread = _spread(original.take(chosen), original_groups[chosen], bins, reach, n_symbols)
        text = _text(ours, groups[drawn], bins, np.cumsum(bins) - bins)
        may_fail, ok, is_used, chance = _by_groups(text, members, spread, n_symbols, rule)
        left, expected, n_places = (
            np.bincount(text.string, weights=w, minlength=len(drawn)) for w in (is_used & ~ok, chance, is_used)
        )
        is_suspect[drawn] = (
            surprise(left.astype(np.int64), expected.astype(np.float64), n_places.astype(np.int64)) > limit
        )
        before = _before(text)
        of_class = classes[text.group]
        at_pair = (of_class * n_symbols + before) * n_symbols + text.symbols
        follows = np.where(
            (text.place > 0) & (rule.order > 1), is_open.get(of_class * n_symbols + before, NOTHING), NOTHING
        )
        ok |= may_fail & (follows != NOTHING) & (pairs.get(at_pair) > 0)
        may_fail &= follows > 0
        if rule.by_group:
            is_given, is_short = _without_context(text, members, spread, n_symbols, rule.support)
            ok |= may_fail & (follows == NOTHING) & is_given
            may_fail &= (follows != NOTHING) | is_short
        ok |= may_fail & (known.get(of_class * n_symbols + text.symbols) > 0)
        is_possible[drawn] = np.bincount(text.string[~ok], minlength=len(drawn)) == 0
    return is_possible, is_suspect & is_possible


def _bins(lengths: Ints, groups: Ints, n_groups: int, window: float) -> tuple[Ints, Ints, Mask]:
    """The bins of each group, whether a window has neighbours, and whether all members are of one length."""
    shortest, longest = np.full(n_groups, np.iinfo(np.int64).max), np.zeros(n_groups, np.int64)
    np.minimum.at(shortest, groups, lengths)
    np.maximum.at(longest, groups, lengths)
    shortest = np.where(longest > 0, shortest, 1)
    bins = np.where(shortest == longest, shortest, np.minimum(shortest, max(int(1.5 / window + 1e-9), 1)))
    return bins, ((shortest != longest) & (bins * window > 1 - 1e-9)).astype(np.int64), shortest == longest


def _spread(strings: Strings, groups: Ints, bins: Ints, reach: Ints, n_symbols: int) -> tuple[_Text, _Spread]:
    """The members' symbols, and the windows that these are in."""
    offsets = np.cumsum(bins) - bins
    members = _text(strings, groups, bins, offsets)
    return members, _Spread.of(members, offsets, bins, reach, n_symbols)


def _told(spread: _Spread, bins: Ints, n_symbols: int, support: int) -> Ints:
    """Of each group, the sum over its windows of the symbols, less one, that enough members have there."""
    window = spread.held.keys[spread.held.values >= support] // n_symbols
    group = np.repeat(np.arange(len(bins)), bins)
    return np.bincount(group[window], minlength=len(bins)) - np.bincount(group[np.unique(window)], minlength=len(bins))


def _text(strings: Strings, groups: Ints, bins: Ints, offsets: Ints) -> _Text:
    string = np.repeat(np.arange(len(strings)), strings.lengths)
    place = np.arange(len(string)) - strings.starts[:-1][string]
    group = groups[string]
    own = (2 * place + 1) * bins[group] // (2 * strings.lengths[string])
    is_first = np.diff(groups, prepend=-1) != 0  # members stand group by group
    member = np.arange(len(groups)) - np.maximum.accumulate(np.where(is_first, np.arange(len(groups)), 0))
    return _Text(strings.symbols.astype(np.int64), string, place, group, offsets[group] + own, member[string])


def _before(text: _Text) -> Ints:
    """The symbol before each, 0 for the first one of a string."""
    before = np.zeros(len(text.symbols), np.int64)
    before[1:] = text.symbols[:-1]
    return np.where(text.place > 0, before, 0)


def _of_classes(
    strings: SomeStrings, chosen: Ints, classes: Ints, n_symbols: int, fewest: int
) -> tuple[_Table, _Table, _Table]:
    """Of the chosen strings: pairs that enough have, whether any that begins so has too few, and what a class has.

    `classes` are those of the chosen ones.
    """
    held, seen = [_Table(np.zeros(0, np.int64), np.zeros(0, np.int64))], [np.zeros(0, np.int64)]
    for rows in batches(strings.lengths[chosen]):
        part = strings.take(chosen[rows])
        string, symbols = np.repeat(np.arange(len(part)), part.lengths), part.symbols.astype(np.int64)
        of_symbol = classes[rows][string] * n_symbols + symbols
        first = np.flatnonzero(string[1:] == string[:-1])
        seen.append(_counted(of_symbol).keys)
        held.append(_count_members(of_symbol[first] * n_symbols + symbols[first + 1], string[first]))
        if sum(len(t.keys) for t in held) > 2 * len(held[0].keys) + MOST_WAITING:
            held = [_merged(held)]
    known = np.unique(np.concatenate(seen))
    whole = _merged(held)
    pair, n_holders = whole.keys, whole.values
    begin, of_begin = np.unique(pair // n_symbols, return_inverse=True)
    n_few = np.bincount(of_begin, weights=n_holders < fewest, minlength=len(begin))
    return (
        _Table(pair[n_holders >= fewest], np.ones(int((n_holders >= fewest).sum()), np.int64)),
        _Table(begin, (n_few > 0).astype(np.int64)),
        _Table(known, np.ones(len(known), np.int64)),
    )


def _merged(tables: Sequence[_Table]) -> _Table:
    """One table of several, with the sums of their values."""
    keys, which = np.unique(np.concatenate([t.keys for t in tables]), return_inverse=True)
    values = np.bincount(which, weights=np.concatenate([t.values for t in tables]), minlength=len(keys))
    return _Table(keys, values.astype(np.int64))


@dataclass(frozen=True)
class _Spread:
    """Every symbol of a member with every window that it is in, and how many members have a symbol in a window."""

    which: Ints
    window: Ints
    held: _Table

    @classmethod
    def of(cls, members: _Text, offsets: Ints, bins: Ints, reach: Ints, n_symbols: int) -> _Spread:
        which, windows = [], []
        for shift in (-1, 0, 1) if reach.any() else (0,):
            window = members.bin + shift
            first = offsets[members.group]
            fits = (window >= first) & (window < first + bins[members.group])
            fits &= (shift == 0) | (reach[members.group] > 0)
            which.append(np.flatnonzero(fits))
            windows.append(window[fits])
        rows, window = np.concatenate(which), np.concatenate(windows)
        return cls(rows, window, _count_members(window * n_symbols + members.symbols[rows], members.member[rows]))


def _count_members(keys: Ints, members: Ints) -> _Table:
    """How many different members of a group have each key; a table of all is filled where it is not too large."""
    n, n_keys = int(members.max(initial=0)) + 1, int(keys.max(initial=0)) + 1
    if n * n_keys > CELLS_A_ROW * len(keys):
        return _counted(_counted(keys * n + members).keys // n)
    has = np.zeros(n * n_keys, bool)
    has[members * n_keys + keys] = True
    counts = has.reshape(n, n_keys).sum(axis=0, dtype=np.int32)
    found = np.flatnonzero(counts)
    return _Table(found, counts[found].astype(np.int64))


def _counted(keys: Ints) -> _Table:
    """How often each key is there; where keys lie close together without sorting them."""
    if len(keys) and int(keys.max()) < 2 * len(keys) and int(keys.min()) >= 0:
        counts = np.bincount(keys)
        found = np.flatnonzero(counts)
        return _Table(found, counts[found])
    return _Table(*np.unique(keys, return_counts=True))


def _by_groups(
    text: _Text, members: _Text, spread: _Spread, n_symbols: int, rule: WindowRule
) -> tuple[Mask, Mask, Mask, Floats]:
    """At each published symbol, whether the first way can fail, gives it, is tried, and with what chance it fails."""
    may_fail, ok = np.ones(len(text.symbols), bool), np.zeros(len(text.symbols), bool)
    is_decided, chance = np.zeros(len(text.symbols), bool), np.zeros(len(text.symbols))
    if not rule.by_group or rule.order < 2:
        return may_fail, ok, is_decided, chance
    which, window, held = spread.which, spread.window, spread.held
    held_there = held.get(window * n_symbols + members.symbols[which])
    enough = held.get(text.bin * n_symbols + text.symbols) >= rule.support
    for depth, (theirs, own) in reversed(list(enumerate(_contexts(members, text, n_symbols, rule.order - 1), start=1))):
        n_contexts = int(max(theirs.max(initial=0), own.max(initial=0))) + 1
        has = members.place[which] >= depth
        keys = window[has] * n_contexts + theirs[which[has]]
        carriers = _count_members(keys, members.member[which[has]])
        n_all, n_few = (_counted(k) for k in (keys, keys[held_there[has] < rule.support]))
        followers = _counted(keys * n_symbols + members.symbols[which[has]])
        wanted = text.bin * n_contexts + own
        is_used = ~is_decided & (text.place >= depth) & (carriers.get(wanted) >= rule.support)
        ok |= is_used & enough & (followers.get(wanted * n_symbols + text.symbols) > 0)
        n_failing = n_few.get(wanted)
        may_fail &= ~is_used | (n_failing > 0)
        chance[is_used] = n_failing[is_used] / n_all.get(wanted)[is_used]
        is_decided |= is_used
    return may_fail, ok, is_decided, chance


def _without_context(text: _Text, members: _Text, spread: _Spread, n_symbols: int, support: int) -> tuple[Mask, Mask]:
    """At each published symbol, whether its window gives it with no symbol before, and whether it may give none."""
    at = text.bin * n_symbols + text.symbols
    is_given = spread.held.get(at) >= support
    is_short = np.isin(text.bin, spread.held.keys[spread.held.values < support] // n_symbols)
    begins = members.place[spread.which] == 0
    window = spread.window[begins]
    beginnings = np.unique(window * n_symbols + members.symbols[spread.which[begins]])
    few = beginnings[spread.held.get(beginnings) < support] // n_symbols
    is_first = (text.place == 0) & np.isin(text.bin, window)
    is_given &= ~is_first | np.isin(at, beginnings)
    return is_given, np.where(is_first, np.isin(text.bin, few), is_short)


def _contexts(members: _Text, text: _Text, n_symbols: int, longest: int) -> list[tuple[Ints, Ints]]:
    """A number for the 1, 2, ... symbols before each symbol, the same on both sides; 0 where there are not so many."""
    symbols = np.concatenate([members.symbols, text.symbols])
    place = np.concatenate([members.place, text.place])
    found, out = np.zeros(len(symbols), np.int64), []
    for depth in range(1, longest + 1):
        there = np.flatnonzero(place >= depth)
        longer = np.zeros(len(symbols), np.int64)
        keys = found[there] * n_symbols + symbols[there - depth]
        if int(keys.max(initial=0)) < 2 * len(keys):  # else as few numbers as there are contexts
            longer[there] = keys
        else:
            longer[there] = np.unique(keys, return_inverse=True)[1]
        found = longer
        out.append((found[: len(members.symbols)], found[len(members.symbols) :]))
    return out
