"""Does the release hold a fragment that only one person has?"""

from __future__ import annotations

import numpy as np

from shoal.attack.strings.case import STRING_ATTACKS
from shoal.attack.strings.fragments import Fragments
from shoal.attack.strings.rates import ByFragment, Rates, rates_of


class UniqueFragments(ByFragment):
    """Fragments (k-mers) that one string alone holds, looked up among the published strings.

    Short ones meet by chance, so the control counts as much as the rate itself.
    """

    widths = (8, 12, 16)
    width = 12

    name = "unique-fragments"
    place = 30
    title = "finding a unique fragment"
    knows = f"the whole of a string, and which of its fragments of {width} symbols others lack"
    stopped_by = "support: what only one string of a group has is not continued"
    remedy = "raise support, or lower the order"
    reference = "Unique k-mers as identifiers; see Malin, JAMIA 12, 2005, on trails of DNA"

    sentence = (
        "For {main:.1f} % of the strings, a fragment of {width} symbols that no other string has appears in the "
        "release{beside}."
    )

    def tried(self, fragments: Fragments, width: int, rng: np.random.Generator) -> tuple[Rates, dict[str, float]]:
        """By the targets with a fragment that no other target holds and that stands in the release."""
        owner = fragments.suffixes.owner
        shown, held = fragments.holders(width)
        hit = np.flatnonzero((owner >= fragments.n_published) & (shown > 0) & (held == 1))
        is_found = np.zeros(fragments.n_targets, bool)
        is_found[owner[hit].astype(np.int64) - fragments.n_published] = True
        main, control = rates_of(fragments, is_found, fragments.lengths >= width)
        return (main, control), {"of_others": float("nan") if control is None else control.value}


STRING_ATTACKS.register(UniqueFragments())
