"""What hardening asks of a kind of data: where to begin, what is harder, what is milder, and what a release costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult
from shoal.harden.step import Candidate, Step

RUNGS = (2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
"""Sizes of groups to try, each about half as large again as the one before."""


class Ladder(ABC):
    """The policies that can be made of one, for some data.

    Attributes
    ----------
    start : Candidate
        The policy that is to be hardened, with what it leaves to be guessed written out.
    notes : mapping of str to str
        What is said of its keys where they stay as they are.
    """

    measure: ClassVar[str]
    """What the loss is, in words."""

    start: Candidate
    notes: Mapping[str, str] = MappingProxyType({})

    @abstractmethod
    def checksum(self) -> str:
        """Of the data, and of what it is taken to mean."""

    @abstractmethod
    def ways(self) -> list[Candidate]:
        """Where else to begin: the policy with other methods and publications."""

    @abstractmethod
    def release(self, data: Any, policy: Any, seed: int, held_out: Any) -> Any:
        """Make a release in memory, and check it."""

    @abstractmethod
    def loss(self, release: Any) -> float:
        """What the release costs against the data as the first policy would publish it, from 0 to 1."""

    def measured(self, release: Any) -> dict[str, dict[str, float]]:
        """What else is known of a release, for the next step to go by."""
        return {}

    def findings(self, release: Any) -> list[AttackResult]:
        """What the release would be refused for, told as attacks that succeed."""
        return []

    def cases(self, release: Any, attacks: Sequence[Attack[Any]]) -> Iterable[tuple[Any, Sequence[Attack[Any]]]]:
        """What is attacked, by which attacks."""
        return [(release.case, attacks)]

    @abstractmethod
    def harder(self, candidate: Candidate, step: Step, failing: Sequence[AttackResult], risk: float) -> list[Candidate]:
        """What may stop the attacks that succeed, best first; none where nothing more can be done on this way."""

    @abstractmethod
    def milder(self, candidate: Candidate, step: Step) -> Iterable[Candidate]:
        """What may lose less and still stop them."""

    @abstractmethod
    def asked(self, policy: Any) -> dict[str, Any]:
        """What a policy asks for, as far as hardening changes it."""

    def advice(self, failing: Sequence[AttackResult]) -> str:
        """What could be done where no policy was found, in a sentence without its end; "" for nothing."""
        return ""


def because(result: AttackResult) -> str:
    """What an attack added, for a reason."""
    return f"{result.title} added {result.risk}"


def rungs_above(k: int, most: int) -> list[int]:
    """Sizes of groups above one, up to the most that makes sense."""
    return [r for r in RUNGS if k < r <= most]


def rungs_between(least: int, k: int) -> list[int]:
    """Sizes of groups below one to go back to: the middle one first, then from large to small."""
    below = [r for r in dict.fromkeys((least, *RUNGS)) if least <= r < k]
    if not below:
        return []
    middle = below[len(below) // 2]
    return list(dict.fromkeys((middle, below[-1])))
