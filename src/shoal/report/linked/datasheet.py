"""The public datasheet of linked tables: made from what is published alone, and the number of persons received."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.report.linked import words as linked_words
from shoal.report.page import judged, render
from shoal.report.points import public_points
from shoal.report.tables import words
from shoal.report.tables.limits import MISUSE
from shoal.report.tables.words import short_name

if TYPE_CHECKING:
    from shoal.kinds.linked.release import LinkedRelease


def render_datasheet(release: LinkedRelease) -> str:
    """Write the datasheet as one HTML page."""
    records, _ = release.told_counts
    return render(
        "linked_datasheet.html",
        about=public_points(release.policy.context.public()),
        noun="Persons",
        records=records,
        link=release.policy.link,
        tables=linked_words.columns(release),
        classes=[],
        n_more_classes=0,
        guarantees=judged(release.guarantees, short_name, words.required, words.achieved),
        models=words.models(release.policy.method.publication),
        suppressed=[],
        method=linked_words.method(release),
        uses=linked_words.GOOD_USE,
        misuses=MISUSE,
        limits=linked_words.limits(release),
    )
