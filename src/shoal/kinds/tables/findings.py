"""Findings about tables that are told with a release, or stop it."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.check.finding import SINGLED_OUT, UNPROTECTED, Finding
from shoal.check.tables.singled_out import LIMIT
from shoal.report.points import quoted


def told_findings(findings: Sequence[Finding]) -> list[str]:
    """What was taken, with the reason, and what only a raised limit allows."""
    taken = [f"{f.sentence} Taken for this reason: {f.accepted}" for f in findings if f.is_above]
    allowed = (f for f in findings if f.name == SINGLED_OUT and not f.is_above and f.share > LIMIT)
    return [*taken, *(f.sentence for f in allowed)]


def unprotected(names: Sequence[str], reason: str | None) -> tuple[Finding, ...]:
    """Columns that nobody called sensitive, that look so, and that nothing is required of."""
    if not names:
        return ()
    are, them, their = ("looks", "it", "its role") if len(names) == 1 else ("look", "them", "their roles")
    return (
        Finding(
            UNPROTECTED,
            tuple(names),
            1.0,
            0.0,
            f"{quoted(names)} {are} sensitive, and nothing is required of {them}: where all records of a group "
            "agree, whoever can place someone in the group learns the value.",
            f"require diversity (-l 3), or state {their} (--sensitive, --quasi, --identifying), or accept "
            f'it with a reason: [accept] {UNPROTECTED} = "..." in the policy, or --accept {UNPROTECTED}=REASON',
            reason,
        ),
    )
