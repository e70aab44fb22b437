"""Composition: how often each symbol occurs, before and after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.data.strings.strings import Strings
from shoal.utility.measured import Measured
from shoal.utility.strings.codes import in_one_alphabet


@dataclass(frozen=True)
class Composition(Measured):
    """Shares of symbols of two sets of strings.

    Attributes
    ----------
    difference : float
        CD of Eq. (5): ``sum over all symbols of |f - f'|``, between 0 and 2 (the paper says 1).
    total_variation : float
        Half of it, between 0 and 1: the share of symbols that would have to change.
    symbols : tuple of str
        The most frequent symbols of the original, most frequent first.
    before, after : tuple of float
        Their shares f and f'.
    n_symbols : int
        How many symbols there are in all.
    """

    difference: float
    total_variation: float
    symbols: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    n_symbols: int


def compare_composition(original: Strings, published: Strings, *, n_shown: int = 30) -> Composition:
    """Compare the shares of all symbols.

    Examples
    --------
    >>> compare_composition(Strings.of(["AAB", "B"]), Strings.of(["AAAB"])).difference
    0.5

    References
    ----------
    C. C. Aggarwal, P. S. Yu, "A framework for condensation-based anonymization of string data", Data Mining and
    Knowledge Discovery 16(3), 2008, Eq. (5).
    """
    before, after = in_one_alphabet(original, published)
    n = len(before.alphabet)
    f, g = (np.bincount(s.symbols, minlength=n) / len(s.symbols) for s in (before, after))
    difference = float(np.abs(f - g).sum())
    shown = np.argsort(-f, kind="stable")[:n_shown]
    return Composition(
        difference,
        difference / 2,
        tuple(before.alphabet[i] for i in shown.tolist()),
        tuple(f[shown].tolist()),
        tuple(g[shown].tolist()),
        n,
    )
