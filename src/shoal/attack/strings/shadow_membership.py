"""Was someone's string in the data? A score that is learned from a release of the attacker's own.

How a release is made stands in its manifest. So the attacker makes one, a shadow, of strings that were not in the data,
and learns there what tells the strings that went into it from others: by five readings of the published strings, each
in units of its own spread among strings that went into neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.result import AttackResult
from shoal.attack.roc import Roc
from shoal.attack.strings.best_matches import (
    AGREES,
    N_ATTACKED,
    N_BEST,
    beyond_alike,
    fragment_scores,
    missing_others,
    place_scores,
    some_of,
)
from shoal.attack.strings.case import STRING_ATTACKS, StringCase
from shoal.attack.strings.fragments import Fragments
from shoal.attack.strings.rates import FEWEST, ByOwnReleases
from shoal.check.strings.originals import in_alphabet_of
from shoal.check.strings.suffixes import sort_suffixes
from shoal.data.strings.strings import Strings
from shoal.errors import ShoalError

MOST_MADE = 3_000_000  # symbols that releases of one's own are made of; some ten seconds
N_BINS = 30
HELD_BACK = 0.02  # weights, towards 0: few strings teach little
N_STEPS = 15


class ShadowMembership(ByOwnReleases):
    """Learn on a release of one's own what tells members, and apply it to the one that is published."""

    name = "shadow-membership"
    place = 80
    title = "telling who is in the data by a learned score"
    knows = "the whole of a string, other strings, not in the data, to compare with, and how pseudo-strings are made"
    stopped_by = "nothing that is promised here; higher support and larger groups make it harder"
    remedy = "raise k or support, or lower the order; if being in the data is itself a secret, do not publish strings"
    reference = (
        "Shokri et al., IEEE S&P 2017, for shadow models; Homer et al., PLoS Genetics 4, 2008, for one of the readings"
    )

    def missing(self, case: StringCase) -> str | None:
        """There must be others enough for a release of their own, others to be told from, and some to compare with."""
        return super().missing(case) or missing_others(case, 4 * FEWEST)

    def run(self, case: StringCase, rng: np.random.Generator) -> AttackResult:
        """Make a shadow, learn, and compare members and others."""
        assert case.control is not None  # else it is missing
        assert case.again is not None
        shown = in_alphabet_of(case.original, case.published)
        control = in_alphabet_of(shown, case.control)
        rows = rng.permutation(np.flatnonzero(control.lengths > 0))
        n_in = len(rows) // 2  # half of them make the shadow, a quarter are no members of it, a quarter are told apart
        n_out = (len(rows) - n_in) // 2
        inside, outside, others = (control.take(np.sort(r)) for r in np.split(rows, [n_in, n_in + n_out]))
        inside = _at_most(inside, rng)
        members = case.original.take(rng.permutation(np.flatnonzero(case.original.lengths > 0))[:N_ATTACKED])
        outside, others = (s.take(rng.permutation(len(s))[:N_ATTACKED]) for s in (outside, others))
        try:
            made = case.again(inside, int(rng.integers(2**31)))
        except ShoalError:
            made = inside.take(np.zeros(0, np.int64))
        scores = [np.zeros(len(side)) for side in (members, others)]
        is_taught = len(made) >= N_BEST
        if is_taught:  # else nothing can be learned, and no member is told from others
            shadow = in_alphabet_of(control, made)
            learners = inside.take(rng.permutation(len(inside))[:N_ATTACKED])
            taught = readings([learners, outside, others], shadow, rng)
            weights = _learn(*taught[:2])
            scores = [side @ weights for side in readings([members, others, outside], shown, rng)[:2]]
        roc = Roc.of(*scores)
        return self.membership_result(roc, AGREES, false_alarms=0.5, details={"taught": float(is_taught)})


def readings(sides: Sequence[Strings], published: Strings, rng: np.random.Generator) -> list[Floats]:
    """Five readings of each string of each side, in units of their spread among the strings of the last side.

    The agreement with the published strings that agree best, by places and by fragments; how long the runs are that
    stand there; and how much likelier the string is by the published symbols of each bin of places, and by the
    published pairs, than by those of the last side.
    """
    some = some_of(published.take(np.flatnonzero(published.lengths > 0)), rng)
    last = sides[-1]
    columns = [place_scores(sides, some), fragment_scores(sides, some), _runs(sides, some)]
    columns += [_likelihoods(sides, some, keys) for keys in (_by_bin, _by_pair)]
    out = []
    for column in columns:
        beyond = [beyond_alike(c, s.lengths, column[-1], last.lengths) for c, s in zip(column, sides, strict=True)]
        out.append([c / max(float(beyond[-1].std()), 1e-12) for c in beyond])
    return [np.column_stack(side) for side in zip(*out, strict=True)]


