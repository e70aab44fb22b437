"""(alpha, k)-anonymity: classes of at least k, no sensitive value in more than the share alpha of a class.

The paper's general model: alpha bounds every sensitive value, not one that is chosen.

**Guarantee.** At least k records could be the one looked for, and no sensitive value is inferred with a confidence
above alpha.
**Not protected.** A value that is rare in the table may be much likelier in a class, up to alpha.

References ---------- R. C.-W. Wong, J. Li, A. W.-C. Fu, K. Wang, "(alpha, k)-anonymity: an enhanced
k-anonymity model for privacy preserving data publishing", KDD 2006.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.check.guarantee import Guarantee, failing_groups, judge, number
from shoal.check.tables.classes import Classes
from shoal.check.tables.distribution import Distribution


def largest_share(held: Distribution) -> npt.NDArray[np.float64]:
    """The share of the most frequent value of each class."""
    return np.asarray(held.most_frequent() / held.sizes)


def alpha_k(classes: Classes, held: Distribution, alpha: float, k: int) -> Guarantee:
    """Recompute (alpha, k)-anonymity: achieved is the largest share, ``details["k"]`` the least size."""
    achieved = largest_share(held)
    smallest = int(classes.sizes.min())
    # One correctly rounded division of integers: a share of 29 in 100 is the float that is written 0.29.
    failing = (achieved > alpha) | (classes.sizes < k)
    share = f"the share {number(achieved.max())} of a group (allowed: {number(alpha)})"
    return judge(
        classes,
        achieved,
        failing,
        low_is_worse=False,
        model="alpha-k",
        sensitive=held.name,
        required={"alpha": alpha, "k": k},
        details={"k": smallest},
        sentences=(
            f"Every group of records that look alike has at least {smallest} records (required: {k}), and no "
            f"value of {held.name!r} makes up more than {share}.",
            f"(alpha, k)-anonymity fails {failing_groups(failing)}: the smallest group has {smallest} of the "
            f"{k} required records, and a value of {held.name!r} makes up as much as {share}.",
        ),
    )
