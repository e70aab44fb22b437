"""How much of published strings stands verbatim in originals, beside the same of originals that were not used.

Statistics of a group cannot be without its strings' fragments: the shorter ones are everywhere, and a long one that
stands in one original alone is that original's. How long is too long depends on the data, for proteins of a family
share hundreds of symbols. So each figure stands beside a control: the same figure for originals that took no part.

The longest run needs, for each place, the longest start of its suffix that stands in an original: the neighbours in the
order of all suffixes have it (`suffixes`). Only places whose run cannot be extended to the left are looked at, as the
others are part of a longer run.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.arrays import Ints, Mask
from shoal.check.strings.originals import in_alphabet_of
from shoal.check.strings.suffixes import Suffixes, sort_suffixes
from shoal.data.strings.strings import Strings
from shoal.errors import DataError

WIDTHS = (8, 12, 16)
N_CONTROL = 1000
UNSEEN = "originals of the same source that were held out"
OTHERS = (
    "originals of the data set itself, each against all the others (a random sample; no originals were held out, so "
    "where a string is in the data twice its control is the whole string)"
)


@dataclass(frozen=True)
class Standing:
    """How much of some strings stands verbatim in originals."""

    n_strings: int
    """How many strings were looked at."""
    mean: float
    percentile_95: float
    longest: int
    """Of the longest run of each string that stands in an original, in symbols."""
    longest_share: float
    """The mean of the longest run as a share of its string."""
    n_whole: int
    """How many strings stand in an original as a whole."""
    histogram: tuple[int, ...]
    """How many strings have a longest run of 0, 1, 2, ... symbols."""
    fragments: dict[int, int]
    """How many fragments of each width the strings have."""
    unique: dict[int, float]
    """Which share of them stands in exactly one original."""


@dataclass(frozen=True)
class Verbatim:
    """Published strings and a control, both against the originals.

    Attributes
    ----------
    published, control : Standing
    control_is : str
        What the control is, in words.
    """

    published: Standing
    control: Standing
    control_is: str

    @property
    def is_no_worse(self) -> bool:
        """Whether neither the mean nor the 95th percentile of the longest run is above that of the control."""
        ours, theirs = self.published, self.control
        return ours.mean <= theirs.mean and ours.percentile_95 <= theirs.percentile_95

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


def verbatim(
    published: Strings,
    original: Strings,
    held_out: Strings | None = None,
    *,
    widths: tuple[int, ...] = WIDTHS,
    n_control: int = N_CONTROL,
    seed: int = 0,
) -> Verbatim:
    """Measure verbatim runs and unique fragments of published strings, and of a control.

    Parameters
    ----------
    published, original : Strings
    held_out : Strings, optional
        Originals of the same source that the release was not made from. Without them the control is a sample of the
        originals, each against all others.
    widths : tuple of int
        Lengths of the fragments.
    n_control : int
        At most this many strings as the control, drawn at random.
    seed : int
        Of that draw.

    Examples
    --------
    >>> found = verbatim(Strings.of(["abcxyz"]), Strings.of(["aabcd", "xyzz", "abab"]), widths=(3,))
    >>> found.published.longest, found.published.fragments, found.published.unique
    (3, {3: 4}, {3: 0.5})
    """
    if not len(original) or not len(published):
        raise DataError("there are no strings to compare; give published strings and originals")
    rng = np.random.default_rng(seed)
    shown = in_alphabet_of(original, published)
    chosen = None
    parts = [original, shown]
    if held_out is not None and len(held_out):
        if len(held_out) > n_control:
            held_out = held_out.take(np.sort(rng.permutation(len(held_out))[:n_control]))
        parts.append(in_alphabet_of(shown, held_out))
    else:
        chosen = np.sort(rng.permutation(len(original))[:n_control])
    suffixes = sort_suffixes(parts)
    n_original, n_before = len(original), len(original) + len(published)
    runs = {w: _unique_fragments(suffixes, n_original, w) for w in widths}
    ours = _standing(suffixes, np.arange(n_original, n_before), n_original, {w: r[0] for w, r in runs.items()}, False)
    if chosen is None:
        assert held_out is not None
        rows = np.arange(n_before, n_before + len(held_out))
        control = _standing(suffixes, rows, n_original, {w: r[0] for w, r in runs.items()}, False)
        return Verbatim(ours, control, UNSEEN)
    control = _standing(suffixes, chosen, n_original, {w: r[1] for w, r in runs.items()}, True)
    return Verbatim(ours, control, OTHERS)


def _standing(suffixes: Suffixes, rows: Ints, n_original: int, unique: dict[int, Mask], is_original: bool) -> Standing:
    """Some strings against the originals, the first `n_original`; each against the others if it is one of them."""
    n_strings = int(suffixes.owner[-1]) + 1
    place_of = np.full(n_strings, -1, np.int64)
    place_of[rows] = np.arange(len(rows))
    runs = _longest_runs(suffixes, place_of, len(rows), n_original, is_original)
    owner = place_of[suffixes.owner]
    lengths = np.bincount(owner[(owner >= 0) & (suffixes.text > 0)], minlength=len(rows))
    fragments, shares = {}, {}
    for width, is_unique in unique.items():
        is_ours = (owner >= 0) & (suffixes.left >= width)
        fragments[width] = int(is_ours.sum())
        shares[width] = float(is_unique[is_ours].mean()) if fragments[width] else 0.0
    return Standing(
        n_strings=len(rows),
        mean=float(runs.mean()),
        percentile_95=float(np.percentile(runs, 95)),
        longest=int(runs.max()),
        longest_share=float((runs / np.maximum(lengths, 1)).mean()),
        n_whole=int(((runs == lengths) & (lengths > 0)).sum()),
        histogram=tuple(np.bincount(runs).tolist()),
        fragments=fragments,
        unique=shares,
    )


def _longest_runs(suffixes: Suffixes, place_of: Ints, n_rows: int, n_original: int, is_original: bool) -> Ints:
    """The longest run of each chosen string that stands in an original, other than itself if it is one."""
    order, owners = suffixes.order, suffixes.owner
    if is_original:
        order = order[owners[order] < n_original]
    of_string = owners[order]
    n = len(order)
    index = np.arange(n, dtype=np.int32)
    # For each suffix, the nearest one before and after it that may be compared with.
    if is_original:
        heads = np.flatnonzero(np.diff(of_string, prepend=-1))
        run = np.cumsum(np.diff(of_string, prepend=-1) != 0) - 1
        before, after = heads[run] - 1, np.append(heads, n)[run + 1]
    else:
        is_there = of_string < n_original
        before = np.maximum.accumulate(np.where(is_there, index, np.int32(-1)))
        after = np.minimum.accumulate(np.where(is_there, index, np.int32(n))[::-1])[::-1]
    ours = np.flatnonzero(place_of[of_string] >= 0)
    longest = np.zeros(n_rows, np.int64)
    for neighbour in (before[ours], after[ours]):
        fits = (neighbour >= 0) & (neighbour < n)
        a, b = order[ours[fits]], order[neighbour[fits]]
        # Place 0 has nothing before it, like a place after a separator.
        previous = np.where(a > 0, suffixes.text[a - 1], 0)
        extends = (previous > 0) & (previous == np.where(b > 0, suffixes.text[b - 1], 0))
        a, b = a[~extends], b[~extends]
        np.maximum.at(longest, place_of[owners[a]], suffixes.common(a, b))
    return longest


def _unique_fragments(suffixes: Suffixes, n_original: int, width: int) -> tuple[Mask, Mask]:
    """For each place, whether the fragment that begins there stands in one original, and whether in exactly two."""
    order = suffixes.order
    same = suffixes.shares_start(width)
    heads = np.flatnonzero(~same)
    run = np.cumsum(~same) - 1
    owner = suffixes.owner[order]
    is_there = owner < n_original
    low = np.minimum.reduceat(np.where(is_there, owner, np.int32(n_original)), heads) if len(heads) else heads
    high = np.maximum.reduceat(np.where(is_there, owner, np.int32(-1)), heads) if len(heads) else heads
    is_between = is_there & (owner != low[run]) & (owner != high[run])
    n_between = np.bincount(run[is_between], minlength=len(heads))
    in_one, in_two = np.zeros(len(suffixes.text), bool), np.zeros(len(suffixes.text), bool)
    in_one[order] = (low == high)[run]
    in_two[order] = ((low < high) & (n_between == 0))[run]
    return in_one, in_two
