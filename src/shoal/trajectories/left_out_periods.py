"""Which shared periods are left out, so that k^(tau, eps) holds for every window: also where nothing is published.

Who has no box in a window is told apart by that, if all others have some: so those without are k or more, or none. And
sets that met in several periods, of which one is left out for some, may share more than eps. Here windows slide over
what is to be published, and where one fails, the periods of the persons in question are left out, until none fails.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Ints, Mask


@dataclass(frozen=True)
class SharedPeriods:
    """What persons share, by periods of as many slots as tau has.

    Attributes
    ----------
    tokens : int64 array (n_periods, n_persons)
        What each has in a period, -1 for nothing; equal where the boxes are.
    slots : bool array (n_tokens, n_tau)
        In which slots of its period each has a box.
    alike : int64 array (n_tokens,)
        A number that is the same where two have a box in common: who has one of these shares that with who has another.
    """

    tokens: Ints
    slots: Mask
    alike: Ints

    def thinned(self, k: int) -> Ints:
        """The same tokens, with -1 for those that are left out."""
        made: Ints = self.tokens.copy()
        while True:
            out = self._failing(made, k)
            if not out.any():
                return made
            made[(made >= 0) & out[made]] = -1

    def _failing(self, tokens: Ints, k: int) -> Mask:
        """The tokens to leave out, as some window fails."""
        n_tau = self.slots.shape[1]
        out = np.zeros(len(self.slots), bool)
        nothing = np.full(tokens.shape[1], -1, np.int64)
        shown = np.flatnonzero((tokens >= 0).any(axis=0))  # nobody sees the others
        if not len(shown):
            return out
        for period in range(-1, len(tokens)):
            early = tokens[period] if period >= 0 else nothing
            late = tokens[period + 1] if period + 1 < len(tokens) else nothing
            for offset in range(n_tau) if period >= 0 else range(1, n_tau):
                # The window has the end of one period and the beginning of the next.
                own = [_in(early, self.slots[:, offset:])[shown], _in(late, self.slots[:, :offset])[shown]]
                classes = _Classes.of(own, tokens[:, shown])
                out |= self._too_few(classes, k) | self._too_long(classes, period, offset)
        return out

    def _too_few(self, classes: _Classes, k: int) -> Mask:
        """What is left out where fewer than k have the same in a window, or nothing."""
        out = np.zeros(len(self.slots), bool)
        few = classes.counts < k
        if not few.any():
            return out
        _drop(out, classes.own[few])
        is_empty = (classes.own < 0).all(axis=1)
        if (few & is_empty).any() and not (few & ~is_empty).any():
            # Others join those without a box: the fewest of those who hide one another.
            others = np.where(is_empty, np.iinfo(np.int64).max, classes.counts)
            _drop(out, classes.own[np.argmin(others)][None])
        return out

    def _too_long(self, classes: _Classes, period: int, offset: int) -> Mask:
        """What is left out where all who have the same in a window share more besides than tau lasts."""
        out = np.zeros(len(self.slots), bool)
        slots = np.zeros((int(self.alike.max()) + 2, self.slots.shape[1]), np.int64)  # the last is for nothing
        np.maximum.at(slots, self.alike, self.slots)
        held = np.where(classes.tokens >= 0, self.alike[classes.tokens], -1)
        one, other = held[:, classes.first], held[:, classes.last]
        shared = np.where(one == other, one, -1)
        outside = slots.sum(axis=1)[shared]
        if period >= 0:
            outside[period] -= slots[:, offset:].sum(axis=1)[shared[period]]
        if period + 1 < len(shared):
            outside[period + 1] -= slots[:, :offset].sum(axis=1)[shared[period + 1]]
        for which in np.flatnonzero(outside.sum(axis=0) > slots.shape[1]).tolist():
            members = classes.of_person == which
            mine = np.where((held[:, members] == one[:, [which]]).all(axis=1), outside[:, which], 0)
            if mine.sum() > slots.shape[1]:
                _drop(out, classes.tokens[np.argmax(mine), members])
        return out


@dataclass(frozen=True)
class _Classes:
    """Persons who have the same in a window: `own` has the token of each of two periods, or -1."""

    tokens: Ints
    own: Ints
    of_person: Ints
    counts: Ints
    first: Ints
    last: Ints

    @classmethod
    def of(cls, own: list[Ints], tokens: Ints) -> _Classes:
        width = int(max(part.max(initial=-1) for part in own)) + 2
        keys, first, of_person, counts = np.unique(
            (own[0] + 1) * width + own[1] + 1, return_index=True, return_inverse=True, return_counts=True
        )
        last = np.empty(len(keys), np.int64)
        last[of_person] = np.arange(len(of_person))
        return cls(tokens, np.stack(np.divmod(keys, width), axis=1) - 1, of_person, counts, first, last)


def _in(tokens: Ints, slots: Mask) -> Ints:
    """The tokens that have a box in some slots, -1 in the place of others."""
    has_box: Mask = np.asarray(slots.any(axis=1), bool)
    return np.asarray(np.where((tokens >= 0) & has_box[tokens], tokens, -1))


def _drop(out: Mask, tokens: Ints) -> None:
    out[tokens[tokens >= 0]] = True
