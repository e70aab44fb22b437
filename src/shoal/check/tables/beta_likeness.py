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

from typing import Literal

import numpy as np

from shoal.arrays import Floats
from shoal.check.guarantee import TOLERANCE, Guarantee, failing_groups, judge, number
from shoal.check.tables.classes import Classes
from shoal.check.tables.distribution import Distribution
from shoal.errors import Infeasible

Kind = Literal["basic", "enhanced"]


def gains(held: Distribution) -> Floats:
    """(p - q) / q of each pair of class and value that occurs; negative where rarer than in the table."""
    expected = held.totals[held.values] * held.pair_sizes
    return np.asarray((held.counts * held.n_rows - expected) / expected)


def beta_likeness(classes: Classes, held: Distribution, beta: float, kind: Kind = "enhanced") -> Guarantee:
    """Recompute beta-likeness: achieved is the largest gain; enhanced holds each value to its own bound."""
    if held.hides_any:
        raise Infeasible(
            f"beta-likeness cannot be shown for column {held.name!r}, where missing values may hide any "
            'value; fill them, leave the records out, or set missing = "value"'
        )
    gain = gains(held)
    too_much = gain > beta
    if kind == "enhanced":
        most = -np.log(held.totals / held.n_rows)
        too_much |= (gain > 0) & (gain > most[held.values] * (1 + TOLERANCE))
    achieved = np.maximum(np.maximum.reduceat(gain, held.starts), 0.0)
    failing = np.logical_or.reduceat(too_much, held.starts)
    own = ", and less for values that are frequent in the table" if kind == "enhanced" else ""
    more = f"{number(100 * float(achieved.max()))} % (allowed: {number(100 * beta)} %{own})"
    return judge(
        classes,
        achieved,
        failing,
        low_is_worse=False,
        model="beta-likeness",
        kind=kind,
        sensitive=held.name,
        required={"beta": beta},
        sentences=(
            f"In no group of records that look alike is a value of {held.name!r} more frequent than in the "
            f"whole table by more than {more}.",
            f"{kind.capitalize()} beta-likeness fails {failing_groups(failing)}: a value of {held.name!r} is "
            f"more frequent in a group than in the whole table by {more}.",
        ),
    )
