"""Whether a known record is in the data, from sketches of the sums of groups and the key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.arrays import Floats
from shoal.attack.attack import NO_OTHERS
from shoal.attack.result import AttackResult
from shoal.attack.roc import Roc
from shoal.attack.sparse.case import SPARSE_ATTACKS, SparseCase
from shoal.attack.sparse.targets import NO_KEY, OnSketches, sketch_records
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches

CELLS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class GroupMembership(OnSketches):
    """Decide of whole records whether they are in some group, by the sum that is most like them.

    The record is sketched with the key; its score is the largest cosine to a published sketch, on the components that
    this has. A member has a part in a sum, and strangers that are like members have none.

    Attributes
    ----------
    n_records : int
        How many members, and how many strangers.
    """

    n_records: int = 2000

    name = "group-membership"
    place = 65
    title = "whether a known record is in the sum of some group"
    unit: Literal["group"] = "group"  # type: ignore[misc]
    needs_others = True
    leaked = "the key"
    knows = "the release, a whole record, and the key of the signs"
    stopped_by = "the key, which is not published; and each sum has k records, of which one is a small part"
    remedy = "keep the key secret, or destroy it; or raise k, or lower max_components"
    reference = "R. Shokri, M. Stronati, C. Song, V. Shmatikov, Membership inference attacks, IEEE S&P 2017"

    def missing(self, case: SparseCase) -> str | None:
        """It needs the key, and records that were not in the release."""
        if case.key is None:
            return NO_KEY
        return NO_OTHERS if case.control is None or not len(case.control) else None

    def run(self, case: SparseCase, rng: np.random.Generator) -> AttackResult:
        """Score members and strangers."""
        assert case.control is not None
        assert case.key is not None
        members = np.arange(len(case.original)) if case.rows is None else case.rows
        chosen = rng.choice(members, min(self.n_records, len(members)), replace=False)
        strangers = rng.choice(len(case.control), min(self.n_records, len(case.control)), replace=False)
        scores = [
            nearest_sums(case.published, records, case.key)
            for records in (case.original.take(np.sort(chosen)), case.control.take(np.sort(strangers)))
        ]
        roc = Roc.of(*scores)
        return self.membership_result(
            roc,
            "With the key, {main:.1f} % of the members are told from strangers, of whom {control:.1f} % are taken for "
            "members; the area under the curve is {area:.2f}.",
            baseline=roc.by_guessing,
        )


def nearest_sums(published: Sketches, records: Sparse, key: bytes) -> Floats:
    """The largest cosine of each record's own sketch to a published one, on the components of the latter."""
    best = np.full(len(records), -1.0)
    for n in np.unique(published.counts[published.counts > 0]).tolist():
        theirs = published.take(np.flatnonzero(published.counts == n)).components.reshape(-1, n)
        theirs = np.unique(theirs.astype(np.float64), axis=0)
        ours = sketch_records(records, key, n)
        units = [side / np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-12) for side in (ours, theirs)]
        size = max(1, CELLS_AT_ONCE // len(theirs))
        for begin in range(0, len(records), size):
            rows = slice(begin, begin + size)
            best[rows] = np.maximum(best[rows], (units[0][rows] @ units[1].T).max(axis=1))
    return np.asarray(np.round(best, 9), np.float64)


SPARSE_ATTACKS.register(GroupMembership())
