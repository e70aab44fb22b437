"""What was tried, and what came of it: one release among many, and what its numbers mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

Status = Literal["holds", "infeasible", "refused", "fails"]


@dataclass(frozen=True)
class Varied:
    """Something in which cells can differ, besides k.

    Attributes
    ----------
    option : str
        How the command line calls it.
    meaning : str
        For the page.
    head : str
        What stands above its column; its name where it is "".
    in_words : str
        How a value stands in the name of a line of the picture.
    is_share : bool
    """

    option: str
    meaning: str
    head: str = ""
    in_words: str = "{}"
    is_share: bool = False


@dataclass(frozen=True)
class Figure:
    """Something that is measured of a cell, a risk or a loss.

    Attributes
    ----------
    meaning : str
        For the page.
    head : str
        What stands above its column; its name where it is "".
    axis : str
        What stands at its axis; its name where it is "".
    is_share : bool
    digits : int
        How many are shown where it is no share.
    is_log : bool
        Of a risk: whether its axis is logarithmic.
    lowest : float
        Of a risk: what no attacker needs the release for.
    in_words : str
        Of a risk: how a value stands in a sentence.
    """

    meaning: str
    head: str = ""
    axis: str = ""
    is_share: bool = True
    digits: int = 3
    is_log: bool = False
    lowest: float = 0.0
    in_words: str = "a risk of {}"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One way to make a release: whether it would hold, what risk stays, and what it costs. Kinds of data add to it.

    Attributes
    ----------
    k : int or None
        The least group that was tried; None where no groups are asked for.
    group_size : int
        The least group that all requirements together ask for, which may be more than k.
    status : {"holds", "infeasible", "refused", "fails"}
        All guarantees hold; no release can meet them; the method does not suit the data or the policy; the release
        failed its own check, which is a defect.
    sentence : str
        Why there are no numbers, "" where there are.
    n_in, n_out : int
        Records that the release was made from, and records of the release.
    guarantees : tuple of dict
        What was required and achieved.
    losses : dict
        Every loss by its name; null where it is not a number.
    scores, scores_before : dict
        How well classes or values are predicted by the best model trained on this release, and on as many originals.
    seconds : float
        What it took, without the compiling of a first run.
    """

    settings: ClassVar[Mapping[str, Varied]]
    """What can be tried besides k, by the name of the attribute that holds it; the first one is the method."""
    risks: ClassVar[Mapping[str, Figure]]
    """The risks, by the names of attributes; the last one decides about the frontier."""
    measures: ClassVar[Mapping[str, Figure]]
    """The losses."""

    k: int | None
    group_size: int
    status: Status
    sentence: str
    n_in: int
    n_out: int
    seconds: float
    guarantees: tuple[dict[str, Any], ...] = ()
    losses: dict[str, float | None] = field(default_factory=dict)
    scores: dict[str, float | None] = field(default_factory=dict)
    scores_before: dict[str, float | None] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """What was tried, in a word."""
        return str(getattr(self, next(iter(self.settings))))

    @classmethod
    def decisive(cls) -> str:
        """Name of the risk that decides about the frontier."""
        return list(cls.risks)[-1]

    @property
    def risk(self) -> float | None:
        """That risk."""
        value: float | None = getattr(self, self.decisive())
        return value

    def risks_in_words(self, shown: Callable[[float], str]) -> list[str]:
        """What a sentence about the cell says of its risk."""
        return [] if self.risk is None else [self.risks[self.decisive()].in_words.format(shown(self.risk))]

    @property
    def holds(self) -> bool:
        """Whether a release was made and all its guarantees hold."""
        return self.status == "holds"

    @property
    def n_suppressed(self) -> int | None:
        """Records left out; None where there is no release."""
        return self.n_in - self.n_out if self.holds else None

    def loss(self, measure: str) -> float:
        """A loss by its name, of a score what is lost against the originals; infinite where there is none."""
        if measure in self.scores:
            after, before = self.scores[measure], self.scores_before.get(measure)
            return math.inf if after is None or before is None else before - after
        value = self.losses.get(measure)
        return math.inf if value is None else value

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "guarantees": [dict(g) for g in self.guarantees]}


def finite(value: float | None) -> float | None:
    """A number that JSON can hold."""
    return None if value is None or not math.isfinite(value) else float(value)
