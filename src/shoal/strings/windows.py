"""Symbols drawn from windows: what members of a group have about the same place, after the same symbols.

The papers draw from templates, in which neighbouring positions share symbols of a string, and so repeat them. Here a
symbol is drawn from the members' own strings. Each string is cut into bins; a window is a bin with its neighbours, 5 %
of a string to either side. Where all strings of a group have one length, bins are places and windows exact columns;
where the shortest has fewer symbols than there are bins, there are fewer bins; and where a group has too few members
for what its windows tell (`count_needed`), windows are wider, up to the whole string: a window is still a bin with its
neighbours, but bins are fewer. Not so where places have names, as variants have, of which one is no substitute for the
next, nor where strings are aligned, so that columns tell less than a share each. The ways in which a symbol is drawn,
one after another until one gives it:

1. **The group after the context.** From the members' symbols in the window that follow the same symbols as were drawn
   last, the longest context of at most ``order - 1`` that at least `support` members carry there.
2. **The class after the symbol before.** From all strings of the class, wherever they stand, if at least `support` of
   them, and at least `rare`, have the pair. Where they have not, after one of the two symbols before that one, as often
   as in the class so far after it, if as many have the two within three places: items that go together stand apart in a
   sorted basket, and pages of a visit have others between them. No more such pairs are told than the class has strings.
3. **The group.** From all symbols of the members in the window, where nothing follows the symbol before; or, as the
   first of a string, from those that members begin with.
4. **The class.** From the symbols of the class that none of these ways may give, about the same relative place: in bins
   as wide as the class has a string for each symbol in each bin. The first symbol of a string is one that strings begin
   with where there are as many strings as such symbols; else, and where nothing is left over, it is any.

The first and the third give nothing where fewer than `support` members have the drawn symbol in the window. What may
not be shown is so replaced by what may not be shown elsewhere: the second, after the first, and the fourth draw from
symbols that too few of their own group, or too few strings after the symbol before, have. That keeps the shares of
symbols as they are. From all symbols, those that are common would come too often: on 5,000 made-up sessions the
composition then moved by 44 % in sum instead of 24 %, of which 22 % are the symbols that fewer than k hold.

What a group gives is dealt, not drawn with replacement: of the symbols of members among which the first and the third
way choose, one that was dealt least often (of many, the least of 16 taken at random). Each is as likely for any one
string as before, but the shares of a whole group come out as they are and not by chance: see below.

A draw that equals an original which fewer than k hold is made longer by a symbol, up to three times, and then made
anew, where strings of the class differ in length. Most strings of one or two tokens equal an original, and
drawing them anew alone would leave those that many hold.

**Guarantee**: every symbol is one that at least `support` members of the group have about its place, or that at least
`rare` strings of the class (and `support`) have after the symbol before it, or that at least `rare` strings of it have
at all. **Not protected**: as in `shoal.strings.generate`.

Where the constants are from
----------------------------
k = 20, half of each set held out, areas under the curve of the attacks `place-membership` and `fragment-membership`. A
support of 5 was chosen on baskets (V20.I4, 10,000), made-up sessions (2,000) and sentences of news groups (2,000): at 3
the areas on baskets were 0.55 and 0.62, at 5 0.54 and 0.56, at 20 0.54 and 0.54, and pairs of symbols moved by 45, 56
and 68 % (two halves of the data: 59 %). The window of 5 % and the order of 2 were not chosen here; order 3 on yeast
kept triples better (5.1 against 7.2 %), at areas of 0.51 and 0.52. How many members a share needs was chosen by tracing
(`share-tracing`: who moves the published shares?) on splice sites (1,595, three splits): at 2, 4 and 6 members a share
of columns the areas by place were 0.58, 0.54 and 0.52, and classes were told in 65 and, at 4, in 62 % (a Markov chain:
47 %). Wider bins without neighbours gave 0.55 at 4, but moved the composition by 0.5 instead of 0.2 % and pairs by 0.6
instead of 0.2 %. On yeast 1, 2 and 3 members a share of windows gave 0.55, 0.54 and 0.53. Windows of promoters (53)
need 4 as well, and tell classes in 63 % against the chain's 58 (30 splits, the difference is 5.3, with a standard error
of 1.8). Aligned strings are left as they are: at 4 members a share wider windows moved the triples of mitochondrial
sequences by 1.9 instead of 0.4 %. What the class gives about a place was drawn, before, from symbols at nearly the same
place: on baskets (V20.I4, 6,000) tracing by place then had an area of 0.65, for a Markov chain too, and 0.53 with a
string for each symbol in each bin, at which pairs of symbols move by 83 instead of 76 %. Single symbols trace with 0.56
however they are drawn, also independently of each other: a class of 3,000 strings has 860 shares. That `rare` strings,
by default k, must have a pair, and not only `support`, was chosen on baskets (V20.I4, 6,000, mean of three splits): at
5, 10 and 20 the areas by runs were 0.56, 0.53 and 0.52, by a shadow 0.58, 0.55 and 0.51, and pairs of symbols moved by
65, 72 and 76 % (two halves of the data: 46 %); on sessions pairs moved by 56 instead of 40 %, at areas of 0.50 either
way.

Symbols after earlier ones were measured on the same baskets (five splits): classes are told in 86 instead of 81 % (a
Markov chain: 81 %), and 0.67 instead of 0.48 of the subsequences are kept (0.51), at the same composition and the same
areas. Three places are as far as `shoal.utility.strings.subsequences` looks. Farther ones told classes better (5 places
in 89, 10 in 92 and 20 in 93 %), but moved the composition by 9.3 and more instead of 8.8 % (the chain: 8.7 %).

Dealing, and taking first symbols from first ones, was measured on half of each set, composition and pairs as means of
three releases. Families of proteins (2,400): 1.9 and 2.2 % before, 0.5 and 0.9 % after (a Markov chain: 0.6 and 1.6 %).
Promoters (53): 3.6 and 3.6 % before, 0.6 and 0.9 % after, at areas (12 splits) of 0.51 and 0.54 by place, 0.53 and 0.54
by fragments, 0.57 and 0.57 over several releases. Of 500 made persons (`reproductions.variants`) allele shares moved by
0.039 at most before, and by 0.016 after.

References
----------
Shoal's own; the groups are those of C. C. Aggarwal, P. S. Yu, "A framework for condensation-based anonymization of
string data", Data Mining and Knowledge Discovery 16(3), 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints, Mask, Signs, Words
from shoal.data.ragged import ENTRIES_AT_ONCE, count_codes, distinct
from shoal.errors import DataError
from shoal.kernels.strings.hash import Unwanted
from shoal.kernels.strings.windows import (
    count_pairs,
    distances_back,
    find_unsupported,
    generate_from_windows,
    list_followers,
    mark_few,
)

BINS_OF_A_WINDOW = 3
DENSE = 1 << 16
"""Pairs of symbols up to which all are counted; more where there are as many places."""
MOST_PLACES = 2**31 - 1
STRINGS_A_SHARE, STRINGS_A_SHARE_OF_COLUMNS = 2, 4
"""How many members a group needs for each share of a symbol that its windows, or its columns, tell."""
STRINGS_A_SHARE_OF_CLASS = 1
"""How many strings a class needs for each symbol that is drawn from it about a place."""
MOST_BINS_OF_CLASS = 20
REACH = 3
"""How many places before a symbol another may stand that it is drawn after."""


class WindowSettings(NamedTuple):
    """How symbols are drawn from windows."""

    window: float
    """Share of a string to either side of a place."""
    support: int
    """How many members must have what is drawn after a context."""
    order: int = 2
    """A symbol depends on one fewer before it."""
    by_group: bool = True
    """Whether it is drawn from the group first, and not from the class alone."""
    n_longer: int = 0
    """By how many symbols a string that is unwanted is drawn longer at most."""
    is_named: bool = False
    """Whether places have names, as variants have; then no window is made wider."""


@dataclass(frozen=True)
class ClassStrings:
    """All strings of a class that stand in groups, and what follows what in them.

    Attributes
    ----------
    symbols : int32 array
        Those of the strings, one after another.
    after, after_starts : int32 array, int64 array
        For each symbol the places that follow it within a string.
    rare_after, rare_after_starts : int32 array, int64 array
        The same of the places at which too few members of their own group have the symbol.
    left_first : int32 array
        Leftovers, which none but the fourth way can give: the first symbols of strings that too few members of their
        own group have there, or all first ones where groups do not count; none where they would tell too much.
    left, left_starts : int32 array, int64 array
        Those of later places, symbols that too few strings of the class have after the one before them, bin by bin,
        and where those of each bin of relative places begin.
    pairs : int64 array
        ``first * n_symbols + second`` of each pair that enough of the strings have, ascending.
    apart, apart_starts : int32 array, int64 array
        For each symbol, and for each distance up to `REACH` within it, the places that are drawn so far after it. None
        for the distance 1, since `after` has these.
    shares : float64 array
        How often a place so far after the symbol is one of these; for the distance 1, one of a pair that enough have.
        Empty where nothing is drawn after earlier symbols.
    """

    symbols: Codes
    after: Codes
    after_starts: Ints
    rare_after: Codes
    rare_after_starts: Ints
    left_first: Codes
    left: Codes
    left_starts: Ints
    pairs: Ints
    apart: Codes
    apart_starts: Ints
    shares: Floats


def make_pool(
    symbols: Codes, starts: Ints, is_rare: Mask, n_symbols: int, support: int, order: int = 2, reach: int = 1
) -> ClassStrings:
    """Index the strings of a class.

    Parameters
    ----------
    symbols, starts : arrays
    is_rare : bool array (len(symbols),)
        Whether too few members of its own group have a symbol about there.
    support : int
        How many strings must have a pair.
    order : int
        1: no symbol depends on the one before.
    reach : int
        How many places before a symbol another may stand that it is drawn after; 1 is the one before alone.
    """
    if len(symbols) > MOST_PLACES:
        raise DataError(f"a class has {len(symbols):,} symbols, more than the {MOST_PLACES:,} that can be drawn from")
    n_strings, sizes = len(starts) - 1, np.diff(starts)
    is_second = np.ones(len(symbols), np.bool_)
    is_second[starts[:-1]] = False
    found, is_few = _few_pairs(symbols, starts, n_symbols, support)
    apart = _Apart.none()
    if reach > 1 and order > 1 and is_few.any():
        near = near_pairs(symbols, starts, n_symbols, support, reach)
        back = distances_back(symbols, starts, n_symbols, is_few, near, reach)
        apart = _Apart.of(symbols, sizes, n_symbols, back, reach)
        is_few &= back == 0
    left = np.flatnonzero(is_few if order > 1 else is_rare & is_second)
    first = starts[:-1][is_rare[starts[:-1]]] if is_rare.any() else starts[:-1]
    n_left, n_first = (len(np.unique(symbols[places])) for places in (left, first))
    n_bins = int(np.clip(n_strings // max(STRINGS_A_SHARE_OF_CLASS * n_left, 1), 1, MOST_BINS_OF_CLASS))
    if STRINGS_A_SHARE_OF_CLASS * n_first > n_strings:
        first = first[:0]
    owner = np.searchsorted(starts, left, side="right") - 1
    own = (2 * (left - starts[owner]) + 1) * n_bins // (2 * sizes[owner])
    by_bin = np.argsort(own, kind="stable")
    return ClassStrings(
        symbols,
        *list_followers(symbols, starts, is_second, n_symbols),
        *list_followers(symbols, starts, is_rare, n_symbols),
        first.astype(np.int32),
        left[by_bin].astype(np.int32),
        np.concatenate([[0], np.cumsum(np.bincount(own, minlength=n_bins))]).astype(np.int64),
        found.astype(np.int64),
        apart.places,
        apart.starts,
        apart.shares,
    )


@dataclass(frozen=True)
class _Apart:
    """What is drawn after earlier symbols: see `ClassStrings`."""

    places: Codes
    starts: Ints
    shares: Floats

    @classmethod
    def none(cls) -> _Apart:
        return cls(np.zeros(0, np.int32), np.zeros(1, np.int64), np.zeros(0))

    @classmethod
    def of(cls, symbols: Codes, sizes: Ints, n_symbols: int, back: Signs, reach: int) -> _Apart:
        """From how far back the symbol stands that each place is drawn after, 0 where it is drawn after none.

        A symbol counts wherever it stands, and as often as any symbol has a place so far after it. Symbols that stand
        near the end of strings have few such places, and seldom stand as near to it when they are drawn.
        """
        n_drawn = np.zeros(n_symbols * reach, np.int64)
        apart, cells = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
        cell_type = np.int32 if n_symbols * reach < 2**31 else np.int64
        for low in range(0, len(back), ENTRIES_AT_ONCE):  # of all places at once these numbers would be the most of all
            places = np.flatnonzero(back[low : low + ENTRIES_AT_ONCE]) + low
            distance = back[places].astype(np.int64)
            cell = symbols[places - distance].astype(np.int64) * reach + distance - 1
            n_drawn += np.bincount(cell, minlength=len(n_drawn))
            apart.append(places[distance > 1].astype(np.int32))
            cells.append(cell[distance > 1].astype(cell_type))
        n_of_symbol = count_codes(symbols, n_symbols)
        n_there = n_of_symbol[:, None] * [
            np.maximum(sizes - d, 0).sum() / max(len(symbols), 1) for d in range(1, reach + 1)
        ]
        last = np.cumsum(sizes[sizes > 0]) - 1
        n_there[:, 0] = n_of_symbol - np.bincount(symbols[last], minlength=n_symbols)
        n_apart = np.where(np.arange(len(n_drawn)) % reach > 0, n_drawn, 0)
        return cls(
            np.concatenate(apart)[np.argsort(np.concatenate(cells), kind="stable")],
            np.concatenate([[0], np.cumsum(n_apart)]).astype(np.int64),
            n_drawn / np.maximum(n_there.ravel(), 1e-9),
        )


def near_pairs(symbols: Codes, starts: Ints, n_symbols: int, support: int, reach: int) -> Ints:
    """The pairs, ascending, that enough strings have within `reach` places; of many, those that most have.

    There are at most as many as strings for a share of each, as of what is drawn from the class about a place.
    """
    n_strings = len(starts) - 1
    if n_symbols**2 <= max(len(symbols), DENSE):
        counts = count_pairs(symbols, starts, n_symbols, reach)
        found = np.flatnonzero(counts >= support)
        n_holders = counts[found].astype(np.int64)
    else:
        found, n_holders = _count_sorted(symbols, starts, n_symbols, support, reach)
    most = n_strings // STRINGS_A_SHARE_OF_CLASS
    if len(found) > most:
        found = found[n_holders > np.partition(n_holders, len(found) - most - 1)[len(found) - most - 1]]
    return found.astype(np.int64)


def _count_sorted(symbols: Codes, starts: Ints, n_symbols: int, support: int, reach: int) -> tuple[Ints, Ints]:
    """The same pairs, and how many strings have each, where a table of all would be too large.

    Pairs are first counted in as many buckets as there are symbols, and only those are sorted whose bucket has enough.
    """
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    n_buckets = len(symbols)
    n_there = np.zeros(n_buckets, np.int64)
    kept: list[Ints] = [np.zeros(0, np.int64)]
    for is_counting in (True, False):
        for distance in range(1, reach + 1):
            first = np.flatnonzero(owner[distance:] == owner[:-distance])
            pair = symbols[first].astype(np.int64) * n_symbols + symbols[first + distance]
            if is_counting:
                n_there += np.bincount(pair % n_buckets, minlength=n_buckets)
            else:
                is_kept = n_there[pair % n_buckets] >= support
                kept.append(pair[is_kept] * (len(starts) - 1) + owner[first[is_kept]])
    found, n_holders = np.unique(distinct(np.concatenate(kept)) // (len(starts) - 1), return_counts=True)
    is_held = n_holders >= support
    return found[is_held], n_holders[is_held]


def _few_pairs(symbols: Codes, starts: Ints, n_symbols: int, support: int) -> tuple[Ints, Mask]:
    """The pairs that enough strings have, ascending, and which places after another symbol end another one."""
    is_few = np.zeros(len(symbols), np.bool_)
    if n_symbols**2 <= max(len(symbols), DENSE):
        counts = count_pairs(symbols, starts, n_symbols, 1)
        mark_few(symbols, starts, n_symbols, counts, support, is_few)
        return np.flatnonzero(counts >= support), is_few
    second = np.delete(np.arange(len(symbols)), starts[:-1])
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts) - 1)
    pair = symbols[second - 1].astype(np.int64) * n_symbols + symbols[second]
    found, which = np.unique(pair, return_inverse=True)
    held = distinct(which * (len(starts) - 1) + owner) // (len(starts) - 1)
    n_holders = np.bincount(held, minlength=len(found))
    is_few[second] = n_holders[which] < support
    return found[n_holders >= support], is_few


def bins_of(
    symbols: Codes, starts: Ints, group_starts: Ints, settings: WindowSettings, n_symbols: int
) -> tuple[Ints, Ints]:
    """The number of bins of each group, and how many a window has to either side of its own.

    Parameters
    ----------
    symbols, starts : arrays
        The members, group by group; none is empty.
    group_starts : int64 array (n_groups + 1,)
    settings : WindowSettings
    n_symbols : int
    """
    n_bins, reaches = bins_of_lengths(np.diff(starts), group_starts, settings.window)
    if settings.is_named:
        return n_bins, reaches
    needed, is_aligned = count_needed(symbols, starts, group_starts, n_bins, reaches, settings.support, n_symbols)
    n_members = np.diff(group_starts)
    is_wide = (needed > n_members * (2 * reaches + 1)) & ~is_aligned
    is_whole = is_wide & (needed >= n_bins * n_members)
    fewer = np.minimum(BINS_OF_A_WINDOW * n_bins * n_members // np.maximum(needed, 1), n_bins)
    n_bins = np.where(is_whole, 1, np.where(is_wide, fewer, n_bins))
    return n_bins, np.where(is_whole, 0, np.where(is_wide, BINS_OF_A_WINDOW // 2, reaches))


def bins_of_lengths(lengths: Ints, group_starts: Ints, window: float) -> tuple[Ints, Ints]:
    """The same before windows are made wider; `lengths` are those of the members, group by group."""
    shortest = np.minimum.reduceat(lengths, group_starts[:-1])
    is_even = shortest == np.maximum.reduceat(lengths, group_starts[:-1])
    most = max(int(BINS_OF_A_WINDOW / (2 * window) + 1e-9), 1)
    n_bins = np.where(is_even, shortest, np.minimum(shortest, most))
    return n_bins, (~is_even & (n_bins * window > 1 - 1e-9)).astype(np.int64)


def count_needed(
    symbols: Codes, starts: Ints, group_starts: Ints, n_bins: Ints, reaches: Ints, support: int, n_symbols: int
) -> tuple[Ints, Mask]:
    """How many members each group needs for the shares of symbols that it tells, and whether it is aligned.

    Shares are, in every window, the symbols that enough members have, less one. A member can be in several windows:
    where these overlap, the group has so many times its members. A group is aligned whose columns tell less than a
    share each: most members have the same symbol there.
    """
    n_shares = _unsupported(symbols, starts, group_starts, n_bins, reaches, support, n_symbols)[1]
    lengths = np.diff(starts)
    longest, shortest = (f.reduceat(lengths, group_starts[:-1]) for f in (np.maximum, np.minimum))
    is_even = longest == shortest
    return n_shares * np.where(is_even, STRINGS_A_SHARE_OF_COLUMNS, STRINGS_A_SHARE), is_even & (n_shares < n_bins)


def find_rare(symbols: Codes, starts: Ints, group_starts: Ints, settings: WindowSettings, n_symbols: int) -> Mask:
    """Which symbols fewer than `support` members of their group have about their place."""
    bins = bins_of(symbols, starts, group_starts, settings, n_symbols)
    return _unsupported(symbols, starts, group_starts, *bins, settings.support, n_symbols)[0]


def _unsupported(
    symbols: Codes, starts: Ints, group_starts: Ints, n_bins: Ints, reaches: Ints, support: int, n_symbols: int
) -> tuple[Mask, Ints]:
    is_unsupported = np.empty(len(symbols), np.bool_)
    n_shown, n_telling = (np.empty(len(group_starts) - 1, np.int64) for _ in range(2))
    find_unsupported(
        symbols, starts, group_starts, n_bins, reaches, support, n_symbols, is_unsupported, n_shown, n_telling
    )
    return is_unsupported, n_shown - n_telling


def generate_window_block(
    symbols: Codes,
    starts: Ints,
    group_starts: Ints,
    sizes: Ints,
    state: Words,
    settings: WindowSettings,
    pool: ClassStrings,
    n_tries: int,
    unwanted: Unwanted,
) -> tuple[Codes, npt.NDArray[np.bool_], int, Ints]:
    """Generate the pseudo-strings of some groups: symbols, which are kept, how many draws were rejected, lengths."""
    n_bins, reaches = bins_of(symbols, starts, group_starts, settings, len(unwanted.keys))
    out_starts = np.concatenate([[0], np.cumsum(sizes + settings.n_longer)]).astype(np.int64)
    out = np.empty(out_starts[-1], np.int32)
    lengths, is_kept = sizes.astype(np.int64), np.empty(len(sizes), np.bool_)
    n_rejected = generate_from_windows(
        symbols,
        starts,
        group_starts,
        n_bins,
        reaches,
        settings.order,
        settings.support,
        settings.by_group,
        pool.symbols,
        pool.after,
        pool.after_starts,
        pool.rare_after,
        pool.rare_after_starts,
        pool.left_first,
        pool.left,
        pool.left_starts,
        pool.pairs,
        pool.apart,
        pool.apart_starts,
        pool.shares,
        n_tries,
        settings.n_longer,
        unwanted,
        state.copy(),
        out_starts,
        out,
        lengths,
        is_kept,
    )
    within = np.arange(len(out)) - np.repeat(out_starts[:-1], np.diff(out_starts))
    return out[within < np.repeat(lengths, np.diff(out_starts))], is_kept, int(n_rejected), lengths


def join(parts: Sequence[tuple[Codes, Ints]]) -> tuple[Codes, Ints]:
    """Several sets of strings as one; parts of one array that follow one another are taken as they are."""
    lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(p[1]) for p in parts)])
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    whole = parts[0][0].base if parts else None
    if isinstance(whole, np.ndarray) and all(p[0].base is whole for p in parts):
        at = (parts[0][0].ctypes.data - whole.ctypes.data) // whole.itemsize
        begins = [(p[0].ctypes.data - whole.ctypes.data) // whole.itemsize for p in parts]
        if begins == [at + int(n) for n in np.cumsum([0, *(len(p[0]) for p in parts[:-1])])]:
            return whole[at : at + int(starts[-1])], starts
    symbols = np.concatenate([np.zeros(0, np.int32), *(p[0] for p in parts)])
    return symbols, starts
