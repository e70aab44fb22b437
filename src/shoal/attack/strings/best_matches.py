"""Was someone's string in the data? Two readings of the published strings that agree with it best.

Each target gets a score, the mean agreement with the five published strings that agree with it best. How well a string
agrees with others by nature depends on its length, so from each score the mean of the strings nearest in length is
taken, of some that were not in the data and are used for nothing else. Who is in the data is then told by what is left.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
import scipy.sparse

from shoal.arrays import Floats, Ints
from shoal.attack.result import AMBER, AttackResult
from shoal.attack.roc import Roc
from shoal.attack.strings.case import STRING_ATTACKS, StringCase
from shoal.attack.strings.rates import FEWEST, AgainstOthers
from shoal.check.strings.originals import in_alphabet_of
from shoal.data.strings.strings import Strings
from shoal.kernels.strings.places import place_agreement

N_ATTACKED = 300  # members, others, and others to compare with
N_BEST = 5
N_ALIKE = 30  # strings of like length by which a score is judged
MOST_SYMBOLS = 1_500_000  # of published strings; a second or two
MOST_PRODUCTS = 50_000_000
MOST_FRAGMENTS = 3_000  # different fragments that chance alone would fill: what decides on their width
AGREES = (
    "A member matches the published strings better than a string that was not in the data does with a probability of "
    f"{{area:.2f}} (0.5 is chance; above {AMBER} members can be recognised). {{main:.0f}} % of the members score above "
    "the median of the others."
)


def missing_others(case: StringCase, n_others: int) -> str | None:
    """What an attack lacks that compares with others: so many of them, or strings to compare."""
    if case.control is not None and int((case.control.lengths > 0).sum()) < n_others:
        return f"It needs at least {n_others} strings that were not in the release."
    return None if len(case.published) >= N_BEST else "Too few strings are published."


class _BestMatches(AgainstOthers):
    """What both share."""

    knows = "the whole of a string, and other strings, not in the data, to compare with"
    stopped_by = "nothing that is promised here; higher support and larger groups make it harder"
    remedy = "raise k or support, or lower the order; if being in the data is itself a secret, do not publish strings"
    reference = "Shoal's own; Carlini et al., IEEE S&P 2022, for calibration by others"

    def missing(self, case: StringCase) -> str | None:
        """There must be others to be told from and others to compare with."""
        return super().missing(case) or missing_others(case, 2 * FEWEST)

    @abstractmethod
    def scores(self, sides: Sequence[Strings], published: Strings) -> list[Floats]:
        """How much each string of each side agrees with the published ones."""

    def run(self, case: StringCase, rng: np.random.Generator) -> AttackResult:
        """Compare members and others."""
        sides, shown = draw_sides(case, rng)
        found = self.scores(sides, some_of(shown, rng))
        roc = Roc.of(
            *(
                beyond_alike(score, side.lengths, found[2], sides[2].lengths)
                for score, side in zip(found[:2], sides[:2], strict=True)
            )
        )
        return self.membership_result(roc, AGREES, false_alarms=0.5)


class PlaceMembership(_BestMatches):
    """Compare a string with every published one at the same relative place; rare symbols count more."""

    name = "place-membership"
    place = 60
    title = "telling who is in the data, place by place"

    def scores(self, sides: Sequence[Strings], published: Strings) -> list[Floats]:
        """See `place_scores`."""
        return place_scores(sides, published)


class FragmentMembership(_BestMatches):
    """Compare the short fragments (k-mers) of a string with those of every published one; rare ones count more."""

    name = "fragment-membership"
    place = 70
    title = "telling who is in the data by short fragments"

    def scores(self, sides: Sequence[Strings], published: Strings) -> list[Floats]:
        """See `fragment_scores`."""
        return fragment_scores(sides, published)


def draw_sides(case: StringCase, rng: np.random.Generator) -> tuple[list[Strings], Strings]:
    """Some members, others, and others to compare with; and the published strings in their codes, none empty."""
    assert case.control is not None  # else it is missing
    shown = in_alphabet_of(case.original, case.published)
    control = in_alphabet_of(shown, case.control)
    rows = rng.permutation(np.flatnonzero(control.lengths > 0))
    half = len(rows) // 2
    members = rng.permutation(np.flatnonzero(case.original.lengths > 0))[:N_ATTACKED]
    sides = [
        case.original.take(members),
        control.take(rows[:half][:N_ATTACKED]),
        control.take(rows[half:][:N_ATTACKED]),
    ]
    return sides, shown.take(np.flatnonzero(shown.lengths > 0))


def some_of(shown: Strings, rng: np.random.Generator) -> Strings:
    """As many of the published strings as can be looked at."""
    order = rng.permutation(len(shown))
    order = order[(np.cumsum(shown.lengths[order]) <= MOST_SYMBOLS) | (np.arange(len(order)) < N_BEST)]
    return shown.take(np.sort(order))


def place_scores(sides: Sequence[Strings], published: Strings) -> list[Floats]:
    """The mean agreement, place by place, with the published strings that agree best; rare symbols count more."""
    n_symbols = max(len(s.alphabet) for s in (*sides, published))
    counts = np.bincount(published.symbols, minlength=n_symbols) + 1.0
    weights = -np.log(counts / counts.sum())
    return [
        np.asarray(place_agreement(s.symbols, s.starts, published.symbols, published.starts, weights, N_BEST))
        for s in sides
    ]


def fragment_scores(sides: Sequence[Strings], published: Strings) -> list[Floats]:
    """The mean cosine of weighted sets of fragments with the published strings that agree best."""
    n_symbols = max(len(s.alphabet) for s in (*sides, published))
    used = max(len(np.unique(published.symbols)), 2)
    width = max(2, min(round(np.log(MOST_FRAGMENTS) / np.log(used)), int(62 / np.log2(max(n_symbols, 2)))))
    keys = [_fragments(s, width, n_symbols) for s in (*sides, published)]
    known = np.unique(np.concatenate([k for k, _ in keys]))
    sets = []
    for (key, owner), side in zip(keys, (*sides, published), strict=True):
        pairs = np.unique(owner * len(known) + np.searchsorted(known, key))
        cells = (np.ones(len(pairs)), (pairs // max(len(known), 1), pairs % max(len(known), 1)))
        sets.append(scipy.sparse.csr_matrix(cells, shape=(len(side), len(known))))
    held = np.asarray(sets[-1].sum(axis=0)).ravel()
    weights = scipy.sparse.diags(np.log((len(published) + 1) / (held + 1)))
    rows = [_unit((s @ weights).tocsr()) for s in sets]
    step = max(MOST_PRODUCTS // max(len(published), 1), 1)
    return [
        np.concatenate([_best(part[i : i + step] @ rows[-1].T) for i in range(0, part.shape[0], step)])
        for part in rows[:-1]
    ]


def beyond_alike(scores: Floats, lengths: Ints, reference: Floats, reference_lengths: Ints) -> Floats:
    """Scores less the mean of the references nearest in length."""
    order = np.argsort(reference_lengths, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(reference[order])])
    n = min(N_ALIKE, len(reference))
    low = np.clip(np.searchsorted(reference_lengths[order], lengths) - n // 2, 0, len(reference) - n)
    return np.asarray(scores - (sums[low + n] - sums[low]) / n)


def _fragments(strings: Strings, width: int, n_symbols: int) -> tuple[Ints, Ints]:
    """A number for each fragment of each string, and the string."""
    n = max(len(strings.symbols) - width + 1, 0)
    keys = np.zeros(n, np.int64)
    for d in range(width):
        keys = keys * n_symbols + strings.symbols[d : d + n]
    owner = np.repeat(np.arange(len(strings)), strings.lengths)
    within = owner[:n] == owner[width - 1 : width - 1 + n]
    return keys[within], owner[:n][within]


def _unit(rows: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return (scipy.sparse.diags(1.0 / np.maximum(lengths, 1e-12)) @ rows).tocsr()


def _best(products: scipy.sparse.csr_matrix) -> Floats:
    table = products.toarray()
    return np.asarray(np.partition(table, table.shape[1] - N_BEST, axis=1)[:, -N_BEST:].mean(axis=1))


STRING_ATTACKS.register(PlaceMembership())
STRING_ATTACKS.register(FragmentMembership())
