"""What a release does not protect, and how it may be used: short, and only what applies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from shoal.check.guarantee import Guarantee
from shoal.data.attribute import Attribute
from shoal.report.words import listed


class Point(NamedTuple):
    """A heading and a sentence or two."""

    title: str
    text: str


DIVERSE = ("l-diversity", "t-closeness", "alpha-k", "beta-likeness")


def not_protected(
    guarantees: Sequence[Guarantee], attributes: Mapping[str, Attribute], publish: str
) -> tuple[Point, ...]:
    """What an attacker can still do, given what was required and how it was published."""
    sensitive = [n for n, a in attributes.items() if a.role == "sensitive"]
    kept = [n for n, a in attributes.items() if a.role in ("sensitive", "insensitive")]
    points = [*_attributes(guarantees, sensitive)]
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
                f"Whoever knows a person's {_some(kept)} from elsewhere can narrow a group down; such columns should "
                "be quasi-identifiers.",
            )
        )
    points.append(
        Point(
            "Several releases",
            "Groups of two releases about the same people can be intersected, and what both leave may be fewer than k.",
        )
    )
    points.append(
        Point(
            "Being in the table",
            "Nothing here hides whether a person is in the table.",
        )
    )
    return tuple(points)


def _in_slices(publish: str) -> list[Point]:
    points = [
        Point(
            "More knowledge narrows it down",
            "The guarantees hold for an attacker who knows all quasi-identifiers of a person and joins the slices. One "
            "who also knows other members of a bucket, or that some sensitive value is impossible for the person, can "
            "strike out rows and be left with fewer than was required.",
        )
    ]
    if publish == "screen":
        points.append(
            Point(
                "k holds slice by slice",
                "Within a slice at least k rows fit a person. Whoever joins the slices on the sensitive value may be "
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
                "Whoever knows a person's values finds them in the table if they stand in one slice, so it tells that "
                "the person is in it. What is hidden is which sensitive value belongs to them.",
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
                "of their group: whoever can place a person in a group learns what the group has.",
            )
        )
    return points


def _attributes(guarantees: Sequence[Guarantee], sensitive: Sequence[str]) -> list[Point]:
    covered = {g.sensitive for g in guarantees if g.model in DIVERSE}
    bare = [n for n in sensitive if n not in covered]
    points = []
    if not sensitive:
        points.append(
            Point(
                "No sensitive column was named",
                "The groups hide which record is whose. What all records of a group have in common is told about "
                "each of its members.",
            )
        )
    if bare:
        points.append(
            Point(
                "Sensitive values",
                f"No diversity was required of {_some(bare)}. Where all records of a group agree, whoever can place a "
                "person in the group learns the value without finding the record.",
            )
        )
    close = {g.sensitive for g in guarantees if g.model in ("t-closeness", "beta-likeness")}
    likely = [n for n in sensitive if n in covered - close]
    if likely:
        points.append(
            Point(
                "Likely values",
                f"Diversity of {_some(likely)} rules out certainty, not a good guess: a value may be far more frequent "
                "in a group than in the whole table, or several values may mean much the same.",
            )
        )
    return points


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
