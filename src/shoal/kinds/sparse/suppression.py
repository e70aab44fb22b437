"""How many records may be left out of a release of sparse records: a bound on request, and a finding above a tenth."""

from __future__ import annotations

from shoal.check.finding import Finding
from shoal.errors import Infeasible
from shoal.kinds.sparse.policy import SparsePolicy

SUPPRESSED = "suppressed"
MANY = 0.1


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
    return (Finding(SUPPRESSED, (), share, limit, sentence, remedy),)
