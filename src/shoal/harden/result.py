"""What hardening gives back: the policy, why it is what it is, and all that was tried."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal._version import __version__
from shoal.harden.step import Candidate, Judged, Step
from shoal.kind import Profiled
from shoal.policy_file import policy_toml
from shoal.shown import Grid

NEXT = "shoal anonymize DATA -p THIS_FILE -o out/"


@dataclass(frozen=True, repr=False)
class Hardened(Profiled):
    """What `harden` gives back.

    Attributes
    ----------
    risk : float
        The most that an attack may add, at its upper bound.
    given : Step
        What attacks get from the policy as it was, in full.
    candidate : Candidate
        The hardened policy with its reasons; where none was found, the one that came nearest.
    chosen : Step
        What attacks get from that one.
    steps : tuple of Step
        All that was tried, in its order.
    measure : str
        What the loss is.
    n_records, n_held_out : int
        Records of the data, and how many of them attacks were compared on each time.
    size : int
        Targets of an attack in full, where their number can be chosen.
    advice : str
        What could be done where no policy was found.
    stopped : str
        Why the search ended early, "" if it did not.
    n_reused : int
        Steps that an earlier run had finished.
    notes : mapping of str to str
        What is said in the policy file beside keys that stay as they were given.
    """

    risk: float
    given: Step
    candidate: Candidate
    chosen: Step
    steps: tuple[Step, ...]
    measure: str
    n_records: int
    n_held_out: int
    size: int
    advice: str = ""
    stopped: str = ""
    n_reused: int = 0
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def policy(self) -> Any:
        """The hardened policy; where none was found, the one that came nearest: see `reached`."""
        return self.candidate.policy

    @property
    def reached(self) -> bool:
        """Whether no attack on the policy's release adds more than the risk, attacked in full."""
        return self.chosen.is_full and self.chosen.stays_below(self.risk)

    @property
    def frontier(self) -> tuple[Step, ...]:
        """What was tried and nothing else beats: none has a lower bound of risk without more loss, or the reverse."""
        made = [s for s in self.steps if s.status == "attacked" and s.is_whole]
        return tuple(s for s in made if not any(_beats(other, s) for other in made))

    @property
    def n_in_full(self) -> int:
        """Policies that were attacked in full."""
        return sum(s.is_full for s in self.steps)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, and what it means."""
        given = "the policy as given cannot be met" if self.given.loss is None else f"as given {self.given.loss:.3f}"
        first = (
            f"No attack adds more than {self.risk:g} at its upper bound; loss {self.chosen.cost:.3f}, {given}."
            if self.reached
            else f"No policy was found with which no attack adds more than {self.risk:g} at its upper bound."
        )
        return (first, *self._remaining(), *([self.stopped] if self.stopped else []), self.meaning)

    @property
    def meaning(self) -> str:
        """What the bounds mean."""
        n_members = self.n_records - self.n_held_out
        return (
            f"A bound is the upper end of a two-sided 95 % interval of one attack. Releases made: {len(self.steps)}; "
            f"attacked in full: {self.n_in_full}, each of {n_members:,} records against {self.n_held_out:,} others, on "
            f"a random split of its own, by which nothing was chosen before. An attack that found little to attempt "
            f"was repeated on releases of further splits, and counted over all. A bound is not corrected for the "
            f"number of attacks ({len(self.chosen.judged)}) and of releases attacked in full."
        )

    def _remaining(self) -> list[str]:
        """What attacks still get, where too much, and which could not be judged."""
        told = []
        for judged in self.chosen.judged:
            if judged.is_undecided(self.risk):
                n = judged.result.main.attempts
                tried = f"only {n:,} times and never succeeded; from so few" if n else "on nobody; from no"
                attack = _capital(judged.result.title)
                told.append(f"{attack} could be tried {tried} attempts no bound below {self.risk:g} follows.")
        if self.reached:
            return told
        for judged in sorted(self.chosen.judged, key=lambda j: -j.bound):
            if judged.fails_to_stay_below(self.risk):
                told.append(self._failure(judged))
        if not self.chosen.is_full:
            told.append("What came nearest was not attacked in full.")
        ways = [self.advice, "state a larger risk", "give more records"]
        return [*told, f"To go on: {', or '.join(w for w in ways if w)}."]

    def _failure(self, judged: Judged) -> str:
        text = f"{_capital(judged.result.title)} adds {judged.result.risk} with what came nearest"
        columns = {n.partition(": ")[0] for n in judged.result.details} & set(self.chosen.measured.get("loss", {}))
        text += f", at {', '.join(sorted(columns))}" if columns else ""
        if judged.least_bound > self.risk:
            text += (
                f"; from {judged.result.main.attempts:,} attempts the bound would be {judged.least_bound:.2f} even if "
                "the release told nothing"
            )
        return f"{text}."

    def shown(self) -> list[str | Grid]:
        """For a terminal."""
        numbers, frontier = ("loss", "bound"), self.frontier
        rows: list[tuple[str, ...]] = [
            (str(i), _words(s), *_figures(s), _outcome(s, self.risk), "frontier" if s in frontier else "")
            for i, s in enumerate(self.steps, start=1)
        ]
        decided = [f"  {name}: {why}" for name, why in self.candidate.reasons.items()]
        return [
            Grid(("", "policy", *numbers, "worst attack", ""), rows, numbers),
            *([f"\nDecided ({len(decided)}):", *decided] if decided else ["\nThe policy stays as it was given."]),
            "",
            *self.sentences,
        ]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: everything that was tried."""
        frontier = self.frontier
        return {
            "shoal": __version__,
            "risk": self.risk,
            "reached": self.reached,
            "records": self.n_records,
            "held_out": self.n_held_out,
            "attempts": self.size,
            "measure": self.measure,
            "given": self.given.to_dict(),
            "chosen": self.chosen.to_dict(),
            "reasons": dict(self.candidate.reasons),
            "sentences": list(self.sentences),
            "steps": [{**s.to_dict(), "bound": s.bound, "frontier": s in frontier} for s in self.steps],
            "policy": self.to_toml(),
        }

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def to_toml(self, folder: Path | None = None) -> str:
        """The policy as a commented file; paths in it are told from the folder that it will stand in."""
        head = [
            f"Written by `shoal harden`, for a risk of {self.risk:g}. What was changed says why. Read it, then run",
            f"    {NEXT}",
            *self.sentences,
            f"Loss: {self.measure}.",
        ]
        if not self.reached:
            head.insert(0, f"THIS POLICY DOES NOT REACH THE RISK OF {self.risk:g}.")
        return policy_toml(self.policy, {**self.notes, **self.candidate.reasons}, head, folder)


def _beats(one: Step, other: Step) -> bool:
    mine, theirs = (one.bound, one.cost), (other.bound, other.cost)
    return mine != theirs and mine[0] <= theirs[0] and mine[1] <= theirs[1]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _words(step: Step) -> str:
    """What a policy asks for, in a few words."""
    parts = []
    for name, value in step.asked.items():
        if isinstance(value, dict):
            roles = sorted(set(value.values()))
            parts += [f"{sum(v == r for v in value.values())} to {r}" for r in roles]
        elif isinstance(value, list):
            parts += value
        else:
            parts.append(str(value) if isinstance(value, str) else f"{name}={value:g}")
    return ", ".join(parts)


def _figures(step: Step) -> tuple[str, str]:
    least = "" if step.is_whole else "at least "
    return (
        "" if step.loss is None else f"{step.loss:.3f}",
        f"{least}{step.bound:.2f}" if step.status == "attacked" else "",
    )


def _outcome(step: Step, risk: float) -> str:
    if step.status != "attacked":
        return step.status
    how = " (in full)" if step.is_full else ""
    if step.stays_below(risk):
        return f"holds{how}"
    worst = step.worst
    assert worst is not None
    return f"{worst.result.attack}{how}"
