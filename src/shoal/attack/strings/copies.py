"""Is someone's string in the release as it is?"""

from __future__ import annotations

import numpy as np

from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.strings.case import STRING_ATTACKS, StringCase
from shoal.attack.strings.rates import rates_of


class StringCopies(Attack[StringCase]):
    """Look a whole string up among the published ones, as a part of one or as all of it."""

    name = "copies"
    place = 10
    title = "finding whole strings"
    knows = "the whole of a string"
    stopped_by = "no copies: a pseudo-string that equals an original is drawn again"
    remedy = (
        "publish pseudo-strings rather than strings; with them, "
        'leave copies = "redraw", raise support or lower the order'
    )
    reference = "Shoal's own; the simplest of all"
    is_checked = True

    def run(self, case: StringCase, rng: np.random.Generator) -> AttackResult:
        """Count targets that stand in one published string from end to end."""
        fragments = case.fragments
        places, runs = fragments.runs()
        first = np.flatnonzero(np.diff(fragments.suffixes.owner, prepend=-1))[fragments.n_published :]
        whole = np.zeros(len(fragments.suffixes.text), np.int64)
        whole[places] = runs
        main, control = rates_of(fragments, whole[first] >= fragments.lengths)
        return self.result(
            main,
            f"{main.successes:,.0f} of {main.attempts:,} strings appear whole in the release"
            + (
                f", and {control.successes:,.0f} of {control.attempts:,} that were not in the data." if control else "."
            ),
            control=control,
            baseline=Rate(0, main.attempts),
        )


STRING_ATTACKS.register(StringCopies())
