"""One step of hardening: a policy that was tried, what its release would cost, and what attacks got out of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from shoal.attack.result import AddedRisk, AttackResult, Rate

Status = Literal["attacked", "costs more", "infeasible", "refused", "fails"]


@dataclass(frozen=True)
class Candidate:
    """A policy to try, and why it asks otherwise than the one that is to be hardened.

    Attributes
    ----------
    policy
        What `anonymize` would be asked for.
    reasons : mapping of str to str
        A sentence for each key of the policy that differs, such as ``columns.cost`` or ``require``.
    """

    policy: Any
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Judged:
    """One attack on the release of a step.

    Attributes
    ----------
    result : AttackResult
        What it reached.
    bound : float
        The upper bound of what it adds (`expected_bound`): as found where it was run in full, else as it would be in
        full if the rates stayed what they are.
    """

    result: AttackResult
    bound: float

    def is_undecided(self, risk: float) -> bool:
        """Whether it never succeeded, and had too few attempts for a bound below the risk."""
        return self.bound > risk and not self.result.main.successes

    def fails_to_stay_below(self, risk: float) -> bool:
        """Whether it may add more than the risk."""
        return self.bound > risk and not self.is_undecided(risk)

    @property
    def least_bound(self) -> float:
        """The bound that it would have if members told no more than others do, from as many attempts."""
        return self._least_bound(1)

    def is_short_of(self, most: int, risk: float, times: int) -> bool:
        """Whether it found few things to attempt, and so many times as many would tell more.

        Fewer than half of the most that it was allowed: it is the release that limits them then, and not the records
        that there are. Whether it succeeded does not count, lest it is repeated until it does not.
        """
        is_few = self.result.main.attempts < most / 2 and self.least_bound > risk / 2
        return is_few and self._least_bound(times) <= risk

    def _least_bound(self, times: int) -> float:
        theirs, n_ours = self.result.control or self.result.baseline, self.result.main.attempts * times
        if theirs is None or not n_ours or not theirs.attempts:
            return Rate(0, n_ours).high
        more = Rate(theirs.successes * times, theirs.attempts * times)
        return AddedRisk.of(Rate(theirs.value * n_ours, n_ours), more).high


def pooled(results: Sequence[AttackResult]) -> AttackResult:
    """One attack on several releases by the same policy, each of a random split, counted together."""

    def together(rates: Sequence[Rate | None]) -> Rate | None:
        there = [r for r in rates if r is not None]
        return Rate(sum(r.successes for r in there), sum(r.attempts for r in there)) if there else None

    main = together([r.main for r in results])
    assert main is not None
    return replace(
        results[0],
        main=main,
        control=together([r.control for r in results]),
        baseline=together([r.baseline for r in results]),
        sentence=f"Of {main.attempts:,} attempts on {len(results)} releases by one policy, {main} are right.",
    )


def expected_bound(result: AttackResult, more_members: float, more_others: float) -> float:
    """The upper bound of what an attack adds, from so many times as many attempts with the same rates."""

    def larger(rate: Rate | None, times: float) -> Rate | None:
        return None if rate is None else Rate(rate.successes * times, round(rate.attempts * times))

    main, control = larger(result.main, more_members), larger(result.control, more_others)
    baseline = larger(result.baseline, more_members)
    assert main is not None
    return AttackResult(result.attack, result.title, result.knows, main, control, baseline).risk.high


@dataclass(frozen=True)
class Step:
    """What came of a policy.

    Attributes
    ----------
    asked : dict
        What the policy asks for, as far as hardening changes it.
    status : {"attacked", "costs more", "infeasible", "refused", "fails"}
        It was attacked; it would lose more than one that is harder, and was let go; no release can meet it; it does
        not suit the data; its release failed its own check, which is a defect.
    sentence : str
        Why it was not attacked, "" where it was.
    is_full : bool
        Whether it was attacked in full, on a split of the records that nothing else was tried on.
    loss : float or None
        What its release would cost.
    judged : tuple of Judged
        The attacks on it.
    is_whole : bool
        Whether all attacks were run; one that was to be milder is let go at the first that succeeds.
    skipped : tuple of (attack, why)
        Attacks that cannot be run on it.
    measured : dict
        What else is known of the release, sums by column, for the next step to go by.
    """

    asked: dict[str, Any]
    status: Status
    sentence: str = ""
    is_full: bool = False
    loss: float | None = None
    judged: tuple[Judged, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    measured: dict[str, dict[str, float]] = field(default_factory=dict)
    is_whole: bool = True

    @property
    def cost(self) -> float:
        """The loss; infinite where there is no release."""
        return math.inf if self.loss is None else self.loss

    @property
    def worst(self) -> Judged | None:
        """The attack that may add most; those that never succeeded last."""
        return max(self.judged, key=lambda j: (j.result.main.successes > 0, j.bound), default=None)

    @property
    def bound(self) -> float:
        """The upper bound of what an attack adds, of all that ever succeeded; 1 where it was not attacked."""
        if self.status != "attacked":
            return 1.0
        return max((j.bound for j in self.judged if j.result.main.successes), default=0.0)

    def failing(self, risk: float) -> tuple[AttackResult, ...]:
        """The attacks that may add more than the risk, worst first."""
        found = [j for j in self.judged if j.fails_to_stay_below(risk)]
        return tuple(j.result for j in sorted(found, key=lambda j: -j.bound))

    def undecided(self, risk: float) -> tuple[AttackResult, ...]:
        """The attacks that never succeeded, in too few attempts for a bound below the risk."""
        return tuple(j.result for j in self.judged if j.is_undecided(risk))

    def until_one_fails(self, risk: float) -> Step:
        """The same as if attacks had ended with the first that may add more than the risk."""
        failing = [i for i, j in enumerate(self.judged) if j.fails_to_stay_below(risk)]
        if not failing:
            return self
        return Step(self.asked, self.status, loss=self.loss, judged=self.judged[: failing[0] + 1], is_whole=False)

    def stays_below(self, risk: float) -> bool:
        """Whether it was attacked, and nothing may add more than the risk."""
        return self.status == "attacked" and not self.failing(risk)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "asked": self.asked,
            "status": self.status,
            "sentence": self.sentence,
            "is_full": self.is_full,
            "loss": self.loss,
            "attacks": [{**j.result.to_dict(), "bound": j.bound} for j in self.judged],
            "not_run": [{"attack": name, "because": why} for name, why in self.skipped],
            "measured": self.measured,
            "is_whole": self.is_whole,
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Step:
        """From what `to_dict` gave."""
        return cls(
            asked=dict(told["asked"]),
            status=told["status"],
            sentence=str(told["sentence"]),
            is_full=bool(told["is_full"]),
            loss=None if told["loss"] is None else float(told["loss"]),
            judged=tuple(Judged(AttackResult.from_dict(t), float(t["bound"])) for t in told["attacks"]),
            skipped=tuple((str(t["attack"]), str(t["because"])) for t in told["not_run"]),
            measured={str(n): {str(k): float(v) for k, v in m.items()} for n, m in told["measured"].items()},
            is_whole=bool(told["is_whole"]),
        )
