"""beta-likeness: no sensitive value is much more frequent in a class than in the whole table, relatively.

For a value with the share q in the table and p > q in a class, the gain is (p - q) / q.

- basic: every gain is at most beta;
- enhanced: every gain is at most min(beta, -ln q), which also bounds values that are frequent in the table.

**Guarantee.** No sensitive value becomes likelier by more than a factor of 1 + beta when a record's class
is found.
**Not protected.** Values that become less likely: that a class lacks a value is told.

References ---------- J. Cao, P. Karras, "Publishing microdata with a robust privacy guarantee", PVLDB
5(11), 2012.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from shoal.arrays import Floats, Mask
from shoal.check.guarantee import TOLERANCE, Guarantee, Reached, number
from shoal.check.tables.classes import Classes
from shoal.check.tables.distribution import Distribution
from shoal.check.tables.models import Believed, Check, Held, checks, refuse_hidden
from shoal.models.beta_likeness import BetaLikeness

if TYPE_CHECKING:
    from shoal.check.slices.belief import Reading
    from shoal.check.slices.belief_words import Outcome
    from shoal.check.slices.posterior import Shares
    from shoal.check.tables.t_closeness import Distance

Kind = Literal["basic", "enhanced"]


def gains(held: Distribution) -> Floats:
    """(p - q) / q of each pair of class and value that occurs; negative where rarer than in the table."""
    expected = held.totals[held.values] * held.sizes[held.classes]
    return np.asarray((held.counts * held.n_members - expected) / expected)


def _allowed(beta: float, kind: Kind) -> str:
    own = ", and less for values that are frequent in the table" if kind == "enhanced" else ""
    return f"(allowed: {number(100 * beta)} %{own})"


@checks("beta-likeness")
class BetaLikenessCheck(Check[BetaLikeness]):
    """Of classes, and of beliefs: the same gains with probabilities in place of counts."""

    needs_known = True

    def reach_values(self, required: BetaLikeness, classes: Classes, held: Held) -> Reached:
        """The largest gain over the whole table; enhanced holds each value to its own bound."""
        values = held.values
        if values.hides_any:
            raise refuse_hidden("beta-likeness", values.name)
        gain = gains(values)
        too_much = gain > required.beta
        if required.kind == "enhanced":
            most = -np.log(values.totals / values.n_members)
            too_much |= (gain > 0) & (gain > most[values.values] * (1 + TOLERANCE))
        achieved = np.maximum(np.maximum.reduceat(gain, values.starts), 0.0)
        return Reached.of(classes, achieved, np.logical_or.reduceat(too_much, values.starts), low_is_worse=False)

    def tell_values(self, required: BetaLikeness, reached: Reached, name: str, distance: Distance) -> Guarantee:
        """By how much a value is more frequent."""
        more = f"{number(100 * reached.achieved)} % {_allowed(required.beta, required.kind)}"
        return reached.guarantee(
            "beta-likeness",
            {"beta": required.beta},
            (
                f"In no group of records that look alike is a value of {name!r} more frequent than in the "
                f"whole table by more than {more}.",
                f"{required.kind.capitalize()} beta-likeness fails {reached.failing_groups}: a value of {name!r} is "
                f"more frequent in a group than in the whole table by {more}.",
            ),
            kind=required.kind,
            sensitive=name,
        )

    def of_beliefs(
        self, required: BetaLikeness, belief: Shares, reading: Reading, distance: Distance
    ) -> tuple[Floats, Mask]:
        """The largest gain (p - q) / q over the whole table."""
        more = 1 + TOLERANCE
        gain = np.asarray(belief.shares / reading.overall[belief.values] - 1.0)
        too_much = gain > required.beta * more
        if required.kind == "enhanced":
            most = -np.log(reading.overall)
            too_much |= (gain > TOLERANCE) & (gain > most[belief.values] * more)
        reached = np.maximum(np.maximum.reduceat(gain, belief.starts), 0.0)
        return reached, np.logical_or.reduceat(too_much, belief.starts)

    def believed(self, required: BetaLikeness, outcome: Outcome, smallest: int, fails: bool) -> Believed:
        """By how much a value is likelier."""
        says = (
            f"finds a value of {outcome.name!r} likelier than in the whole table by up to "
            f"{number(100 * outcome.worst)} % {_allowed(required.beta, required.kind)}"
        )
        return Believed(f"{required.kind.capitalize()} beta-likeness", {"beta": required.beta}, says, required.kind)
