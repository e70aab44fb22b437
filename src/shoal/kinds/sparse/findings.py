"""What a release of sparse records lost: records, by a bound on request and a finding above a tenth, and classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.check.finding import Finding
from shoal.errors import Infeasible
from shoal.kinds.sparse.policy import SparsePolicy

if TYPE_CHECKING:
    from shoal.utility.sparse.baskets import BasketUtility

SUPPRESSED, CLASSES = "suppressed", "classes"
MANY = 0.1
MOST_LOST = 0.03
"""Of the records whose class is told rightly by what was learned from originals."""


def suppression_findings(n_in: int, n_out: int, policy: SparsePolicy) -> tuple[Finding, ...]:
    """The share of records that were left out, which is serious above a tenth.

    Raises
    ------
    Infeasible
        If it is more than the policy allows.
    """
    share, most = (n_in - n_out) / max(n_in, 1), policy.method.suppression
    remedy = {
        "pseudo": "lower k, or give more records",
        "sketch": 'lower delta or k, give records of more items, or ask for publish = "pseudo"',
    }.get(policy.publish, 'lower k or m, give more records, or ask for publish = "pseudo"')
    if most is not None and share > most:
        raise Infeasible(
            f"{100 * share:.1f} % of the records would be left out, more than the {100 * most:g} % that suppression "
            f"allows, so nothing was published; {remedy}"
        )
    limit = MANY if most is None else most
    if share <= limit:
        return ()
    sentence = f"{100 * share:.0f} % of the records were left out: the release is of the others alone."
    return (Finding(SUPPRESSED, (), share, limit, sentence, remedy, is_loss=True),)


def learning_findings(utility: BasketUtility, policy: SparsePolicy) -> tuple[Finding, ...]:
    """By how much a classifier is worse for learning from what is published: serious above three points."""
    worst = max(utility.learning, key=lambda told: told.lost, default=None)
    if worst is None or worst.lost <= MOST_LOST or worst.surely_lost <= 0:
        return ()
    sentence = (
        f"A classifier ({worst.classifier}) that learns from {worst.n_known:,} originals is right for "
        f"{100 * worst.before:.1f} % of {worst.n_asked:,} others, and for {100 * worst.after:.1f} % if it learns from "
        "what is published of them."
    )
    remedy = {"pseudo": "give more records, or lower k or support"}.get(
        policy.publish, 'lower k or m, give more records, or ask for publish = "pseudo"'
    )
    return (Finding(CLASSES, (), worst.lost, MOST_LOST, sentence, remedy, is_loss=True),)
