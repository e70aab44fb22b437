"""Hardening of strings: larger groups, then symbols that depend on fewer others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from shoal.attack.result import AttackResult
from shoal.data.strings.strings import Strings
from shoal.harden.ladder import Ladder, because, rungs_above, rungs_between
from shoal.harden.step import Candidate, Step
from shoal.held_out import HeldOut
from shoal.kind import Run
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.strings.release import StringRelease

FEWEST_GROUPS = 4


class StringLadder(Ladder):
    """k, and how many symbols a symbol depends on."""

    measure = "how far the shares of pairs of symbols moved (total variation), and of strings left out: all"

    def __init__(self, strings: Strings, policy: StringPolicy) -> None:
        self.strings, self.start = strings, Candidate(policy)

    def checksum(self) -> str:
        """Of symbols, ends and classes."""
        strings = self.strings
        labels = None if strings.labels is None else strings.labels.tolist()
        content = [strings.alphabet, strings.classes, strings.texts(), labels]
        return hashlib.sha256(repr(content).encode()).hexdigest()

    def ways(self) -> list[Candidate]:
        """No other."""
        return []

    def release(self, data: Strings, policy: StringPolicy, seed: int, held_out: HeldOut[Strings]) -> StringRelease:
        """Condense and check."""
        from shoal.kinds.strings.kind import KIND

        return KIND.release(data, policy, Run(seed=seed), held_out=held_out)

    def loss(self, release: StringRelease) -> float:
        """Of pairs of symbols."""
        pairs = release.utility.k_mers[:1]
        moved = pairs[0].total_variation if pairs else release.utility.composition.total_variation
        left_out = release.records["suppressed"] / max(1, release.records["in"])
        return float(left_out + (1 - left_out) * moved)

    def harder(self, candidate: Candidate, step: Step, failing: Sequence[AttackResult], risk: float) -> list[Candidate]:
        """Larger groups as long as some are left, then a lower order."""
        policy, why = candidate.policy, because(failing[0])
        sizes = rungs_above(policy.k, len(self.strings) // FEWEST_GROUPS)[:2]
        if sizes:
            reasons = dict(candidate.reasons) | {"require.k": f"k was {self.start.policy.k}; {why}"}
            return [Candidate(policy.changed(k=sizes[-1]), reasons)]
        if policy.method.order > 1:
            reasons = dict(candidate.reasons) | {"method.order": f"was {policy.method.order}; {why}"}
            return [Candidate(policy.changed(order=policy.method.order - 1), reasons)]
        return []

    def milder(self, candidate: Candidate, step: Step) -> Iterable[Candidate]:
        """Smaller groups."""
        for size in rungs_between(self.start.policy.k, candidate.policy.k):
            yield Candidate(candidate.policy.changed(k=size), candidate.reasons)

    def asked(self, policy: StringPolicy) -> dict[str, Any]:
        """k and order."""
        return {"k": policy.k, "order": policy.method.order}
