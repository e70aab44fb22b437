"""Who knows a fragment: how many published strings are left to look at?"""

from __future__ import annotations

import numpy as np

from shoal.attack.result import AttackResult
from shoal.attack.strings.case import STRING_ATTACKS, StringCase
from shoal.attack.strings.rates import ByFragment, beside, rates_of


class FragmentLinkage(ByFragment):
    """A random fragment of a string is looked up; success is exactly one published string that holds it."""

    widths = (10, 20, 40)
    width = 20

    name = "fragment-linkage"
    place = 40
    title = "linking by a fragment"
    needs_others = True
    knows = f"a fragment of {width} symbols of a string, from a random place of it"
    stopped_by = "condensation: a published string is of a group of k, and of no single original"
    remedy = "raise support or k"
    reference = "Shoal's own, after linkage by partial knowledge"

    def run(self, case: StringCase, rng: np.random.Generator) -> AttackResult:
        """Count targets whose fragment stands in one published string alone."""
        fragments = case.fragments
        details, found = {}, {}
        for width in self.widths:
            places = fragments.known(width, rng)
            candidates = np.where(places >= 0, fragments.holders(width)[0][places], 0)
            found[width] = rates_of(fragments, candidates == 1, places >= 0)
            ours = fragments.split(np.where(places >= 0, candidates, -1))[0]
            tried = ours[ours >= 0]
            details[f"width_{width}"] = found[width][0].value
            details[f"width_{width}_mean_candidates"] = float(tried.mean()) if len(tried) else float("nan")
        main, control = found[self.width]
        return self.result(
            main,
            f"For {100 * main.value:.1f} % of the strings, a fragment of {self.width} symbols appears in exactly one "
            f"published string{beside(control)}; on average it appears in "
            f"{details[f'width_{self.width}_mean_candidates']:.2f}.",
            control=control,
            details=details,
        )


STRING_ATTACKS.register(FragmentLinkage())
