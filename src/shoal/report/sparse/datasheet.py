"""The public datasheet of sketches: made from the published ones alone, and the number of records received."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.kinds.sparse.manifest import in_public
from shoal.report.page import classes_shown, draw_datasheet
from shoal.report.sparse import pictures as sparse_pictures
from shoal.report.sparse import words as sparse_words

if TYPE_CHECKING:
    from shoal.kinds.sparse.release import SparseRelease


def render_datasheet(release: SparseRelease) -> str:
    """Write the datasheet as one HTML page."""
    sketches, policy = release.sketches, release.policy
    public = [in_public(g) for g in release.guarantees]
    counts = release.component_counts
    return draw_datasheet(
        "sparse_datasheet.html",
        release,
        sparse_words,
        public,
        noun="Sketches",
        is_integral=sketches.is_integral,
        step=sketches.step,
        mean=float(counts.mean()),
        components=sparse_pictures.components(
            counts, f"Histogram of the numbers of components, from {counts.min()} to {counts.max()}."
        ),
        **classes_shown(*release.classes),
        method=sparse_words.method(policy, sketches.step, release.neighbours, release.recall),
        uses=sparse_words.GOOD_USE,
        limits=sparse_words.limits(policy, sketches.is_integral, sketches.labels is not None),
    )
