"""What an attack reached: rates with intervals, and a sentence about them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Z = 1.959963984540054  # two-sided 95 %
LITTLE = 0.025
"""Half of the risk that is serious (`shoal.report.verdict`)."""
AMBER = 0.55
"""The area under a curve from which on members can be told from others."""


@dataclass(frozen=True)
class Rate:
    """A share of attempts that succeeded, with Wilson's 95 % interval.

    References
    ----------
    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22, 1927.

    Examples
    --------
    >>> rate = Rate(0, 200)
    >>> rate.value, round(rate.low, 3), round(rate.high, 3)
    (0.0, 0.0, 0.019)
    """

    successes: float
    attempts: int

    @property
    def value(self) -> float:
        """The share itself; nan where nothing was attempted."""
        return self.successes / self.attempts if self.attempts else math.nan

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return max(0.0, self._centre - self._half)

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return min(1.0, self._centre + self._half)

    @property
    def _centre(self) -> float:
        n = self.attempts
        return (self.successes + Z**2 / 2) / (n + Z**2) if n else 0.5

    @property
    def _half(self) -> float:
        n = self.attempts
        if not n:
            return 0.5
        return Z * math.sqrt(self.value * (1 - self.value) / n + (Z / (2 * n)) ** 2) / (1 + Z**2 / n)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        value = None if math.isnan(self.value) else self.value
        return {
            "value": value,
            "low": self.low,
            "high": self.high,
            "successes": self.successes,
            "attempts": self.attempts,
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Rate:
        """From what `to_dict` gave."""
        return cls(told["successes"], int(told["attempts"]))

    def __str__(self) -> str:
        if not self.attempts:
            return "not attempted"
        return f"{100 * self.value:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f})"


@dataclass(frozen=True)
class AddedRisk:
    """What an attack gains from the release: 0 is nothing beyond the control, 1 is everything.

    ``(main - control) / (1 - control)``, with an interval by propagating the half-widths of both rates.

    Where the control is nearly always right, hardly anything is left to be added, and the share of it is undetermined:
    0 of 0 where nothing is left at all, as of values that a set of categories lists. So where less than `LITTLE` is
    left, and no gain is seen that is more than chance, the upper end is at most what is left, as a share of all
    attempts. A gain that is seen stays what it is: of a secret that one in fifty has, all may be told.

    References
    ----------
    M. Giomi, F. Boenisch, C. Wehmeyer, B. Tasnádi, "A unified framework for quantifying privacy risk in synthetic
    data", PoPETs 2023(2), section 4.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, main: Rate, control: Rate) -> AddedRisk:
        """From the success on members and on others."""
        ours, theirs = main._centre, control._centre  # as in the paper: the centres of both intervals
        left = 1 - control.low
        if theirs >= 1:
            return cls(0.0, 0.0, left)  # everything is known without the release
        value = (ours - theirs) / (1 - theirs)
        half = math.sqrt((main._half / (1 - theirs)) ** 2 + ((ours - 1) / (1 - theirs) ** 2 * control._half) ** 2)
        most = left if left < LITTLE and main.attempts and value <= half else 1.0
        return cls(*(min(most, max(0.0, v)) for v in (value, value - half, value + half)))

    def to_dict(self) -> dict[str, float]:
        """JSON-ready."""
        return {"value": self.value, "low": self.low, "high": self.high}

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True)
class AttackResult:
    """One attack on one release.

    Attributes
    ----------
    attack : str
        Its name, such as "recovery-programme".
    title : str
        The same in a few plain words.
    knows : str
        What the attacker was assumed to know and to have.
    main : Rate
        How often it succeeded on records that the release was made from.
    control : Rate, optional
        The same on records that were not in it; None where there are none, or where it makes no sense.
    baseline : Rate, optional
        How often guessing without the release succeeds.
    sentence : str
        The result in plain words; no record, no key, no value of a single record.
    details : mapping of str to float
        Other figures, such as an area under the curve.
    columns : tuple of str
        The columns of the release that it got it from, where it is of some.
    admitted : float
        The risk that a guarantee of the release admits, and so tells beforehand.
    stopped_by, remedy : str
        What is meant to stop it, and what to do, where releases of this make differ from what the attack says of all.
    """

    attack: str
    title: str
    knows: str
    main: Rate
    control: Rate | None = None
    baseline: Rate | None = None
    sentence: str = ""
    details: Mapping[str, float] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    admitted: float = 0.0
    stopped_by: str = ""
    remedy: str = ""

    def __repr__(self) -> str:
        return f"<{self.attack}: {self.main} on members, risk added {self.risk}>"

    @property
    def risk(self) -> AddedRisk:
        """What the release adds: beyond the control if there is one, else beyond guessing, else all of it."""
        return AddedRisk.of(self.main, self.control or self.baseline or Rate(0, 10**9))

    @property
    def told(self) -> float:
        """How far above a half the area under the curve of a score is; 0 where there is none, or by chance."""
        area = self.details.get("area_under_curve", math.nan)
        return area - 0.5 if area - Z * self.details.get("area_error", math.nan) > 0.5 else 0.0

    @property
    def succeeds(self) -> bool:
        """Whether the gain is more than chance explains: the interval of the risk does not reach 0.

        Of a score also where the area under its curve is above `AMBER`, and its interval does not reach a half: that
        uses the whole curve, and so is sure of less.
        """
        return self.risk.low > 0 or self.told > AMBER - 0.5

    @property
    def outcome(self) -> str:
        """In a word: SUCCEEDS; found, where some were got that chance would not get, too few to be sure; or fails."""
        if self.succeeds:
            return "SUCCEEDS"
        by_chance = max((r.successes for r in (self.control, self.baseline) if r is not None), default=0.0)
        return "found" if self.main.successes >= 1 > by_chance else "fails"

    def may_add_more_than(self, risk: float) -> bool:
        """Whether the interval of the added risk reaches beyond one."""
        return self.main.attempts > 0 and self.risk.high > risk

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "attack": self.attack,
            "title": self.title,
            "knows": self.knows,
            "main": self.main.to_dict(),
            "control": None if self.control is None else self.control.to_dict(),
            "baseline": None if self.baseline is None else self.baseline.to_dict(),
            "risk": self.risk.to_dict(),
            "succeeds": self.succeeds,
            "sentence": self.sentence,
            "details": {n: v if math.isfinite(v) else None for n, v in self.details.items()},
            "columns": list(self.columns),
            "admitted": self.admitted,
            **{n: said for n in ("stopped_by", "remedy") if (said := getattr(self, n))},
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> AttackResult:
        """From what `to_dict` gave."""
        rates = {n: None if told[n] is None else Rate.from_dict(told[n]) for n in ("control", "baseline")}
        return cls(
            attack=str(told["attack"]),
            title=str(told["title"]),
            knows=str(told["knows"]),
            main=Rate.from_dict(told["main"]),
            control=rates["control"],
            baseline=rates["baseline"],
            sentence=str(told["sentence"]),
            details={str(n): math.nan if v is None else float(v) for n, v in told["details"].items()},
            columns=tuple(map(str, told.get("columns", ()))),
            admitted=float(told.get("admitted", 0.0)),
            stopped_by=str(told.get("stopped_by", "")),
            remedy=str(told.get("remedy", "")),
        )
