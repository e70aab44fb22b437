"""The owner's report of sketches: original and release side by side. Aggregates only, never a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal._version import __version__
from shoal.report.attacks import attacks_section
from shoal.report.page import render
from shoal.report.sparse import pictures as sparse_pictures
from shoal.report.sparse import words as sparse_words
from shoal.report.sparse.datasheet import class_sizes
from shoal.report.tables.words import number, percent, verdict

if TYPE_CHECKING:
    from shoal.kinds.sparse.release import SparseRelease
    from shoal.utility.sparse.classification import SketchLearning
    from shoal.utility.sparse.dot_products import Agreement
    from shoal.utility.sparse.measure import SparseUtility

N_DOTS = 600
TAILS = (0.02, 0.98)
N_CLASSES = 40


def render_sparse_report(release: SparseRelease) -> str:
    """Write the report as one HTML page."""
    utility, sketches, policy = release.utility, release.sketches, release.policy
    counts = sketches.counts
    classes = class_sizes(sketches)
    return render(
        "sparse_report.html",
        noun="Records",
        c={"version": __version__},
        title=f"{len(sketches):,} sketches",
        holds=all(g.holds for g in release.guarantees),
        verdict=verdict(release.guarantees, sparse_words.short_name),
        checked=sparse_words.CHECKED,
        facts=_facts(release),
        guarantees=[
            (g, sparse_words.short_name(g), sparse_words.required(g), sparse_words.achieved(g))
            for g in release.guarantees
        ],
        models=sparse_words.MODELS,
        suppressed=[(sparse_words.REASONS[name], n) for name, n in release.suppressed.items()],
        suppressed_sentence=release.suppressed_sentence,
        limits=sparse_words.limits(policy, sketches.is_integral, sketches.labels is not None),
        attacks=attacks_section("sparse", release.attacked),
        u=utility,
        components=sparse_pictures.components(
            counts, f"Histogram of the numbers of components: {utility.components.mean:.1f} on average."
        ),
        products=_products(utility),
        neighbours=_neighbours(utility),
        learning=None if utility.learning is None else _learning(utility.learning),
        classes=classes[:N_CLASSES],
        n_more_classes=max(len(classes) - N_CLASSES, 0),
        method=sparse_words.method(policy, sketches.step, release.neighbours, release.recall),
        notes=release.notes,
    )


def _facts(release: SparseRelease) -> list[tuple[str, str, str]]:
    records, utility = release.records, release.utility
    facts = [
        ("Records published", f"{records['out']:,}", f"of {records['in']:,}"),
        ("Components", number(utility.components.mean), "of a sketch, on average"),
    ]
    solved = next((r for r in release.attacked.results if r.attack.startswith("recovery")), None)
    if solved is not None:
        facts.append(("Recovered exactly", percent(solved.main.value), f"of {solved.main.attempts:,}, with the key"))
    if utility.near_pairs is not None:
        kept = utility.near_pairs.correlation
        facts.append(("Products kept", number(kept), "correlation with the true ones, of near records"))
    return facts


def _products(utility: SparseUtility) -> list[dict[str, Any]]:
    """Random and near pairs, each with a picture of some of them."""
    listed = (
        ("Pairs of random records", utility.random_pairs, True),
        ("Pairs of near records", utility.near_pairs, True),
        ("Squared lengths", utility.squared_lengths, False),
    )
    return [_agreement(title, found, drawn) for title, found, drawn in listed if found is not None]


def _agreement(title: str, found: Agreement, has_picture: bool) -> dict[str, Any]:
    alt = (
        f"{title}: true against estimated; root mean square error {number(found.root_mean_square_error)}, correlation "
        f"{number(found.correlation)}, {percent(found.share_within)} within two standard errors."
    )
    # Lengths are of single records, and the ends of a scatter are of few: neither is shown.
    low, high = np.quantile(found.true, TAILS)
    inner = [i for i, value in enumerate(found.true) if low <= value <= high][:N_DOTS]
    shown = ([values[i] for i in inner] for values in (found.true, found.estimated, found.standard_errors))
    picture = sparse_pictures.scatter(next(shown), next(shown), next(shown), alt) if has_picture else None
    return {"title": title, "found": found, "picture": picture}


def _neighbours(utility: SparseUtility) -> list[tuple[str, str, str]]:
    found = utility.neighbours
    if found is None:
        return []
    return [(f"{n:,}", percent(share), percent(found.by_chance[n])) for n, share in found.shares.items()]


def _learning(found: SketchLearning) -> list[tuple[str, str, str]]:
    return [
        (name, f"{percent(side.mean)} ± {100 * side.deviation:.1f}", meaning)
        for name, side, meaning in (
            ("Originals", found.before, "Nearest neighbours among originals."),
            ("Sketches", found.after, "Nearest neighbours among sketches, training and test part made apart."),
            ("Most frequent class", found.baseline, "Always naming the most frequent class."),
        )
    ]
