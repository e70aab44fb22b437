"""Was someone's string in the data? What the shares of symbols, pairs and places tell.

A string that was in the data moved the shares of its symbols a little towards itself, and a release that keeps shares
keeps that too. So each symbol of a string counts by how much likelier it is among the published strings of its class
than among others of it, by the logarithm of both counts; and so do pairs of symbols in a row, pairs within three
places, and symbols at their place. Others are the control: the string itself is taken out of it, or where it is a
member one of the same class, so that all are compared with as many; and from each score the mean of the others of its
class is taken. Of the four readings the one is taken that tells more of half of the strings, to tell the rest.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.result import AttackResult
from shoal.attack.roc import Roc
from shoal.attack.strings.best_matches import AGREES, missing_others
from shoal.attack.strings.case import STRING_ATTACKS, StringCase
from shoal.attack.strings.rates import FEWEST, AgainstOthers
from shoal.check.strings.originals import in_alphabet_of, shared_labels
from shoal.data.strings.strings import Strings

MOST_SYMBOLS = 600_000  # of each side; a second or two
WITHIN = 3  # places
N_BINS = 30  # of places, where strings are not all of one length


class ShareTracing(AgainstOthers):
    """Compare the published shares of what a string has with those among others."""

    name = "share-tracing"
    place = 75
    title = "telling who is in the data by shares of symbols"
    knows = "the whole of a string and its class, and other strings, not in the data, to compare with"
    stopped_by = (
        "nothing that is promised here; it is harder where classes are large and have few different symbols and pairs"
    )
    remedy = (
        "release more strings together, without classes or rare symbols (raise rare), or with order 1; if being in the "
        "data is itself a secret, do not publish strings"
    )
    reference = "Homer et al., PLoS Genetics 4, 2008; Sankararaman et al., Nature Genetics 41, 2009"

    def missing(self, case: StringCase) -> str | None:
        """There must be others to be told from, who are also what shares are compared with."""
        return super().missing(case) or missing_others(case, 2 * FEWEST)

    def run(self, case: StringCase, rng: np.random.Generator) -> AttackResult:
        """Trace members and others."""
        assert case.control is not None  # else it is missing
        shown = in_alphabet_of(case.original, case.published)
        sides = (case.original, in_alphabet_of(shown, case.control), shown)
        labels = (*shared_labels(case.original, sides[1]), shared_labels(case.original, shown)[1])
        rows = [_some(side, rng) for side in sides]
        members, others, made = (
            Side(side.take(r), own[r] + 1) for side, own, r in zip(sides, labels, rows, strict=True)
        )
        readings = {name: trace(members, others, made, keys, rng) for name, keys in READINGS.items()}
        roc = Roc.of(*_best_of_half(list(readings.values()), rng))
        areas = {f"area_by_{name}": Roc.of(*scores).area for name, scores in readings.items()}
        return self.membership_result(roc, AGREES, false_alarms=0.5, details=areas)


class Side:
    """Strings with their classes, numbered alike on all sides, and where each symbol stands."""

    def __init__(self, strings: Strings, labels: Ints) -> None:
        self.strings, self.labels, self.symbols = strings, labels, strings.symbols.astype(np.int64)
        self.owner = np.repeat(np.arange(len(strings)), strings.lengths)
        self.n_symbols = max(len(strings.alphabet), 1)

    def __len__(self) -> int:
        return len(self.strings)


def _symbols(side: Side, n_symbols: int, n_places: int) -> tuple[Ints, Ints]:
    """Each symbol, and the string that has it."""
    return side.symbols, side.owner


def _pairs(side: Side, n_symbols: int, n_places: int) -> tuple[Ints, Ints]:
    """Each two symbols in a row."""
    first = np.flatnonzero(side.owner[1:] == side.owner[:-1])
    return side.symbols[first] * n_symbols + side.symbols[first + 1], side.owner[first]


def _near(side: Side, n_symbols: int, n_places: int) -> tuple[Ints, Ints]:
    """Each two symbols within a few places, in their order, whatever stands between."""
    found = [np.flatnonzero(side.owner[d:] == side.owner[:-d]) for d in range(1, WITHIN + 1)]
    second = np.concatenate([first + d for d, first in enumerate(found, start=1)])
    first = np.concatenate(found)
    return side.symbols[first] * n_symbols + side.symbols[second], side.owner[first]


def _places(side: Side, n_symbols: int, n_places: int) -> tuple[Ints, Ints]:
    """Each symbol with its place."""
    within = np.arange(len(side.symbols)) - side.strings.starts[:-1][side.owner]
    own = (2 * within + 1) * n_places // (2 * side.strings.lengths[side.owner])
    return own * n_symbols + side.symbols, side.owner


READINGS: dict[str, Callable[[Side, int, int], tuple[Ints, Ints]]] = {
    "symbols": _symbols,
    "pairs": _pairs,
    "near_pairs": _near,
    "places": _places,
}


def trace(
    members: Side,
    others: Side,
    published: Side,
    keys: Callable[[Side, int, int], tuple[Ints, Ints]],
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """By one reading, how much likelier each member and each other is by the published shares than by the others'."""
    sides = (members, others, published)
    n_symbols = max(side.n_symbols for side in sides)
    lengths = np.unique(np.concatenate([side.strings.lengths for side in sides]))
    n_places = int(lengths[0]) if len(lengths) == 1 else N_BINS
    n_classes = 1 + max(int(side.labels.max(initial=0)) for side in sides)
    found = [keys(side, n_symbols, n_places) for side in sides]
    told = [key * n_classes + side.labels[owner] for (key, owner), side in zip(found, sides, strict=True)]
    known = np.unique(np.concatenate(told))
    cells = [
        np.unique(owner * len(known) + np.searchsorted(known, key), return_counts=True)
        for (_, owner), key in zip(found, told, strict=True)
    ]
    held = [np.bincount(which % len(known), weights=n, minlength=len(known)) for which, n in cells]
    sizes = [np.bincount(owner, minlength=len(side)) for (_, owner), side in zip(found, sides, strict=True)]
    totals = [
        np.bincount(side.labels, weights=size, minlength=n_classes) for side, size in zip(sides, sizes, strict=True)
    ]
    out = []
    for side, (which, n), partner in zip(
        sides[:2], cells[:2], (_partners(members, others, rng), np.arange(len(others))), strict=True
    ):
        row, key = which // len(known), which % len(known)
        label = side.labels[row]
        theirs = held[1][key] - _counts(cells[1], partner[row] * len(known) + key)
        n_left = totals[1][label] - np.where(others.labels[partner[row]] == label, sizes[1][partner[row]], 0)
        ours = held[2][key] * n_left / np.maximum(totals[2][label], 1)
        weights = n * (np.log(ours + 1) - np.log(theirs + 1))
        out.append(
            np.bincount(row, weights=weights, minlength=len(side)) / np.sqrt(np.maximum(side.strings.lengths, 1))
        )
    n_others = np.bincount(others.labels, minlength=n_classes)
    means = np.bincount(others.labels, weights=out[1], minlength=n_classes) / np.maximum(n_others, 1)
    return out[0] - means[members.labels], out[1] - means[others.labels]


