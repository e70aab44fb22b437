"""The owner's report of strings: original and release side by side. Aggregates only, never a string."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal._version import __version__
from shoal.report.attacks import attacks_section
from shoal.report.page import render
from shoal.report.strings import pictures as string_pictures
from shoal.report.strings import words as string_words
from shoal.report.tables.words import number, percent, verdict

if TYPE_CHECKING:
    from shoal.check.strings.verbatim import Standing
    from shoal.kinds.strings.release import StringRelease
    from shoal.utility.strings.classification import Accuracy
    from shoal.utility.strings.composition import Composition
    from shoal.utility.strings.distances import DistanceOrder

N_SYMBOLS_NAMED = 20
CLASSIFIERS = {"nearest-neighbour": "nearest neighbour", "wav-rule": "rules on wavelets (WavRule)"}


def render_string_report(release: StringRelease) -> str:
    """Write the report as one HTML page."""
    utility, verbatim = release.utility, release.verbatim
    policy = release.policy
    return render(
        "strings_report.html",
        noun="Strings",
        c={"version": __version__},
        title=f"{len(release.strings):,} strings",
        holds=all(g.holds for g in release.guarantees),
        verdict=verdict(release.guarantees, string_words.short_name),
        checked=string_words.CHECKED,
        facts=_facts(release),
        guarantees=[
            (g, string_words.short_name(g), string_words.required(g), string_words.achieved(g))
            for g in release.guarantees
        ],
        models=string_words.MODELS,
        suppressed=[(string_words.REASONS[name], n) for name, n in release.suppressed.items()],
        suppressed_sentence=release.suppressed_sentence,
        suppressed_lengths=release.suppressed_lengths,
        limits=string_words.limits(policy, release.strings.labels is not None),
        attacks=attacks_section("strings", release.attacked),
        control_is=verbatim.control_is,
        verbatim_sentence=release.verbatim_sentence,
        runs=string_pictures.longest_runs(
            verbatim.published.histogram,
            verbatim.control.histogram,
            f"Longest verbatim run of pseudo-strings and of originals among themselves. {release.verbatim_sentence}",
        ),
        run_rows=_runs(verbatim.published, verbatim.control),
        n_runs=(verbatim.published.n_strings, verbatim.control.n_strings),
        n_rejected=release.n_rejected,
        copies=policy.method.copies,
        composition=_composition(utility.composition),
        u=utility,
        lengths=string_pictures.lengths(
            _some_lengths(release),
            release.strings.lengths,
            f"Lengths: mean {number(utility.lengths.mean_before)} before, {number(utility.lengths.mean_after)} after.",
        ),
        k_mers=utility.k_mers,
        distances=_distances(utility.distances),
        learning=[(CLASSIFIERS.get(a.classifier, a.classifier), *_accuracy(a)) for a in release.learning],
        tested=release.learning[0] if release.learning else None,
        classes=_classes(release),
        method=string_words.method(policy),
        notes=release.notes,
    )


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
        "picture": string_pictures.composition(symbols, before, after, f"Shares of symbols. {alt}."),
        "n_left_out": found.n_symbols - len(symbols),
        "share_left_out": max(1 - sum(before), 0.0),
    }


def _some_lengths(release: StringRelease) -> Any:
    """Lengths of originals within those that were published: the few beyond them are suppressed, and told of above."""
    before, after = release.original_lengths, release.strings.lengths
    clipped = np.clip(before[before > 0], max(int(after.min()) // 2, 1), int(after.max()) * 2)
    return clipped if len(clipped) else None


def _distances(found: DistanceOrder | None) -> dict[str, Any] | None:
    if found is None:
        return None
    alt = f"Distances of {found.n_pairs} pairs of groups before and after; the order of {percent(found.kept)} is kept."
    return {"found": found, "picture": string_pictures.scatter(found.before, found.after, alt)}


def _accuracy(found: Accuracy) -> tuple[str, str, str, str]:
    def shown(estimate: Any) -> str:
        return f"{percent(estimate.value)} [{percent(estimate.low)}, {percent(estimate.high)}]"

    change = found.change
    points = f"{100 * change.value:+.1f} points [{100 * change.low:+.1f}, {100 * change.high:+.1f}]"
    return shown(found.before), shown(found.after), points, percent(found.baseline)


def _classes(release: StringRelease) -> list[tuple[str, int]]:
    strings = release.strings
    if strings.labels is None:
        return []
    counts = np.bincount(strings.labels, minlength=len(strings.classes)).tolist()
    return sorted(zip(strings.classes, counts, strict=True), key=lambda c: (-c[1], c[0]))
