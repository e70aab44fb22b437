"""What a release does not protect, and how it may be used: short, and only what applies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from shoal.check.guarantee import Guarantee
from shoal.data.tables.attribute import ROLES, Attribute
from shoal.kinds.tables.policy import Method
from shoal.report.tables.words import listed


class Point(NamedTuple):
    """A heading and a sentence or two."""

    title: str
    text: str


DIVERSE = ("l-diversity", "t-closeness", "alpha-k", "beta-likeness")


def not_protected(
    guarantees: Sequence[Guarantee], attributes: Mapping[str, Attribute], publish: str, diversity: str = "local"
) -> tuple[Point, ...]:
    """What an attacker can still do, given what was required and how it was published."""
    sensitive = [n for n, a in attributes.items() if a.role == "sensitive"]
    kept = [n for n, a in attributes.items() if a.role in ("sensitive", "insensitive")]
    points = [*_attributes(guarantees, sensitive), *_minimality(guarantees, diversity)]
    if publish == "generalise":
        points.append(
            Point(
                "Ends of ranges are real",
                "The ends of a published range and the members of a published set are values of records of the group. "
                'Of a label that says "or missing" it may be a single one.',
            )
        )
    elif publish == "aggregate":
        points.append(
            Point(
                "Averages add up",
                "An average times the number of values in it is their sum: whoever knows all others of a group can "
                "work out the last one. Where many cells of a group are missing, it shares the average of others.",
            )
        )
    elif publish == "condense":
        points += _drawn(kept)
    elif publish in ("bucketize", "slice", "screen"):
        points += _in_slices(publish)
    if kept:
        points.append(
            Point(
                "Columns that were kept",
                f"Whoever knows {_some(kept)} of a record from elsewhere can narrow a group down; such columns should "
                "be quasi-identifiers.",
            )
        )
    points.append(
        Point(
            "Several releases",
            "Groups of two releases of the same records can be intersected, and what both leave may be fewer than k.",
        )
    )
    points.append(
        Point(
            "Being in the table",
            "Nothing here hides whether a record is in the table.",
        )
    )
    return tuple(points)


def _in_slices(publish: str) -> list[Point]:
    points = [
        Point(
            "More knowledge narrows it down",
            "The guarantees hold for an attacker who knows all quasi-identifiers of a record and joins the slices. One "
            "who also knows other members of a bucket, or that some sensitive value is impossible for the record, can "
            "strike out rows and be left with fewer than was required.",
        )
    ]
    if publish == "screen":
        points.append(
            Point(
                "k holds slice by slice",
                "Within a slice at least k rows fit a record. Whoever joins the slices on the sensitive value may be "
                "left with fewer rows that fit in all of them; how much those tell of the value is what the diversity "
                "guarantees bound.",
            )
        )
        points.append(
            Point(
                "Ends of ranges are real",
                "The ends of a published range and the members of a published set are values of records of the bucket.",
            )
        )
    else:
        points.append(
            Point(
                "Quasi-identifiers are published as they are",
                "Whoever knows a record's values finds them in the table if they stand in one slice, so it tells that "
                "the record is in it. What was cut is which sensitive value belongs to them.",
            )
        )
    return points


def _drawn(kept: Sequence[str]) -> list[Point]:
    points = [
        Point(
            "Near copies",
            "A group of near-identical records gives pseudo-records near to all of them, and what all members of a "
            "group share is published as it is. No pseudo-record equals fewer than k originals; how near one comes is "
            "not limited.",
        ),
        Point(
            "Means tell",
            "The pseudo-records of a group tell its mean roughly: whoever knows all its other members, and could tell "
            "its pseudo-records from others, gets an idea of the last one. An extreme record widens its group.",
        ),
    ]
    if kept:
        points.append(
            Point(
                "True values beside drawn ones",
                f"The cells of {_some(kept)} are true, and those of one record stand together, beside a pseudo-record "
                "of their group: whoever can place a record in a group learns what the group has.",
            )
        )
    return points


def without_requirement(guarantees: Sequence[Guarantee], sensitive: Sequence[str]) -> list[str]:
    """The sensitive columns that no guarantee is about: they are published, and nothing limits what they tell."""
    covered = {g.sensitive for g in guarantees if g.model in DIVERSE}
    return [n for n in sensitive if n not in covered]


_DONE_TO_QUASI = {
    "condense": "drawn anew in groups",
    "bucketize": "published as they are, apart from the sensitive values",
    "slice": "published as they are, in slices permuted apart",
    "screen": "made alike within slices and buckets",
}
_KEPT = dict.fromkeys(("bucketize", "slice", "screen"), "kept in slices") | {"condense": "kept beside what was drawn"}


def what_became_of(attributes: Mapping[str, Attribute], guarantees: Sequence[Guarantee], method: Method) -> list[str]:
    """What was done to the columns of each role, a line each."""
    names = {role: [n for n, a in attributes.items() if a.role == role] for role in ROLES}
    bare = without_requirement(guarantees, names["sensitive"])
    publication = method.publication
    done = {
        "dropped": names["identifying"],
        _DONE_TO_QUASI.get(publication, "made alike in groups"): names["quasi"],
        "sensitive, kept, under the requirements below": [n for n in names["sensitive"] if n not in bare],
        f"sensitive, but with no requirement of their own, {_KEPT.get(publication, 'so published as they are')}": bare,
        "published as they are": names["insensitive"],
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
                "The records of a group look alike by their quasi-identifiers. What else all of them have in common is "
                "told about each.",
            )
        )
    if bare:
        points.append(
            Point(
                "Sensitive values",
                f"No diversity was required of {_some(bare)}. Where all records of a group agree, whoever can place "
                "someone in the group learns the value without finding the record.",
            )
        )
    close = {g.sensitive for g in guarantees if g.model in ("t-closeness", "beta-likeness")}
    likely = [n for n in sensitive if n not in bare and n not in close]
    if likely:
        points.append(
            Point(
                "Likely values",
                f"What is required of {_some(likely)} leaves room for a good guess: a value may be far more frequent "
                "in a group than in the whole table, or several values may mean much the same.",
            )
        )
    return points


def _minimality(guarantees: Sequence[Guarantee], diversity: str) -> list[Point]:
    """What groups tell by not being smaller, where sensitive values decided about them."""
    names = sorted({g.sensitive for g in guarantees if g.model in DIVERSE and g.sensitive})
    if not names:
        return []
    if diversity == "blind":
        return [
            Point(
                "The size of groups",
                f"Groups were made without looking at {_some(names)}, but for one number: the least size of all of "
                "them. It tells that with a smaller size that was tried some group would not have met the "
                "requirements, and not which.",
            )
        ]
    return [
        Point(
            "What was not cut tells",
            f"Single groups were cut, merged or left out as {_some(names)} demanded. Whoever has the quasi-identifiers "
            "of a group and this program knows that each finer cut that was not made would have broken "
            "a requirement, and may rule out values by that, at times all but one (an attack by minimality). The "
            "guarantees count the values in a group and do not cover this.",
        )
    ]


def good_use(publish: str, has_kept: bool) -> tuple[Point, ...]:
    """How published data is analysed properly."""
    if publish == "aggregate":
        points = [
            Point(
                "Means and totals",
                "of averaged numbers, over the whole table or many groups, stay close to the truth.",
            ),
            Point(
                "Spread",
                "inside groups is gone: extremes, and standard errors unless the variance was restored, are too small.",
            ),
        ]
    elif publish == "condense":
        points = [
            Point(
                "Means, covariances and shares",
                "over the whole table or many groups stay close to the truth, and so does most that follows from them.",
            ),
            Point(
                "Single rows",
                "are invented. Values beyond the original's extremes occur, a column without negative numbers has too "
                "many zeros where draws fell below, and what depends on combinations inside a group is lost.",
            ),
        ]
    elif publish in ("bucketize", "slice", "screen"):
        points = [
            Point(
                "Within a slice",
                "columns belong together: count and relate them as in any table"
                + (", each label in equal parts for all that it covers." if publish == "screen" else "."),
            ),
            Point(
                "Across slices",
                "rows do not belong together. Work bucket by bucket: inside a bucket slices are unrelated"
                + (
                    ", but for the sensitive value that stands in each; join them on it."
                    if publish == "screen"
                    else ", and only what differs between buckets relates them."
                )
                + " shoal.read_slices gives one frame a slice, shoal.sample_records plausible full records.",
            ),
        ]
    else:
        points = [
            Point(
                "Ranges and sets",
                "say what is true of a record. Count a record for each value that its label covers, in equal parts, "
                "or give bounds; do not put a midpoint for a value without saying so.",
            ),
            Point("Groups", "with the same labels are the finest units; differences inside them are not in the data."),
        ]
    if has_kept and publish in ("generalise", "aggregate"):
        points.append(Point("Columns kept as they were", "are exact, record by record, apart from suppressed records."))
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


def _some(names: Sequence[str], most: int = 4) -> str:
    shown = [f"“{n}”" for n in names[:most]]
    return listed([*shown, f"{len(names) - most} more"] if len(names) > most else shown)