def _partners(members: Side, others: Side, rng: np.random.Generator) -> Ints:
    """For each member an other to take out in its place, of its class if it has one."""
    by_class = np.argsort(others.labels, kind="stable")
    low, high = (np.searchsorted(others.labels[by_class], members.labels, side=side) for side in ("left", "right"))
    drawn = rng.random(len(members))
    within = low + (drawn * (high - low)).astype(np.int64)
    anyone = (drawn * len(others)).astype(np.int64)
    return np.asarray(by_class[np.where(high > low, within, anyone)])


def _counts(cells: tuple[Ints, Ints], wanted: Ints) -> Ints:
    """How often a string has a key; 0 where it has not."""
    which, n = cells
    at = np.minimum(np.searchsorted(which, wanted), len(which) - 1)
    return np.where(which[at] == wanted, n[at], 0)


def _best_of_half(readings: list[tuple[Floats, Floats]], rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Scores of members and others; each half's are of the reading that tells more of the other half."""
    halves = [rng.permutation(len(side)) % 2 == 0 for side in readings[0]]
    scores = [np.zeros(len(half)) for half in halves]
    for is_first in (True, False):
        own = [half == is_first for half in halves]
        areas = [Roc.of(*(side[~h] for side, h in zip(reading, own, strict=True))).area for reading in readings]
        best = readings[int(np.argmax(areas))]
        middle, spread = float(best[1].mean()), max(float(best[1].std()), 1e-12)
        for score, side, h in zip(scores, best, own, strict=True):
            score[h] = (side[h] - middle) / spread
    return scores[0], scores[1]


def _some(side: Strings, rng: np.random.Generator) -> Ints:
    """Rows of strings that are not empty, as many as can be looked at."""
    rows = rng.permutation(np.flatnonzero(side.lengths > 0))
    is_taken = (np.cumsum(side.lengths[rows]) <= MOST_SYMBOLS) | (np.arange(len(rows)) < 2 * FEWEST)
    return np.sort(rows[is_taken])


STRING_ATTACKS.register(ShareTracing())
