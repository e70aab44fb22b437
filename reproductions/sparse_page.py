"""The page of the reproductions of sketches: the paper's words beside our numbers, as Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from reproductions.sparse_findings import (
    DELTAS,
    DIMENSION_DELTAS,
    DIMENSIONS,
    SIZE_KS,
    Findings,
    Scale,
    basket_names,
    dimension_name,
)
from reproductions.sparse_learning import N_CLUSTERS, N_STARTS, Scored
from reproductions.sparse_readings import DEFAULT, MOST_COMPONENTS, PRINTED, READINGS
from reproductions.sparse_reasons import ACCEPTED, reasons_section, times_section
from reproductions.sparse_sets import COUNTS, TEXTS
from reproductions.sparse_times import growth
from reproductions.string_tables import fill, met_or_missed, table, value_range

ABOUT = """
Written by `python -m reproductions.sparse_sketches`; every number of ours is computed there. Section 4 of Aggarwal and
Yu, "On privacy-preservation of text and sparse binary data with sketches" (SDM 2007). Its figures are pictures without
numbers in the text, so ours stand beside its words. Each set is split at random, two thirds for training and one for
testing; both are sketched apart with one key, and suppressed test records get a class at random, by the shares of
training records, as in the paper. Three readings: **as printed** (Definition 3 with the printed variance, delta =
{delta:g} as a cap, no other cap but {most} components), **exact variance** (the same with the variance that sketches
truly have), and Shoal's **default** (the smaller variance, delta = {default:g}, the recovery cap, coarse counts, 128
components).
"""

LOW = 5
LEVEL_POINTS, LEVEL_COSINE, LEVEL_RATIO = 3, 5, 0.05

DIFFERS = (
    "**Texts.** Yahoo's Text17 (163,000 documents, 17 classes) cannot be had. Ours are the 18,846 posts of 20 "
    "newsgroups, 20 classes, without English stop words, headers left in. The paper does not tell the weights of "
    "words, and all depends on them: we show words as 0 and 1, as counts, and as tf-idf (not scaled to unit length).",
    "**Sizes.** The sets of baskets have {baskets} records, as in the paper ({smaller}), those of Figs 11 and "
    "12 {dimensions}; accuracy is that of {tested} test records, whose standard error is about one point, and clusters "
    "are of {clustered} training records. Times are of 200,000 records and more, as in the paper.",
    "**Classifier.** The paper does not tell its own. Ours is k-nearest neighbours by cosine; the number of neighbours "
    "(1 to 150) and the kind of votes are chosen on training records alone, for every point and for originals too.",
    "**Similarities** are drawn towards the mean where few components tell them; plain estimates from different "
    "numbers of components rank the worst known records first and do much worse.",
    "**Bootstrap.** One split, not repeated ones.",
    "**Fig. 2** starts from infinitely many components. Ours starts from the caps, settles, and then lowers what still "
    "violates an edge, so that no release violates Definition 3.",
    "**Fig. 13** projects C50.I6 on its first attributes, so that records keep 10 to 50 items on average.",
)


def page(found: Findings, scale: Scale) -> str:
    """The whole page."""
    words = {
        "baskets": f"{scale.baskets:,}",
        "dimensions": f"{scale.dimensions:,}",
        "tested": f"{scale.tested:,}",
        "clustered": f"{scale.clustered:,}",
        "smaller": _at_another_size(found, scale),
    }
    about = " ".join(ABOUT.split()).format(delta=PRINTED.delta, most=MOST_COMPONENTS, default=DEFAULT.delta)
    return "\n".join(
        [
            "# Sketches of sparse records: section 4 of the 2007 paper",
            "",
            fill(about),
            "",
            *_verdicts(found, scale),
            *_classes(found, scale),
            *reasons_section(found, scale),
            *_clusters(found, scale),
            *_delta(found),
            *_dimensions(found, scale),
            *times_section(found),
            "## What differs from the paper",
            "",
            *(
                textwrap.fill(f"- {line.format(**words)}", 120, subsequent_indent="  ", break_on_hyphens=False)
                for line in DIFFERS
            ),
            "",
        ]
    )


def _at_another_size(found: Findings, scale: Scale) -> str:
    few, many = basket_names(scale.baskets)[0], basket_names(scale.smaller)[0]
    accuracy = {(r.name, r.k): f"{100 * r.accuracy:.1f}" for n in (few, many) for r in found.curve(n, PRINTED.name)}
    told = [f"{accuracy[many, k]} % in place of {accuracy[few, k]} at k = {k}" for k in SIZE_KS]
    return f"{many}, {PRINTED.name}, has {' and '.join(told)}"


def points_lost(found: Findings, rows: Sequence[Scored]) -> list[float]:
    """Accuracy below that of the originals, in points."""
    return [100 * (found.original(r.name).accuracy - r.accuracy) for r in rows]


def gains_kept(found: Findings, rows: Sequence[Scored]) -> list[float]:
    """Of what clusters of originals are better than random ones, the part that is left, in per cent."""
    originals = [found.original(r.name).cosine for r in rows]
    return [100 * (r.cosine - r.cosine_random) / (o - r.cosine_random) for r, o in zip(rows, originals, strict=True)]


def _verdicts(found: Findings, scale: Scale) -> Iterator[str]:
    yield fill(
        f"The paper, Figs 3 to 9: {LOW} to {ACCEPTED} points of accuracy are lost, and both accuracy and the cosine of "
        "clusters are level after an initial fall. Ours, over all k; level means that from k = 5 on accuracy stays "
        f"within {LEVEL_POINTS} points, and the cosine within {LEVEL_COSINE} % of that of the originals:"
    )
    yield ""
    rows = []
    for name in (*TEXTS, *basket_names(scale.baskets)):
        for reading in READINGS:
            curve = found.curve(name, reading.name)
            if not curve:
                continue
            lost = points_lost(found, curve)
            share = [100 * r.cosine / found.original(name).cosine for r in curve]
            rows.append(
                (
                    name,
                    reading.name,
                    f"{value_range(lost)}, {met_or_missed(max(lost) <= ACCEPTED)}",
                    met_or_missed(_spread_from_5(lost, curve) <= LEVEL_POINTS),
                    f"{value_range(share)} %",
                    f"{value_range(gains_kept(found, curve))} %",
                    met_or_missed(_spread_from_5(share, curve) <= LEVEL_COSINE),
                )
            )
    yield from table(
        (
            "set",
            "reading",
            f"points lost, at most {ACCEPTED}",
            "level",
            "clusters: cosine kept",
            "its gain over random clusters kept",
            "level",
        ),
        rows,
    )
    figures: list[tuple[str, ...]] = []
    for field, number in (("accuracy", 6), ("cosine", 10)):
        curve = found.by_delta(COUNTS, PRINTED.name)
        kept = [getattr(r, field) / getattr(found.original(COUNTS), field) for r in curve]
        late = [v for v, r in zip(kept, curve, strict=True) if r.delta >= 1]
        told = f"{value_range(kept, 3)} of the originals; from delta = 1 on {value_range(late, 3)}"
        level = met_or_missed(max(late) - min(late) <= LEVEL_RATIO)
        figures.append((f"{number}: {field} of {COUNTS}", "a fall, level beyond delta = 1", told, f"level: {level}"))
    for field, number in (("accuracy", 11), ("cosine", 12)):
        for delta in DIMENSION_DELTAS:
            ratios = _ratios(found, scale, PRINTED.name, delta, field)
            level = met_or_missed(max(ratios) - min(ratios) <= LEVEL_RATIO)
            what = f"{number}: ratio of {field}, delta = {delta:g}"
            figures.append((what, "level from 1,000 to 2,000 attributes", value_range(ratios, 3), f"level: {level}"))
    for number, what in ((13, "non-zeros"), (14, "records")):
        some = found.times(number)
        told = f"x^{growth(some):.2f}; {value_range([r.cpu_seconds for r in some])} s of processor time"
        verdict = met_or_missed(growth(some) <= 1.1)
        figures.append((f"{number}: time against {what}", "linear, a few seconds", told, f"linear: {verdict}"))
    yield from table(("figure", "the paper", "ours", ""), figures)


def _spread_from_5(values: Sequence[float], curve: Sequence[Scored]) -> float:
    late = [v for v, r in zip(values, curve, strict=True) if r.k >= 5]
    return max(late) - min(late)


def _against_k(found: Findings, scale: Scale, field: str, factor: float, digits: int) -> Iterator[str]:
    rows = []
    for name in (*TEXTS, *basket_names(scale.baskets)):
        original = f"{factor * getattr(found.original(name), field):.{digits}f}"
        for reading in READINGS:
            curve = {r.k: r for r in found.curve(name, reading.name)}
            if curve:
                cells = [f"{factor * getattr(curve[k], field):.{digits}f}" for k in scale.ks]
                counts = value_range([r.median_components for r in curve.values()], 0)
                rows.append((name, original, reading.name, *cells, counts))
    head = ("set", "originals", "reading", *(f"k = {k}" for k in scale.ks), "median components")
    yield from table(head, rows)


def _classes(found: Findings, scale: Scale) -> Iterator[str]:
    yield "## Classification against k (Figs 3 to 5)"
    yield ""
    yield fill(
        "The paper: accuracy falls quickly at first, then levels out, by about 5 to 10 % on the whole, on texts and on "
        "both sets of baskets. Ours, per cent of the test records:"
    )
    yield ""
    yield from _against_k(found, scale, "accuracy", 100, 1)
    suppressed = [100 * r.suppressed_test for r in found.scored if r.k]
    yield fill(
        f"Of the test records {value_range(suppressed)} % are suppressed: with this reading of Definition 3 hardly any "
        "has to be, so suppression is no source of error here as it was in the paper."
    )
    yield ""
    yield "![Accuracy against k](sparse-classes.svg)"
    yield ""


def _clusters(found: Findings, scale: Scale) -> Iterator[str]:
    yield "## Clusters against k (Figs 7 to 9)"
    yield ""
    yield fill(
        "The paper: the mean cosine of a record to the centroid of its cluster, both original, falls at first and then "
        f"levels off. Ours, {N_CLUSTERS} clusters, {N_STARTS} starts, times 100:"
    )
    yield ""
    yield from _against_k(found, scale, "cosine", 100, 2)
    random = {n: found.curve(n, PRINTED.name)[0].cosine_random for n in (*TEXTS, *basket_names(scale.baskets))}
    told = "; ".join(f"{name} {100 * value:.2f}" for name, value in random.items())
    yield fill(
        f"A random record has a cosine to the mean of all, too, so random clusters are not at 0 but at: {told}. The "
        "cosine alone flatters: what clusters of sketches keep of the gain over random ones is in the first table."
    )
    yield ""
    yield "![Mean cosine to the centroid against k](sparse-clusters.svg)"
    yield ""


def _delta(found: Findings) -> Iterator[str]:
    yield "## Against delta (Figs 6 and 10)"
    yield ""
    yield fill(
        "The paper: delta-anonymity alone, on texts; the same shape as against k, level beyond delta = 1. Ours, "
        "accuracy in per cent, and the cosine times 100 behind it; median components in brackets:"
    )
    yield ""
    rows = []
    original = found.original(COUNTS)
    for reading, label in ((PRINTED, "delta alone"), (DEFAULT, "with recovery cap, coarse")):
        cells = [
            f"{100 * r.accuracy:.1f} / {100 * r.cosine:.1f} ({r.median_components:.0f})"
            for r in found.by_delta(COUNTS, reading.name)
        ]
        rows.append((COUNTS, f"{100 * original.accuracy:.1f} / {100 * original.cosine:.1f}", label, *cells))
    yield from table(("set", "originals", "", *(f"delta = {d:g}" for d in DELTAS)), rows)
    yield fill(
        "Accuracy is not level beyond delta = 1, and cannot be: twice the delta is half the components. Its fall per "
        "unit of delta becomes slower, as that of the number of components does. The recovery cap is below what delta "
        "allows up to about 1.5."
    )
    yield ""
    yield "![Accuracy and clusters against delta](sparse-delta.svg)"
    yield ""


def _ratios(found: Findings, scale: Scale, reading: str, delta: float, field: str) -> list[float]:
    out = []
    for g in DIMENSIONS:
        name = dimension_name(scale.dimensions, g)
        row = next(r for r in found.by_delta(name, reading) if r.delta == delta)
        out.append(getattr(row, field) / getattr(found.original(name), field))
    return out


def _dimensions(found: Findings, scale: Scale) -> Iterator[str]:
    yield "## Against the number of attributes (Figs 11 and 12)"
    yield ""
    yield fill(
        "The paper: the ratio to the originals hardly changes with the number of attributes, nor with delta. Ours, "
        "accuracy and cosine as shares of those of the originals:"
    )
    yield ""
    rows = []
    settings = [(PRINTED, delta, f"delta {delta:g} alone") for delta in DIMENSION_DELTAS]
    for field in ("accuracy", "cosine"):
        for reading, delta, label in (*settings, (DEFAULT, DEFAULT.delta, f"delta {DEFAULT.delta:g}, default caps")):
            rows.append((field, label, *(f"{v:.3f}" for v in _ratios(found, scale, reading.name, delta, field))))
    yield from table(("", "setting", *(f"G = {g:,}" for g in DIMENSIONS)), rows)
    yield "![Ratios against the number of attributes](sparse-dimensions.svg)"
    yield ""
