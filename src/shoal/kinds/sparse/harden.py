"""Hardening of sparse records: larger groups of pseudo-baskets, or sketches with more noise and fewer components."""

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
from shoal.kinds.sparse.baskets import BasketRelease
from shoal.kinds.sparse.km import KMRelease
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.sparse.release import SparseRelease

MOST_K, MOST_SUPPORT, MOST_M = 200, 8, 3
MOST_DELTA = 20.0
FEWEST_COMPONENTS = 2


class SparseLadder(Ladder):
    """k and support of pseudo-baskets; k and m of k^m-anonymity; delta and the most components of a sketch."""

    def __init__(self, records: Sparse, policy: SparsePolicy) -> None:
        self.records, self.start = records, Candidate(policy)
        self.is_pseudo, self.has_k = policy.publish == "pseudo", policy.publish != "sketch"

    @property
    def measure(self) -> str:  # type: ignore[override]
        """What the loss is a share of."""
        if self.has_k:
            return "mean error of the supports of the most frequent pairs, and share of records left out: all"
        return "share of a record's ten nearest that are no longer so by sketches, and of records left out: all"

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

    def release(
        self, data: Sparse, policy: SparsePolicy, seed: int, held_out: HeldOut[Sparse]
    ) -> SparseRelease | BasketRelease | KMRelease:
        """Make and check."""
        from shoal.kinds.sparse.kind import KIND

        return KIND.release(data, policy, Run(seed=seed), held_out=held_out)

    def loss(self, release: SparseRelease | BasketRelease | KMRelease) -> float:
        """Of pairs, or of neighbours."""
        if isinstance(release, BasketRelease | KMRelease):
            pairs = release.utility.pairs
            lost = 1.0 if pairs is None else min(1.0, pairs.mean)
        else:
            kept = release.utility.neighbours
            lost = 1.0 if kept is None else 1.0 - kept.shares[min(kept.shares)]
        left_out = release.records["suppressed"] / max(1, release.records["in"])
        return float(left_out + (1 - left_out) * lost)

    def harder(self, candidate: Candidate, step: Step, failing: Sequence[AttackResult], risk: float) -> list[Candidate]:
        """Larger groups and more holders; or more variance of estimates, and fewer components."""
        policy, why = candidate.policy, because(failing[0])
        change: dict[str, Any] = {}
        reasons = dict(candidate.reasons)
        if self.has_k:
            if policy.k < MOST_K and 4 * policy.k <= len(self.records):
                change["k"] = min(MOST_K, 2 * policy.k)
                reasons["require.k"] = f"k was {self.start.policy.k}; {why}"
            if policy.m is not None and policy.m < MOST_M:
                change["m"] = policy.m + 1
                reasons["require.m"] = f"m was {self.start.policy.m}; {why}"
            if self.is_pseudo and policy.method.support < MOST_SUPPORT:
                change["support"] = policy.method.support + 1
                reasons["method.support"] = f"was {self.start.policy.method.support}; {why}"
        elif policy.delta < MOST_DELTA:
            change["delta"] = min(MOST_DELTA, 3 * policy.delta)
            reasons["require.delta"] = f"delta was {self.start.policy.delta:g}; {why}"
        elif policy.method.max_components > FEWEST_COMPONENTS:
            change["max_components"] = max(FEWEST_COMPONENTS, policy.method.max_components // 4)
            reasons["method.max_components"] = f"was {policy.method.max_components}; {why}"
        return [Candidate(policy.changed(**change), reasons)] if change else []

    def milder(self, candidate: Candidate, step: Step) -> Iterable[Candidate]:
        """Smaller groups, or less variance."""
        if self.has_k:
            least, most = self.start.policy.k, candidate.policy.k
            if most > 1.5 * least:
                yield Candidate(candidate.policy.changed(k=round((least * most) ** 0.5)), candidate.reasons)
            return
        low, high = self.start.policy.delta, candidate.policy.delta
        if high > 1.2 * low:
            yield Candidate(candidate.policy.changed(delta=round((low * high) ** 0.5, 3)), candidate.reasons)

    def asked(self, policy: SparsePolicy) -> dict[str, Any]:
        """k and support, or k and m; or delta, and the most components."""
        if self.is_pseudo:
            return {"k": policy.k, "support": policy.method.support}
        if self.has_k:
            return {"k": policy.k, "m": policy.m}
        return {"delta": policy.delta, "components": policy.method.max_components}
