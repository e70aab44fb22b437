"""Whether a person is in the data, and whether the basket stands there, by the nearest published ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.result import AttackResult, Rate
from shoal.attack.roc import Roc
from shoal.attack.sparse.basket_targets import ByRate, OnBaskets, Published, unit_rows
from shoal.attack.sparse.case import SPARSE_ATTACKS
from shoal.attack.sparse.targets import mean
from shoal.data.sparse.records import Sparse

CELLS_AT_ONCE = 1 << 24


@dataclass(frozen=True)
class NearestBaskets(OnBaskets):
    """Decide of whole records whether they are in the data: by the cosine to the nearest published one."""

    name = "nearest-baskets"
    place = 110
    title = "whether a known basket is in the data"
    knows = "the release, and a whole record"
    stopped_by = "nothing promises it; dealing items out again keeps published records away from single ones"
    remedy = (
        "raise support, or give more records: what few records hold is then dealt among more of them; k matters less"
    )
    of_km = (
        "nothing promises it",
        "raise k or m: less is then left of rare records; or publish pseudo-baskets, which are not true records",
    )
    reference = "R. Shokri, M. Stronati, C. Song, V. Shmatikov, Membership inference attacks, IEEE S&P 2017"

    def compare(self, ready: Published, sides: tuple[Sparse, Sparse], rng: np.random.Generator) -> AttackResult:
        """By the scores of both."""
        scores = (_nearest(unit_rows(self.drawn(ready, side, rng), ready.rarity), ready) for side in sides)
        return self.membership_result(
            Roc.of(*scores),
            "By the nearest published record, {main:.1f} % of the members are recognised, and {control:.1f} % of "
            "others are taken for members; the area under the curve is {area:.2f} (0.5 is chance).",
        )


def _nearest(units: Any, ready: Published) -> Floats:
    best = np.zeros(units.shape[0])
    size = max(1, CELLS_AT_ONCE // max(ready.held.shape[0], 1))
    for begin in range(0, units.shape[0], size):
        near = units[begin : begin + size] @ ready.across
        best[begin : begin + size] = np.asarray(near.max(axis=1).todense()).ravel()
    return np.asarray(np.round(best, 6), np.float64)


@dataclass(frozen=True)
class BasketCopies(ByRate):
    """Look for a published record that is a person's own, but for one item more or less."""

    least_items = 3

    name = "basket-copies"
    place = 120
    title = "a published basket that is a person's, but for one item"
    knows = "the release, and a whole record"
    stopped_by = "no pseudo-record equals a record that fewer than k hold; near ones are not forbidden"
    remedy = "raise k or support, or lower together: fewer whole baskets then come out as they were"
    of_km = (
        "nothing promises it: a record without rare combinations is published as it is",
        "raise k or m, or publish pseudo-baskets, none of which is a record that fewer than k hold",
    )
    reference = "the release itself is checked for whole copies; this counts near ones too"

    sentence = (
        "A published record equals that of {main:.1f} % of the persons but for one item, and that of {control:.1f} % "
        "of those who were not in the data."
    )

    def tried(self, ready: Published, records: Sparse, rng: np.random.Generator) -> tuple[Rate, dict[str, float]]:
        """By the nearest record of each."""
        differ = _least_difference(self.drawn(ready, records, rng), ready)
        return Rate(int((differ <= 1).sum()), len(differ)), {"equal": mean(differ == 0)}


def _least_difference(held: Any, ready: Published) -> Ints:
    """How many items the nearest published record has more or less than each row."""
    across = ready.held.T.tocsr()
    sizes, theirs = np.diff(held.indptr), np.diff(ready.held.indptr)
    least = np.full(held.shape[0], np.iinfo(np.int64).max)
    size = max(1, CELLS_AT_ONCE // max(ready.held.shape[0], 1))
    for begin in range(0, held.shape[0], size):
        common = (held[begin : begin + size] @ across).tocsr()
        rows = np.repeat(np.arange(common.shape[0]), np.diff(common.indptr))
        off = sizes[begin + rows] + theirs[common.indices] - 2 * common.data.astype(np.int64)
        np.minimum.at(least, begin + rows, off)
    return least


SPARSE_ATTACKS.register(NearestBaskets())
SPARSE_ATTACKS.register(BasketCopies())
