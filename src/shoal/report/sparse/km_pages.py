"""The pages of k^m-anonymous records: the public datasheet, and the owner's report. Aggregates only, never a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.data.sparse.disassociated import Disassociated
from shoal.report.content import ReportContent
from shoal.report.page import classes_shown, draw_datasheet, points
from shoal.report.sparse import km_words as words
from shoal.report.sparse.basket_pages import content_of_records

if TYPE_CHECKING:
    from shoal.kinds.sparse.km import KMRelease


def render_datasheet(release: KMRelease) -> str:
    """Write the datasheet as one HTML page, from the published records and the number of records received."""
    published, policy = release.published, release.policy
    has_classes = published.labels is not None
    n_clusters = published.n_clusters if isinstance(published, Disassociated) else None
    return draw_datasheet(
        "km_datasheet.html",
        release,
        words,
        title=words.title(policy),
        noun="Records",
        lead=words.lead(policy),
        reading=words.reading(policy, release.form, has_classes=has_classes),
        is_text=release.published.source.format in ("text", "folder"),
        n_items=len(published.names),
        n_clusters=n_clusters,
        mean=None if n_clusters is not None else len(published.items) / len(published),
        **_classes(release),
        method=words.method(policy),
        uses=words.good_use(policy),
        limits=words.limits(policy, has_classes),
    )


def report_content(release: KMRelease) -> ReportContent:
    """Collect what the report shows."""
    policy = release.policy
    called = words.title(policy).lower()
    return content_of_records(
        release,
        called=called,
        title=f"{release.records['out']:,} {called}",
        limits=points(words.limits(policy, release.published.labels is not None)),
        **_classes(release),
        method=words.method(policy),
        notes=(*release.notes, *words.READINGS.get(policy.publish, ())),
    )


def _classes(release: KMRelease) -> dict[str, Any]:
    published = release.published
    weights = published.sizes if isinstance(published, Disassociated) else None
    return classes_shown(published.labels, published.classes, weights)
