"""Who knows a fragment: how many published strings are left to look at?"""

from __future__ import annotations

import numpy as np

from shoal.attack.strings.case import STRING_ATTACKS
from shoal.attack.strings.fragments import Fragments
from shoal.attack.strings.rates import ByFragment, Rates, rates_of


class FragmentLinkage(ByFragment):
    """A random fragment of a string is looked up; success is exactly one published string that holds it."""

    widths = (10, 20, 40)
    width = 20

    name = "fragment-linkage"
    place = 40
    title = "linking by a fragment"
    knows = f"a fragment of {width} symbols of a string, from a random place of it"
    stopped_by = "condensation: a published string is of a group of k, and of no single original"
    remedy = "raise support or k"
    reference = "Shoal's own, after linkage by partial knowledge"

    sentence = (
        "For {main:.1f} % of the strings, a fragment of {width} symbols appears in exactly one published string"
        "{beside}; on average it appears in {mean_candidates:.2f}."
    )

    def tried(self, fragments: Fragments, width: int, rng: np.random.Generator) -> tuple[Rates, dict[str, float]]:
        """By the targets whose fragment stands in one published string alone."""
        places = fragments.known(width, rng)
        candidates = np.where(places >= 0, fragments.holders(width)[0][places], 0)
        ours = fragments.split(np.where(places >= 0, candidates, -1))[0]
        tried = ours[ours >= 0]
        rates = rates_of(fragments, candidates == 1, places >= 0)
        return rates, {"mean_candidates": float(tried.mean()) if len(tried) else float("nan")}


STRING_ATTACKS.register(FragmentLinkage())
