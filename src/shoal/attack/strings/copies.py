"""Is someone's string in the release as it is?"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.attack.result import AttackResult, Rate
from shoal.attack.strings.case import StringCase
from shoal.attack.strings.rates import rates_of


class StringCopies:
    """Look a whole string up among the published ones, as a part of one or as all of it."""

    name: ClassVar[str] = "copies"
    title: ClassVar[str] = "whole strings found"
    knows: ClassVar[str] = "the whole of a string"
    stopped_by: ClassVar[str] = "no copies: a pseudo-string that equals an original is drawn again"
    remedy: ClassVar[str] = (
        "publish pseudo-strings rather than strings; with them, "
        'leave copies = "redraw", raise support or lower the order'
    )
    reference: ClassVar[str] = "Shoal's own; the simplest of all"

    def missing(self, case: StringCase) -> str | None:
        """It can always be run."""
        return None

    def run(self, case: StringCase, rng: np.random.Generator) -> AttackResult:
        """Count targets that stand in one published string from end to end."""
        fragments = case.fragments
        places, runs = fragments.runs()
        first = np.flatnonzero(np.diff(fragments.suffixes.owner, prepend=-1))[fragments.n_published :]
        whole = np.zeros(len(fragments.suffixes.text), np.int64)
        whole[places] = runs
        main, control = rates_of(fragments, whole[first] >= fragments.lengths)
        return AttackResult(
            self.name,
            self.title,
            self.knows,
            main,
            control,
            Rate(0, main.attempts),
            f"{main.successes:,.0f} of {main.attempts:,} strings stand in the release from end to end"
            + (f", and {control.successes:,.0f} of {control.attempts:,} others." if control else "."),
        )
