"""Was someone's string in the data? Two readings of the published strings that lie near it.

Who draws a pseudo-string again when it equals an original leaves holes: a string that stands in the release was surely
not in the data, and one that is missing where strings differing in a symbol or two stand thick probably was. Who lets
such draws stand leaves echoes: a string that was in the data stands in the release more often than another. In data of
much variety a draw hardly ever equals an original, and there is neither.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from shoal.attack.result import AttackResult, Z
from shoal.attack.roc import FALSE_ALARMS, Roc
from shoal.attack.strings.case import STRING_ATTACKS, StringCase
from shoal.attack.strings.neighbourhood import Neighbourhood
from shoal.attack.strings.rates import FEWEST, AgainstOthers


class _NearStrings(AgainstOthers):
    """What both readings share."""

    knows = "the whole of a string, other strings that were not in the data, and how pseudo-strings are made"
    reference = "Shoal's own; Carlini et al., IEEE S&P 2022, for the way of counting"

    def missing(self, case: StringCase) -> str | None:
        """There must be others, and enough that occur as often."""
        why = super().missing(case)
        if why is not None:
            return why
        near = case.neighbourhood
        if near.roc(near.nearness, unique=True) is None and near.roc(near.nearness, unique=False) is None:
            return f"It needs at least {FEWEST} strings of both sides that occur once, or as many that do not."
        return None

    @abstractmethod
    def score(self, near: Neighbourhood) -> npt.NDArray[np.float64]:
        """A higher one says "member"."""

    def run(self, case: StringCase, rng: np.random.Generator) -> AttackResult:
        """Compare members and others, those that occur once apart from the rest."""
        near = case.neighbourhood
        scores = self.score(near)
        once, others = (near.roc(scores, unique=unique) for unique in (True, False))
        roc = once or others
        assert roc is not None  # else it is missing
        which = "members whose string occurs once" if once else "members"
        return self.membership_result(
            roc,
            f"At {100 * FALSE_ALARMS:g} % false alarms, {{main:.1f}} % of the {which} are recognised; one of them "
            f"scores above a string that was not in the data with a probability of {{area:.2f}} ({_interval(roc)}; 0.5 "
            "is chance)." + (f" For strings that occur more often it is {others.area:.2f}." if once and others else ""),
            details={**_of_others(others if once else None), **_verbatim(near)},
        )


class Holes(_NearStrings):
    """A string that stands in the release is no member; else the more crowded the places around it, the likelier."""

    name = "holes"
    place = 100
    title = "telling who is in the data by what is missing"
    stopped_by = 'nothing where copies are drawn again; copies = "allow" leaves no holes'
    remedy = 'raise k; if being in the data is the secret, ask for copies = "allow" and look at echoes'

    def score(self, near: Neighbourhood) -> npt.NDArray[np.float64]:
        """Lowest for what stands there."""
        return np.where(near.counts[:, 0] > 0, -1.0, near.nearness)


class Echoes(_NearStrings):
    """A string that stands in the release is a member; else the more crowded the places around it, the likelier."""

    name = "echoes"
    place = 110
    title = "telling who is in the data by copies and near copies"
    stopped_by = "no copies, as to whole strings; as to near ones nothing but groups of many strings"
    remedy = 'raise k and support; ask for copies = "redraw", and look at holes'

    def score(self, near: Neighbourhood) -> npt.NDArray[np.float64]:
        """Highest for what stands there; the nearness of a string is less than its root of all near ones."""
        top = 1.0 + near.nearness.max(initial=0.0)
        return np.asarray(near.nearness + top * near.counts[:, 0])


def _interval(roc: Roc) -> str:
    low, high = (min(max(roc.area + sign * Z * roc.area_error, 0.0), 1.0) for sign in (-1, 1))
    return f"{low:.2f} to {high:.2f}"


def _of_others(roc: Roc | None) -> Mapping[str, float]:
    return {
        "area_of_strings_that_occur_again": math.nan if roc is None else roc.area,
        "hits_of_strings_that_occur_again": math.nan if roc is None else roc.hits(FALSE_ALARMS)[0].value,
    }


def _verbatim(near: Neighbourhood) -> Mapping[str, float]:
    """Which share of the strings that occur once stands in the release as it is."""
    shares = {}
    for name, member in (("members_verbatim", True), ("others_verbatim", False)):
        n_found, n = near.verbatim(member=member)
        shares[name] = n_found / n if n else math.nan
    return shares


STRING_ATTACKS.register(Holes())
STRING_ATTACKS.register(Echoes())
