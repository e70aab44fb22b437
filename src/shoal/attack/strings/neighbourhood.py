"""How many published strings lie near a string: the work that attacks on membership by near strings share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Ints, Mask, Words
from shoal.attack.roc import Roc
from shoal.attack.strings.case import StringCase
from shoal.attack.strings.rates import FEWEST
from shoal.check.strings.originals import in_alphabet_of
from shoal.data.strings.strings import Strings, symbol_keys
from shoal.kernels.strings.hash import BASES, fingerprints
from shoal.kernels.strings.near import count_near

MOST_APART = 4
N_ATTACKED = 1000  # of the strings that occur once, and of the others; as many of the control
MOST_SYMBOLS = 8_000_000  # of distinct published strings; some ten seconds where all are much alike
_AT_TWO = 0.1  # what a string two symbols away says, beside one that is one symbol away


@dataclass(frozen=True)
class Neighbourhood:
    """Targets, and how many published strings lie near each.

    A string that differs from a target in length is not near it: strings of little variety are aligned.

    Attributes
    ----------
    counts : int64 array (n_targets, MOST_APART + 1)
        How many published strings differ from the target at 0, 1, ... places.
    is_member : bool array (n_targets,)
        Whether the release was made from it.
    is_unique : bool array (n_targets,)
        Whether no other string, of the original and the control, equals it.
    """

    counts: Ints
    is_member: Mask
    is_unique: Mask

    @classmethod
    def of(cls, case: StringCase, rng: np.random.Generator) -> Neighbourhood:
        """Draw targets of both kinds from the original and from the control, which must be there."""
        assert case.control is not None
        original = case.original
        shown = in_alphabet_of(original, case.published)
        control = in_alphabet_of(shown, case.control)
        words = [_words(part) for part in (shown, original, control)]
        _, which, held = np.unique(np.concatenate(words[1:]), return_inverse=True, return_counts=True)
        occurs_once = held[which] == 1
        parts, uniques, members = [], [], []
        for strings, once in zip((original, control), np.split(occurs_once, [len(original)]), strict=True):
            filled = strings.lengths > 0
            for kind in (True, False):
                rows = np.sort(rng.permutation(np.flatnonzero(filled & (once == kind)))[:N_ATTACKED])
                parts.append(strings.take(rows))
                uniques.append(np.full(len(rows), kind))
                members.append(np.full(len(rows), strings is original))
        counts = np.concatenate([_count(part, shown, words[0], rng) for part in parts])
        return cls(counts, np.concatenate(members), np.concatenate(uniques))

    @property
    def nearness(self) -> Floats:
        """How crowded the nearest places are: strings one or two symbols away, beside all that are near.

        The root makes it a count in units of its own chance variation, so that a place in a dense part of the data
        does not score by that alone. It was chosen among seven formulas on haplotypes like those of the tests and on
        mitochondrial sequences, so on such data it is a little flattered.
        """
        around = self.counts[:, 1:].sum(axis=1)
        return np.asarray((self.counts[:, 1] + _AT_TWO * self.counts[:, 2]) / np.sqrt(1.0 + around))

    def roc(self, scores: Floats, *, unique: bool) -> Roc | None:
        """How well scores tell members from others, of strings that occur once or of those that do not."""
        chosen = self.is_unique == unique
        members, others = scores[chosen & self.is_member], scores[chosen & ~self.is_member]
        return Roc.of(members, others) if min(len(members), len(others)) >= FEWEST else None

    def verbatim(self, *, member: bool) -> tuple[int, int]:
        """Of the strings that occur once, how many stand in the release as they are, and how many there are."""
        chosen = self.is_unique & (self.is_member == member)
        return int((self.counts[chosen, 0] > 0).sum()), int(chosen.sum())


def _words(strings: Strings) -> Words:
    return fingerprints(strings.symbols, strings.starts, symbol_keys(strings.alphabet), BASES[0])


def _count(targets: Strings, shown: Strings, words: Words, rng: np.random.Generator) -> Ints:
    """The counts of some targets; of very many published strings those that are not equal are counted in a sample."""
    distinct, first, copies = np.unique(words, return_index=True, return_counts=True)
    rows = first
    if int(shown.lengths[rows].sum()) > MOST_SYMBOLS:
        order = rng.permutation(len(rows))
        rows = rows[order[np.cumsum(shown.lengths[rows[order]]) <= MOST_SYMBOLS]]
    rows = rows[np.lexsort((words[rows], shown.lengths[rows]))]
    near = shown.take(rows)
    counts = np.zeros((len(targets), MOST_APART + 1), np.int64)
    count_near(
        targets.symbols,
        targets.starts,
        near.symbols,
        near.starts,
        copies[np.searchsorted(distinct, words[rows])],
        np.searchsorted(near.lengths, targets.lengths, side="left"),
        np.searchsorted(near.lengths, targets.lengths, side="right"),
        counts,
    )
    own = _words(targets)
    at = np.minimum(np.searchsorted(distinct, own), len(distinct) - 1)
    counts[:, 0] = np.where(distinct[at] == own, copies[at], 0)
    return counts
