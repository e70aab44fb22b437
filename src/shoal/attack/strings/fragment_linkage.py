"""Who knows a fragment: how many published strings are left to look at?"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.attack.result import AttackResult
from shoal.attack.strings.case import StringCase
from shoal.attack.strings.rates import beside, rates_of

WIDTHS = (10, 20, 40)
WIDTH = 20


class FragmentLinkage:
    """A random fragment of a string is looked up; success is exactly one published string that holds it."""

    name: ClassVar[str] = "fragment-linkage"
    title: ClassVar[str] = "linked by a fragment"
    knows: ClassVar[str] = f"a fragment of {WIDTH} symbols of a string, from a random place of it"
    stopped_by: ClassVar[str] = "condensation: a published string is of a group of k, and of no single original"
    remedy: ClassVar[str] = "raise support or k"
    reference: ClassVar[str] = "Shoal's own, after linkage by partial knowledge"

    def missing(self, case: StringCase) -> str | None:
        """Strings must be longer than the fragment."""
        if int((case.original.lengths >= WIDTH).sum()) < 2:
            return f"Fewer than two strings have {WIDTH} symbols."
        return None

    def run(self, case: StringCase, rng: np.random.Generator) -> AttackResult:
        """Count targets whose fragment stands in one published string alone."""
        fragments = case.fragments
        details, found = {}, {}
        for width in WIDTHS:
            places = fragments.known(width, rng)
            candidates = np.where(places >= 0, fragments.holders(width)[0][places], 0)
            found[width] = rates_of(fragments, candidates == 1, places >= 0)
            ours = fragments.split(np.where(places >= 0, candidates, -1))[0]
            tried = ours[ours >= 0]
            details[f"width_{width}"] = found[width][0].value
            details[f"width_{width}_mean_candidates"] = float(tried.mean()) if len(tried) else float("nan")
        main, control = found[WIDTH]
        return AttackResult(
            self.name,
            self.title,
            self.knows,
            main,
            control,
            None,
            f"A fragment of {WIDTH} symbols points at exactly one published string for {100 * main.value:.1f} % of the "
            f"strings{beside(control)}; {details[f'width_{WIDTH}_mean_candidates']:.2f} published strings hold it on "
            "average.",
            details,
        )
