"""Was someone's string in the data that the release was made from?"""

from __future__ import annotations

import numpy as np

from shoal.attack.result import AttackResult
from shoal.attack.roc import FALSE_ALARMS, Roc
from shoal.attack.strings.case import STRING_ATTACKS, StringCase
from shoal.attack.strings.rates import AgainstOthers


class StringMembership(AgainstOthers):
    """Score a string by how long its runs are that stand in published strings, on average over its places."""

    name = "membership"
    place = 50
    title = "telling who is in the data"
    knows = "the whole of a string, and other strings, not in the data, to compare with"
    stopped_by = "nothing that is promised here; larger groups make it harder"
    remedy = "raise k and support; if being in the data is itself a secret, do not publish strings"
    reference = "Carlini et al., IEEE S&P 2022, for the way of counting"

    def run(self, case: StringCase, rng: np.random.Generator) -> AttackResult:
        """Compare the scores of members and others."""
        fragments = case.fragments
        places, runs = fragments.runs()
        target = fragments.suffixes.owner[places].astype(np.int64) - fragments.n_published
        score = np.bincount(target, weights=runs, minlength=fragments.n_targets) / fragments.lengths
        members, others = fragments.split(score)
        return self.membership_result(
            Roc.of(members, others),
            f"At {100 * FALSE_ALARMS:g} % false alarms, {{main:.1f}} % of the members are recognised; a member scores "
            "above a string that was not in the data with a probability of {area:.2f} (0.5 is chance).",
        )


STRING_ATTACKS.register(StringMembership())
