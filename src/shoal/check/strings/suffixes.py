"""A suffix array of many strings in plain NumPy, and the longest common starts of suffixes.

The strings stand in one row, each ended by a separator. As many symbols as fit into 62 bits are packed into one word
for each place, so one sort by words puts most suffixes in order; those that are equal so far are sorted by the ranks of
what follows, doubling the length each time. A suffix ends at its separator: equal suffixes stay in any order.

References
----------
U. Manber, G. Myers, "Suffix arrays: a new method for on-line string searches", SIAM Journal on Computing 22(5), 1993.
N. J. Larsson, K. Sadakane, "Faster suffix sorting", Theoretical Computer Science 387(3), 2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Ints, Mask
from shoal.data.strings.strings import Strings
from shoal.errors import DataError

WORD_BITS = 62


@dataclass(frozen=True)
class Suffixes:
    """All suffixes of some strings, sorted.

    Attributes
    ----------
    text : int32 array
        The symbols, numbered from 1 on, with a 0 after each string.
    owner : int32 array
        The string of each place.
    left : int32 array
        How many symbols there are from each place to the end of its string.
    order : int64 array
        The places in the order of their suffixes, without those of the separators.
    words : int64 array
        The next `per_word` symbols of each place, packed; 0 beyond the end of the string.
    per_word, bits : int
        Symbols of a word, and bits of a symbol.
    """

    text: Codes
    owner: Codes
    left: Codes
    order: Ints
    words: Ints
    per_word: int
    bits: int

    def common(self, first: Ints, second: Ints) -> Ints:
        """How many symbols two suffixes, given by their places, have in common at their start."""
        out = np.zeros(len(first), np.int64)
        active = np.arange(len(first))
        a, b = first, second
        while len(active):
            is_equal = self.words[a] == self.words[b]
            # Equal words that reach the ends of both strings are all that there is.
            is_done = ~is_equal | (self.left[a] < self.per_word)
            done = active[is_done]
            out[done] += np.minimum(self._common_of_words(a[is_done], b[is_done]), self.left[a[is_done]])
            out[active[~is_done]] += self.per_word
            active, a, b = active[~is_done], a[~is_done] + self.per_word, b[~is_done] + self.per_word
        return out

    def _common_of_words(self, a: Ints, b: Ints) -> Ints:
        differing = self.words[a] ^ self.words[b]
        n = np.zeros(len(a), np.int64)
        for d in range(self.per_word):
            n += differing >> (self.bits * (self.per_word - 1 - d)) == 0
        return n

    def shares_start(self, width: int) -> Mask:
        """For each suffix in order, whether it has its first `width` symbols in common with the one before it."""
        is_long = self.left[self.order] >= width
        same = np.zeros(len(self.order), bool)
        same[1:] = is_long[1:] & is_long[:-1]
        done = 0
        while done < width:
            step = min(self.per_word, width - done)
            rows = np.flatnonzero(same)
            shift = self.bits * (self.per_word - step)
            a, b = self.order[rows] + done, self.order[rows - 1] + done
            same[rows] = self.words[a] >> shift == self.words[b] >> shift
            done += step
        return same


def sort_suffixes(parts: Sequence[Strings]) -> Suffixes:
    """Sort the suffixes of several sets of strings in the same codes; strings are numbered through."""
    if sum(len(p.symbols) + len(p) for p in parts) >= 2**31 - 1:
        raise DataError("there are more than two thousand million symbols to compare; take a sample of the strings")
    n_symbols = max((len(p.alphabet) for p in parts), default=0)
    text, lengths = _joined(parts)
    n = len(text)
    bits = max(int(n_symbols).bit_length(), 1)
    per_word = min(WORD_BITS // bits, 31)
    ends = np.cumsum(lengths + 1)
    owner = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths + 1)
    left = (ends[owner] - 1 - np.arange(n)).astype(np.int32)
    words = _pack(text, left, bits, per_word)
    places = np.flatnonzero(text)
    order = places[np.argsort(words[places], kind="stable")]
    order = _refine(order, words, left, per_word)
    return Suffixes(text, owner, left, order, words, per_word, bits)


def _refine(order: Ints, words: Ints, left: Codes, per_word: int) -> Ints:
    """Sort suffixes that are already sorted by their first `per_word` symbols by all of them."""
    n = len(order)
    heads = np.flatnonzero(np.diff(words[order], prepend=-1))
    # The rank of a suffix is the index of the first one that is equal to it so far; that of no symbols is -1.
    rank = np.full(len(words) + 1, -1, np.int32)
    rank[order] = np.repeat(heads, np.diff(np.append(heads, n)))
    width = per_word
    unsorted = _in_runs(rank[order]) & (left[order] >= width)
    at = np.flatnonzero(unsorted)
    while len(at):
        suffixes = order[at]
        first, follow = rank[suffixes], rank[suffixes + width]
        by = np.argsort(first.astype(np.int64) << 32 | follow + 1, kind="stable")
        suffixes, first, follow = suffixes[by], first[by], follow[by]
        order[at] = suffixes
        is_head = (np.diff(first, prepend=-2) != 0) | (np.diff(follow, prepend=-2) != 0)
        heads = np.flatnonzero(is_head)
        rank[suffixes] = np.repeat(at[heads], np.diff(np.append(heads, len(at))))
        width *= 2
        at = at[_in_runs(rank[suffixes]) & (left[suffixes] >= width)]
    return order


def _in_runs(ranks: Codes) -> Mask:
    """Which ranks stand beside an equal one."""
    same = ranks[1:] == ranks[:-1]
    return np.append(same, False) | np.append(False, same) if len(ranks) else np.zeros(0, bool)


def _joined(parts: Sequence[Strings]) -> tuple[Codes, Ints]:
    lengths = np.concatenate([np.zeros(0, np.int64), *(p.lengths for p in parts)])
    symbols = np.concatenate([np.zeros(0, np.int32), *(p.symbols for p in parts)])
    text = np.zeros(len(symbols) + len(lengths), np.int32)
    string = np.repeat(np.arange(len(lengths)), lengths)
    text[np.arange(len(symbols)) + string] = symbols + 1
    return text, lengths


def _pack(text: Codes, left: Codes, bits: int, per_word: int) -> Ints:
    n = len(text)
    words = np.zeros(n, np.int64)
    padded = np.concatenate([text, np.zeros(per_word, np.int32)])
    for d in range(per_word):
        words <<= bits
        words |= np.where(left > d, padded[d : d + n], 0)
    return words
