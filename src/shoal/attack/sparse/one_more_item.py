"""Learning one more item of a person of whom half are known, and of one of whom a rare item is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.attack.result import Rate
from shoal.attack.sparse.basket_targets import ByRate, Published
from shoal.attack.sparse.case import SPARSE_ATTACKS
from shoal.attack.sparse.targets import mean
from shoal.data.sparse.records import Sparse
from shoal.kernels.sparse.votes import best_by_votes

N_VOTERS = (1, 5, 20)
USUAL = 5
_REFERENCE = (
    "J. Cao, P. Karras, C. Raissi, K.-L. Tan, rho-uncertainty: inference-proof transaction anonymization, PVLDB 2010; "
    "J. A. Calandrino, A. Kilzer, A. Narayanan, E. W. Felten, V. Shmatikov, You might also like, IEEE S&P 2011"
)


@dataclass(frozen=True)
class OneMoreItem(ByRate):
    """Guess an item by the published records that are nearest to the half that is known.

    The nearest by cosine, weighted by rarity, vote for the items that they hold besides; the item of most votes is
    guessed, the rarer of equals. A success is that the person has it. Of each person several halves are tried: a rate
    is the mean over persons, and counts as many attempts as independent ones would give the same interval.

    Attributes
    ----------
    n_halves : int
        How many halves of each.
    """

    n_attacks: int = 20_000
    n_halves: int = 4

    least_items = 4
    name = "one-more-item"
    place = 90
    title = "learning one more item from half of a basket"
    knows = "the release, and half of the items of a person"
    stopped_by = "dealing items out again in groups of k"
    remedy = "raise support, or give more records: what few records share is then told less sharply; k matters less"
    of_km = (
        "nothing promises it, but rho-uncertainty of items that are named as sensitive",
        "raise k or m; or suppress or generalise with rho-uncertainty of items that nobody may learn",
    )
    reference = _REFERENCE

    def in_release(self) -> OneMoreItem:
        """On fewer: the interval is wider then."""
        return replace(self, n_attacks=min(self.n_attacks, 4000), n_halves=2)

    sentence = (
        f"From half of the items, the {USUAL} nearest published records name one more item rightly for {{main:.0f}} % "
        "of the persons, and for {control:.0f} % of those who were not in the data."
    )

    def tried(self, ready: Published, records: Sparse, rng: np.random.Generator) -> tuple[Rate, dict[str, float]]:
        """By the share of the halves from which each person was guessed rightly."""
        right = self._guess(ready, records, rng)
        return rate_of_persons(right[USUAL], self.n_halves), {f"right_by_{n}": mean(right[n]) for n in N_VOTERS}

    def _guess(self, ready: Published, records: Sparse, rng: np.random.Generator) -> dict[int, Floats]:
        """The share of its halves from which each person was guessed rightly, by how many records vote."""
        whole = self.drawn(ready, records, rng)
        sizes = np.diff(whole.indptr)
        owners = np.repeat(np.arange(len(sizes)), sizes)
        place = np.arange(len(owners)) - np.repeat(whole.indptr[:-1], sizes)
        units = ready.units.tocsc()
        right = {n: np.zeros(len(sizes)) for n in N_VOTERS}
        for _ in range(self.n_halves):
            order = np.lexsort((rng.random(len(owners)), owners))
            is_known = np.zeros(len(owners), bool)
            is_known[order[place < np.repeat(sizes // 2, sizes)]] = True
            guesses = best_by_votes(
                whole.indptr.astype(np.int64),
                whole.indices,
                is_known,
                ready.rarity,
                ready.held.indptr.astype(np.int64),
                ready.held.indices,
                units.indptr.astype(np.int64),
                units.indices,
                units.data,
                np.array(N_VOTERS),
                ready.rarity * 1e-6,
            )
            for n, guess in zip(N_VOTERS, guesses, strict=True):
                held = np.bincount(owners[guess[owners] == whole.indices], minlength=len(sizes))
                right[n] += held / self.n_halves
        return right


def rate_of_persons(shares: Floats, n_tries: int) -> Rate:
    """The mean of a share a person, with as many attempts as would give its interval if each had one.

    Tries of one person are alike, so they count for less than as many persons, and for more than one try (L. Kish,
    "Survey sampling", 1965, section 8.2).

    >>> rate_of_persons(np.array([0.5, 1.0, 0.0, 0.5]), 2).attempts
    6
    """
    n, value = len(shares), float(shares.mean()) if len(shares) else 0.0
    spread = float(shares.var(ddof=1)) if n > 1 else 0.0
    n_like = n_tries * n if spread <= 0 else value * (1 - value) * n / spread
    attempts = round(min(max(n_like, n), n_tries * n))
    return Rate(value * attempts, attempts)


@dataclass(frozen=True)
class RareItem(ByRate):
    """Guess an item by the published records that hold the rarest item of a person.

    The item is guessed that they hold most often beyond what its support explains (count times the logarithm of lift).
    A success is that the person has it.
    """

    n_attacks: int = 20_000

    least_items = 2
    name = "rare-item"
    place = 100
    title = "learning one more item from the rarest one"
    knows = "the release, and the rarest item of a person"
    stopped_by = "the dealing of rare items in pools where several hold them; items that fewer than k hold are left out"
    remedy = "raise k or support: a rare item then stands with those of more records"
    of_km = (
        "the leaving out of items that fewer than k hold; nothing bounds what the holders of others share",
        "raise k: a rare item is then held by more records, or left out",
    )
    reference = _REFERENCE

    def in_release(self) -> RareItem:
        """On fewer: the interval is wider then."""
        return replace(self, n_attacks=min(self.n_attacks, 4000))

    sentence = (
        "The rarest item of a person leads to one more for {main:.0f} % of the persons, and for {control:.0f} % of "
        "those who were not in the data."
    )

    def tried(self, ready: Published, records: Sparse, rng: np.random.Generator) -> tuple[Rate, dict[str, float]]:
        """By the companion of the rarest item of each."""
        counts, by_item = ready.counts, ready.held.tocsc()
        whole = self.drawn(ready, records, rng)
        owners = np.repeat(np.arange(whole.shape[0]), np.diff(whole.indptr))
        order = np.lexsort((rng.random(len(owners)), counts[whole.indices], owners))
        rarest = whole.indices[order[whole.indptr[:-1]]]
        guess_of = np.full(len(ready.names), -1)
        for item in np.unique(rarest).tolist():
            guess_of[item] = _companion(by_item, ready.held, counts, item)
        return Rate(int((guess_of[rarest][owners] == whole.indices).sum()), whole.shape[0]), {}


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
