"""Was someone's string in the data? The scores of several releases of the same strings, averaged.

Each release hides members behind random numbers of its own. Who publishes the same data again and again gives the
attacker a mean in which these cancel, and what the releases have in common, the members, does not.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats
from shoal.attack.result import AMBER, AttackResult
from shoal.attack.roc import Roc
from shoal.attack.strings.best_matches import (
    beyond_alike,
    draw_sides,
    fragment_scores,
    missing_others,
    place_scores,
    some_of,
)
from shoal.attack.strings.case import STRING_ATTACKS, StringCase
from shoal.attack.strings.rates import FEWEST, ByOwnReleases
from shoal.check.strings.originals import in_alphabet_of

N_RELEASES = 5
MOST_MADE = 1_000_000  # symbols of the strings that are released again; some ten seconds


class SeveralReleases(ByOwnReleases):
    """Average what a string agrees, by places and by fragments, with each of several releases."""

    name = "several-releases"
    place = 90
    title = f"telling who is in the data, if the same strings are released {N_RELEASES} times"
    knows = (
        f"the whole of a string, other strings, not in the data, to compare with, and {N_RELEASES} "
        "releases of the same strings"
    )
    stopped_by = "nothing; a release is meant to be the only one of its strings"
    remedy = "release the same strings once: keep the release, or its seed, and give it out again"
    reference = "Shoal's own; Ganta et al., KDD 2008, for attacks by composition"

    def missing(self, case: StringCase) -> str | None:
        """There must be others to be told from and to compare with, and the strings must be few."""
        why = super().missing(case)
        if why is None and len(case.original.symbols) > MOST_MADE:
            return f"It makes releases of its own, and there are more than {MOST_MADE:,} symbols."
        return why or missing_others(case, 2 * FEWEST)

    def run(self, case: StringCase, rng: np.random.Generator) -> AttackResult:
        """Compare members and others by one release, and by all."""
        assert case.again is not None  # else it is missing
        sides, shown = draw_sides(case, rng)
        total: list[Floats] = [np.zeros(len(side)) for side in sides]
        areas = []
        for i in range(N_RELEASES):
            if i:
                again = in_alphabet_of(case.original, case.again(case.original, int(rng.integers(2**31))))
                shown = again.take(np.flatnonzero(again.lengths > 0))
            some = some_of(shown, rng)
            for scores in (place_scores(sides, some), fragment_scores(sides, some)):
                beyond = [
                    beyond_alike(score, side.lengths, scores[2], sides[2].lengths)
                    for score, side in zip(scores, sides, strict=True)
                ]
                spread = max(float(beyond[2].std()), 1e-12)
                total = [t + b / spread for t, b in zip(total, beyond, strict=True)]
            areas.append(Roc.of(total[0], total[1]).area)
        roc = Roc.of(total[0], total[1])
        return self.membership_result(
            roc,
            f"With {N_RELEASES} releases of the same strings, a member scores above a string that was not in the data "
            f"with a probability of {{area:.2f}}; with this release alone, of {areas[0]:.2f} (0.5 is chance; above "
            f"{AMBER} members can be recognised).",
            false_alarms=0.5,
            details={"area_of_one_release": areas[0]},
        )


STRING_ATTACKS.register(SeveralReleases())
