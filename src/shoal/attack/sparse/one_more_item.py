"""Learning one more item of a person of whom half are known, and of one of whom a rare item is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Ints, Mask
from shoal.attack.result import AttackResult, Rate
from shoal.attack.sparse.basket_targets import OnBaskets, Published, draw_rows, matrix, parts_of, unit_rows
from shoal.attack.sparse.case import SPARSE_ATTACKS, BasketCase
from shoal.data.sparse.records import Sparse

N_VOTERS = (1, 5, 20)
USUAL = 5
CELLS_AT_ONCE = 1 << 24
_REFERENCE = (
    "J. Cao, P. Karras, C. Raissi, K.-L. Tan, rho-uncertainty: inference-proof transaction anonymization, PVLDB 2010; "
    "J. A. Calandrino, A. Kilzer, A. Narayanan, E. W. Felten, V. Shmatikov, You might also like, IEEE S&P 2011"
)


@dataclass(frozen=True)
class OneMoreItem(OnBaskets):
    """Guess an item by the published records that are nearest to the half that is known.

    The nearest by cosine, weighted by rarity, vote for the items that they hold besides; the item of most votes is
    guessed, the rarer of equals. A success is that the person has it.

    Attributes
    ----------
    n_attacks : int
        How many persons of at least four items, of each side.
    """

    n_attacks: int = 2000

    name = "one-more-item"
    place = 90
    title = "learning one more item from half of a basket"
    knows = "the release, and half of the items of a person"
    stopped_by = "the dealing anew of items in groups of k"
    remedy = "raise k or support, or lower together: what near records share is then told less sharply"
    reference = _REFERENCE

    def run(self, case: BasketCase, rng: np.random.Generator) -> AttackResult:
        """Guess for members and others."""
        assert case.control is not None
        ours, theirs = (self._guess(case.ready, side, rng) for side in (case.original, case.control))
        details = {
            f"right_by_{n}_{side}": float(np.mean(found[n])) if len(found[n]) else float("nan")
            for side, found in (("members", ours), ("others", theirs))
            for n in N_VOTERS
        }
        main, control = (Rate(int(found[USUAL].sum()), len(found[USUAL])) for found in (ours, theirs))
        return self.result(
            main,
            f"From half of the items, the {USUAL} nearest published records name one more item rightly for "
            f"{100 * main.value:.0f} % of the persons, and for {100 * control.value:.0f} % of those who were not in "
            "the data.",
            control=control,
            details=details,
        )

    def _guess(self, ready: Published, records: Sparse, rng: np.random.Generator) -> dict[int, Mask]:
        rows = draw_rows(records, self.n_attacks, 4, rng)
        whole = matrix(records.take(rows), ready.names)
        known = parts_of(whole, np.diff(whole.indptr) // 2, rng)
        units = unit_rows(known, ready.rarity)
        right = {n: np.zeros(len(rows), bool) for n in N_VOTERS}
        size = max(1, CELLS_AT_ONCE // max(ready.held.shape[0], 1))
        for begin in range(0, len(rows), size):
            block = slice(begin, begin + size)
            near = (units[block] @ ready.across).toarray()
            most = min(max(N_VOTERS), near.shape[1])
            best = np.argpartition(-near, most - 1, axis=1)[:, :most]
            strength = np.take_along_axis(near, best, axis=1)
            order = np.argsort(-strength, axis=1, kind="stable")
            best, strength = np.take_along_axis(best, order, axis=1), np.take_along_axis(strength, order, axis=1)
            for n in N_VOTERS:
                right[n][block] = _named(ready, best[:, :n], strength[:, :n], known[block], whole[block])
        return right


def _named(ready: Published, voters: Ints, strength: Any, known: Any, whole: Any) -> Mask:
    """Whether the item of most votes is one that the person has."""
    from scipy.sparse import csr_matrix

    n, n_voters = voters.shape
    shape = (n, ready.held.shape[0])
    who = csr_matrix((strength.ravel(), voters.ravel(), np.arange(0, n * n_voters + 1, n_voters)), shape=shape)
    return best_item_is_right(who @ ready.held, known, whole, ready.rarity * 1e-6)


def best_item_is_right(votes: Any, known: Any, whole: Any, tie: Any) -> Mask:
    """Of each row, whether the unknown item of the highest score stands in the whole record."""
    scores = votes.tocsr()
    scores = (scores - scores.multiply(known)).tocsr()
    scores.eliminate_zeros()
    right = np.zeros(scores.shape[0], bool)
    for i in range(scores.shape[0]):
        low, high = scores.indptr[i], scores.indptr[i + 1]
        if high > low:
            items = scores.indices[low:high]
            guess = items[np.argmax(scores.data[low:high] + tie[items])]
            right[i] = guess in whole.indices[whole.indptr[i] : whole.indptr[i + 1]]
    return right


@dataclass(frozen=True)
class RareItem(OnBaskets):
    """Guess an item by the published records that hold the rarest item of a person.

    The item is guessed that they hold most often beyond what its support explains (count times the logarithm of lift).
    A success is that the person has it.

    Attributes
    ----------
    n_attacks : int
        How many persons of at least two items, of each side.
    """

    n_attacks: int = 4000

    name = "rare-item"
    place = 100
    title = "learning one more item from the rarest one"
    knows = "the release, and the rarest item of a person"
    stopped_by = "the dealing of rare items in pools where several hold them; items that fewer than k hold are left out"
    remedy = "raise k or support: a rare item then stands with those of more records"
    reference = _REFERENCE

    def run(self, case: BasketCase, rng: np.random.Generator) -> AttackResult:
        """Guess for members and others."""
        assert case.control is not None
        rates = []
        ready = case.ready
        counts = ready.counts
        by_item = ready.held.tocsc()
        for side in (case.original, case.control):
            rows = draw_rows(side, self.n_attacks, 2, rng)
            whole = matrix(side.take(rows), ready.names)
            owners = np.repeat(np.arange(len(rows)), np.diff(whole.indptr))
            order = np.lexsort((rng.random(len(owners)), counts[whole.indices], owners))
            rarest = whole.indices[order[whole.indptr[:-1]]]
            guesses = {item: _companion(by_item, ready.held, counts, item) for item in np.unique(rarest).tolist()}
            right = [
                guesses[item] in whole.indices[whole.indptr[i] : whole.indptr[i + 1]]
                for i, item in enumerate(rarest.tolist())
            ]
            rates.append(Rate(int(np.sum(right)), len(right)))
        main, control = rates
        return self.result(
            main,
            f"The rarest item of a person leads to one more for {100 * main.value:.0f} % of the persons, and for "
            f"{100 * control.value:.0f} % of those who were not in the data.",
            control=control,
        )


def _companion(by_item: Any, held: Any, counts: Any, item: int) -> int:
    """The item that most stands out among the holders of one; -1 where there are none."""
    rows = by_item.indices[by_item.indptr[item] : by_item.indptr[item + 1]]
    if not len(rows):
        return -1
    votes = np.asarray(held[rows].sum(axis=0)).ravel()
    votes[item] = 0
    lift = np.log(np.maximum(votes, 1) * held.shape[0] / (np.maximum(counts, 1) * len(rows)))
    scores = np.where(votes > 0, votes * lift, -np.inf)
    return int(scores.argmax()) if np.isfinite(scores).any() else -1


SPARSE_ATTACKS.register(OneMoreItem())
SPARSE_ATTACKS.register(RareItem())
