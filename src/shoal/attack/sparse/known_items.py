"""Finding a person's basket by a few known items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Ints
from shoal.attack.result import AttackResult, Rate
from shoal.attack.sparse.basket_targets import OnBaskets, Published, draw_rows, matrix, parts_of
from shoal.attack.sparse.case import SPARSE_ATTACKS, BasketCase
from shoal.data.sparse.records import Sparse

KNOWN = (1, 2, 3, 5)
FEW = 5


@dataclass(frozen=True)
class KnownItems(OnBaskets):
    """Look for published records that hold all of m items that are known of a person.

    A success is that exactly one fits. Among raw records that one is the person's; among pseudo-baskets it may be made
    of many persons' items, so what counts is whether persons who were in the data are picked out oftener than others.

    Attributes
    ----------
    n_attacks : int
        How many persons, of each side; for a quarter of them each, 1, 2, 3 and 5 items are known.
    """

    n_attacks: int = 4000

    name = "known-items"
    place = 80
    title = "finding a basket by a few items"
    knows = "the release, and 1, 2, 3 or 5 items of a person"
    stopped_by = "the dealing anew of items in groups of k"
    remedy = "raise k or support: items are then dealt among more records"
    of_km = (
        "that k records fit up to m known items, or none; who knows more than m is not stopped",
        "raise m or k: more records then fit what is known, and more items are left out or put apart",
    )
    reference = "M. Terrovitis, N. Mamoulis, P. Kalnis, Privacy-preserving anonymization of set-valued data, VLDB 2008"

    def _attack(self, case: BasketCase, rng: np.random.Generator) -> AttackResult:
        """Count fits for members and others."""
        assert case.control is not None
        ours = self._fits(case.ready, case.original, rng)
        theirs = self._fits(case.ready, case.control, rng)
        details: dict[str, float] = {}
        for side, found in (("members", ours), ("others", theirs)):
            for m, fits in found.items():
                details[f"unique_by_{m}_{side}"] = _share(fits == 1)
                details[f"few_by_{m}_{side}"] = _share((fits > 0) & (fits < FEW))
                details[f"none_by_{m}_{side}"] = _share(fits == 0)
        main, control = (
            Rate(sum(int((fits == 1).sum()) for fits in found.values()), sum(map(len, found.values())))
            for found in (ours, theirs)
        )
        return self.result(
            main,
            f"One published record alone fits 1, 2, 3 or 5 known items of {100 * main.value:.0f} % of the persons, and "
            f"of {100 * control.value:.0f} % of those who were not in the data.",
            control=control,
            details=details,
        )

    def _fits(self, ready: Published, records: Sparse, rng: np.random.Generator) -> dict[int, Ints]:
        """How many published records hold the known items of each person, by their number."""
        rows = rng.permutation(draw_rows(records, self.n_attacks, 1, rng))
        found = {}
        for m, chosen in zip(KNOWN, np.array_split(rows, len(KNOWN)), strict=True):
            persons = records.take(chosen[records.sizes[chosen] >= m])
            parts = parts_of(matrix(persons, ready.names), np.full(len(persons), m), rng)
            found[m] = count_fits(ready, parts)
        return found


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


def _share(values: Any) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


SPARSE_ATTACKS.register(KnownItems())
