"""(alpha, k)-anonymity: classes of at least k, no sensitive value in more than the share alpha of a class.

The paper's general model: alpha bounds every sensitive value, not one that is chosen.

**Guarantee.** At least k records could be the one looked for, and no sensitive value is inferred with a confidence
above alpha.
**Not protected.** A value that is rare in the table may be much likelier in a class, up to alpha.

References ---------- R. C.-W. Wong, J. Li, A. W.-C. Fu, K. Wang, "(alpha, k)-anonymity: an enhanced
k-anonymity model for privacy preserving data publishing", KDD 2006.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Floats, Mask
from shoal.check.guarantee import TOLERANCE, Guarantee, Reached, number
from shoal.check.tables.classes import Classes
from shoal.check.tables.distribution import Distribution
from shoal.check.tables.models import Believed, Check, Held, checks
from shoal.models.alpha_k import AlphaK

if TYPE_CHECKING:
    from shoal.check.slices.belief import Reading
    from shoal.check.slices.belief_words import Outcome
    from shoal.check.slices.posterior import Shares
    from shoal.check.tables.t_closeness import Distance


def largest_share(held: Distribution) -> Floats:
    """The share of the most frequent value of each class."""
    return np.asarray(held.most_frequent() / held.sizes)


@checks("alpha-k")
class AlphaKCheck(Check[AlphaK]):
    """Of classes, and of beliefs in groups of k and more rows."""

    is_relative = False

    def reach_values(self, required: AlphaK, classes: Classes, held: Held) -> Reached:
        """The largest share."""
        achieved = largest_share(held.values)
        # One correctly rounded division of integers: a share of 29 in 100 is the float that is written 0.29.
        failing = (achieved > required.alpha) | (classes.sizes < required.k)
        return Reached.of(classes, achieved, failing, low_is_worse=False)

    def tell_values(self, required: AlphaK, reached: Reached, name: str, distance: Distance) -> Guarantee:
        """The largest share, and in the details the least size."""
        k, smallest, noun = required.k, reached.smallest, reached.noun
        share = f"the share {number(reached.achieved)} of a group (allowed: {number(required.alpha)})"
        return reached.guarantee(
            "alpha-k",
            {"alpha": required.alpha, "k": k},
            (
                f"Every group of records that look alike has at least {smallest} {noun}s (required: {k}), and no "
                f"value of {name!r} makes up more than {share}.",
                f"(alpha, k)-anonymity fails {reached.failing_groups}: the smallest group has {smallest} of the "
                f"{k} required {noun}s, and a value of {name!r} makes up as much as {share}.",
            ),
            sensitive=name,
            details={"k": smallest},
        )

    def least_rows(self, required: AlphaK) -> int:
        """The k."""
        return required.k

    def of_beliefs(self, required: AlphaK, belief: Shares, reading: Reading, distance: Distance) -> tuple[Floats, Mask]:
        """The probability of the likeliest value."""
        reached = belief.largest()
        return reached, reached > required.alpha * (1 + TOLERANCE)

    def believed(self, required: AlphaK, outcome: Outcome, smallest: int, fails: bool) -> Believed:
        """How likely a value is found, and among how many rows."""
        name, reached = repr(outcome.name), number(outcome.worst)
        says = (
            f"finds {'a' if fails else 'no'} value of {name} {'as likely as' if fails else 'likelier than'} {reached} "
            f"(allowed: {number(required.alpha)}), in groups of {smallest} and more rows (required: {required.k})"
        )
        return Believed("(alpha, k)-anonymity", {"alpha": required.alpha, "k": required.k}, says)
