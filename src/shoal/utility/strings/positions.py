"""Profiles along the string: how often each symbol occurs at each relative position, before and after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Ints
from shoal.data.strings.strings import Strings
from shoal.errors import PolicyError
from shoal.utility.measured import Measured
from shoal.utility.strings.codes import in_one_alphabet


@dataclass(frozen=True)
class Positions(Measured):
    """Shares of symbols in parts of the strings.

    Attributes
    ----------
    total_variation : float
        ``1/2 sum |f - f'|`` over all symbols, the mean of all parts that symbols stand in on both sides.
    by_part : tuple of float or None
        The same for each part, from the beginning to the end of a string; None where one side has no symbols.
    n_parts : int
        Into how many equal parts each string is cut; a symbol counts where its middle lies.
    """

    total_variation: float
    by_part: tuple[float | None, ...]
    n_parts: int


def compare_positions(original: Strings, published: Strings, n_parts: int | None = None) -> Positions:
    """Compare the shares of all symbols in each part of the strings.

    Parameters
    ----------
    original, published : Strings
    n_parts : int, optional
        Parts of a string; else as many as it has positions where all strings are of one length of at most 100, and
        20 otherwise.

    Examples
    --------
    >>> compare_positions(Strings.of(["ab", "ab"]), Strings.of(["ab", "bb"])).by_part
    (0.5, 0.0)
    """
    if n_parts is None:
        lengths = np.unique(np.concatenate([original.lengths, published.lengths]))
        n_parts = int(lengths[0]) if len(lengths) == 1 and 0 < lengths[0] <= 100 else 20
    if n_parts < 1:
        raise PolicyError(f"{n_parts} parts are not possible; give 1 or more")
    before, after = in_one_alphabet(original, published)
    n = len(before.alphabet)
    keys = [_parts(s, n_parts) * n + s.symbols for s in (before, after)]
    if n * n_parts > sum(map(len, keys)):
        known, place = np.unique(np.concatenate(keys), return_inverse=True)
        keys = [place[: len(keys[0])], place[len(keys[0]) :]]
    else:
        known = np.arange(n * n_parts)
    counts = [np.bincount(k, minlength=len(known)).astype(np.float64) for k in keys]
    totals = [np.bincount(known // n, weights=c, minlength=n_parts) for c in counts]
    f, g = (c / np.maximum(t, 1)[known // n] for c, t in zip(counts, totals, strict=True))
    by_part = np.bincount(known // n, weights=np.abs(f - g), minlength=n_parts) / 2
    has_both = (totals[0] > 0) & (totals[1] > 0)
    shown = [v if h else None for v, h in zip(by_part.tolist(), has_both.tolist(), strict=True)]
    return Positions(float(by_part[has_both].mean()) if has_both.any() else 1.0, tuple(shown), n_parts)


def _parts(strings: Strings, n_parts: int) -> Ints:
    within = np.arange(len(strings.symbols)) - np.repeat(strings.starts[:-1], strings.lengths)
    return np.asarray((2 * within + 1) * n_parts // (2 * np.repeat(strings.lengths, strings.lengths)))
