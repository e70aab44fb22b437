"""Attacks on trajectories that count the same of others, who were not in the data."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult
from shoal.attack.trajectories.case import TrajectoryCase
from shoal.data.trajectories.trajectories import Trajectories

FEWEST = 20


class AgainstOtherTrajectories(Attack[TrajectoryCase]):
    """An attack that is compared with the same on others, of whom there must be some."""

    needs_others = True
    others: ClassVar[str] = "trajectories"
    """What there have to be enough of."""

    def n_to_compare(self, original: Trajectories, control: Trajectories) -> int:
        """How many of them there are."""
        return len(control)

    def missing(self, case: TrajectoryCase) -> str | None:
        """There must be others."""
        if case.control is None or self.n_to_compare(case.original, case.control) < FEWEST:
            return (
                f"It needs at least {FEWEST} {self.others} that were not in the release (--control, or --hold-out "
                "before)."
            )
        return None

    def run(self, case: TrajectoryCase, rng: np.random.Generator) -> AttackResult:
        """Attack persons in the data, and others."""
        assert case.control is not None  # else it is missing
        return self.compare(case, (case.original, case.control), rng)

    @abstractmethod
    def compare(
        self, case: TrajectoryCase, sides: tuple[Trajectories, Trajectories], rng: np.random.Generator
    ) -> AttackResult:
        """Count for both sides: persons in the data, and others."""
