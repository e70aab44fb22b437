"""Does the release hold a fragment that only one person has?"""

from __future__ import annotations

import numpy as np

from shoal.attack.result import AttackResult
from shoal.attack.strings.case import STRING_ATTACKS, StringCase
from shoal.attack.strings.rates import ByFragment, beside, rates_of


class UniqueFragments(ByFragment):
    """Fragments (k-mers) that one string alone holds, looked up among the published strings.

    Short ones meet by chance, so the control counts as much as the rate itself.
    """

    widths = (8, 12, 16)
    width = 12

    name = "unique-fragments"
    place = 30
    title = "finding a unique fragment"
    needs_others = True
    knows = f"the whole of a string, and which of its fragments of {width} symbols others lack"
    stopped_by = "support: what only one string of a group has is not continued"
    remedy = "raise support, or lower the order"
    reference = "Unique k-mers as identifiers; see Malin, JAMIA 12, 2005, on trails of DNA"

    def run(self, case: StringCase, rng: np.random.Generator) -> AttackResult:
        """Count targets with a fragment that no other target holds and that stands in the release."""
        fragments = case.fragments
        suffixes = fragments.suffixes
        details, found = {}, {}
        for width in self.widths:
            shown, held = fragments.holders(width)
            is_target = suffixes.owner >= fragments.n_published
            hit = np.flatnonzero(is_target & (shown > 0) & (held == 1))
            is_found = np.zeros(fragments.n_targets, bool)
            is_found[suffixes.owner[hit].astype(np.int64) - fragments.n_published] = True
            found[width] = rates_of(fragments, is_found, fragments.lengths >= width)
            details[f"width_{width}"] = found[width][0].value
            control = found[width][1]
            details[f"width_{width}_of_others"] = float("nan") if control is None else control.value
        main, control = found[self.width]
        return self.result(
            main,
            f"For {100 * main.value:.1f} % of the strings, a fragment of {self.width} symbols that no other string has "
            f"appears in the release{beside(control)}.",
            control=control,
            details=details,
        )


STRING_ATTACKS.register(UniqueFragments())
