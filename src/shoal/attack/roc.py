"""How well a score tells members from others: area under the curve, and the hits at few false alarms.

References
----------
N. Carlini, S. Chien, M. Nasr, S. Song, A. Terzis, F. Tramèr, "Membership inference attacks from first principles", IEEE
Symposium on Security and Privacy 2022: the rate at few false alarms is what counts, not the average.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats
from shoal.attack.result import Rate

FALSE_ALARMS = 0.01
FEWER_FALSE_ALARMS = 0.001


@dataclass(frozen=True)
class Roc:
    """Scores of members against those of others; a higher score says "member".

    Attributes
    ----------
    area, area_error : float
        The chance that a random member scores above a random other, ties counting half, and its standard error
        (Hanley and McNeil, Radiology 143, 1982).
    """

    members: Floats
    others: Floats
    area: float
    area_error: float

    @classmethod
    def of(cls, members: npt.ArrayLike, others: npt.ArrayLike) -> Roc:
        """From the scores of both.

        >>> found = Roc.of([3.0, 4.0], [1.0, 2.0])
        >>> found.area, found.hits(0.5)[0].value
        (1.0, 1.0)
        """
        a, b = (np.sort(np.asarray(v, np.float64)) for v in (members, others))
        below, upto = np.searchsorted(b, a, side="left"), np.searchsorted(b, a, side="right")
        area = float((below + upto).mean() / (2 * len(b)))
        one, two = area / (2 - area), 2 * area**2 / (1 + area)
        variance = area * (1 - area) + (len(a) - 1) * (one - area**2) + (len(b) - 1) * (two - area**2)
        return cls(a, b, area, math.sqrt(max(variance, 0.0) / (len(a) * len(b))))

    def hits(self, false_alarms: float) -> tuple[Rate, Rate]:
        """Members and others that are called members where at most this share of the others may be.

        Those who tie at the threshold are taken in part, as if ordered at random; none where no member ties.

        >>> [rate.value for rate in Roc.of([1.0, 1.0, 0.5], [1.0, 0.0, 0.0, 0.0]).hits(0.25)]
        [1.0, 0.25]
        """
        n_allowed = math.floor(false_alarms * len(self.others) + 1e-9)
        threshold = self.others[max(len(self.others) - 1 - n_allowed, 0)]
        above = [int((side > threshold).sum()) for side in (self.members, self.others)]
        tied = [int((side == threshold).sum()) for side in (self.members, self.others)]
        part = (n_allowed - above[1]) / tied[1] if tied[0] else 0.0
        return (
            Rate(above[0] + part * tied[0], len(self.members)),
            Rate(above[1] + part * tied[1], len(self.others)),
        )

    @property
    def by_guessing(self) -> Rate:
        """How many members are found by one who calls people members at random, at the usual share of false alarms."""
        return Rate(FALSE_ALARMS * len(self.members), len(self.members))

    @property
    def details(self) -> dict[str, float]:
        """What a result tells besides its rates; fewer others than a rate needs make it nan."""
        few = self.hits(FEWER_FALSE_ALARMS)[0].value if len(self.others) >= 1 / FEWER_FALSE_ALARMS else math.nan
        return {
            "area_under_curve": self.area,
            "area_error": self.area_error,
            "hits_at_1_percent_false_alarms": self.hits(FALSE_ALARMS)[0].value,
            "hits_at_0.1_percent_false_alarms": few,
        }
