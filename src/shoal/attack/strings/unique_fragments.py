"""Does the release hold a fragment that only one person has?"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.attack.result import AttackResult
from shoal.attack.strings.case import StringCase
from shoal.attack.strings.rates import beside, rates_of

WIDTHS = (8, 12, 16)
WIDTH = 12


class UniqueFragments:
    """Fragments (k-mers) that one string alone holds, looked up among the published strings.

    Short ones meet by chance, so the control counts as much as the rate itself.
    """

    name: ClassVar[str] = "unique-fragments"
    title: ClassVar[str] = "a unique fragment found"
    knows: ClassVar[str] = f"the whole of a string, and which of its fragments of {WIDTH} symbols others lack"
    stopped_by: ClassVar[str] = "support: what only one string of a group has is not carried on"
    remedy: ClassVar[str] = "raise support, or lower the order"
    reference: ClassVar[str] = "Unique k-mers as identifiers; see Malin, JAMIA 12, 2005, on trails of DNA"

    def missing(self, case: StringCase) -> str | None:
        """Strings must be longer than the fragments."""
        if int((case.original.lengths >= WIDTH).sum()) < 2:
            return f"Fewer than two strings have {WIDTH} symbols."
        return None

    def run(self, case: StringCase, rng: np.random.Generator) -> AttackResult:
        """Count targets with a fragment that no other target holds and that stands in the release."""
        fragments = case.fragments
        suffixes = fragments.suffixes
        details, found = {}, {}
        for width in WIDTHS:
            shown, held = fragments.holders(width)
            is_target = suffixes.owner >= fragments.n_published
            hit = np.flatnonzero(is_target & (shown > 0) & (held == 1))
            is_found = np.zeros(fragments.n_targets, bool)
            is_found[suffixes.owner[hit].astype(np.int64) - fragments.n_published] = True
            found[width] = rates_of(fragments, is_found, fragments.lengths >= width)
            details[f"width_{width}"] = found[width][0].value
            control = found[width][1]
            details[f"width_{width}_of_others"] = float("nan") if control is None else control.value
        main, control = found[WIDTH]
        return AttackResult(
            self.name,
            self.title,
            self.knows,
            main,
            control,
            None,
            f"Of {100 * main.value:.1f} % of the strings a fragment of {WIDTH} symbols that no other of them has "
            f"stands in the release{beside(control)}.",
            details,
        )
