"""Sketches of sparse records: recomputed from the originals, which of them each sketch is of, and the key.

From the published sketches alone little can be verified: how many components there are, and the grid they lie on. With
the original, that the numbers of components contradict no rule. With the original of each sketch too,
everything; and with the key every single component.

- delta-anonymity: no attribute's estimate has a variance below delta (`sparse_bounds`);
- recovery-cap: the components of a record carry at most half of what picks it out (`sparse_bounds`);
- k-variance: similarities to the k nearest are blurred enough (`sparse_edges`);
- class-size: published classes are not small, and are those of the originals;
- sketch-form: the numbers are sketches of these originals (`sparse_sketches`);
- k-anonymity: where a sketch is of a group, of the sum of at least k records (`sparse_groups`).

**Guarantee.** The usual, unbiased estimate of an attribute, which takes the key, has a variance of at least delta, and
the usual estimate of the product of a record with one of its k nearest a deviation of at least the threshold.
**Not protected.** Other estimates are bounded by the recovery cap only, which counts bits and is no proof: the linear
one of least mean square error, which knows how popular attributes are, is far nearer. The length of a record is
told by its components, and its parity by each of them.

References
----------
C. C. Aggarwal, P. S. Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007. The recovery
cap, rounding, and classes of at least `rare` are ours.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.check.guarantee import Guarantee
from shoal.check.sparse.bounds import (
    Bounds,
    bounds_of,
    class_size,
    coarse_counts,
    component_counts,
    delta_anonymity,
    max_components,
    recovery_cap,
)
from shoal.check.sparse.edges import EdgeRule, Threshold, Variance, k_variance
from shoal.check.sparse.groups import NEEDS_GROUPS, SummedGroups, look_alikes
from shoal.check.sparse.neighbours import Metric
from shoal.check.sparse.signs import KEY_BYTES
from shoal.check.sparse.sketches import find_owners, rounding, sketch_form
from shoal.check.verdict import Verdict
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError

NEEDS_ORIGINAL = (
    "From the sketches alone it cannot be told what they protect: delta-anonymity{others} the original and which of "
    "its records each sketch is of (--original and --private)."
)
NEEDS_ROWS = (
    "That no record has too many components for delta{others} which record each sketch is of; the owner may have "
    "kept that (--private)."
)
NEEDS_NEIGHBOURS = (
    "k-variance on neighbours that were found by parts of the data needs the list of them; the owner may have kept it "
    "(--private)."
)


@dataclass(frozen=True)
class SparseAsked:
    """What published sketches are held to.

    Attributes
    ----------
    delta : float
        The least variance of an attribute's estimate.
    k : int, optional
        Neighbours of k-variance; None where only delta-anonymity is required.
    threshold, variance, metric : str
        How k-variance is read, and what near means.
    max_components : int
        The longest sketch.
    recovery_cap, recovery_share : bool, float
        Whether components may carry only a share of what picks a record out, and which.
    rare : int
        The fewest originals of a published class.
    neighbours : {"exact", "partition"}
        Whether the k nearest are meant, or those that a search in parts of the data finds.
    coarse_counts : bool
        Whether numbers of components stand on a coarse grid, so that they tell little of lengths.
    group_size : int, optional
        The fewest records that a sketch is the sum of, where it is of a group.
    """

    delta: float
    k: int | None = None
    threshold: Threshold = "sqrt"
    variance: Variance = "smaller"
    metric: Metric = "cosine"
    max_components: int = 128
    recovery_cap: bool = True
    recovery_share: float = 0.5
    rare: int = 5
    neighbours: Literal["exact", "partition"] = "exact"
    coarse_counts: bool = False
    group_size: int | None = None


@dataclass(frozen=True)
class SparseEvidence:
    """Secrets to check sketches against; what is None is not there.

    Attributes
    ----------
    original : Sparse, optional
        All records as they came in, also those that were suppressed.
    rows : int64 array (n_published,), optional
        The original record of each sketch.
    key : bytes, optional
        The key that signs come from.
    neighbours : int32 array (n_original, k), optional
        The neighbours that the method worked with.
    groups : int64 array (n_original,), optional
        The group of each original record, negative where it has none; of sketches of groups.
    """

    original: Sparse | None = field(default=None, repr=False)
    rows: Ints | None = field(default=None, repr=False)
    key: bytes | None = field(default=None, repr=False)
    neighbours: npt.NDArray[np.integer[Any]] | None = field(default=None, repr=False)
    groups: Ints | None = field(default=None, repr=False)


def verify_sketches(published: Sketches, asked: SparseAsked, evidence: SparseEvidence | None = None) -> Verdict:
    """Recompute what can be recomputed of sketches."""
    if not len(published):
        raise DataError("nothing would be published: there are no sketches; ask for less or give more data")
    secrets = evidence or SparseEvidence()
    if asked.group_size is not None:
        return _verify_groups(published, asked, asked.group_size, secrets)
    original = secrets.original
    counts = published.counts.astype(np.int64)
    alone = [max_components(counts, asked.max_components)]
    if asked.coarse_counts:
        alone.append(coarse_counts(counts))
    if not published.is_integral:
        alone.append(rounding(published, original))
    findings = _faults(published, original, secrets)
    if original is None:
        return Verdict(tuple(alone), (NEEDS_ORIGINAL.format(others=_others(asked)),), findings)
    if findings:
        return Verdict(tuple(alone), (), findings)
    labels, original_labels = _shared_labels(published, original)
    bounds = bounds_of(original, published.step, asked.rare, published.labels is not None, asked.recovery_share)
    rows = None if secrets.rows is None else np.asarray(secrets.rows, np.int64)
    form: Guarantee | None = None
    unverified: tuple[str, ...] = ()
    if rows is None and secrets.key is not None and published.is_integral:
        owners = find_owners(published, labels, original, original_labels, secrets.key)
        rows, form = owners.rows, owners.guarantee(len(published))
        if owners.n_ambiguous:
            unverified = (
                f"The key does not tell which record a sketch is of: {owners.n_ambiguous:,} are too short for that.",
            )
    if published.labels is not None:
        alone.append(class_size(original, rows, labels, asked.rare))
    if rows is None:
        allowed = bounds.allowed(asked.delta, asked.max_components, asked.recovery_cap)
        dealt = component_counts(counts, labels, allowed, original_labels)
        known = [*alone, dealt, *([form] if form is not None else [])]
        return Verdict(tuple(known), (*unverified, NEEDS_ROWS.format(others=_others(asked))))
    rng = _generator(published)
    guarantees, missing = _with_rows(original, bounds, rows, counts, asked, secrets, rng)
    form = sketch_form(published, original, rows, secrets.key, rng)
    return Verdict((*guarantees, *alone, form), missing)


def _verify_groups(published: Sketches, asked: SparseAsked, k: int, secrets: SparseEvidence) -> Verdict:
    """Check the groups, and then each sketch, once, against the sum of its group as though that were a record."""
    inner = replace(asked, group_size=None, k=None, rare=1)
    alone = look_alikes(published, k)
    found = SummedGroups.of(published, secrets.original, secrets.rows, secrets.groups, k)
    if found is None:
        rest = verify_sketches(published, inner)
        return Verdict((alone, *rest.guarantees), (NEEDS_GROUPS.format(k=k),), rest.findings)
    if found.findings:
        return Verdict((alone,), (), found.findings)
    rest = verify_sketches(published.take(found.firsts), inner, SparseEvidence(found.sums, found.shown, secrets.key))
    of_sums = (g for g in rest.guarantees if g.model != "class-size")  # of sums, of which each has k records
    return Verdict((found.k_anonymity(k), alone, *of_sums), rest.unverified, rest.findings)


def _with_rows(
    original: Sparse,
    bounds: Bounds,
    rows: Ints,
    counts: Ints,
    asked: SparseAsked,
    secrets: SparseEvidence,
    rng: np.random.Generator,
) -> tuple[list[Guarantee], tuple[str, ...]]:
    """What depends on who has how many components."""
    guarantees = [delta_anonymity(bounds, rows, counts, asked.delta)]
    if asked.recovery_cap:
        guarantees.append(recovery_cap(bounds, rows, counts))
    if asked.k is None:
        return guarantees, ()
    is_exact = asked.neighbours == "exact"
    claimed = secrets.neighbours
    if not is_exact and (claimed is None or claimed.shape != (len(original), asked.k)):
        return guarantees, (NEEDS_NEIGHBOURS,)
    all_counts = np.zeros(len(original), np.int64)
    all_counts[rows] = counts
    rule = EdgeRule(asked.k, asked.threshold, asked.variance, asked.metric)
    found, missing = k_variance(original, all_counts, rule, claimed, is_exact, rng)
    return [found, *guarantees], (missing,) if missing else ()


def is_sorted(published: Sketches) -> bool:
    """Whether sketches ascend by class, number of components, and components."""
    counts = published.counts.astype(np.int64)
    labels = np.zeros(len(counts), np.int64) if published.labels is None else published.labels.astype(np.int64)
    by_class, by_count = np.diff(labels), np.diff(counts)
    if (by_class < 0).any() or ((by_class == 0) & (by_count < 0)).any():
        return False
    for n in np.unique(counts).tolist():
        places = published.starts[:-1][counts == n, None] + np.arange(n)
        steps = np.diff(published.components[places], axis=0)
        first = np.argmax(steps != 0, axis=1)
        is_same_class = np.diff(labels[counts == n]) == 0
        if (steps[np.arange(len(steps)), first][is_same_class] < 0).any():
            return False
    return True


def _faults(published: Sketches, original: Sparse | None, secrets: SparseEvidence) -> tuple[str, ...]:
    """What is wrong with the sketches, or with the secrets, before anything is computed."""
    found = []
    n_empty = int((published.counts == 0).sum())
    if n_empty:
        found.append(f"{n_empty:,} published sketches have no component; such records are to be left out")
    if published.is_integral and published.step != 1:
        found.append("the components are whole numbers and the step is not 1")
    if not published.is_integral and not np.isfinite(published.components).all():
        found.append("some components are not numbers")
    if secrets.key is not None and len(secrets.key) != KEY_BYTES:
        found.append(f"the key does not have {KEY_BYTES} bytes: it is not a key of sketches")
    if original is None:
        return tuple(found)
    if original.is_integral is not published.is_integral:
        found.append("the weights of one side are whole numbers, those of the other are not; read both in the same way")
    if published.labels is not None and original.labels is None:
        found.append("the sketches have classes and the original has none; read both in the same way")
    if len(published) > len(original):
        found.append(f"there are {len(published):,} sketches of {len(original):,} records")
    if secrets.rows is not None:
        rows = np.asarray(secrets.rows)
        if rows.shape != (len(published),):
            found.append(
                f"the kept rows are {rows.size:,}, and there are {len(published):,} sketches: another release's?"
            )
        elif rows.min() < 0 or rows.max() >= len(original):
            found.append("some kept rows are not among the records of the original: another original's?")
        elif len(np.unique(rows)) < len(rows):
            found.append("some records have more than one sketch")
    return tuple(found)


def _shared_labels(published: Sketches, original: Sparse) -> tuple[Ints, Ints]:
    """The class of each sketch and each original, numbered as those of the original; 0 where none is published."""
    if published.labels is None or original.labels is None:
        return np.zeros(len(published), np.int64), np.zeros(len(original), np.int64)
    place = {name: i for i, name in enumerate(original.classes)}
    codes = np.array([place.get(name, -1) for name in published.classes], np.int64)
    return codes[published.labels], original.labels.astype(np.int64)


def _others(asked: SparseAsked) -> str:
    names = [*(["the recovery cap"] if asked.recovery_cap else []), *(["k-variance"] if asked.k is not None else [])]
    return "".join(f", {n}" for n in names[:-1]) + (f" and {names[-1]} need" if names else " needs")


def _generator(published: Sketches) -> np.random.Generator:
    """Samples that nobody chose and that are the same at every check."""
    digest = hashlib.blake2b(np.ascontiguousarray(published.components).tobytes(), digest_size=16)
    return np.random.default_rng(int.from_bytes(digest.digest(), "little"))
