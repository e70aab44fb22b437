"""WavRule: classification of strings by rules about their wavelet coefficients. A reconstruction.

The paper that the condensation paper cites describes its classifier in outline; what follows the outline is this:
each symbol of a string gives an indicator series, which is decomposed by Haar wavelets; the coefficients are
discretised, so that a string becomes a set of items; frequent patterns of items make rules for a class; rules are
sorted by confidence; the first rule that a string matches decides, and where none does, the most frequent class.

What the outline leaves open, and how we chose:

- positions are relative, so that strings of different lengths have the same coefficients: the sum of the whole, and the
  difference of the halves of 2^l parts for each scale l below `n_scales`, both in occurrences of the symbol (divided by
  the length, a single occurrence would mean something else in each length, and pseudo-strings have few lengths);
- a coefficient that is not 0 becomes its sign and its order of magnitude, ``round(log2 |c|)``;
- patterns are of one or two items, the latter of the most frequent items;
- a rule needs `min_support` of the training strings and a confidence above the share of its class; of equally confident
  rules the one with more support comes first.

References
----------
C. C. Aggarwal, "On effective classification of strings with wavelets", KDD 2002.
C. C. Aggarwal, P. S. Yu, "A framework for condensation-based anonymization of string data", Data Mining and Knowledge
Discovery 16(3), 2008, section 5.1 and Figs 12 and 13.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints, Mask
from shoal.data.strings.strings import Strings
from shoal.errors import DataError, PolicyError
from shoal.kernels.strings.rules import count_pairs, first_matches

MOST_PAIRED = 2000
MOST_CELLS = 16_000_000  # of the table of pairs and classes, 64 MB
FEWEST = 10
_MAGNITUDES = 32


@dataclass(frozen=True)
class WavRule:
    """Rules, sorted.

    Attributes
    ----------
    items : int64 array
        The keys of the items that occur in rules, ascending.
    numbers : int32 array
        The number of each of them: the most frequent is 0.
    single_ranks : int32 array
        The rank of the rule that an item makes alone, the number of rules if none.
    pair_ranks : int32 array (n_paired, n_paired)
        The same for pairs, smaller number first.
    predicted : int32 array (n_rules + 1,)
        The class that each rule decides for, best rule first; the last entry is the most frequent class.
    n_scales : int
        Scales of the wavelets.
    """

    items: Ints
    numbers: Codes
    single_ranks: Codes
    pair_ranks: Codes
    predicted: Codes
    n_scales: int

    @classmethod
    def fit(cls, train: Strings, *, min_support: float = 0.001, n_scales: int = 2) -> WavRule:
        """Learn rules from strings with classes.

        Parameters
        ----------
        train : Strings
        min_support : float
            The share of training strings that must have a pattern; at least 10 strings.
        n_scales : int
            How many times strings are halved, 1 to 6.
        """
        if train.labels is None or not len(train):
            raise DataError("the training strings have no classes; give each string one")
        if not 0 <= min_support < 1 or not 1 <= n_scales <= 6:
            raise PolicyError("min_support must lie between 0 and 1, and n_scales between 1 and 6; mend them")
        n_classes = max(len(train.classes), 1)
        needed = max(min_support * len(train), FEWEST)
        owner, keys = haar_items(train, n_scales)
        known, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
        is_frequent = counts >= needed
        by_count = np.lexsort((known, -counts))
        number = np.empty(len(known), np.int32)
        number[by_count] = np.arange(len(known))
        n_items = int(is_frequent.sum())
        items, starts = _records(owner, number[place], number[place] < n_items, len(train))
        labels = np.repeat(train.labels, np.diff(starts))
        singles = np.bincount(labels * n_items + items, minlength=n_classes * n_items).reshape(n_classes, n_items)
        n_paired = min(n_items, MOST_PAIRED, int(np.sqrt(MOST_CELLS / n_classes)))
        pairs = count_pairs(items, starts, train.labels.astype(np.int32), n_paired, n_classes)
        shares = np.bincount(train.labels, minlength=n_classes) / len(train)
        single = _candidates(singles, shares, needed)
        pair = _candidates(pairs.reshape(n_classes, -1), shares, needed)
        confidence, support, size, where, decided = (
            np.concatenate(both)
            for both in zip(
                (*single[:2], np.ones(len(single[0])), *single[2:]),
                (*pair[:2], np.full(len(pair[0]), 2), *pair[2:]),
                strict=True,
            )
        )
        order = np.lexsort((where, size, -support, -confidence))
        n_rules = len(order)
        rank = np.empty(n_rules, np.int32)
        rank[order] = np.arange(n_rules)
        single_ranks = np.full(n_items, n_rules, np.int32)
        single_ranks[single[2]] = rank[: len(single[0])]
        pair_ranks = np.full(n_paired * n_paired, n_rules, np.int32)
        pair_ranks[pair[2]] = rank[len(single[0]) :]
        frequent = np.flatnonzero(is_frequent)
        return cls(
            known[frequent],
            number[frequent],
            single_ranks,
            pair_ranks.reshape(n_paired, n_paired),
            np.append(decided[order], np.argmax(shares)).astype(np.int32),
            n_scales,
        )

    @property
    def n_rules(self) -> int:
        """How many rules there are."""
        return len(self.predicted) - 1

    def predict(self, strings: Strings) -> Codes:
        """The class of each string, which is in the codes of the training strings."""
        if not len(self.items):
            return np.full(len(strings), self.predicted[-1], np.int32)
        owner, keys = haar_items(strings, self.n_scales)
        at = np.minimum(np.searchsorted(self.items, keys), len(self.items) - 1)
        items, starts = _records(owner, self.numbers[at], self.items[at] == keys, len(strings))
        ranks = first_matches(items, starts, self.single_ranks, self.pair_ranks, self.n_rules)
        return np.asarray(self.predicted[ranks])


def haar_items(strings: Strings, n_scales: int) -> tuple[Ints, Ints]:
    """The string and the key of each item: symbol, coefficient, sign and magnitude.

    Coefficient 0 is how often the symbol occurs in the string; coefficient ``2^l + j`` is how much more often it occurs
    in the first half of the j-th of 2^l parts than in the second.
    """
    lengths = strings.lengths
    owner = np.repeat(np.arange(len(strings)), lengths)
    twice = 2 * (np.arange(len(owner)) - strings.starts[:-1][owner]) + 1  # a symbol is where its middle is
    n_coefficients = 2**n_scales
    series = owner * len(strings.alphabet) + strings.symbols
    keys, values = [], []
    for scale in range(-1, n_scales):
        if scale < 0:
            coefficient, change = np.zeros(len(owner), np.int64), np.ones(len(owner))
        else:
            halves = twice * 2 ** (scale + 1) // (2 * lengths[owner])
            coefficient, change = 2**scale + halves // 2, np.where(halves % 2 == 0, 1.0, -1.0)
        known, place = np.unique(series * n_coefficients + coefficient, return_inverse=True)
        keys.append(known)
        values.append(np.bincount(place, weights=change, minlength=len(known)))
    key, value = np.concatenate(keys), np.concatenate(values)
    key, value = key[value != 0], value[value != 0]
    of_string = key // (n_coefficients * len(strings.alphabet))
    magnitude = np.minimum(np.rint(np.log2(np.abs(value))).astype(np.int64), _MAGNITUDES - 1)
    within = key % (n_coefficients * len(strings.alphabet))
    return of_string, (within * 2 + (value > 0)) * _MAGNITUDES + magnitude


def _records(owner: Ints, items: Codes, chosen: Mask, n: int) -> tuple[Codes, Ints]:
    """Chosen items by string, ascending, and where each string begins."""
    owner, items = owner[chosen], items[chosen]
    order = np.lexsort((items, owner))
    starts = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n))]).astype(np.int64)
    return items[order].astype(np.int32), starts


def _candidates(counts: npt.NDArray[np.integer[Any]], shares: Floats, needed: float) -> tuple[Floats, Ints, Ints, Ints]:
    """Patterns that make a rule: confidence, support, place in the table, class."""
    support = counts.sum(axis=0)
    where = np.flatnonzero(support >= needed)
    chosen = counts[:, where]
    decided = chosen.argmax(axis=0)
    confidence = chosen.max(axis=0) / support[where] if len(where) else np.zeros(0)
    good = confidence > shares[decided]
    return confidence[good], support[where][good], where[good], decided[good]
