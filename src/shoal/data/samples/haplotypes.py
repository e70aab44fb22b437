"""Haplotype-like strings made in code, for tests and reproductions: aligned, much alike, many of them equal.

A population grows from one ancestor, a tenth of itself at a time. A child is a copy of a random parent, now and then
with the end of another's, and at a few places the other of two letters stands. So near strings are relatives, places
are linked, some strings are held by many and others by one alone, as in sets of markers along a genome.
"""

from __future__ import annotations

import numpy as np

from shoal.data.strings.strings import Strings
from shoal.errors import PolicyError

_GROWTH = 0.1
_LETTERS = ("A", "G")


def haplotypes(
    n: int, *, n_places: int = 125, mutations: float = 0.5, recombination: float = 0.02, seed: int | None = None
) -> Strings:
    """Make n haplotype-like strings, in random order.

    Parameters
    ----------
    n : int
        How many.
    n_places : int, default 125
        The length of all of them.
    mutations : float, default 0.5
        At how many places a child differs from its parent, on average; less gives more strings that are equal.
    recombination : float, default 0.02
        Which share of the children have two parents.
    seed : int, optional

    Examples
    --------
    >>> made = haplotypes(200, seed=1)
    >>> len(made), int(made.lengths.max()), 2 <= len(set(made.texts())) < 200
    (200, 125, True)
    """
    if n < 1 or n_places < 2:
        raise PolicyError(f"{n} strings of {n_places} places cannot be made; ask for at least 1 of at least 2")
    rng = np.random.default_rng(seed)
    made = np.zeros((n, n_places), bool)
    n_made = 1
    while n_made < n:
        n_new = min(max(int(n_made * _GROWTH), 1), n - n_made)
        parents, others = rng.integers(n_made, size=(2, n_new))
        cut = np.where(rng.random(n_new) < recombination, rng.integers(1, n_places, n_new), n_places)
        children = np.where(np.arange(n_places) < cut[:, None], made[parents], made[others])
        children ^= rng.random((n_new, n_places)) < mutations / n_places
        made[n_made : n_made + n_new] = children
        n_made += n_new
    symbols = made[rng.permutation(n)].astype(np.int32).ravel()
    return Strings(symbols, np.arange(n + 1, dtype=np.int64) * n_places, _LETTERS, False)
