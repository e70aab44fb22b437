"""Hardening of sparse records: sketches with more noise and fewer components."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from shoal.attack.result import AttackResult
from shoal.data.sparse.records import Sparse
from shoal.harden.ladder import Ladder, because
from shoal.harden.step import Candidate, Step
from shoal.held_out import HeldOut
from shoal.kind import Run
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.sparse.release import SparseRelease

MOST_DELTA = 20.0
FEWEST_COMPONENTS = 2


class SparseLadder(Ladder):
    """delta, k, and the most components of a sketch."""

    measure = "share of a record's ten nearest that are no longer so by sketches, and of records left out: all"

    def __init__(self, records: Sparse, policy: SparsePolicy) -> None:
        self.records, self.start = records, Candidate(policy)

    def checksum(self) -> str:
        """Of items, weights and classes."""
        total = hashlib.sha256()
        for name, value in sorted(vars(self.records).items()):
            held = value.tobytes() if hasattr(value, "tobytes") else repr(value).encode()
            total.update(name.encode() + held)
        return total.hexdigest()

    def ways(self) -> list[Candidate]:
        """No other."""
        return []

    def release(self, data: Sparse, policy: SparsePolicy, seed: int, held_out: HeldOut[Sparse]) -> SparseRelease:
        """Sketch and check."""
        from shoal.kinds.sparse.kind import KIND

        return KIND.release(data, policy, Run(seed=seed), held_out=held_out)

    def loss(self, release: SparseRelease) -> float:
        """Of neighbours."""
        kept = release.utility.neighbours
        lost = 1.0 if kept is None else 1.0 - kept.shares[min(kept.shares)]
        left_out = release.records["suppressed"] / max(1, release.records["in"])
        return float(left_out + (1 - left_out) * lost)

    def harder(self, candidate: Candidate, step: Step, failing: Sequence[AttackResult], risk: float) -> list[Candidate]:
        """More variance of estimates, and half the components."""
        policy, why = candidate.policy, because(failing[0])
        change: dict[str, Any] = {}
        reasons = dict(candidate.reasons)
        if policy.delta < MOST_DELTA:
            change["delta"] = min(MOST_DELTA, 3 * policy.delta)
            reasons["require.delta"] = f"delta was {self.start.policy.delta:g}; {why}"
        elif policy.method.max_components > FEWEST_COMPONENTS:
            change["max_components"] = max(FEWEST_COMPONENTS, policy.method.max_components // 4)
            reasons["method.max_components"] = f"was {policy.method.max_components}; {why}"
        return [Candidate(policy.changed(**change), reasons)] if change else []

    def milder(self, candidate: Candidate, step: Step) -> Iterable[Candidate]:
        """Less variance."""
        low, high = self.start.policy.delta, candidate.policy.delta
        if high > 1.2 * low:
            yield Candidate(candidate.policy.changed(delta=round((low * high) ** 0.5, 3)), candidate.reasons)

    def asked(self, policy: SparsePolicy) -> dict[str, Any]:
        """delta, and the most components."""
        return {"delta": policy.delta, "components": policy.method.max_components}
