"""The pages of pseudo-baskets: the public datasheet, and the owner's report. Aggregates only, never a record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.report.content import ReportContent
from shoal.report.page import classes_shown, draw_datasheet, points
from shoal.report.sparse import basket_words as words
from shoal.report.tables.words import number, percent

if TYPE_CHECKING:
    from shoal.kinds.sparse.baskets import BasketRelease
    from shoal.kinds.sparse.km import KMRelease
    from shoal.utility.sparse.baskets import BasketUtility, SupportError


def render_datasheet(release: BasketRelease) -> str:
    """Write the datasheet as one HTML page, from the published records and the number of records received."""
    baskets = release.facts
    return draw_datasheet(
        "baskets_datasheet.html",
        release,
        words,
        noun="Pseudo-baskets",
        reading=words.reading(release.form),
        is_text=release.policy.input.format in ("text", "folder") or _is_text(release),
        n_items=baskets.n_items,
        mean=baskets.mean_size,
        **classes_shown(baskets.labels, baskets.classes),
        method=words.method(release.policy),
        uses=words.GOOD_USE,
        limits=words.limits(baskets.labels is not None),
    )


def report_content(release: BasketRelease) -> ReportContent:
    """Collect what the report shows."""
    baskets = release.facts
    return content_of_records(
        release,
        title=f"{baskets.n_records:,} pseudo-baskets",
        limits=points(words.limits(baskets.labels is not None)),
        **classes_shown(baskets.labels, baskets.classes),
        method=words.method(release.policy),
    )


def content_of_records(release: BasketRelease | KMRelease, **shown: Any) -> ReportContent:
    """What the report shows of records that are published as such, and what this one shows besides."""
    utility = release.utility
    return ReportContent.of_release(
        release,
        facts=basket_facts(release.records, utility),
        suppressed_sentence=f"{release.suppressed_sentence} {release.items_sentence}",
        use=use_rows(utility),
        learning=[
            (found.classifier, percent(found.before), percent(found.after), percent(found.baseline))
            for found in utility.learning
        ],
        **shown,
    )


def _is_text(release: BasketRelease) -> bool:
    return release.baskets.source.format in ("text", "folder")


def basket_facts(records: Mapping[str, int], utility: BasketUtility) -> list[tuple[str, str, str]]:
    """What stands at the head of the report."""
    facts = [
        ("Records published", f"{records['out']:,}", f"of {records['in']:,}"),
        ("Items of a record", number(utility.mean_size_published), f"on average; {number(utility.mean_size)} before"),
    ]
    if utility.pairs is not None:
        facts.append(("Pairs off by", percent(utility.pairs.mean), f"of their support; {_permuted(utility.pairs)}"))
    for found in utility.learning[:1]:
        facts.append(("Classes told", percent(found.after), f"by {found.classifier}; {percent(found.before)} before"))
    return facts


def _permuted(error: SupportError) -> str:
    return f"{percent(error.permuted)} if permuted"


def use_rows(utility: BasketUtility) -> list[tuple[str, str, str]]:
    """What is measured, of the release, and of permuted columns."""
    listed = (
        ("items", "Error of the support of {n} items", utility.items),
        ("pairs", "Error of the support of the {n} most frequent pairs", utility.pairs),
        ("triples", "Error of the support of {n} frequent triples", utility.triples),
    )
    rows = [
        (title.format(n=f"{e.n_sets:,}"), percent(e.mean), percent(e.permuted))
        for _, title, e in listed
        if e is not None
    ]
    if utility.pairs is not None:
        rows += [
            (
                "Most frequent pairs that are still among them",
                percent(utility.pairs_kept),
                percent(utility.pairs_kept_permuted),
            ),
            (
                "Most frequent triples that are still among them",
                percent(utility.triples_kept),
                percent(utility.triples_kept_permuted),
            ),
            (
                "Rules of largest confidence that are still among them",
                percent(utility.rules_kept),
                percent(utility.rules_kept_permuted),
            ),
            (
                "Error of the confidence of the most frequent rules",
                number(utility.confidence_error),
                number(utility.confidence_error_permuted),
            ),
        ]
    return rows
