"""What the pages say of linked tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.check.finding import ACCEPTABLE, reasons
from shoal.report.points import Point, quoted
from shoal.report.tables import words
from shoal.report.tables.context import MISSING_MEANINGS, describe_method

if TYPE_CHECKING:
    from shoal.kinds.linked.release import LinkedRelease

CHECKED = (
    "Every guarantee was recomputed from the files as they are published, over their join, by a checker that is "
    "independent of the method."
)
GOOD_USE = (
    Point("Join the files", "by the column of pseudonyms: every row of every file joins a row of the first."),
    Point("Columns kept as they were", "are exact, row by row, apart from rows that were left out."),
    Point("Cite", "the method and its parameters with every result, so that readers can judge it."),
)


def method(release: LinkedRelease) -> dict[str, str]:
    """How it was made."""
    policy = release.policy
    told = describe_method(policy.method, policy.k)
    told["Smallest group"] = f"at least {policy.k} persons, alike in all tables together"
    told["Link"] = (
        f"{policy.link!r} holds pseudonyms, the same for a person in all files, drawn for this release by a secret key"
    )
    if any(p.shifted for p in release._policies.values()):
        told["Dates"] = words.moved(policy.shift_days)
    told["Missing values"] = MISSING_MEANINGS[policy.missing]
    return told


def columns(release: LinkedRelease) -> list[dict[str, Any]]:
    """What became of the columns of each table that is published."""
    listed = []
    for name, table in release.tables.items():
        rows = []
        for n in table.names:
            attribute = release.attributes[name][n]
            if n == release.policy.link:
                done = words.TIED
            elif n in release._policies[name].shifted:
                done = words.moved(release.policy.shift_days)
            else:
                by_hierarchy = attribute.hierarchy is not None
                done = words.treatment(attribute, release.policy.method.publication, by_hierarchy=by_hierarchy)
            rows.append((n, words.ROLE_NAMES[attribute.role], attribute.type, done))
        listed.append({"name": name, "file": release._files[name], "rows": table.n_rows, "columns": rows})
    return listed


def limits(release: LinkedRelease) -> list[Point]:
    """What an attacker can still do."""
    points = [
        Point(
            f"Accepted by the publisher ({name})",
            f"{ACCEPTABLE[name][0].upper()}{ACCEPTABLE[name][1:]}. The reason given: {reason}",
        )
        for name, reason in reasons(release.findings).items()
    ]
    kept = [
        f"{name}.{n}"
        for name, table in release.tables.items()
        for n in table.names
        if release.attributes[name][n].role in ("sensitive", "insensitive")
    ]
    bare = [
        f"{name}.{n}"
        for name in release.tables
        for n, a in release.attributes[name].items()
        if a.role == "sensitive" and n not in {g.sensitive for g in release.guarantees_of(name)}
    ]
    if bare:
        points.append(
            Point(
                "Sensitive values",
                f"No diversity was required of {quoted(bare)}. Where all persons of a group agree, whoever can place "
                "someone in the group learns the value without finding the person.",
            )
        )
    if kept:
        points.append(
            Point(
                "Rows that are tied together",
                f"Pseudonyms show which rows of all files are of one person. Whoever knows {quoted(kept)} of several "
                "rows, how many there are, or the days between them, may recognise the combination.",
            )
        )
    points.append(
        Point(
            "Several releases",
            "Groups of two releases of the same persons can be intersected, and what both leave may be fewer than k.",
        )
    )
    points.append(Point("Being in the tables", "Nothing here hides whether a person is in the tables."))
    return points
