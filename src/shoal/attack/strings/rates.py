"""What attacks on strings share: what they need, and the rates from one answer a target."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from shoal.attack.attack import Attack
from shoal.attack.result import Rate
from shoal.attack.strings.case import StringCase
from shoal.attack.strings.fragments import Fragments

FEWEST = 20


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

    widths: ClassVar[tuple[int, ...]]
    width: ClassVar[int]

    def missing(self, case: StringCase) -> str | None:
        """Strings must be longer than the fragments."""
        if int((case.original.lengths >= self.width).sum()) < 2:
            return f"Fewer than two strings have {self.width} symbols."
        return None


def rates_of(
    fragments: Fragments, succeeds: npt.NDArray[np.bool_], is_tried: npt.NDArray[np.bool_] | None = None
) -> tuple[Rate, Rate | None]:
    """How often it succeeded on members, and on others where there are some."""
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
