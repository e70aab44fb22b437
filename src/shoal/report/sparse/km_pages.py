"""The pages of k^m-anonymous records: the public datasheet, and the owner's report. Aggregates only, never a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.data.sparse.disassociated import Disassociated
from shoal.report.content import ReportContent
from shoal.report.page import judged, points, render
from shoal.report.points import public_points
from shoal.report.sparse import km_words as words
from shoal.report.sparse.basket_pages import N_CLASSES, basket_facts, use_rows
from shoal.report.tables.words import percent

if TYPE_CHECKING:
    from shoal.kinds.sparse.km import KMRelease


def render_datasheet(release: KMRelease) -> str:
    """Write the datasheet as one HTML page, from the published records and the number of records received."""
    published, policy = release.published, release.policy
    has_classes = published.labels is not None
    classes = class_sizes(release)
    records, reasons = release.told_counts
    n_clusters = published.n_clusters if isinstance(published, Disassociated) else None
    return render(
        "km_datasheet.html",
        about=public_points(release.policy.context.public()),
        title=words.title(policy),
        noun="Records",
        lead=words.lead(policy),
        records=records,
        reading=words.reading(policy, release.form, has_classes=has_classes),
        is_text=release.published.source.format in ("text", "folder"),
        n_items=len(published.names),
        n_clusters=n_clusters,
        mean=None if n_clusters is not None else len(published.items) / len(published),
        classes=classes[:N_CLASSES],
        n_more_classes=max(len(classes) - N_CLASSES, 0),
        guarantees=judged(release.guarantees, words.short_name, words.required, words.achieved),
        models=words.MODELS,
        suppressed=[(words.REASONS[name], n) for name, n in reasons.items()],
        method=words.method(policy),
        uses=words.good_use(policy),
        misuses=words.MISUSE,
        limits=words.limits(policy, has_classes),
    )


def report_content(release: KMRelease) -> ReportContent:
    """Collect what the report shows."""
    utility, policy = release.utility, release.policy
    classes = class_sizes(release)
    return ReportContent.of(
        "sparse",
        noun="Records",
        called=words.title(policy).lower(),
        title=f"{release.records['out']:,} {words.title(policy).lower()}",
        verdict=release.grounds().to_dict(),
        checked=words.CHECKED,
        facts=basket_facts(release.records, utility),
        guarantees=judged(release.guarantees, words.short_name, words.required, words.achieved),
        models=words.MODELS,
        suppressed=[(words.REASONS[name], n) for name, n in release.suppressed.items()],
        suppressed_sentence=f"{release.suppressed_sentence} {release.items_sentence}",
        limits=points(words.limits(policy, release.published.labels is not None)),
        use=use_rows(utility),
        learning=[
            (found.classifier, percent(found.before), percent(found.after), percent(found.baseline))
            for found in utility.learning
        ],
        classes=classes[:N_CLASSES],
        n_more_classes=max(len(classes) - N_CLASSES, 0),
        method=words.method(policy),
        notes=(*release.notes, *words.READINGS.get(policy.publish, ())),
    )


def class_sizes(release: KMRelease) -> list[tuple[str, int]]:
    """Classes and how many records each has, the largest first."""
    published = release.published
    if published.labels is None:
        return []
    weights = published.sizes if isinstance(published, Disassociated) else None
    counts = np.bincount(published.labels, weights, len(published.classes)).astype(np.int64).tolist()
    return sorted(zip(published.classes, counts, strict=True), key=lambda c: (-c[1], c[0]))
