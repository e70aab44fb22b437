"""A kind of data that can be hardened in no time: the larger k and the fewer columns, the less its attack gets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import BaseModel

from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.errors import Infeasible
from shoal.harden.ladder import Ladder, because, rungs_between
from shoal.harden.step import Candidate, Step


class ToyPolicy(BaseModel):
    """k alone."""

    k: int = 2


@dataclass(frozen=True)
class ToyData:
    """So many records, which are nothing but their numbers."""

    rows: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: Any) -> ToyData:
        return ToyData(tuple(self.rows[i] for i in rows))


@dataclass(frozen=True)
class ToyRelease:
    policy: ToyPolicy
    original: ToyData

    @property
    def case(self) -> ToyRelease:
        return self


@dataclass(frozen=True)
class Guess(Attack[ToyRelease]):
    """One in k is right."""

    n_attacks: int = 2000

    name, title, knows = "guess", "guessing one of k", "nothing"
    stopped_by = remedy = reference = ""

    def run(self, case: ToyRelease, rng: np.random.Generator) -> AttackResult:
        n = self.n_attacks
        return self.result(Rate(rng.binomial(n, 1 / case.policy.k), n), "", control=Rate(0, n))


class ToyKind:
    """All that a search asks of a kind."""

    attacks: Sequence[Attack[Any]] = (Guess(),)


class ToyLadder(Ladder):
    """k doubles; it costs its hundredth."""

    measure = "k in hundredths"

    def __init__(self, k: int = 2, most: int = 1000) -> None:
        self.start, self.most, self.made = Candidate(ToyPolicy(k=k)), most, 0

    def checksum(self) -> str:
        return "toy"

    def ways(self) -> list[Candidate]:
        return []

    def release(self, data: ToyData, policy: ToyPolicy, seed: int, held_out: Any) -> ToyRelease:
        self.made += 1
        if policy.k > self.most:
            raise Infeasible("there are too few records")
        return ToyRelease(policy, data)

    def loss(self, release: ToyRelease) -> float:
        return release.policy.k / 100

    def harder(self, candidate: Candidate, step: Step, failing: Sequence[AttackResult], risk: float) -> list[Candidate]:
        k = 2 * candidate.policy.k
        return [Candidate(ToyPolicy(k=k), {"k": f"{k}: {because(failing[0])}"})]

    def milder(self, candidate: Candidate, step: Step) -> Iterable[Candidate]:
        for k in rungs_between(self.start.policy.k, candidate.policy.k):
            yield Candidate(ToyPolicy(k=k), candidate.reasons)

    def asked(self, policy: ToyPolicy) -> dict[str, Any]:
        return {"k": policy.k}
