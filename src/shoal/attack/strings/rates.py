"""What attacks on strings share: what they need, and the rates from one answer a target."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.strings.case import StringCase
from shoal.attack.strings.fragments import Fragments

FEWEST = 20
Rates = tuple[Rate, Rate | None]
"""On members, and on others where there are some."""


class AgainstOthers(Attack[StringCase]):
    """An attack that compares strings of the data with others."""

    def missing(self, case: StringCase) -> str | None:
        """There must be others."""
        if case.control is None or int((case.control.lengths > 0).sum()) < FEWEST:
            return f"It needs at least {FEWEST} strings that were not in the release (--control, or --hold-out before)."
        return None


class ByOwnReleases(AgainstOthers):
    """One that makes releases of its own, as the manifest tells how, and so is not run in every release."""

    def missing(self, case: StringCase) -> str | None:
        """It must be known how."""
        return super().missing(case) or ("It is not known how the strings were made." if case.again is None else None)

    def in_release(self) -> None:
        """Not at all."""


class ByFragment(Attack[StringCase]):
    """An attack by fragments of several widths; the result's rate is that of one of them."""

    needs_others = True
    widths: ClassVar[tuple[int, ...]]
    width: ClassVar[int]
    sentence: ClassVar[str]
    """What came of it: the rate in %, the width, what is told of others, and what `tried` tells are filled in."""

    def missing(self, case: StringCase) -> str | None:
        """Strings must be longer than the fragments."""
        if int((case.original.lengths >= self.width).sum()) < 2:
            return f"Fewer than two strings have {self.width} symbols."
        return None

    def run(self, case: StringCase, rng: np.random.Generator) -> AttackResult:
        """Try every width."""
        found, details = {}, {}
        for width in self.widths:
            rates, told = found[width] = self.tried(case.fragments, width, rng)
            details[f"width_{width}"] = rates[0].value
            details |= {f"width_{width}_{what}": value for what, value in told.items()}
        (main, control), told = found[self.width]
        sentence = self.sentence.format(main=100 * main.value, width=self.width, beside=beside(control), **told)
        return self.result(main, sentence, control=control, details=details)

    @abstractmethod
    def tried(self, fragments: Fragments, width: int, rng: np.random.Generator) -> tuple[Rates, dict[str, float]]:
        """How often it succeeds with one width, on members and on others, and what else is told of it."""


def rates_of(
    fragments: Fragments, succeeds: npt.NDArray[np.bool_], is_tried: npt.NDArray[np.bool_] | None = None
) -> Rates:
    """How often it succeeded."""
    tried = np.ones(len(succeeds), bool) if is_tried is None else is_tried
    members = np.arange(len(succeeds)) < fragments.n_main
    main = Rate(int((succeeds & tried & members).sum()), int((tried & members).sum()))
    if not fragments.n_control:
        return main, None
    return main, Rate(int((succeeds & tried & ~members).sum()), int((tried & ~members).sum()))


def beside(rate: Rate | None) -> str:
    """The control in a sentence."""
    return (
        ""
        if rate is None or not rate.attempts
        else f" ({100 * rate.value:.1f} % for strings that were not in the data)"
    )