def _learn(inside: Floats, outside: Floats) -> Floats:
    """The weights of a logistic regression, both sides counting alike, by Newton's steps."""
    X = np.column_stack([np.vstack([inside, outside]), np.ones(len(inside) + len(outside))])
    y = np.repeat([1.0, 0.0], [len(inside), len(outside)])
    counts = np.repeat([0.5 / len(inside), 0.5 / len(outside)], [len(inside), len(outside)])
    held_back = np.diag([HELD_BACK] * inside.shape[1] + [1e-9])
    w = np.zeros(X.shape[1])
    for _ in range(N_STEPS):
        p = 1.0 / (1.0 + np.exp(-np.clip(X @ w, -30, 30)))
        slope = X.T @ (counts * (p - y)) + held_back @ w
        w -= np.linalg.solve(X.T @ (X * (counts * p * (1 - p))[:, None]) + held_back, slope)
    return np.asarray(w[:-1])


def _runs(sides: Sequence[Strings], published: Strings) -> list[Floats]:
    """The mean length of the runs from each place of a string that stand in a published one."""
    n_targets = sum(map(len, sides))
    fragments = Fragments(sort_suffixes([published, *sides]), len(published), n_targets, 0)
    places, runs = fragments.runs()
    target = fragments.suffixes.owner[places].astype(np.int64) - fragments.n_published
    mean = np.bincount(target, weights=runs, minlength=n_targets) / np.maximum(fragments.lengths, 1)
    return np.split(mean, np.cumsum([len(s) for s in sides])[:-1])


def _by_bin(strings: Strings, n_symbols: int) -> tuple[Ints, Ints, Ints]:
    """The bin and the symbol at each place, the bin, and the string."""
    owner = np.repeat(np.arange(len(strings)), strings.lengths)
    within = np.arange(len(strings.symbols)) - strings.starts[:-1][owner]
    bins = (2 * within + 1) * N_BINS // (2 * strings.lengths[owner])
    return bins * n_symbols + strings.symbols, bins, owner


def _by_pair(strings: Strings, n_symbols: int) -> tuple[Ints, Ints, Ints]:
    """Each pair, its first symbol, and the string."""
    owner = np.repeat(np.arange(len(strings)), strings.lengths)
    second = np.flatnonzero(owner[1:] == owner[:-1]) + 1
    first = strings.symbols[second - 1].astype(np.int64)
    return first * n_symbols + strings.symbols[second], first, owner[second]


def _likelihoods(
    sides: Sequence[Strings], published: Strings, keys: Callable[[Strings, int], tuple[Ints, Ints, Ints]]
) -> list[Floats]:
    """The logarithm of how much likelier each string is by the published ones than by the last side, a place."""
    n_symbols = max(len(s.alphabet) for s in (*sides, published))
    n_cells = n_symbols * max(n_symbols, N_BINS)
    share = np.bincount(published.symbols, minlength=n_symbols) + 1.0
    share /= share.sum()
    tables = []
    for strings in (published, sides[-1]):
        cell, given, _ = keys(strings, n_symbols)
        found, counts = np.unique(cell, return_counts=True)
        total = np.bincount(given, minlength=max(n_symbols, N_BINS))
        tables.append((np.append(found, n_cells), np.append(counts, 0), total))
    out = []
    for side in sides:
        cell, given, owner = keys(side, n_symbols)
        ratio = np.zeros(len(cell))
        for sign, (found, counts, total) in zip((1, -1), tables, strict=True):
            at = np.searchsorted(found, cell)
            n = np.where(found[at] == cell, counts[at], 0)
            ratio += sign * np.log((n + n_symbols * share[cell % n_symbols]) / (total[given] + n_symbols))
        out.append(np.bincount(owner, weights=ratio, minlength=len(side)) / side.lengths)
    return out


def _at_most(strings: Strings, rng: np.random.Generator) -> Strings:
    """As many strings as releases of one's own can be made of."""
    order = rng.permutation(len(strings))
    return strings.take(np.sort(order[np.cumsum(strings.lengths[order]) <= MOST_MADE]))


STRING_ATTACKS.register(ShadowMembership())
