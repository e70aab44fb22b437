"""Findings about tables that are told with a release, or stop it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Ints
from shoal.check.finding import RECORDS_COUNTED, SINGLED_OUT, UNPROTECTED, Finding
from shoal.check.tables.classes import Classes
from shoal.check.tables.singled_out import LIMIT
from shoal.report.points import quoted
from shoal.report.tables.words import percent


def told_findings(findings: Sequence[Finding]) -> list[str]:
    """What was taken, with the reason, and what only a raised limit allows."""
    taken = [f"{f.sentence} Taken for this reason: {f.accepted}" for f in findings if f.is_above]
    allowed = (f for f in findings if f.name == SINGLED_OUT and not f.is_above and f.share > LIMIT)
    return [*taken, *(f.sentence for f in allowed)]


def few_persons(classes: Classes, persons: Ints, k: int, name: str) -> tuple[Finding, ...]:
    """That k records are of fewer than k persons, if the column says whose they are; nobody said that it does.

    It stops no release, as the column may be something else.
    """
    by_person = classes.of_persons(persons)
    few = np.unique(persons[(by_person.sizes < k)[classes.ids]])
    if not len(few):
        return ()
    share = len(few) / len(np.unique(persons))
    return (
        Finding(
            RECORDS_COUNTED,
            (name,),
            share,
            0.0,
            f"Records were counted, not persons: of the persons that {name!r} seems to number, {percent(share)} have a "
            f"record in a group that has records of fewer than {k} of them.",
            f"name {name!r} as the person (--person), or leave it out of the data if it is nothing of the kind",
        ),
    )


def unexamined_persons(names: Sequence[str]) -> tuple[Finding, ...]:
    """That nobody looked whether columns that are called keys number persons who have several records."""
    if not names:
        return ()
    have, number = ("has the name of a key", "it numbers") if len(names) == 1 else ("have names of keys", "they number")
    return (
        Finding(
            RECORDS_COUNTED,
            tuple(names),
            1.0,
            0.0,
            f"Records were counted, not persons: {quoted(names)} {have}, and with a bound on memory nobody looked "
            f"whether {number} persons with several records.",
            "name the column that says whose a record is as the person (--person), and its repeats are looked up",
        ),
    )


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
