"""Symbols that follow one like them, and subsequences that many strings hold."""

from __future__ import annotations

import numpy as np

from shoal.data.strings.strings import Strings
from shoal.utility.strings.codes import in_one_alphabet

N_FREQUENT = 100
WITHIN = 3  # places
MOST_POSSIBLE = 3_000  # subsequences that chance alone would fill: what decides on their length


def adjacent_repeats(strings: Strings) -> float | None:
    """The share of symbols that follow one like them; None where none follows another.

    >>> adjacent_repeats(Strings.of(["aab", "b"]))
    0.5
    """
    owner = np.repeat(np.arange(len(strings)), strings.lengths)
    inside = owner[1:] == owner[:-1]
    return float((strings.symbols[1:] == strings.symbols[:-1])[inside].mean()) if inside.any() else None


def subsequences_kept(original: Strings, published: Strings) -> float | None:
    """Of the subsequences that most originals hold, the share that is among as many of the published strings.

    A subsequence is some symbols of which each stands 1, 2 or 3 places after the one before, always as many: so many
    symbols that chance alone would not fill all strings with them, such as 6 bases, 3 amino acids or 2 tokens. Those
    that as many published strings hold as the last one are all counted. None where strings are too short.
    """
    before, after = in_one_alphabet(original, published)
    n_used = max(len(np.unique(before.symbols)), 2)
    width = max(2, round(float(np.log(MOST_POSSIBLE) / np.log(n_used))))
    wanted, found = _frequent(before, width, is_open=False), _frequent(after, width, is_open=True)
    return len(wanted & found) / len(wanted) if wanted else None


def _frequent(strings: Strings, width: int, *, is_open: bool) -> set[int]:
    """The subsequences of a width that most strings hold, as numbers; with all that are level with the last one."""
    owner = np.repeat(np.arange(len(strings)), strings.lengths)
    n = len(strings.alphabet)
    held = []
    for gap in range(1, WITHIN + 1):
        size = max(len(owner) - gap * (width - 1), 0)
        keys = np.zeros(size, np.int64)
        for i in range(width):
            keys = keys * n + strings.symbols[i * gap : i * gap + size]
        inside = owner[len(owner) - size :] == owner[:size]
        held.append(np.column_stack([keys[inside], owner[:size][inside]]))
    pairs = np.concatenate(held)
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    is_new = np.ones(len(pairs), bool)
    is_new[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    found, n_holders = np.unique(pairs[is_new, 0], return_counts=True)
    if not len(found):
        return set()
    order = np.argsort(-n_holders, kind="stable")
    n_best = min(N_FREQUENT, len(order))
    if is_open:
        n_best = int((n_holders >= n_holders[order[n_best - 1]]).sum())
    return set(found[order[:n_best]].tolist())
