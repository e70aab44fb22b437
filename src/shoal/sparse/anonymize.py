"""From sparse records and a policy to sketches: caps, neighbours, numbers of components, components.

Records are first put into an order that depends on their content alone, and sketches are published in an order that
depends on theirs, so neither result nor order tell how the records came.

**Guarantee**: every record that is published satisfies delta-anonymity, the recovery cap if asked for, and, with all
original records as neighbours, k-variance anonymity if asked for. **Not protected**: see `shoal.sparse.delta`,
`shoal.sparse.recovery_cap`, `shoal.sparse.k_variance` and `shoal.sparse.sketch`; and nothing here is differential
privacy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Floats, Ints, Signs
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.errors import Infeasible
from shoal.kinds.sparse.policy import KVariance, SparsePolicy
from shoal.progress import Progress
from shoal.sparse.coarse import coarse_counts
from shoal.sparse.content_order import canonical_order, published_order
from shoal.sparse.delta import delta_counts
from shoal.sparse.k_variance import edges_of, k_variance_counts
from shoal.sparse.recovery_cap import recovery_counts
from shoal.sparse.rounding import step_of
from shoal.sparse.signs import refuse_key
from shoal.sparse.sketch import sketch_records

if TYPE_CHECKING:
    from shoal.sparse.neighbours import Neighbours


POPULAR = 0.5
SMALL_DELTA = 0.05
REASONS = ("kept", "empty", "small_class", "too_short", "too_distinct", "rare_items")
_EMPTY, _CLASS, _SHORT, _DISTINCT = 1, 2, 3, 4


@dataclass(frozen=True)
class AnonymizedSparse:
    """What is published, and what stays home.

    Attributes
    ----------
    sketches : Sketches
        To be published: by class, number of components, and components.
    rows : int64 array (n_sketches,)
        The original row of each sketch. Private, as is all below.
    counts : int64 array (n_records,)
        How many components each original record got.
    reasons : int8 array (n_records,)
        Why a record has none: an index into `REASONS`; 0 for those that are published.
    neighbours : Neighbours, optional
        By original rows; None without k-variance anonymity.
    n_passes : int
        How many passes the numbers of components took to settle; 0 without k-variance anonymity.
    notes : tuple of str
        What the user should know, a sentence each.
    """

    sketches: Sketches
    rows: Ints
    counts: Ints
    reasons: Signs
    neighbours: Neighbours | None
    n_passes: int
    notes: tuple[str, ...]

    @property
    def n_suppressed(self) -> int:
        """How many records were left out."""
        return int((self.reasons > 0).sum())


def anonymize_sparse(
    records: Sparse,
    policy: SparsePolicy,
    key: bytes,
    *,
    progress: Progress | None = None,
) -> AnonymizedSparse:
    """Sketch records as a policy asks.

    Parameters
    ----------
    records : Sparse
    policy : SparsePolicy
    key : bytes
        32 secret bytes: `shoal.sparse.new_key`.
    progress : callable, optional
        Called with what is done, how many steps of it are done, and of how many; twice 0 where that is not known.

    Raises
    ------
    Infeasible
        If there are too few records with items for k neighbours.
    """
    refuse_key(key)
    order = canonical_order(records)
    ordered = records.take(order)
    step = step_of(ordered)
    caps, reasons = component_caps(ordered, policy, step)
    counts, found, n_passes = caps, None, 0
    if policy.k_variance is not None:
        counts, found, n_passes = _within_edges(ordered, policy.k_variance, policy, caps, progress)
        reasons[(reasons == 0) & (counts == 0)] = _DISTINCT
    if policy.method.coarse_counts:
        counts = coarse_counts(counts)
    if ordered.labels is not None:
        # A class of which few are left points at them, however many were suppressed for other reasons.
        left = np.bincount(ordered.labels[counts > 0], minlength=len(ordered.classes))
        is_exposed = (left < policy.method.rare)[ordered.labels] & (counts > 0)
        counts, reasons[is_exposed] = np.where(is_exposed, 0, counts), _CLASS
    if progress is not None:
        progress("sketching records", 0, 0)
    kept = np.flatnonzero(counts > 0)
    sketches = sketch_records(ordered.take(kept), counts[kept], key, step)
    published = published_order(sketches)

    counts_back, reasons_back = np.empty_like(counts), np.empty_like(reasons)
    counts_back[order], reasons_back[order] = counts, reasons
    return AnonymizedSparse(
        sketches.take(published),
        order[kept[published]],
        counts_back,
        reasons_back,
        None if found is None else _by_original_rows(found, order),
        n_passes,
        notes_of(
            AllRecords.of(ordered),
            float(np.median(np.abs(ordered.weights))) if len(ordered.weights) else None,
            policy,
            None if ordered.is_integral else step,
            found,
        ),
    )


@dataclass(frozen=True)
class AllRecords:
    """What the caps of a record depend on besides it: counts over all records.

    Attributes
    ----------
    n_records : int
    holders : int64 array (n_items,)
        How many hold each item.
    class_sizes : int64 array (n_classes,)
        How many of each class have items.
    """

    n_records: int
    holders: Ints
    class_sizes: Ints

    @classmethod
    def of(cls, records: Sparse) -> AllRecords:
        """Of records that are all."""
        filled = np.zeros(0, np.int64)
        if records.labels is not None:
            filled = np.bincount(records.labels[records.sizes > 0], minlength=len(records.classes))
        return cls(len(records), records.supports, filled)

    @property
    def shares(self) -> Floats:
        """The share of the records that has each item."""
        return self.holders / max(1, self.n_records)


def component_caps(
    records: Sparse, policy: SparsePolicy, step: float, whole: AllRecords | None = None
) -> tuple[Ints, Signs]:
    """The most components of each record before any neighbour is looked at, and why it has none.

    The records may be some of a whole whose items and classes they are numbered by.
    """
    whole = whole or AllRecords.of(records)
    reasons = np.zeros(len(records), np.int8)
    caps = np.minimum(delta_counts(records, policy.delta), policy.method.max_components)
    if policy.method.recovery_cap:
        share, n_records = policy.method.recovery_share, whole.n_records
        capped = recovery_counts(records, step=step, share=share, shares=whole.shares, n_records=n_records)
        caps = np.minimum(caps, capped)
    reasons[caps == 0] = _SHORT
    is_filled = records.sizes > 0
    if records.labels is not None:
        n_of_class = whole.class_sizes
        reasons[n_of_class[records.labels] < policy.method.rare] = _CLASS
    reasons[~is_filled] = _EMPTY
    return np.where(reasons > 0, 0, caps), reasons


def _within_edges(
    ordered: Sparse, asked: KVariance, policy: SparsePolicy, caps: Ints, progress: Progress | None
) -> tuple[Ints, Neighbours, int]:
    from shoal.sparse.neighbours import nearest

    n_filled = int((ordered.sizes > 0).sum())
    if n_filled <= asked.k:
        raise Infeasible(
            f"there are {n_filled} records with items, but k = {asked.k} neighbours of each are required; "
            "lower k or add records"
        )
    found = nearest(
        ordered,
        asked.k,
        metric=policy.method.metric,
        how=policy.method.neighbours,
        progress=None if progress is None else partial(progress, f"finding the {asked.k} nearest of each record"),
    )
    edges = edges_of(ordered, found.indices, asked.threshold, asked.variance)
    counts, n_passes = k_variance_counts(edges, found.distances, caps)
    return counts, found, n_passes


def _by_original_rows(found: Neighbours, order: Ints) -> Neighbours:
    indices, distances = np.empty_like(found.indices), np.empty_like(found.distances)
    indices[order] = np.where(found.indices >= 0, order[found.indices], -1)
    distances[order] = found.distances
    return replace(found, indices=indices, distances=distances)


def notes_of(
    whole: AllRecords,
    typical: float | None,
    policy: SparsePolicy,
    step: float | None = None,
    found: Neighbours | None = None,
) -> tuple[str, ...]:
    """What the user should know of records with a typical weight, and a step if weights are real."""
    notes = []
    n_popular = int((whole.holders > POPULAR * max(1, whole.n_records)).sum())
    if n_popular:
        # T20.I4 with one more item in 90 % of the baskets: the mean gives 21 of its 24 signs, and who has the item is
        # told with an area under the curve of 0.71, by the key with 0.74.
        notes.append(
            f"{_items(n_popular)} in more than half of the records: the mean of all sketches tells such signs to "
            "anyone, so whether a record has such an item is guarded by the number of components alone, not by the key"
        )
    if typical is not None and policy.delta < SMALL_DELTA * typical**2:
        notes.append(
            f"delta = {policy.delta:g} is small beside the square of a typical weight, {typical:g}: the delta rule "
            "protects little here; give one of about half that square"
        )
    if step is not None:
        notes.append(f"the weights are real numbers, so components were rounded to multiples of {step:g}")
    if found is not None and found.recall is not None and found.recall < 1:
        notes.append(
            f"neighbours were found approximately: {100 * found.recall:.1f} % of the nearest of a sample are among them"
        )
    return tuple(notes)


def _items(n: int) -> str:
    return "one item is" if n == 1 else f"{n:,} items are"
