"""Linking a person to a published basket by the two rarest items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.result import Rate
from shoal.attack.sparse.basket_targets import ByRate, Published
from shoal.attack.sparse.case import SPARSE_ATTACKS
from shoal.attack.sparse.known_items import count_fits
from shoal.attack.sparse.targets import mean
from shoal.data.sparse.records import Sparse

LEAST_TOLD = 0.5


@dataclass(frozen=True)
class RarestPair(ByRate):
    """Look for the one published record that holds both of a person's rarest items.

    What is rare is told by the release: of a person's items that are published, the two that fewest published records
    hold. A success is that exactly one record holds both, and at least half of the person's other items: that a record
    fits is no link, as it may be anybody's. An attacker who may choose what to know would ask for these two. Persons
    of whom fewer than two items are published are passed over.
    """

    n_attacks: int = 20_000

    least_items = 3
    name = "rarest-pair"
    place = 85
    title = "finding a basket by its two rarest items"
    knows = "the release, and the two items of a person that are rarest in it"
    stopped_by = "the dealing of rare items in pools where several hold them, each by itself"
    remedy = "raise k or support: rare items are then left out, or dealt among more records; or lower together"
    of_km = (
        "that k records fit any two known items, or none, where m is 2 or more",
        "raise m to 2 at least, or k",
    )
    reference = (
        "A. Narayanan, V. Shmatikov, Robust de-anonymization of large sparse datasets, IEEE S&P 2008: rare attributes "
        "identify most"
    )

    sentence = (
        "One published record alone holds the two rarest items, and half of the others, of {main:.1f} % of the "
        "persons, and of {control:.1f} % of those who were not in the data."
    )

    def tried(self, ready: Published, records: Sparse, rng: np.random.Generator) -> tuple[Rate, dict[str, float]]:
        """By how many published records hold the two rarest items of each; of one alone, by what it tells besides."""
        held = self.drawn(ready, records, rng)
        parts, rows = rarest_two(held, ready.counts, rng)
        fits = count_fits(ready, parts)
        told = told_besides(held[rows], parts, fits, ready)
        shares = {"one_fits": mean(fits == 1), "some_fit": mean(fits > 0)}
        return Rate(int((told >= LEAST_TOLD).sum()), len(fits)), shares


def told_besides(held: Any, parts: Any, fits: Ints, ready: Published) -> Floats:
    """The share of a person's other items in the only published record that holds the known two; 0 where none is."""
    by_item = ready.held.tocsc()
    told = np.zeros(held.shape[0])
    for i in np.flatnonzero(fits == 1).tolist():
        one, other = (
            by_item.indices[by_item.indptr[item] : by_item.indptr[item + 1]]
            for item in parts.indices[parts.indptr[i] : parts.indptr[i + 1]]
        )
        row = one[np.isin(one, other, assume_unique=True)][0]
        theirs = ready.held.indices[ready.held.indptr[row] : ready.held.indptr[row + 1]]
        own = held.indices[held.indptr[i] : held.indptr[i + 1]]
        told[i] = (np.isin(own, theirs).sum() - 2) / (len(own) - 2)
    return told


def rarest_two(held: Any, counts: Floats, rng: np.random.Generator) -> tuple[Any, Ints]:
    """Of each row the two columns of smallest count, equals drawn; which rows have two columns of a count above 0."""
    from scipy.sparse import csr_matrix

    rows = np.repeat(np.arange(held.shape[0]), np.diff(held.indptr))
    is_shown = counts[held.indices] > 0
    rows, items = rows[is_shown], held.indices[is_shown]
    sizes = np.bincount(rows, minlength=held.shape[0])
    order = np.lexsort((rng.random(len(rows)), counts[items], rows))
    rank = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = order[(rank < 2) & (sizes[rows] >= 2)]
    kept = np.flatnonzero(sizes >= 2)
    starts = 2 * np.arange(len(kept) + 1)
    ones = np.ones(len(chosen), np.float32)
    return csr_matrix((ones, items[chosen], starts), shape=(len(kept), held.shape[1])), kept


SPARSE_ATTACKS.register(RarestPair())
