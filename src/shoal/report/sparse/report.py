"""The owner's report of sketches: original and release side by side. Aggregates only, never a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.report.content import ReportContent, picture
from shoal.report.page import classes_shown, points
from shoal.report.sparse import pictures as sparse_pictures
from shoal.report.sparse import words as sparse_words
from shoal.report.tables.words import number, percent

if TYPE_CHECKING:
    from shoal.kinds.sparse.release import SparseRelease
    from shoal.utility.sparse.classification import SketchLearning
    from shoal.utility.sparse.dot_products import Agreement
    from shoal.utility.sparse.measure import SparseUtility

N_DOTS = 600
TAILS = (0.02, 0.98)


def report_content(release: SparseRelease) -> ReportContent:
    """Collect what the report shows."""
    utility, sketches, policy = release.utility, release.sketches, release.policy
    return ReportContent.of_release(
        release,
        title=f"{release.records['out']:,} sketches",
        facts=_facts(release),
        suppressed_sentence=release.suppressed_sentence,
        limits=points(sparse_words.limits(policy, sketches.is_integral, sketches.labels is not None)),
        u=_measured(utility),
        components=sparse_pictures.components_picture(
            release.component_counts,
            f"Histogram of the numbers of components: {utility.components.mean:.1f} on average.",
        ),
        products=_products(utility),
        neighbours=_neighbours(utility),
        learning=None if utility.learning is None else _learning(utility.learning),
        **classes_shown(*release.classes),
        method=sparse_words.method(policy, sketches.step, release.neighbours, release.recall),
    )


def _measured(utility: SparseUtility) -> dict[str, Any]:
    """What is said of the measures in sentences."""
    near, clusters, learned = utility.neighbours, utility.clusters, utility.learning
    return {
        "components": {"mean": utility.components.mean},
        "neighbours": near and {n: getattr(near, n) for n in ("n_nearest", "n_sampled", "n_against")},
        "clusters": clusters and {n: getattr(clusters, n) for n in ("n_clusters", "before", "after", "random")},
        "learning": learned and {n: getattr(learned, n) for n in ("n_train", "n_test", "suppressed_test")},
    }


def _facts(release: SparseRelease) -> list[tuple[str, str, str]]:
    records, utility = release.records, release.utility
    facts = [
        ("Records published", f"{records['out']:,}", f"of {records['in']:,}{_in_groups(release)}"),
        ("Components", number(utility.components.mean), "of a sketch, on average"),
    ]
    solved = next((r for r in release.attacked.results if r.attack.startswith("recovery")), None)
    if solved is not None:
        facts.append(("Recovered exactly", percent(solved.main.value), f"of {solved.main.attempts:,}, with the key"))
    if utility.neighbours is not None:
        n, share = min(utility.neighbours.shares.items())
        told = f"of the {utility.neighbours.n_nearest} nearest, among the {n:,} nearest by sketches"
        facts.append(("Neighbours kept", percent(share), told))
    if utility.learning is not None:
        before, after = utility.learning.before.mean, utility.learning.after.mean
        facts.append(("Classes told", percent(after), f"by nearest neighbours; {percent(before)} by originals"))
    return facts


def _in_groups(release: SparseRelease) -> str:
    return "" if release.n_groups is None else f", as sketches of {release.n_groups:,} groups"


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
    true, estimated, errors = (
        [values[i] for i in inner] for values in (found.true, found.estimated, found.standard_errors)
    )
    told = {n: getattr(found, n) for n in ("correlation", "root_mean_square_error", "share_within")}
    drawn = picture("product_scatter", true=true, estimated=estimated, errors=errors, alt=alt) if has_picture else None
    return {"title": title, "found": told, "picture": drawn}


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
