"""The owner's report of strings: original and release side by side. Aggregates only, never a string."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.report.content import ReportContent, draw_page, picture
from shoal.report.page import points
from shoal.report.strings import pictures as string_pictures
from shoal.report.strings import words as string_words
from shoal.report.tables.words import number, percent

if TYPE_CHECKING:
    from shoal.check.strings.verbatim import Standing
    from shoal.kinds.strings.release import StringRelease
    from shoal.utility.strings.classification import Accuracy
    from shoal.utility.strings.composition import Composition
    from shoal.utility.strings.distances import DistanceOrder
    from shoal.utility.strings.measure import StringUtility

N_SYMBOLS_NAMED = 20
CLASSIFIERS = {"nearest-neighbour": "nearest neighbour", "wav-rule": "rules on wavelets (WavRule)"}


def render_string_report(release: StringRelease) -> str:
    """Write the report as one HTML page."""
    return draw_page(report_content(release), release.attacked)


def report_content(release: StringRelease) -> ReportContent:
    """Collect what the report shows."""
    utility, verbatim = release.utility, release.verbatim
    policy = release.policy
    return ReportContent.of_release(
        release,
        title=f"{len(release.facts.lengths):,} strings",
        facts=_facts(release),
        suppressed_sentence=release.suppressed_sentence,
        suppressed_lengths=release.suppressed_lengths,
        limits=points(string_words.limits(policy, release.strings.labels is not None)),
        control_is=verbatim.control_is,
        verbatim_sentence=release.verbatim_sentence,
        runs=picture(
            "longest_runs",
            ours=verbatim.published.histogram,
            control=verbatim.control.histogram,
            alt="Longest verbatim run of pseudo-strings and of originals among themselves. "
            f"{release.verbatim_sentence}",
        ),
        run_rows=_runs(verbatim.published, verbatim.control),
        n_runs=(verbatim.published.n_strings, verbatim.control.n_strings),
        n_rejected=release.n_rejected,
        copies=policy.method.copies,
        composition=_composition(utility.composition),
        u=_measured(utility),
        lengths=string_pictures.lengths_picture(
            _some_lengths(release),
            release.facts.lengths,
            f"Lengths: mean {number(utility.lengths.mean_before)} before, {number(utility.lengths.mean_after)} after.",
        ),
        k_mers=[asdict(found) for found in utility.k_mers],
        baselines=[asdict(found) for found in release.baselines],
        distances=_distances(utility.distances),
        learning=[(CLASSIFIERS.get(a.classifier, a.classifier), *_accuracy(a)) for a in release.learning],
        tested=_tested(release.learning[0]) if release.learning else None,
        classes=_classes(release),
        method=string_words.method(policy),
    )


def _measured(utility: StringUtility) -> dict[str, Any]:
    """What is said of the measures in sentences."""
    lengths = ("mean_before", "mean_after", "sd_before", "sd_after", "n_lengths_after")
    return {
        "composition": {n: getattr(utility.composition, n) for n in ("total_variation", "difference")},
        "lengths": {n: getattr(utility.lengths, n) for n in lengths},
        "positions": {n: getattr(utility.positions, n) for n in ("total_variation", "n_parts")},
        "share_measured": utility.share_measured,
    }


def _tested(found: Accuracy) -> dict[str, Any]:
    return {n: getattr(found, n) for n in ("n_train_before", "n_train_after", "n_test", "confidence")}


def _facts(release: StringRelease) -> list[tuple[str, str, str]]:
    records = release.records
    groups = next((g for g in release.guarantees if g.model == "string-condensation"), None)
    runs = release.verbatim
    facts = [("Strings published", f"{records['out']:,}", f"of {records['in']:,}")]
    if groups is not None:
        facts.append(("Smallest group", f"{groups.achieved:,.0f}", f"strings, among {release.n_groups:,} groups"))
    facts.append(
        (
            "Longest verbatim run",
            number(runs.published.mean),
            f"symbols on average; {number(runs.control.mean)} among originals",
        )
    )
    facts.append(
        ("Composition changed", percent(release.utility.composition.total_variation), "of symbols, to make them agree")
    )
    return facts


def _runs(ours: Standing, control: Standing) -> list[tuple[str, str, str, str]]:
    rows = [
        ("Mean", number(ours.mean), number(control.mean), "Of the longest run of each string, in symbols."),
        ("95 of 100", number(ours.percentile_95), number(control.percentile_95), "Have a longest run of at most this."),
        ("Longest", number(ours.longest), number(control.longest), "Of all strings looked at."),
        ("Share", percent(ours.longest_share), percent(control.longest_share), "Of its string that a longest run is."),
        ("Whole strings", f"{ours.n_whole:,}", f"{control.n_whole:,}", "Stand in an original from end to end."),
    ]
    for width, share in ours.unique.items():
        rows.append(
            (
                f"Unique, {width} symbols",
                percent(share),
                percent(control.unique.get(width)),
                f"Share of fragments of {width} symbols that stand in just one original.",
            )
        )
    return rows


def _composition(found: Composition) -> dict[str, Any]:
    """Symbols that are published, and the others together: a symbol that few strings hold is named nowhere."""
    shown = [i for i, share in enumerate(found.after) if share > 0]
    if any(len(found.symbols[i]) > string_pictures.LONGEST_SIGN for i in shown):
        shown = shown[:N_SYMBOLS_NAMED]
    before, after = ([side[i] for i in shown] for side in (found.before, found.after))
    symbols = [found.symbols[i] for i in shown]
    shares = zip(symbols, before, after, strict=True)
    alt = "; ".join(f"{s}: {percent(x)} before, {percent(y)} after" for s, x, y in shares)
    return {
        "picture": picture(
            "composition", symbols=symbols, before=before, after=after, alt=f"Shares of symbols. {alt}."
        ),
        "n_left_out": found.n_symbols - len(symbols),
        "share_left_out": max(1 - sum(before), 0.0),
    }


def _some_lengths(release: StringRelease) -> Any:
    """Lengths of originals within those that were published: the few beyond them are suppressed, and told of above."""
    before, after = release.original_lengths, release.facts.lengths
    clipped = np.clip(before[before > 0], max(int(after.min()) // 2, 1), int(after.max()) * 2)
    return clipped if len(clipped) else None


def _distances(found: DistanceOrder | None) -> dict[str, Any] | None:
    if found is None:
        return None
    alt = f"Distances of {found.n_pairs} pairs of groups before and after; the order of {percent(found.kept)} is kept."
    told = {n: getattr(found, n) for n in ("kept", "kept_by_mean", "n_pairs", "n_strings")}
    return {
        "found": told,
        "picture": picture("distance_scatter", before=found.before, after=found.after, alt=alt),
    }


def _accuracy(found: Accuracy) -> tuple[str, str, str, str]:
    def shown(estimate: Any) -> str:
        return f"{percent(estimate.value)} [{percent(estimate.low)}, {percent(estimate.high)}]"

    change = found.change
    points = f"{100 * change.value:+.1f} points [{100 * change.low:+.1f}, {100 * change.high:+.1f}]"
    return shown(found.before), shown(found.after), points, percent(found.baseline)


def _classes(release: StringRelease) -> list[tuple[str, int]]:
    strings = release.facts
    if strings.labels is None:
        return []
    counts = np.bincount(strings.labels, minlength=len(strings.classes)).tolist()
    return sorted(zip(strings.classes, counts, strict=True), key=lambda c: (-c[1], c[0]))
