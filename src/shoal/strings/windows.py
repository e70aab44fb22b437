"""Symbols drawn from windows: what members of a group have about the same place, after the same symbols.

The papers draw from templates, in which neighbouring positions share symbols of a string, and so repeat them. Here a
symbol is drawn from the members' own strings. Each string is cut into bins; a window is a bin with its neighbours,
5 % of a string to either side. Where all strings of a group have one length, bins are places and windows exact columns;
where the shortest has fewer symbols than there are bins, there are fewer bins. The ways in which a symbol is
drawn, one after another until one gives it:

1. **The group after the context.** From the members' symbols in the window that follow the same symbols as were drawn
   last, the longest context of at most ``order - 1`` that at least `support` members carry there.
2. **The class after the symbol before.** From all strings of the class, wherever they stand, if at least `support` of
   them have the pair.
3. **The group.** From all symbols of the members in the window.
4. **The class.** From a random string of the class at the same relative place.

The first and the third give nothing where fewer than `support` members have the drawn symbol in the window. That keeps
the shares of symbols about as they are: what may not be shown is replaced by what a wider circle has.

**Guarantee**: every symbol is one that at least `support` members of the group have about its place, or that at least
`support` strings of the class have after the symbol before it, or that at least `rare` strings of the class have at
all. **Not protected**: as in `shoal.strings.generate`.

Where the constants are from
----------------------------
k = 20, half of each set held out, areas under the curve of the attacks `place-membership` and `fragment-membership`. A
support of 5 was chosen on baskets (V20.I4, 10,000), made-up sessions (2,000) and sentences of news groups (2,000): at 3
the areas on baskets were 0.55 and 0.62, at 5 0.54 and 0.56, at 20 0.54 and 0.54, and pairs of symbols moved by 45, 56
and 68 % (two halves of the data: 59 %). The window of 5 % and the order of 2 were not chosen here; order 3 on yeast
kept triples better (5.1 against 7.2 %), at areas of 0.51 and 0.52. Groups of strings of one length were made larger
after splice sites: groups of 20, 40, 80 and 160 gave areas of 0.60, 0.56, 0.53 and 0.53. See `shoal.strings.growth`.

References
----------
Shoal's own; the groups are those of C. C. Aggarwal, P. S. Yu, "A framework for condensation-based anonymization of
string data", Data Mining and Knowledge Discovery 16(3), 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints, Words
from shoal.kernels.strings.hash import BASES
from shoal.kernels.strings.windows import generate_from_windows

BINS_OF_A_WINDOW = 3


@dataclass(frozen=True)
class ClassStrings:
    """All strings of a class that stand in groups, and what follows what in them.

    Attributes
    ----------
    symbols, starts : arrays
        The strings, none empty.
    after, after_starts : int64 arrays
        For each symbol the places that follow it within a string.
    pairs : int64 array
        ``first * n_symbols + second`` of each pair that enough of the strings have, ascending.
    """

    symbols: Codes
    starts: Ints
    after: Ints
    after_starts: Ints
    pairs: Ints


def make_pool(symbols: Codes, starts: Ints, n_symbols: int, support: int) -> ClassStrings:
    """Index the strings of a class; `support` is how many must have a pair."""
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    second = np.flatnonzero(owner[1:] == owner[:-1]) + 1
    first = symbols[second - 1].astype(np.int64)
    pair = first * n_symbols + symbols[second]
    found, which = np.unique(pair, return_inverse=True)
    held = np.unique(which * len(starts) + owner[second]) // len(starts)
    n_holders = np.bincount(held, minlength=len(found))
    return ClassStrings(
        symbols,
        starts,
        second[np.argsort(first, kind="stable")].astype(np.int64),
        np.concatenate([[0], np.cumsum(np.bincount(first, minlength=n_symbols))]).astype(np.int64),
        found[n_holders >= support].astype(np.int64),
    )


def bins_of(lengths: Ints, group_starts: Ints, window: float) -> tuple[Ints, Ints]:
    """The number of bins of each group, and how many a window has to either side of its own.

    Parameters
    ----------
    lengths : int64 array
        Of the members, group by group; none is 0.
    group_starts : int64 array (n_groups + 1,)
    window : float
        Share of a string to either side of a place.
    """
    shortest = np.minimum.reduceat(lengths, group_starts[:-1])
    is_even = shortest == np.maximum.reduceat(lengths, group_starts[:-1])
    most = max(int(BINS_OF_A_WINDOW / (2 * window) + 1e-9), 1)
    n_bins = np.where(is_even, shortest, np.minimum(shortest, most))
    return n_bins, (~is_even & (n_bins * window > 1 - 1e-9)).astype(np.int64)


def generate_window_block(
    symbols: Codes,
    starts: Ints,
    group_starts: Ints,
    sizes: Ints,
    state: Words,
    settings: tuple[int, int, float, bool],
    pool: ClassStrings,
    n_tries: int,
    originals: Words,
    keys: Words,
) -> tuple[Codes, npt.NDArray[np.bool_], int]:
    """Generate the pseudo-strings of some groups: their symbols, which are kept, how many draws were rejected."""
    order, support, window, by_group = settings
    n_bins, reaches = bins_of(np.diff(starts), group_starts, window)
    out_starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    out = np.empty(out_starts[-1], np.int32)
    is_kept = np.empty(len(sizes), np.bool_)
    n_rejected = generate_from_windows(
        symbols,
        starts,
        group_starts,
        n_bins,
        reaches,
        order,
        support,
        by_group,
        pool.symbols,
        pool.starts,
        pool.after,
        pool.after_starts,
        pool.pairs,
        n_tries,
        originals,
        keys,
        BASES[0],
        state.copy(),
        out_starts,
        out,
        is_kept,
    )
    return out, is_kept, int(n_rejected)


def join(parts: Sequence[tuple[Codes, Ints]]) -> tuple[Codes, Ints]:
    """Several sets of strings as one."""
    symbols = np.concatenate([np.zeros(0, np.int32), *(p[0] for p in parts)])
    lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(p[1]) for p in parts)])
    return symbols, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
