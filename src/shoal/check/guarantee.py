"""The result of a check: what was required, what was reached, where it is worst, and a sentence about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Mask
from shoal.check.tables.classes import Classes

N_WORST = 5
# Relative slack of comparisons that cannot be made in integers or by one correctly rounded division.
TOLERANCE = 1e-12


@dataclass(frozen=True)
class WorstClass:
    """A class that comes nearest to failing, or fails: its published cells, its records, what it reaches."""

    values: dict[str, str]
    size: int
    achieved: float

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; a number that is not finite is null."""
        return {"values": dict(self.values), "size": self.size, "achieved": _finite(self.achieved)}


@dataclass(frozen=True)
class Guarantee:
    """One privacy model, recomputed from a published table.

    Attributes
    ----------
    model, kind : str
        Such as "l-diversity" and "entropy"; for t-closeness the kind is the distance; "" where there is
        only one kind.
    sensitive : str
        The protected column, "" for k-anonymity.
    required : dict
        The parameters, such as {"k": 5}.
    achieved : float
        What the worst class reaches, in the unit of the main parameter (k, l, t, alpha, beta; for recursive
        diversity c).
    holds : bool
        Whether no class fails.
    n_classes, n_failing : int
        Equivalence classes in all, and those that fail.
    worst : tuple of WorstClass
        Up to five classes, the worst first.
    sentence : str
        The result in plain words.
    details : dict
        What else was reached: {"k": ...} for (alpha, k)-anonymity.
    """

    model: str
    kind: str
    sensitive: str
    required: dict[str, float]
    achieved: float
    holds: bool
    n_classes: int
    n_failing: int
    worst: tuple[WorstClass, ...]
    sentence: str
    details: dict[str, float] = field(default_factory=dict)

    @classmethod
    def counted(
        cls,
        model: str,
        required: dict[str, float],
        achieved: float,
        n_classes: int,
        n_failing: int,
        sentence: str,
        *,
        kind: str = "",
        details: dict[str, float] | None = None,
    ) -> Guarantee:
        """One of things that are counted and are no classes of a table: it holds where none of them fails."""
        return cls(
            model, kind, "", required, achieved, not n_failing, n_classes, n_failing, (), sentence, details or {}
        )

    def __repr__(self) -> str:
        return f"<{self.model} {self}>"

    def __str__(self) -> str:
        return f"{'holds' if self.holds else 'FAILS'}: {self.sentence}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; a number that is not finite is null."""
        return {
            "model": self.model,
            "kind": self.kind,
            "sensitive": self.sensitive,
            "required": dict(self.required),
            "achieved": _finite(self.achieved),
            "holds": self.holds,
            "n_classes": self.n_classes,
            "n_failing": self.n_failing,
            "worst": [w.to_dict() for w in self.worst],
            "sentence": self.sentence,
            "details": {n: _finite(v) for n, v in self.details.items()},
        }


@dataclass(frozen=True)
class Reached:
    """What the classes of a table reach of one model, or those of a part of it: enough to tell its guarantee.

    Attributes
    ----------
    n_classes, n_failing : int
        Classes in all, and those that fail.
    achieved : float
        What the worst class achieves.
    smallest : int
        Members of the smallest class.
    low_is_worse : bool
        Whether small numbers are the dangerous ones.
    noun : str
        What is counted: records or persons.
    are_histories : bool
        Whether a class has all rows of its persons.
    """

    n_classes: int
    n_failing: int
    achieved: float
    smallest: int
    low_is_worse: bool
    noun: str
    are_histories: bool
    _worst: tuple[tuple[tuple[Any, ...], WorstClass], ...]

    @classmethod
    def of(cls, classes: Classes, achieved: npt.NDArray[Any], failing: Mask, *, low_is_worse: bool) -> Reached:
        """Sum up what each class achieves.

        Worst classes are listed failing ones first, then by what they achieve, by size, and by published values.
        """
        values = achieved.astype(np.float64)
        badness = -values if low_is_worse else values
        worst = np.lexsort((classes.sizes, -badness, ~failing))[:N_WORST]
        listed = []
        for i in worst.tolist():
            place = (not failing[i], -float(badness[i]), int(classes.sizes[i]), classes.place(i))
            listed.append((place, WorstClass(classes.values(i), int(classes.sizes[i]), float(values[i]))))
        return cls(
            classes.n_classes,
            int(failing.sum()),
            float(values[np.argmax(badness)]),
            int(classes.sizes.min()),
            low_is_worse,
            classes.noun,
            classes.are_histories,
            tuple(listed),
        )

    def with_part(self, other: Reached) -> Reached:
        """Of all classes of two parts of a table, whose columns have the same dictionaries; no class is in both."""
        worst = sorted((*self._worst, *other._worst), key=lambda listed: listed[0])[:N_WORST]
        return replace(
            self,
            n_classes=self.n_classes + other.n_classes,
            n_failing=self.n_failing + other.n_failing,
            achieved=(min if self.low_is_worse else max)(self.achieved, other.achieved),
            smallest=min(self.smallest, other.smallest),
            _worst=tuple(worst),
        )

    @property
    def failing_groups(self) -> str:
        """Where the model fails, for a sentence."""
        return f"in {self.n_failing} of {count(self.n_classes, 'group')} of records that look alike"

    def guarantee(
        self,
        model: str,
        required: Mapping[str, float],
        sentences: tuple[str, str],
        *,
        kind: str = "",
        sensitive: str = "",
        details: Mapping[str, float] | None = None,
    ) -> Guarantee:
        """The guarantee; of the two `sentences`, the second is for a model that fails."""
        return Guarantee(
            model=model,
            kind=kind,
            sensitive=sensitive,
            required=dict(required),
            achieved=self.achieved,
            holds=self.n_failing == 0,
            n_classes=self.n_classes,
            n_failing=self.n_failing,
            worst=tuple(named for _, named in self._worst),
            sentence=sentences[self.n_failing > 0],
            details=dict(details or {}),
        )


def number(value: float) -> str:
    """Write a number for a sentence, with up to four digits behind the point.

    >>> number(3.0), number(0.123456), number(1234567), number(1e-7)
    ('3', '0.1235', '1234567', '1e-07')
    """
    if not math.isfinite(value):
        return "infinity" if value > 0 else "none"
    if value != 0 and abs(value) < 1e-4:
        return f"{value:.3g}"
    return f"{value:.4f}".rstrip("0").rstrip(".")


def count(n: int, noun: str) -> str:
    """A count with its noun.

    >>> count(1, "record"), count(3, "record"), count(1017, "item")
    ('1 record', '3 records', '1,017 items')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
