"""What every attack offers, and how several are run within a time."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from shoal.attack.result import AttackResult, Rate
from shoal.attack.roc import FALSE_ALARMS, Roc
from shoal.engine.seeds import spawn_seeds
from shoal.progress import Progress
from shoal.shown import Grid, Shown

if TYPE_CHECKING:
    from typing_extensions import Self

Case = TypeVar("Case")
Published = TypeVar("Published", bound=Sized)
Records = TypeVar("Records", bound=Sized)
LONGER = "It takes longer; shoal attack runs it."
NOT_OF_THIS_MAKE = "It is an attack on data that was published in another way."
TIME_OVER = "The time for attacks was over."
ALL_RECORDS = "It looks at records one by one, and of these every distinct row was read once."
NO_OTHERS = "It needs records that are not in the release to compare with; hold some out."


@dataclass(frozen=True)
class AttackCase(Generic[Published, Records]):
    """A release under attack.

    Attributes
    ----------
    published, original
        What was published, and all records that came in.
    control : optional
        Records of the same kind that were not among them.
    """

    published: Published
    original: Records = field(repr=False)
    control: Records | None = field(default=None, repr=False)

    @property
    def granted(self) -> dict[str, int]:
        """What the attacker was given besides the release, by the number of records of each."""
        return {"original": len(self.original), **({} if self.control is None else {"others": len(self.control)})}


class Attack(ABC, Generic[Case]):
    """One way to learn something about single records from a release.

    `Case` is what it works on: `TableCase`, `StringCase` or `SparseCase`, which hold the published data, the
    originals, the controls if there are any, and what else of the owner's the attacker is granted.
    """

    name: ClassVar[str]
    """Such as "singling-out"."""
    place: ClassVar[int] = 1000
    """Where it stands in lists."""
    title: ClassVar[str]
    """The same in a few plain words."""
    knows: ClassVar[str]
    """What the attacker is assumed to know."""
    stopped_by: ClassVar[str]
    """Which guarantee is meant to stop it."""
    remedy: ClassVar[str]
    """What to do when it succeeds."""
    reference: ClassVar[str]
    """Where it comes from."""
    needs_others: ClassVar[bool] = False
    """Whether it says nothing without records that were not in the release, as what it gets may be common knowledge."""
    leaked: ClassVar[str] = ""
    """The owner's secret that it takes, such as the key: what it gets is no fault of what was published."""
    is_checked: ClassVar[bool] = False
    """Whether the checker recomputes that it fails: then that it was run, and no other, says nothing new."""
    counts_by_weight: ClassVar[bool] = False
    """Whether it can be run where a row stands for several records, which it then counts."""
    accepted_as: ClassVar[str] = ""
    """The finding (`shoal.check.finding`) that it confirms: what a policy accepts there, it accepts here."""
    unseen: ClassVar[float] = 2
    """How many times its limit it may add, by the upper end of its interval, where it adds nothing for sure: beyond
    that too little was compared to tell, which is amber (`shoal.report.verdict`)."""

    def fits(self, case: Any) -> bool:
        """Whether it is an attack on releases of this make at all; where not, nothing is said of it."""
        return True

    def missing(self, case: Case) -> str | None:
        """Why it cannot be run on the case, in a sentence; None where it can."""
        return None

    def advice(self, columns: Sequence[str]) -> str:
        """What to do when it succeeds by some columns."""
        return self.remedy

    @abstractmethod
    def run(self, case: Case, rng: np.random.Generator) -> AttackResult:
        """Attack."""

    def in_release(self) -> Self | None:
        """As it is run in every release, where nobody asked for it: itself, or what costs less; None: not at all."""
        return self

    def of_size(self, n_attacks: int) -> Self:
        """The same on so many people drawn at random; itself where their number is not for anyone to choose."""
        how: Any = self
        is_drawn = is_dataclass(self) and any(f.name == "n_attacks" for f in fields(self))
        return replace(how, n_attacks=n_attacks) if is_drawn else self

    def result(
        self,
        main: Rate,
        sentence: str,
        *,
        control: Rate | None = None,
        baseline: Rate | None = None,
        details: Mapping[str, float] | None = None,
        columns: Sequence[str] = (),
        admitted: float = 0.0,
    ) -> AttackResult:
        """What came of it, under the attack's own name."""
        told = (main, control, baseline, sentence, details or {}, tuple(columns), admitted)
        return AttackResult(self.name, self.title, self.knows, *told)

    def membership_result(
        self,
        roc: Roc,
        sentence: str,
        *,
        false_alarms: float = FALSE_ALARMS,
        baseline: Rate | None = None,
        details: Mapping[str, float] | None = None,
    ) -> AttackResult:
        """How many of both are taken for members; `{main}` and `{control}`, in %, and `{area}` are filled in."""
        main, control = roc.hits(false_alarms)
        return self.result(
            main,
            sentence.format(main=100 * main.value, control=100 * control.value, area=roc.area),
            control=control,
            baseline=baseline,
            details={**roc.details, **(details or {})},
        )


