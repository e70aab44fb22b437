"""The public datasheet of sketches: made from the published ones alone, and the number of records received."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.kinds.sparse.manifest import in_public
from shoal.report.page import judged, render
from shoal.report.points import public_points
from shoal.report.sparse import pictures as sparse_pictures
from shoal.report.sparse import words as sparse_words

if TYPE_CHECKING:
    from shoal.data.sparse.sketches import Sketches
    from shoal.kinds.sparse.release import SparseRelease

N_CLASSES = 40


def render_datasheet(release: SparseRelease) -> str:
    """Write the datasheet as one HTML page."""
    sketches, policy = release.sketches, release.policy
    public = [in_public(g) for g in release.guarantees]
    counts = sketches.counts
    classes = class_sizes(sketches)
    records, reasons = release.told_counts
    return render(
        "sparse_datasheet.html",
        about=public_points(release.policy.context.public()),
        noun="Sketches",
        records=records,
        is_integral=sketches.is_integral,
        step=sketches.step,
        mean=float(counts.mean()),
        components=sparse_pictures.components(
            counts, f"Histogram of the numbers of components, from {counts.min()} to {counts.max()}."
        ),
        classes=classes[:N_CLASSES],
        n_more_classes=max(len(classes) - N_CLASSES, 0),
        guarantees=judged(public, sparse_words.short_name, sparse_words.required, sparse_words.achieved),
        models=sparse_words.MODELS,
        suppressed=[(sparse_words.REASONS[name], n) for name, n in reasons.items()],
        method=sparse_words.method(policy, sketches.step, release.neighbours, release.recall),
        uses=sparse_words.GOOD_USE,
        misuses=sparse_words.MISUSE,
        limits=sparse_words.limits(policy, sketches.is_integral, sketches.labels is not None),
    )


def class_sizes(sketches: Sketches) -> list[tuple[str, int]]:
    """Classes and how many sketches each has, the largest first."""
    if sketches.labels is None:
        return []
    counts = np.bincount(sketches.labels, minlength=len(sketches.classes)).tolist()
    return sorted(zip(sketches.classes, counts, strict=True), key=lambda c: (-c[1], c[0]))
