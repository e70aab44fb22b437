"""Sections of the page of sketches: why accuracy falls further than in the paper, and times."""

from __future__ import annotations

from collections.abc import Iterator

from reproductions.sparse_findings import OTHERS_AT, Findings, Scale, dimension_name
from reproductions.sparse_readings import MOST_COMPONENTS, PRINTED
from reproductions.sparse_sets import BINARY, COUNTS, TEXTS, TF_IDF
from reproductions.sparse_times import growth
from reproductions.string_tables import fill, table, value_range

ACCEPTED = 10  # points, the most that the paper tells of


def reasons_section(found: Findings, scale: Scale) -> Iterator[str]:
    """How many components an accuracy needs, and how many Definition 3 allows."""
    names = (dimension_name(scale.dimensions, 1000), BINARY)
    yield "### Why ours falls further"
    yield ""
    yield fill(
        "An edge allows `floor(variance / threshold^2)` common components. With both as printed that is |x| |y| (1 + "
        "cos), so never more than 2 |x| |y|: records of 20 items that are 0 or 1 cannot share more than 40, "
        "and share 20 to 30 with cosines of 0.3 to 0.5. The estimate of a cosine from m components has a standard "
        "deviation of about 1 / sqrt(m), 0.2 at m = 25, which is about what sets near records apart from others. How "
        "many components an accuracy needs, if every record has equally many and no rule applies, per cent:"
    )
    yield ""
    rows = []
    for name in names:
        some = found.alike(name)
        cells = [f"{100 * r.accuracy:.1f}" for r in some]
        rows.append((name, f"{100 * found.original(name).accuracy:.1f}", *cells))
    yield from table(("set", "originals", *(f"m = {r.median_components:.0f}" for r in found.alike(names[0]))), rows)
    nearest = {n: next(r for r in found.alike(n) if r.median_components == OTHERS_AT) for n in names}
    told = "; ".join(
        f"{n}: nearest neighbours {100 * nearest[n].accuracy:.1f} %, "
        + ", ".join(f"{o.classifier} {100 * o.accuracy:.1f} %" for o in found.others if o.name == n)
        for n in names
    )
    yield fill(
        f"It is not the classifier: with m = {OTHERS_AT} others, which take the components as attributes, do worse "
        f"({told}). Nor is it our caution: the exact variance, the largest that can be justified, is among the "
        f"readings and loses least. A loss of at most {ACCEPTED} points needs {' and '.join(_needed(found, names))} of "
        "the numbers above. Delta-anonymity alone, as in Figs 11 and 12, allows as many and keeps the "
        "accuracy; k-variance does not. What a classifier gets that tends to the best there is: "
        "[Sketches: what can be told from m components](sketches-ceiling.md)."
    )
    yield ""
    lost = {
        name: value_range([100 * (found.original(name).accuracy - r.accuracy) for r in found.curve(name, PRINTED.name)])
        for name in TEXTS
    }
    yield fill(
        "What is left is the scale. The printed threshold is a square root, so what it allows grows with the square of "
        f"the weights. The same texts at the same k lose {lost[BINARY]} points with words as 0 and 1, {lost[COUNTS]} "
        f"as counts, {lost[TF_IDF]} as tf-idf; at unit length, which the paper recommends for practice, the "
        "printed condition would allow one component. Counts, a common weight of words, "
        "are where the paper's figure nearly comes out. With tf-idf every text gets all "
        f"{MOST_COMPONENTS} components at any k: k-variance then protects nothing, and the delta rule and the caps "
        "decide. Baskets are 0 and 1 by nature, so that we have no reading under which they lose as little as the "
        "paper says. Its baseline is not in its text: here two pools of baskets are told apart without error from the "
        "originals, so there is more to lose."
    )
    yield ""
    yield fill(
        "With the defaults the recovery cap binds before k-variance does, so k makes no difference; that is what it "
        "costs to keep records from being recovered by a linear programme with the key."
    )
    yield ""


def _needed(found: Findings, names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        least = 100 * found.original(name).accuracy - ACCEPTED
        enough = [r.median_components for r in found.alike(name) if 100 * r.accuracy >= least]
        yield f"{min(enough):.0f} components for {name}" if enough else f"more than any for {name}"


def times_section(found: Findings) -> Iterator[str]:
    """Figs 13 and 14."""
    yield "## Times (Figs 13 and 14)"
    yield ""
    yield fill(
        "The paper: linear in the non-zeros and in the records, a few seconds. Ours: `anonymize_sparse`, k = 10, with "
        "neighbours by partition. Processor time counts both cores; others used the machine too, so wall time says "
        "less. Recall is the share of true neighbours found, of a sample."
    )
    yield ""
    rows = []
    for number, what in ((13, "non-zeros"), (14, "records")):
        for r in found.times(number):
            x = f"{r.x:.1f}" if number == 13 else f"{r.x:,.0f}"
            rows.append(
                (
                    f"{number}, {what}",
                    x,
                    f"{r.n_records:,}",
                    f"{r.cpu_seconds:.1f}",
                    f"{r.seconds:.1f}",
                    f"{100 * r.recall:.1f} %",
                )
            )
    yield from table(("figure", "x", "records", "CPU seconds", "wall seconds", "recall"), rows)
    recalls = value_range([100 * r.recall for r in found.timed])
    yield fill(
        f"Processor time grows as x^{growth(found.times(13)):.2f} with the non-zeros and as "
        f"x^{growth(found.times(14)):.2f} with the records, measured while other work shared both cores and their "
        "caches; `python -m benchmarks k_variance` tells those of a quiet machine. The number of clusters that the "
        "search looks among grows with the records up to two millions, which is one part that is not linear. Recall is "
        f"{recalls} %: each record is compared with about 65,000 others, whatever their number. Most of the time goes "
        "into finding neighbours, which the paper does not describe; sketching is hardly seen."
    )
    yield ""
    yield "![Times](sparse-times.svg)"
    yield ""