@dataclass(frozen=True)
class AttackedSample:
    """How many were attacked.

    Attributes
    ----------
    drawn, of : int
        Those whom an attack on single ones tried at most, each as likely as another, and all who could be.

    Examples
    --------
    >>> AttackedSample(2000, 10_000_000).sentence
    'Attacks on single records tried a sample of at most 2,000 of 10,000,000, against the whole release.'
    """

    drawn: int
    of: int

    @property
    def sentence(self) -> str:
        """The same in words; "" where all were tried."""
        if self.drawn >= self.of:
            return ""
        sample = f"a sample of at most {self.drawn:,} of {self.of:,}"
        return f"Attacks on single records tried {sample}, against the whole release."

    def to_dict(self) -> dict[str, int]:
        """JSON-ready."""
        return {"drawn": self.drawn, "of": self.of}


@dataclass(frozen=True, repr=False)
class Attacked(Shown, Generic[Case]):
    """The results of some attacks, and why others were not run; of tables, how many were attacked of how many."""

    results: tuple[AttackResult, ...]
    skipped: tuple[tuple[str, str], ...]
    sample: AttackedSample | None = None

    def shown(self) -> list[str | Grid]:
        """What each reached, the worst first."""
        from shoal.report.attacks import by_risk
        from shoal.report.verdict import some_of

        rows = []
        results = by_risk(self.results)
        for r in results:
            rates = (r.main, r.control, r.baseline)
            told = (f"{100 * rate.value:.1f} %" if rate is not None and rate.attempts else "-" for rate in rates)
            rows.append((r.attack, some_of(r.columns, 3), *told, str(r.risk)))
        numbers = ("on members", "on others", "by guessing", "risk added")
        return [
            Grid(("attack", "columns", *numbers), rows, numbers) if rows else "No attack could be run.",
            *(f"  {r.outcome}  {r.attack}: {r.sentence}" for r in results),
            *(f"  not run  {name}: {why}" for name, why in self.skipped),
            *([self.sample.sentence] if self.sample is not None and self.sample.sentence else []),
        ]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "attacks": [r.to_dict() for r in self.results],
            "not_run": [{"attack": name, "because": why} for name, why in self.skipped],
            **({} if self.sample is None else {"sample": self.sample.to_dict()}),
        }


def run_attacks(
    attacks: Sequence[Attack[Case]],
    case: Case,
    names: Sequence[str] | None = None,
    *,
    seed: int | None = None,
    seconds: float | None = None,
    progress: Progress | None = None,
    has_others: bool = True,
    in_release: bool = False,
) -> Attacked[Case]:
    """Run those that apply, or those of them that are named, one after another; none is begun after `seconds`.

    Each draws its own random numbers, so that its result does not depend on which others are named. Without others to
    compare with (`has_others`), those that need them are left out. `in_release` runs them as every release does, at the
    least cost.
    """
    end = None if seconds is None else time.monotonic() + seconds
    results: list[AttackResult] = []
    skipped: list[tuple[str, str]] = []
    n_drawn = 0
    for i, (attack, own) in enumerate(zip(attacks, spawn_seeds(seed, len(attacks)), strict=True)):
        if names and attack.name not in names:
            continue
        if not attack.fits(case):
            skipped += [(attack.name, NOT_OF_THIS_MAKE)] if names else []
            continue
        tried = attack.in_release() if in_release else attack
        if attack.needs_others and not has_others:
            why: str | None = NO_OTHERS
        else:
            why = LONGER if tried is None else tried.missing(case)
            if why is None and getattr(case, "is_weighted", False) and not attack.counts_by_weight:
                why = ALL_RECORDS
        if why is None and end is not None and time.monotonic() >= end:
            why = TIME_OVER
        if why is not None or tried is None:
            skipped.append((attack.name, why or LONGER))
            continue
        if progress is not None:
            progress(f"attacking: {attack.title}", i, len(attacks))
        result = tried.run(case, np.random.default_rng(own))
        n_drawn = max(n_drawn, getattr(tried, "n_attacks", 0))
        known = getattr(case, "known_of_a_person", "")
        results.append(replace(result, knows=f"{result.knows}; {known}") if known else result)
    n_there: int | None = getattr(case, "n_targets", None)
    sample = None if n_there is None or not n_drawn else AttackedSample(min(n_drawn, n_there), n_there)
    return Attacked(tuple(results), tuple(skipped), sample)
