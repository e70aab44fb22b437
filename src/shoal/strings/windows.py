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
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints, Mask, Words
from shoal.kernels.strings.hash import Unwanted
from shoal.kernels.strings.window_lists import find_unsupported
from shoal.kernels.strings.windows import generate_from_windows
from shoal.strings.pool import ClassSymbols

BINS_OF_A_WINDOW = 3
STRINGS_A_SHARE, STRINGS_A_SHARE_OF_COLUMNS = 2, 4
"""How many members a group needs for each share of a symbol that its windows, or its columns, tell."""


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
    pool: ClassSymbols,
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
        *pool,
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
