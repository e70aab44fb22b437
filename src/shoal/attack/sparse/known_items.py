"""Finding a person's basket by a few known items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Ints
from shoal.attack.result import Rate
from shoal.attack.sparse.basket_targets import ByRate, Published, draw_rows, matrix, parts_of
from shoal.attack.sparse.case import SPARSE_ATTACKS
from shoal.attack.sparse.targets import mean
from shoal.data.sparse.records import Sparse

KNOWN = (1, 2, 3, 5)
FEW = 5


@dataclass(frozen=True)
class KnownItems(ByRate):
    """Look for published records that hold all of m items that are known of a person.

    A success is that exactly one fits. Among raw records that one is the person's; among pseudo-baskets it may be made
    of many persons' items, so what counts is whether persons who were in the data are picked out oftener than others.
    For a quarter of the persons each, 1, 2, 3 and 5 items are known.
    """

    name = "known-items"
    place = 80
    title = "finding a basket by a few items"
    knows = "the release, and 1, 2, 3 or 5 items of a person"
    stopped_by = "dealing items out again in groups of k"
    remedy = "raise k or support: items are then dealt among more records"
    of_km = (
        "that k records fit up to m known items, or none; anyone who knows more than m is not stopped",
        "raise m or k: more records then fit what is known, and more items are left out or put apart",
    )
    reference = "M. Terrovitis, N. Mamoulis, P. Kalnis, Privacy-preserving anonymization of set-valued data, VLDB 2008"

    sentence = (
        "One published record alone fits 1, 2, 3 or 5 known items of {main:.0f} % of the persons, and of "
        "{control:.0f} % of those who were not in the data."
    )

    def tried(self, ready: Published, records: Sparse, rng: np.random.Generator) -> tuple[Rate, dict[str, float]]:
        """By how many published records hold the known items of each person."""
        rows = rng.permutation(draw_rows(records, self.n_attacks, self.least_items, rng))
        n_found, n_tried = 0, 0
        told: dict[str, float] = {}
        for m, chosen in zip(KNOWN, np.array_split(rows, len(KNOWN)), strict=True):
            persons = records.take(chosen[records.sizes[chosen] >= m])
            parts = parts_of(matrix(persons, ready.names), np.full(len(persons), m), rng)
            fits = count_fits(ready, parts)
            n_found, n_tried = n_found + int((fits == 1).sum()), n_tried + len(fits)
            told[f"unique_by_{m}"] = mean(fits == 1)
            told[f"few_by_{m}"] = mean((fits > 0) & (fits < FEW))
            told[f"none_by_{m}"] = mean(fits == 0)
        return Rate(n_found, n_tried), told


def count_fits(ready: Published, parts: Any) -> Ints:
    """How many published records hold all items of each row; by the rarest first, so that few are looked at."""
    by_item = ready.held.tocsc()
    counts = ready.counts
    fits = np.zeros(parts.shape[0], np.int64)
    for i in range(parts.shape[0]):
        items = parts.indices[parts.indptr[i] : parts.indptr[i + 1]]
        items = items[np.argsort(counts[items], kind="stable")]
        rows = by_item.indices[by_item.indptr[items[0]] : by_item.indptr[items[0] + 1]]
        for item in items[1:]:
            if not len(rows):
                break
            others = by_item.indices[by_item.indptr[item] : by_item.indptr[item + 1]]
            rows = rows[np.isin(rows, others, assume_unique=True)]
        fits[i] = len(rows)
    return fits


SPARSE_ATTACKS.register(KnownItems())
