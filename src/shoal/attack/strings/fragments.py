"""Where fragments of strings stand in the published ones: the work that all attacks on strings share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.attack.strings.case import StringCase
from shoal.check.strings.originals import in_alphabet_of
from shoal.check.strings.suffixes import Suffixes, sort_suffixes
from shoal.data.strings.strings import Strings

MOST_SYMBOLS, MOST_OF_LONG, LONG = 8_000_000, 1_000_000, 5000  # of the published strings; about ten seconds
N_ATTACKED = 1000
MOST_ATTACKED_SYMBOLS, FEWEST_ATTACKED = 1_000_000, 20  # of targets; those that are long share long runs


@dataclass(frozen=True)
class Fragments:
    """Published strings and some targets in one order of suffixes.

    Attributes
    ----------
    suffixes : Suffixes
        Of the published strings, then of the targets.
    n_published : int
        How many strings of it are published.
    n_main : int
        How many targets, after them, the release was made from; the rest was not in it.
    """

    suffixes: Suffixes
    n_published: int
    n_main: int
    n_control: int

    @classmethod
    def of(cls, case: StringCase, rng: np.random.Generator, n_attacked: int = N_ATTACKED) -> Fragments:
        """Draw targets that are not empty, as many from the control."""
        original = case.original
        shown = in_alphabet_of(original, case.published)
        most = MOST_SYMBOLS if len(shown.symbols) < LONG * len(shown) else MOST_OF_LONG
        if len(shown.symbols) > most:
            order = rng.permutation(len(shown))
            shown = shown.take(np.sort(order[np.cumsum(shown.lengths[order]) <= most]))
        main = _drawn(original, rng, n_attacked)
        parts = [shown, main]
        n_control = 0
        if case.control is not None:
            control = _drawn(in_alphabet_of(shown, case.control), rng, n_attacked)
            n_control = len(control)
            parts.append(control)
        return cls(sort_suffixes(parts), len(shown), len(main), n_control)

    @property
    def n_targets(self) -> int:
        """All of them."""
        return self.n_main + self.n_control

    def split(self, values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Of one value a target, those of the main ones and those of the control."""
        return values[: self.n_main], values[self.n_main :]

    @property
    def lengths(self) -> Ints:
        """Of each target."""
        of_targets = self.suffixes.owner[self.suffixes.text > 0].astype(np.int64) - self.n_published
        return np.bincount(of_targets[of_targets >= 0], minlength=self.n_targets)

    def runs(self) -> tuple[Ints, Ints]:
        """The places of targets, and how many symbols from each stand in one published string as they are.

        The neighbours among the sorted suffixes tell it. Where a run goes on to the left, it is one longer from the
        place before, so only the others are measured: a run from a place reaches as far as any from a place before it.
        """
        order, text = self.suffixes.order, self.suffixes.text
        n = len(order)
        index = np.arange(n, dtype=np.int32)
        is_there = self.suffixes.owner[order] < self.n_published
        ours = np.flatnonzero(~is_there)
        reach = np.arange(len(text))
        for neighbour in (
            np.maximum.accumulate(np.where(is_there, index, np.int32(-1)))[ours],
            np.minimum.accumulate(np.where(is_there, index, np.int32(n))[::-1])[::-1][ours],
        ):
            fits = (neighbour >= 0) & (neighbour < n)
            a, b = order[ours[fits]], order[neighbour[fits]]
            previous = np.where(a > 0, text[a - 1], 0)
            extends = (previous > 0) & (previous == np.where(b > 0, text[b - 1], 0))
            a, b = a[~extends], b[~extends]
            reach[a] = np.maximum(reach[a], a + self.suffixes.common(a, b))
        runs = np.maximum.accumulate(reach) - np.arange(len(text))
        return order[ours], runs[order[ours]]

    def holders(self, width: int) -> tuple[Ints, Ints]:
        """For each place, the number of published strings, and of targets, that hold the fragment that begins there.

        0 where fewer than `width` symbols are left.
        """
        order = self.suffixes.order
        run = np.cumsum(~self.suffixes.shares_start(width)) - 1
        n_runs = int(run[-1]) + 1 if len(run) else 0
        # A string that holds a fragment twice counts once.
        pairs = np.unique(run * (int(self.suffixes.owner[-1]) + 1) + self.suffixes.owner[order])
        owner, of_run = pairs % (int(self.suffixes.owner[-1]) + 1), pairs // (int(self.suffixes.owner[-1]) + 1)
        published = np.bincount(of_run[owner < self.n_published], minlength=n_runs)
        targets = np.bincount(of_run[owner >= self.n_published], minlength=n_runs)
        is_whole = self.suffixes.left[order] >= width
        shown, held = np.zeros(len(self.suffixes.text), np.int64), np.zeros(len(self.suffixes.text), np.int64)
        shown[order[is_whole]], held[order[is_whole]] = published[run][is_whole], targets[run][is_whole]
        return shown, held

    def known(self, width: int, rng: np.random.Generator) -> Ints:
        """A random place of each target that has `width` symbols from there on; -1 for those that are shorter."""
        starts = np.flatnonzero(np.diff(self.suffixes.owner, prepend=-1))[self.n_published :]
        room = self.lengths - width + 1
        drawn = starts + (rng.random(self.n_targets) * np.maximum(room, 1)).astype(np.int64)
        return np.where(room > 0, drawn, -1)


def _drawn(strings: Strings, rng: np.random.Generator, n: int) -> Strings:
    filled = rng.permutation(np.flatnonzero(strings.lengths > 0))[:n]
    fits = np.cumsum(strings.lengths[filled]) <= MOST_ATTACKED_SYMBOLS
    return strings.take(np.sort(filled[: max(int(fits.sum()), FEWEST_ATTACKED)]))
