"""Recovery of whole records item by item, by an attacker with the key."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Floats, Ints, Mask, Signs, Singles
from shoal.attack.result import AttackResult, Rate
from shoal.attack.sparse.case import SPARSE_ATTACKS, SparseCase
from shoal.attack.sparse.recovery_programme import RecoveryProgramme, rounded
from shoal.attack.sparse.signs import wrong_key
from shoal.attack.sparse.targets import TargetOutcome, Targets, WholeRecords, compare, mean

CELLS_AT_ONCE = 1 << 24  # agreements of items with residuals that are held in memory


@dataclass(frozen=True)
class MatchingPursuit(WholeRecords):
    """Take the item that agrees best with what is left of the sketch, fit all taken ones anew, and go on.

    Orthogonal matching pursuit, for many records side by side. It ends when nothing is left, when no item agrees, or
    when there are as many items as the mean square of the components tells (two standard errors granted).
    """

    name = "matching-pursuit"
    place = 20
    title = "whole records from sketches, item by item"
    leaked = "the key"
    knows = "the release, the key of the signs and all items there are"
    stopped_by = RecoveryProgramme.stopped_by
    remedy = RecoveryProgramme.remedy
    reference = (
        "J. A. Tropp, A. C. Gilbert, Signal recovery from random measurements via orthogonal matching pursuit, "
        "IEEE Trans. Inf. Theory 53, 2007"
    )

    def in_release(self) -> MatchingPursuit:
        """On fewer records."""
        return replace(self, n_records=100)

    def run(self, case: SparseCase, rng: np.random.Generator) -> AttackResult:
        """Attack a sample of the published records, and again with a wrong key."""
        assert case.key is not None
        attempt = self.attempt(case, rng)
        targets, columns, n = attempt.targets, attempt.columns, len(attempt.targets)
        ours = self._recover(targets, attempt.signs(case.key), columns, case)
        theirs = self._recover(targets, attempt.signs(wrong_key(rng)), columns, case)
        guesses = attempt.popular_guesses(n)
        main = Rate(sum(o.exact for o in ours), n)
        details = {
            "overlap": mean([o.overlap for o in ours]),
            "overlap_wrong_key": mean([o.overlap for o in theirs]),
            "overlap_popular": mean([g.overlap for g in guesses]),
            "median_components": float(np.median(targets.sketches.counts)),
            "items_tried": float(len(columns)),
        }
        return self.result(
            main,
            f"With the key, {main.successes:.0f} of {n} records were recovered whole from their sketches by "
            f"picking items one by one; guess and record overlapped by {100 * details['overlap']:.0f} %, against "
            f"{100 * details['overlap_wrong_key']:.0f} % with a wrong key.",
            control=Rate(sum(o.exact for o in theirs), n),
            baseline=Rate(sum(g.exact for g in guesses), n),
            details=details,
        )

    def _recover(self, targets: Targets, signs: Signs, columns: Ints, case: SparseCase) -> list[TargetOutcome]:
        as_floats = signs.astype(np.float32)
        slack = 1e-6 if case.published.is_integral else case.published.step / 2
        signed = bool((case.original.weights < 0).any())
        at_once = max(1, CELLS_AT_ONCE // max(len(columns), 1))
        found: list[TargetOutcome] = []
        for first in range(0, len(targets), at_once):
            rows = slice(first, first + at_once)
            counts = targets.sketches.counts[rows]
            taken, weights = pursue(as_floats, targets.components[rows], counts, slack=slack, signed=signed)
            for i in range(len(counts)):
                dense = np.zeros(len(columns))
                dense[taken[i][taken[i] >= 0]] = weights[i][taken[i] >= 0]
                items, values = rounded(dense, case)
                found.append(compare(columns[items], values, targets.record(first + i), case.original.is_integral))
        return found


def pursue(
    signs: Singles, components: Floats, counts: Ints, *, slack: float = 1e-6, signed: bool = False
) -> tuple[Ints, Floats]:
    """Orthogonal matching pursuit of several sketches.

    Parameters
    ----------
    signs : float32 array (n_items, n_components)
        The signs of the items.
    components : float64 array (n, n_components)
        The sketches, zeros behind the last component.
    counts : int64 array (n,)
        How many components each has.
    slack : float
        A sketch is explained when no component is off by more.
    signed : bool
        Whether weights may be negative.

    Returns
    -------
    int64 array (n, most items taken), float64 array of that shape
        The items taken, -1 where there are no more, and their fitted weights.
    """
    n, width = components.shape
    shown = np.arange(width) < counts[:, None]
    square = (components**2).sum(axis=1) / np.maximum(counts, 1)
    most = np.minimum(np.ceil(square * (1 + 2 * np.sqrt(2 / np.maximum(counts, 1)))), counts).astype(np.int64)
    steps = int(most.max(initial=0))
    taken = np.full((n, steps), -1)
    basis = np.zeros((n, steps, width))
    residual = components.copy()
    rows = np.arange(n)
    for step in range(steps):
        going = (step < most) & (np.abs(residual).max(axis=1) > slack)
        if not going.any():
            break
        agreement = residual.astype(np.float32) @ signs.T
        if signed:
            np.abs(agreement, out=agreement)
        held = taken[:, :step]
        if step:
            # A sketch that is done holds -1; whatever is struck out of its row does not matter any more.
            np.put_along_axis(agreement, held, -math.inf, axis=1)
        best = agreement.argmax(axis=1)
        going &= agreement[rows, best] > 0
        direction = signs[best] * shown
        for _ in range(2):  # once is not enough for orthogonality in floating point
            direction = direction - np.einsum("isw,is->iw", basis, np.einsum("isw,iw->is", basis, direction))
        length = np.linalg.norm(direction, axis=1)
        going &= length > 1e-6 * np.sqrt(np.maximum(counts, 1))
        direction = np.where(going[:, None], direction / np.maximum(length, 1e-12)[:, None], 0.0)
        residual -= direction * np.einsum("iw,iw->i", direction, residual)[:, None]
        basis[:, step] = direction
        taken[going, step] = best[going]
    return taken, _fit(signs, components, shown, taken)


def _fit(signs: Singles, components: Floats, shown: Mask, taken: Ints) -> Floats:
    """Least squares of each sketch on the items that were taken for it."""
    design = signs[np.maximum(taken, 0)].astype(np.float64) * (taken >= 0)[:, :, None] * shown[:, None, :]
    gram = np.einsum("isw,itw->ist", design, design)
    diagonal = np.arange(taken.shape[1])
    gram[:, diagonal, diagonal] += np.where(taken >= 0, 1e-9, 1.0)
    right = np.einsum("isw,iw->is", design, components)
    return np.asarray(np.linalg.solve(gram, right[:, :, None])[:, :, 0])


SPARSE_ATTACKS.register(MatchingPursuit())
