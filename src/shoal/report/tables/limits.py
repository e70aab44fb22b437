"""What a release does not protect, and how it may be used: short, and only what applies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.check.finding import ACCEPTABLE
from shoal.check.guarantee import Guarantee
from shoal.data.tables.attribute import ROLES, Attribute
from shoal.kinds.tables.policy import Method, publications
from shoal.models import Model, registered
from shoal.report.points import Point, quoted


def _model(guarantee: Guarantee) -> type[Model] | None:
    """The model of a guarantee about sensitive values."""
    model = registered().get(guarantee.model)
    return model if model is not None and model.is_about_values() else None


def not_protected(
    guarantees: Sequence[Guarantee],
    attributes: Mapping[str, Attribute],
    publish: str,
    diversity: str = "local",
    accepted: Mapping[str, str] | None = None,
    pseudonym: str = "",
    shifted: Sequence[str] = (),
) -> tuple[Point, ...]:
    """What an attacker can still do, given what was required and how it was published, and what was taken for which
    reason.
    """
    sensitive = [n for n, a in attributes.items() if a.role == "sensitive"]
    kept = [n for n, a in attributes.items() if a.role in ("sensitive", "insensitive") and n not in shifted]
    points = [
        Point(f"Accepted by the publisher ({name})", f"{_sentence(ACCEPTABLE[name])} The reason given: {reason}")
        for name, reason in (accepted or {}).items()
    ]
    points += [*_attributes(guarantees, sensitive), *_minimality(guarantees, diversity)]
    points += publications()[publish].not_protected(kept)
    if kept:
        points.append(
            Point(
                "Columns that were kept",
                f"Anyone who knows {quoted(kept)} of a record from elsewhere can narrow a group down; columns that "
                "others may know should be quasi-identifiers.",
            )
        )
    if pseudonym and (kept or shifted):
        points.append(
            Point(
                "Records that are tied together",
                f"{pseudonym!r} shows which records are of one person. Whoever knows values of several of them"
                f"{', or the days between them,' if shifted else ''} may recognise the combination.",
            )
        )
    points.append(
        Point(
            "Several releases",
            "Two releases of the same records can be compared: the records that fit a group of each may be fewer "
            "than k.",
        )
    )
    points.append(
        Point(
            "Being in the table",
            "Nothing here hides whether a record is in the table.",
        )
    )
    return tuple(points)


def _sentence(phrase: str) -> str:
    return f"{phrase[0].upper()}{phrase[1:]}."


def without_requirement(guarantees: Sequence[Guarantee], sensitive: Sequence[str]) -> list[str]:
    """The sensitive columns that no guarantee is about: they are published, and nothing limits what they tell."""
    covered = {g.sensitive for g in guarantees if _model(g)}
    return [n for n in sensitive if n not in covered]


def what_became_of(
    attributes: Mapping[str, Attribute],
    guarantees: Sequence[Guarantee],
    method: Method,
    pseudonym: str = "",
    shifted: Sequence[str] = (),
) -> list[str]:
    """What was done to the columns of each role, a line each."""
    names = {role: [n for n, a in attributes.items() if a.role == role] for role in ROLES}
    bare = without_requirement(guarantees, names["sensitive"])
    publication = method.way_of_publishing
    done = {
        "dropped": [n for n in names["identifying"] if n != pseudonym],
        "replaced by pseudonyms, the same in all records of a person": [pseudonym] if pseudonym else [],
        publication.done_to_quasi: names["quasi"],
        "sensitive, kept, under the requirements below": [n for n in names["sensitive"] if n not in bare],
        f"sensitive, but with no requirement of their own, {publication.kept}": bare,
        "days moved, all of a person by one secret number": list(shifted),
        "published as they are": [n for n in names["insensitive"] if n not in shifted],
    }
    return [
        f"{verb}: {', '.join(held[:20])}{f' and {len(held) - 20} more' if len(held) > 20 else ''}"
        for verb, held in done.items()
        if held
    ]


def _attributes(guarantees: Sequence[Guarantee], sensitive: Sequence[str]) -> list[Point]:
    bare = without_requirement(guarantees, sensitive)
    points = []
    if not sensitive:
        points.append(
            Point(
                "No sensitive column was named",
                "The records of a group look alike by their quasi-identifiers. Whatever else all of them have in "
                "common is revealed about each.",
            )
        )
    if bare:
        points.append(
            Point(
                "Sensitive values",
                f"No diversity was required of {quoted(bare)}. Where all records of a group agree, whoever can place "
                "someone in the group learns the value without finding the record.",
            )
        )
    close = {g.sensitive for g in guarantees if (model := _model(g)) and model.is_relative}
    likely = [n for n in sensitive if n not in bare and n not in close]
    if likely:
        points.append(
            Point(
                "Likely values",
                f"What is required of {quoted(likely)} leaves room for a good guess: a value may be far more frequent "
                "in a group than in the whole table, or several values may mean much the same.",
            )
        )
    return points


def _minimality(guarantees: Sequence[Guarantee], diversity: str) -> list[Point]:
    """What groups tell by not being smaller, where sensitive values decided about them."""
    names = sorted({g.sensitive for g in guarantees if _model(g) and g.sensitive})
    if not names:
        return []
    if diversity == "blind":
        return [
            Point(
                "The size of groups",
                f"Groups were made without looking at {quoted(names)}, but for one number: the least size of all of "
                "them. It reveals that, at a smaller size that was tried, some group would not have met the "
                "requirements, but not which one.",
            )
        ]
    return [
        Point(
            "Cuts that were not made",
            f"Single groups were cut, merged or left out depending on {quoted(names)}. Anyone who has the "
            "quasi-identifiers of a group and this program knows that each finer cut that was not made would have "
            "broken a requirement, and may rule out values from that, sometimes all but one (a minimality attack). "
            "The guarantees count the values in a group; they do not cover this.",
        )
    ]


def good_use(publish: str, has_kept: bool, n_counterfeits: int = 0) -> tuple[Point, ...]:
    """How published data is analysed properly."""
    points = publications()[publish].good_use(has_kept)
    if n_counterfeits:
        points.append(
            Point(
                "Counterfeits",
                f"are {n_counterfeits:,} of the records: they belong to nobody, and keep sensitive values equally "
                "frequent from release to release. Counts are too high by them, and nothing says which they are.",
            )
        )
    points.append(Point("Cite", "the method and its parameters with every result, so that readers can judge it."))
    return tuple(points)


MISUSE = (
    Point("Do not try to find persons", "in this data, nor help others to."),
    Point(
        "Do not link it",
        "record by record with data about persons, nor with another release from the same source.",
    ),
    Point("Do not draw conclusions about one person", "from a group; the data is about many."),
)
