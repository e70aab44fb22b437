"""The owner's report of linked tables: what holds, what was found, what it cost. Aggregates only, never a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.report.content import ReportContent
from shoal.report.linked import words as linked_words
from shoal.report.page import judged, points
from shoal.report.tables import words
from shoal.report.tables.words import percent, short_name

if TYPE_CHECKING:
    from shoal.kinds.linked.release import LinkedRelease


def report_content(release: LinkedRelease) -> ReportContent:
    """Collect what the report shows."""
    utility, records = release.utility, release.records
    rows = [
        (name, f"{utility.rows_in[name]:,}", f"{utility.rows_out[name]:,}", percent(_left(utility.rows_in[name], n)))
        for name, n in utility.rows_out.items()
    ]
    losses = [(f"{name}.{n}", percent(value)) for name, found in utility.ncp.items() for n, value in found.items()]
    return ReportContent.of(
        "linked",
        noun="Persons",
        title=f"{len(release.tables)} linked tables of {records['out']:,} persons",
        verdict=release.grounds().to_dict(),
        checked=linked_words.CHECKED,
        facts=[
            ("Persons published", f"{records['out']:,}", f"of {records['in']:,}"),
            ("Rows published", f"{sum(utility.rows_out.values()):,}", f"of {sum(utility.rows_in.values()):,}"),
            ("Certainty lost", percent(utility.gcp), "in an average quasi-identifying cell"),
        ],
        guarantees=judged(release.guarantees, short_name, words.required, words.achieved),
        models=words.models(release.policy.method.publication),
        suppressed=[],
        suppressed_sentence=f"{records['suppressed']:,} of {records['in']:,} persons were left out.",
        limits=points(linked_words.limits(release)),
        findings=[
            {"sentence": f.sentence, "remedy": f.remedy, "accepted": f.accepted, "is_above": f.is_above}
            for f in release.findings
        ],
        rows=rows,
        losses=losses,
        tables=linked_words.columns(release),
        method=linked_words.method(release),
        notes=release.notes,
    )


def _left(n_in: int, n_out: int) -> float:
    return (n_in - n_out) / n_in if n_in else 0.0
