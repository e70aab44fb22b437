"""Does a large part of someone's string stand in the release?"""

from __future__ import annotations

import numpy as np

from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult
from shoal.attack.strings.case import STRING_ATTACKS, StringCase
from shoal.attack.strings.rates import beside, rates_of

SHARE = 0.5


class LongFragment(Attack[StringCase]):
    """Find the longest run that a string shares with a published one; success is half of the string or more."""

    name = "long-fragment"
    place = 20
    title = "finding half of a string"
    needs_others = True
    knows = "the whole of a string"
    stopped_by = "support: what fewer strings of a group share is not continued"
    remedy = "raise support or k, or lower the order; near-identical originals give near copies"
    reference = "Longest common substring by suffix arrays: Manber and Myers, SIAM J. Comput. 22, 1993"

    def run(self, case: StringCase, rng: np.random.Generator) -> AttackResult:
        """Count targets of which half stands verbatim in one published string."""
        fragments = case.fragments
        places, runs = fragments.runs()
        longest = np.zeros(fragments.n_targets, np.int64)
        np.maximum.at(longest, fragments.suffixes.owner[places].astype(np.int64) - fragments.n_published, runs)
        main, control = rates_of(fragments, longest >= np.maximum(SHARE * fragments.lengths, 1))
        ours, others = fragments.split(longest)
        return self.result(
            main,
            f"For {100 * main.value:.1f} % of the strings, at least half appears verbatim in one published string"
            f"{beside(control)}; the longest run averages {ours.mean():.1f} symbols"
            + (f", against {others.mean():.1f} for others." if len(others) else "."),
            control=control,
            details={
                "mean_longest_run": float(ours.mean()),
                "mean_longest_run_of_others": float(others.mean()) if len(others) else float("nan"),
                "longest_run": float(ours.max(initial=0)),
            },
        )


STRING_ATTACKS.register(LongFragment())
