"""Sketches of groups: whether each is of the sum of at least k records, recomputed from originals and groups.

**Guarantee.** Every published sketch stands there at least k times, once for each record of its group; all of these
records have the class that is published; and what is sketched is the sum of their weights, of items that at least k
records hold, where weights that fewer than k reach count as what k do. **Not protected.** What the records of a group
have in common.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from shoal.arrays import Ints
from shoal.check.guarantee import Guarantee
from shoal.check.sparse.baskets import cut_ends
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches

NEEDS_GROUPS = (
    "That every sketch is the sum of at least {k} records, and what it tells of them, takes the original, its groups "
    "and which of its records each sketch is of (--original and --private)."
)


def look_alikes(published: Sketches, k: int) -> Guarantee:
    """Every sketch stands there at least k times, with the same class; anybody can count it."""
    width = int(published.counts.max(initial=0))
    rows = np.zeros((len(published), width + 2), np.float64)
    rows[:, 0] = -1 if published.labels is None else published.labels
    rows[:, 1] = published.counts
    columns = np.arange(len(published.components)) - np.repeat(published.starts[:-1], published.counts)
    rows[np.repeat(np.arange(len(published)), published.counts), columns + 2] = published.components
    _, counts = np.unique(rows, axis=0, return_counts=True)
    n_failing, least = int((counts < k).sum()), int(counts.min())
    sentence = (
        f"Every one of {len(counts):,} different sketches stands there at least {least:,} times; {k} were required."
        if not n_failing
        else f"{n_failing:,} of {len(counts):,} different sketches stand there fewer than {k} times."
    )
    return Guarantee("look-alikes", "", "", {"k": k}, float(least), not n_failing, len(counts), n_failing, (), sentence)


@dataclass(frozen=True)
class SummedGroups:
    """What sketches of groups are held against.

    Attributes
    ----------
    sums : Sparse
        The sum of each group that there is, of items that k records hold.
    shown : int64 array
        Which of these sums is published.
    firsts : int64 array
        A published row of each of these.
    sizes : int64 array
        How many records each of these has.
    findings : tuple of str
        What contradicts the release.
    """

    sums: Sparse = field(repr=False)
    shown: Ints
    firsts: Ints
    sizes: Ints
    findings: tuple[str, ...]

    @classmethod
    def of(
        cls, published: Sketches, original: Sparse | None, rows: Ints | None, groups: Ints | None, k: int
    ) -> SummedGroups | None:
        """Add the records of groups up; None where too little is known."""
        if original is None or rows is None or groups is None:
            return None
        rows, groups = np.asarray(rows, np.int64), np.asarray(groups, np.int64)
        if len(groups) != len(original) or rows.shape != (len(published),) or not len(rows):
            return cls._wrong(original, "the kept rows or groups are not those of this release: another release's?")
        if rows.min() < 0 or rows.max() >= len(original) or len(np.unique(rows)) < len(rows):
            return cls._wrong(original, "the kept rows name no record, or one twice: another original's?")
        inside = np.flatnonzero(groups >= 0)
        sums = _sums(original, groups, k)
        shown, firsts, of_row = np.unique(groups[rows], return_index=True, return_inverse=True)
        members = np.bincount(groups[inside], minlength=len(sums))
        findings = []
        if shown[0] < 0:
            return cls._wrong(original, "some published sketches are of records that are in no group")
        sizes = np.bincount(of_row)
        if (sizes != members[shown]).any():
            findings.append("some records of a published group have no sketch")
        if not _all_equal(published, firsts[of_row]):
            findings.append("records of one group have different sketches or classes")
        if published.labels is not None and original.labels is not None:
            true = np.array([original.classes[c] for c in original.labels[rows].tolist()], object)
            told = np.array([published.classes[c] for c in published.labels.tolist()], object)
            if (true != told).any():
                findings.append("the class of some sketches is not that of their records")
        return cls(sums, shown, firsts, sizes, tuple(findings))

    @classmethod
    def _wrong(cls, original: Sparse, why: str) -> SummedGroups:
        none = np.zeros(0, np.int64)
        return cls(original, none, none, none, (why,))

    def k_anonymity(self, k: int) -> Guarantee:
        """Every published group has at least k records."""
        n_failing, least = int((self.sizes < k).sum()), int(self.sizes.min())
        sentence = (
            f"Each of {len(self.sizes):,} groups whose sum is sketched has at least {least:,} records; {k} were "
            "required."
            if not n_failing
            else f"{n_failing:,} of {len(self.sizes):,} groups whose sum is sketched have fewer than {k} records."
        )
        return Guarantee(
            "k-anonymity", "", "", {"k": k}, float(least), not n_failing, len(self.sizes), n_failing, (), sentence
        )


def _all_equal(published: Sketches, firsts: Ints) -> bool:
    """Whether each sketch is equal to another, components and class."""
    if (published.counts != published.counts[firsts]).any():
        return False
    if published.labels is not None and (published.labels != published.labels[firsts]).any():
        return False
    other = published.take(firsts)
    return bool(np.array_equal(published.components, other.components))


def _sums(original: Sparse, groups: Ints, k: int) -> Sparse:
    """The sum of each group, by a sparse matrix of who is in which."""
    from scipy.sparse import csr_array

    n_groups = int(groups.max(initial=-1)) + 1
    inside = np.flatnonzero(groups >= 0)
    member = csr_array((np.ones(len(inside)), (groups[inside], inside)), shape=(n_groups, len(original)))
    shape = (len(original), original.n_items)
    weights = original.weights.astype(np.float64)
    entry = np.repeat(groups >= 0, original.sizes)
    owners = np.repeat(np.arange(len(original)), original.sizes)
    weights[entry] = cut_ends(weights[entry], original.items[entry].astype(np.int64), owners[entry], k)
    held = csr_array((weights, original.items, original.starts), shape=shape)
    is_common = np.bincount(original.items, minlength=original.n_items) >= k
    total = (member @ held).tocsr()
    total.data[~is_common[total.indices]] = 0
    total.eliminate_zeros()
    total.sort_indices()
    firsts = np.zeros(n_groups, np.int64)
    firsts[groups[inside[::-1]]] = inside[::-1]
    return replace(
        original,
        starts=total.indptr.astype(np.int64),
        items=total.indices.astype(np.int32),
        weights=np.rint(total.data).astype(np.int64) if original.is_integral else total.data,
        labels=None if original.labels is None else original.labels[firsts],
        persons=None,
    )
