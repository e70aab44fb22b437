"""Whether published numbers are sketches of the records they are said to be of.

With the key every component is recomputed. Without it, of each component that its size is at most the sum of absolute
weights and, for whole numbers, that its parity is that of their sum; and of a sample of records two tests. For the
signs r of component j, the components of the sample are ``s = X r``, and for any symmetric A,
``s' A s`` has the mean ``tr(A G)`` and a variance of at most ``2 tr(A G A G)``, where G = X X' are the true products:

- lengths: A is diagonal with ``1 / |x|^2``, so that the mean of ``s^2 / |x|^2`` is 1;
- products: A is the inverse of G plus a quarter of its mean diagonal, so that any deviation of the products of
  components from the true ones shows, whichever pairs it is in.

Summed over components this is a polynomial of degree 2 in signs, which exceeds z standard deviations with a
probability of at most ``exp(-1 - z / e)`` (hypercontractivity), whatever the data. The limit that this leaves is
wide, 56 standard deviations: the tests find what is no sketch at all, not a single wrong number.

References
----------
A. Bonami, "Etude des coefficients de Fourier des fonctions de L^p(G)", Annales de l'Institut Fourier 20, 1970.
For the method see `shoal.check.sparse.verify`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from shoal.arrays import Floats, Ints, Mask, Signs, Words
from shoal.check.guarantee import Guarantee, number
from shoal.check.sparse.neighbours import content_classes
from shoal.check.sparse.signs import FALSE_ALARM, count_unfair, fairness_points, signs_of
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches

SAMPLE = 400
_CELLS = 4_000_000
_ROUNDING = 1e-9  # of the sum of absolute weights: what the order of a sum can change
Z_LIMIT = math.e * (math.log(2 / FALSE_ALARM) - 1)


def rounding(published: Sketches, original: Sparse | None) -> Guarantee:
    """Real components are multiples of the step, and the step is as wide as the data asks for."""
    off = published.components / published.step
    with np.errstate(invalid="ignore"):
        # A negative zero has the sign of what was rounded away.
        is_off = ~(np.abs(off - np.rint(off)) <= _ROUNDING) | ((off == 0) & np.signbit(off))
    n_off = int(is_off.sum())
    required = published.step
    if original is not None and len(original.weights):
        # The power of two nearest to twice a typical weight, so that one component does not determine a record.
        required = float(2.0 ** np.rint(np.log2(2 * np.median(np.abs(original.weights)))))
    reasons = []
    if n_off:
        reasons.append(f"{n_off:,} of {len(off):,} components are not multiples of {number(published.step)}")
    if published.step < required:
        reasons.append(f"the step is {number(published.step)} where the weights ask for {number(required)}")
    return Guarantee(
        model="rounding",
        kind="",
        sensitive="",
        required={"step": required},
        achieved=published.step,
        holds=not reasons,
        n_classes=len(off),
        n_failing=max(n_off, int(bool(reasons))),
        worst=(),
        sentence=(
            f"Rounding fails: {', and '.join(reasons)}."
            if reasons
            else f"All components are multiples of {number(published.step)}: none has more digits than it needs."
        ),
    )


def sketch_form(
    published: Sketches, original: Sparse, rows: Ints, key: bytes | None, rng: np.random.Generator
) -> Guarantee:
    """Hold the components against the originals, by recomputing them with the key or by tests without it."""
    records = original.take(rows)
    sums = records.sums(np.abs(records.weights))
    owners = np.repeat(np.arange(len(published)), published.counts)
    slack = _ROUNDING * sums + (0.0 if published.is_integral else published.step / 2)
    if key is not None:
        signs = signs_of(key, original.item_keys(), int(published.counts.max(initial=0)))
        wrong = ~_recomputed(published, records, signs, slack)
        n_unfair = count_unfair_of(key, original.item_keys(), signs.shape[1])
        return told_recomputed(len(published), int(wrong.sum()), n_unfair)
    is_wrong = np.abs(published.components) > (sums + slack)[owners]
    if published.is_integral:
        parity = records.sums(records.weights % 2) % 2
        is_wrong |= published.components % 2 != parity[owners]
    wrong = np.bincount(owners[is_wrong], minlength=len(published)) > 0
    z_lengths, z_products = moments(published, records, rng)
    reasons = [
        f"the {what} of a sample are {number(z)} standard deviations off (allowed: {number(Z_LIMIT)})"
        for what, z in (("squared lengths", z_lengths), ("products", z_products))
        if z > Z_LIMIT
    ]
    good = (
        "The components can be those of sketches of the originals: "
        + ("parities and " if published.is_integral else "")
        + "sizes fit, and lengths and products of a sample are as expected (a test that fair sketches fail less "
        f"than once in {1 / FALSE_ALARM:,.0f} times). That they are takes the key."
    )
    details = {"z_lengths": z_lengths, "z_products": z_products}
    n_wrong = int(wrong.sum())
    if n_wrong:
        reasons.insert(0, f"{n_wrong:,} of {len(published):,} sketches cannot be of their originals")
    return _form("tested", len(published), n_wrong, reasons, good, details)


def count_wrong(published: Sketches, original: Sparse, rows: Ints, key: bytes) -> int:
    """How many sketches of whole numbers are not what the key makes of their originals."""
    signs = signs_of(key, original.item_keys(), int(published.counts.max(initial=0)))
    return int((~_recomputed(published, original.take(rows), signs, np.zeros(len(rows)))).sum())


def count_unfair_of(key: bytes, item_keys: Words, n_components: int) -> int:
    """In how many sums the signs of a key are not fair."""
    return count_unfair(signs_of(key, fairness_points(item_keys), max(n_components, 1)))


def told_recomputed(n: int, n_wrong: int, n_unfair: int) -> Guarantee:
    """What it says of the form of sketches that they were recomputed."""
    reasons = [f"{n_wrong:,} of {n:,} sketches are not what the key makes of their originals"] if n_wrong else []
    reasons += [f"the signs of the key are not fair in {n_unfair:,} sums"] if n_unfair else []
    good = "Every component of every sketch is what the key makes of its original."
    return _form("recomputed", n, n_wrong, reasons, good, {"unfair": float(n_unfair)})


def _form(kind: str, n: int, n_wrong: int, reasons: list[str], good: str, details: dict[str, float]) -> Guarantee:
    return Guarantee(
        model="sketch-form",
        kind=kind,
        sensitive="",
        required={"share": 1.0, "false_alarm": FALSE_ALARM},
        achieved=1 - n_wrong / max(n, 1),
        holds=not reasons,
        n_classes=n,
        n_failing=max(n_wrong, int(bool(reasons))),
        worst=(),
        sentence=f"These are not the sketches that were promised: {', and '.join(reasons)}." if reasons else good,
        details=details,
    )


def _matrix(records: Sparse) -> scipy.sparse.csr_matrix:
    shape = (len(records), max(records.n_items, 1))
    return scipy.sparse.csr_matrix((records.weights, records.items, records.starts), shape=shape)


def _recomputed(published: Sketches, records: Sparse, signs: Signs, slack: Floats) -> Mask:
    """Whether each sketch is what the signs make of its record, up to rounding."""
    matrix = _matrix(records)
    table = np.zeros((matrix.shape[1], signs.shape[1]), records.weights.dtype)
    table[: len(signs)] = signs
    counts, starts = published.counts, published.starts
    right = np.ones(len(published), bool)
    step = max(_CELLS // max(signs.shape[1], 1), 1)
    for at in range(0, len(published), step):
        block = slice(at, at + step)
        owner = np.repeat(np.arange(len(counts[block])), counts[block])
        shown = published.components[starts[at] : starts[min(at + step, len(published))]]
        place = np.arange(len(shown)) + starts[at] - starts[block][owner]
        off = np.abs((matrix[block] @ table)[owner, place] - shown)
        is_wrong = off > (0 if published.is_integral else slack[block][owner])
        right[block] &= np.bincount(owner[is_wrong], minlength=len(counts[block])) == 0
    return right


def moments(published: Sketches, records: Sparse, rng: np.random.Generator) -> tuple[float, float]:
    """How many standard deviations, at most, squared lengths and products of a sample are off."""
    usable = np.flatnonzero((published.counts > 0) & (records.sizes > 0))
    drawn = np.sort(rng.permutation(usable)[:SAMPLE])
    if not len(drawn):
        return 0.0, 0.0
    sketches, sample = published.take(drawn), _matrix(records.take(drawn)).astype(np.float64)
    products = (sample @ sample.T).toarray()
    shown, counts = sketches.padded(), sketches.counts
    half = 0.0 if published.is_integral else published.step / 2
    totals = np.zeros(2)
    variances = np.zeros(2)
    blurs = np.zeros(2)
    for j, n_in in _runs(counts):
        here = np.flatnonzero(counts >= n_in)
        gram = products[np.ix_(here, here)]
        lengths = np.diag(1 / np.diag(gram))
        inverse = np.linalg.inv(gram + np.eye(len(here)) * gram.trace() / (4 * len(here)))
        for which, form in enumerate((lengths, inverse)):
            weighted = form @ gram
            values = np.einsum("ij,ik,kj->j", s := shown[here, j:n_in], form, s, optimize=True)
            totals[which] += (values - weighted.trace()).sum()
            variances[which] += (n_in - j) * 2 * float((weighted * weighted.T).sum())
            # What rounding can change: e'Ae + 2 e'As with |e| at most half a step in each place.
            least = half**2 * (form.diagonal().sum() if which == 0 else len(here) * np.linalg.norm(form, 2))
            blurs[which] += float((least + 2 * np.sqrt(least * np.maximum(values, 0))).sum())
    z = np.maximum(np.abs(totals) - blurs, 0) / np.sqrt(variances)
    return float(z[0]), float(z[1])


def _runs(counts: Ints) -> Iterator[tuple[int, int]]:
    """Ranges of components that the same records have."""
    ends = np.unique(counts)
    yield from zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)


@dataclass(frozen=True)
class Owners:
    """Whose sketches these are, as far as the key tells.

    Attributes
    ----------
    rows : int64 array (n_published,), optional
        The original of each sketch; None where some sketch could be of originals that differ.
    n_foreign : int
        Sketches that are of no original of their class, or more of one kind than there are originals.
    n_ambiguous : int
        Sketches that are of more than one.
    """

    rows: Ints | None
    n_foreign: int
    n_ambiguous: int

    def guarantee(self, n: int) -> Guarantee:
        """What this says of the form of sketches."""
        reasons = [f"{self.n_foreign:,} of {n:,} sketches are of no original of their class"] if self.n_foreign else []
        good = "Every sketch is what the key makes of an original of its class."
        return _form("recomputed", n, self.n_foreign, reasons, good, {"ambiguous": float(self.n_ambiguous)})


def find_owners(published: Sketches, labels: Ints, original: Sparse, original_labels: Ints, key: bytes) -> Owners:
    """Sketch all originals with the key, whole numbers only, and look each published sketch up among their beginnings.

    Component by component the beginnings of all are hashed to 64 bits.
    """
    n_components = int(published.counts.max(initial=0))
    signs = signs_of(key, original.item_keys(), n_components)
    matrix = _matrix(original)
    content = content_classes(original)
    sizes = np.bincount(content, minlength=len(original))
    kinds = np.full(len(published), -1, np.int64)
    is_ambiguous = np.zeros(len(published), bool)
    mine, theirs = labels.astype(np.uint64), original_labels.astype(np.uint64)
    for j in range(n_components):
        alive = np.flatnonzero(published.counts > j)
        mine[alive] = _mix(mine[alive], published.components[published.starts[alive] + j].astype(np.int64))
        column = np.zeros(matrix.shape[1], np.int64)
        column[: len(signs)] = signs[:, j]
        theirs = _mix(theirs, matrix @ column)
        ends = alive[published.counts[alive] == j + 1]
        if not len(ends):
            continue
        by = np.lexsort((content, theirs))
        low = np.searchsorted(theirs[by], mine[ends], side="left")
        high = np.searchsorted(theirs[by], mine[ends], side="right")
        found = high > low
        kinds[ends[found]] = content[by[low[found]]]
        is_ambiguous[ends[found]] = content[by[low[found]]] != content[by[high[found] - 1]]
    n_ambiguous = int(is_ambiguous.sum())
    if n_ambiguous:
        return Owners(None, int((kinds < 0).sum()), n_ambiguous)
    # Each of several sketches of equal records gets another one of them.
    by_kind = np.argsort(kinds, kind="stable")
    number_in_kind = np.arange(len(kinds)) - np.searchsorted(kinds[by_kind], kinds[by_kind])
    is_foreign = np.zeros(len(kinds), bool)
    is_foreign[by_kind] = (kinds[by_kind] < 0) | (number_in_kind >= sizes[np.maximum(kinds[by_kind], 0)])
    if is_foreign.any():
        return Owners(None, int(is_foreign.sum()), 0)
    rows = np.empty(len(kinds), np.int64)
    # The number of a kind of content is how many records come before it, so its records stand there.
    rows[by_kind] = np.argsort(content, kind="stable")[kinds[by_kind] + number_in_kind]
    return Owners(rows, 0, 0)


def _mix(state: Words, value: Ints) -> Words:
    """One more number into a 64-bit hash, by the finaliser of SplitMix64."""
    mixed = state * np.uint64(0x9E3779B97F4A7C15) + value.astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
