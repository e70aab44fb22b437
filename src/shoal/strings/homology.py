"""Strings that descend from one another and are not aligned.

A group's windows say what its strings have about the same place. Where strings are nearly the same but for letters that
one has more or less, the same place is not the same letter, and a pseudo-string mixes neighbours of it: of 390
mitochondrial sequences the nearest original was 128 edits away, where an unseen person has 4 and an aligned release
7. Such strings are known by their fragments: two of them share most, however they are shifted.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.data.strings.on_disk import SomeStrings
from shoal.errors import Infeasible

N_PAIRS = 100
MOST_SHARED = 0.5
RARE_BY_CHANCE = 100  # of so many strings of letters drawn at random one has a given fragment
FEWEST_SHARED = 20  # symbols of a string, below which it has too few fragments


def shared_fragments(strings: SomeStrings, among: Ints | None = None) -> float:
    """Which share of its fragments a string has in common with another, in the middle over some pairs.

    Of all strings, or `among` those of some rows.

    Fragments are so long that chance hardly gives any to both. Strings that repeat themselves share none.
    """
    everyone = np.arange(len(strings)) if among is None else among
    rows = everyone[strings.lengths[everyone] >= FEWEST_SHARED]
    if len(rows) < max(2, len(everyone) / 2):
        return 0.0
    rng = np.random.default_rng(0)
    first = rng.integers(len(rows), size=N_PAIRS)
    second = (first + 1 + rng.integers(len(rows) - 1, size=N_PAIRS)) % len(rows)
    some = strings.take(rows[np.column_stack([first, second]).ravel()])
    n_symbols = max(len(np.unique(some.symbols)), 2)
    wanted = np.log(RARE_BY_CHANCE * some.lengths.mean()) / np.log(n_symbols)
    width = int(np.clip(np.ceil(wanted), 2, 62 / np.log2(max(len(some.alphabet), 2))))
    n = len(some.symbols) - width + 1
    keys = np.zeros(n, np.int64)
    for d in range(width):
        keys = keys * len(some.alphabet) + some.symbols[d : d + n]
    shares = []
    for i in range(N_PAIRS):
        one, two = (np.unique(keys[some.starts[j] : some.starts[j + 1] - width + 1]) for j in (2 * i, 2 * i + 1))
        is_varied = min(len(one), len(two)) > MOST_SHARED * some.lengths[2 * i : 2 * i + 2].min()
        shares.append(np.isin(one, two).mean() if is_varied else 0.0)
    return float(np.median(shares))


def find_unaligned(strings: SomeStrings, labels: Codes | None) -> float:
    """The greatest share of fragments in common of a class whose strings differ in length; 0.0 if there is none.

    Tokens are not looked at: visits and baskets are of no common descent. `labels` are the classes of the strings.
    """
    if strings.is_tokens:
        return 0.0
    lengths, found = strings.lengths, 0.0
    labels = np.zeros(len(lengths), np.int32) if labels is None else labels
    for label in np.unique(labels).tolist():
        rows = np.flatnonzero((labels == label) & (lengths > 0))
        if len(np.unique(lengths[rows])) > 1:
            found = max(found, shared_fragments(strings, rows))
    return found


def refuse_unaligned(strings: SomeStrings, labels: Codes | None) -> None:
    """Refuse strings that are nearly the same and not aligned.

    Raises
    ------
    Infeasible
    """
    shared = find_unaligned(strings, labels)
    if shared >= MOST_SHARED:
        raise Infeasible(
            f"the strings are nearly the same and not aligned: two of them share {100 * shared:.0f} % of their "
            "fragments and differ in length, so that the same place is not the same symbol and pseudo-strings would be "
            "like no original; align them, such as by mafft --auto strings.fasta > aligned.fasta, and give the aligned "
            'file, or take them as they are (unaligned = "accept")'
        )
