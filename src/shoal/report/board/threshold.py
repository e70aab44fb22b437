"""The risk that is acceptable, and what is said of a risk beside it.

References
----------
European Medicines Agency, External guidance on the implementation of policy 0070, 2018, section 5.3: 0.09 for public
release, as Health Canada. K. El Emam, "Guide to the De-Identification of Personal Health Information", 2013, chapter
16: thresholds from 0.05 (groups of 20) to 0.33 (groups of 3), by who gets the data and what harm could come of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PUBLIC, PUBLIC_WITH_HARM, SAFE_SETTING = 0.09, 0.05, 0.33


@dataclass(frozen=True)
class Threshold:
    """The highest acceptable risk, and why."""

    value: float
    why: str

    @classmethod
    def of(cls, context: Mapping[str, Any]) -> Threshold:
        """From what a policy says of the release; in doubt the one for public release.

        >>> Threshold.of({}).value, Threshold.of({"release_model": "safe setting"}).value
        (0.09, 0.33)
        >>> Threshold.of({"release_model": "public", "harms": "stigma"}).value
        0.05
        """
        if context.get("acceptable_risk") is not None:
            return cls(float(context["acceptable_risk"]), "as stated in the policy")
        model = context.get("release_model")
        if model == "safe setting":
            return cls(SAFE_SETTING, "for work in a safe setting, that is, groups of three")
        if model == "public" and context.get("harms"):
            return cls(PUBLIC_WITH_HARM, "for public release of data that could harm, that is, groups of twenty")
        stated = {"public": "for public release", "agreement": "under an agreement, the same as for public release"}
        return cls(PUBLIC, stated.get(str(model), "for public release, since no release model is stated"))

    def verdict(self, risk: float | None) -> str:
        """Where a risk stands.

        >>> Threshold(0.09, "").verdict(0.05), Threshold(0.09, "").verdict(0.2), Threshold(0.09, "").verdict(None)
        ('at or below', 'above', 'not measured')
        """
        return "not measured" if risk is None else "at or below" if risk <= self.value else "above"
