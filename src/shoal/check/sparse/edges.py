"""k-variance anonymity: what sketches tell of the similarity of a record to its k nearest is blurred enough.

An edge (q, l) leads from a record to one of its k nearest others. The estimate of their product from
``t = min(m_q, m_l)`` components has the variance ``var / t``; it must reach the square of the threshold, so
``t <= var / threshold^2``, the edge's room.

The neighbours are found anew (`sparse_neighbours`), not taken from the method, with one saving that is exact. For data
without negative weights the room grows with the similarity, and k records that are known to be near, from whatever
list or sample, show that all k nearest are at least as near. So where the room of a record that is only just as near
would do for every record that is published, all k edges hold, whoever they lead to. For the other records the search is
done; beyond `MOST_WORK` for a random part of them, and the rest is judged by the method's list, and that is said.

References
----------
C. C. Aggarwal, P. S. Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007,
Definition 3. Where the paper can be read in two ways, `threshold` and `variance` choose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints, Mask
from shoal.check.guarantee import Guarantee, count, number
from shoal.check.sparse.bounds import coarse
from shoal.check.sparse.neighbours import Metric, SparseRecords, floors_of, nearest
from shoal.data.sparse.records import Sparse

Threshold = Literal["sqrt", "difference"]
Variance = Literal["smaller", "paper", "exact"]


SLACK = 1e-9
SAMPLE = 2000
LEAST_RECALL = 0.5  # of a list of approximate neighbours: one that misses most of the nearest is no such list
MOST_WORK = 6e9  # products; two minutes or so
_ZERO_THRESHOLD = 1e-12
_FIRST = 32  # records with the least bounds at once, then twice as many
_QUANTILE = 1.959963984540054  # of the normal distribution: 95 % lie within


@dataclass(frozen=True)
class EdgeRule:
    """What an edge is held to: `k` neighbours by `metric`, and the readings of threshold and variance."""

    k: int
    threshold: Threshold
    variance: Variance
    metric: Metric


@dataclass(frozen=True)
class CheckedEdges:
    """Edges of some records, k of each: where they lead to, how near that is, their room, and what they must carry."""

    others: Ints
    scores: Floats
    room: Floats
    common: Ints

    @property
    def holds(self) -> Mask:
        """Whether the variance reaches the threshold."""
        return np.asarray(self.common <= self.room * (1 + SLACK))

    @property
    def ratios(self) -> Floats:
        """Standard deviation over threshold; infinite where there is nothing to compare or nothing to hide."""
        shared = self.common > 0
        return np.sqrt(np.where(shared, self.room / np.maximum(self.common, 1), np.inf))


def room_of(x: Floats, y: Floats, product: Floats, common: Floats, threshold: Threshold, variance: Variance) -> Floats:
    """How many components an edge allows, as a real number: ``var / threshold^2``.

    Parameters
    ----------
    x, y : float64 arrays
        Squared lengths of both records.
    product, common : float64 arrays
        ``sum x_i y_i`` and ``sum x_i^2 y_i^2``.
    threshold, variance : str
        The readings.
    """
    longest, near = np.sqrt(x * y), np.abs(product)
    gap = longest - near
    is_zero = gap <= _ZERO_THRESHOLD * longest
    gap = np.where(is_zero, 1.0, gap)
    # |x|^2 |y|^2 - (x.y)^2 is the gap times this, and one factor cancels.
    paper = (longest + near) / (1.0 if threshold == "sqrt" else gap)
    exact = (x * y + product**2 - 2 * common) / (gap if threshold == "sqrt" else gap**2)
    room = {"paper": paper, "exact": exact, "smaller": np.minimum(paper, exact)}[variance]
    # Near-identical directions: the difference of nearly equal numbers is itself rounded.
    blur = 8 * np.finfo(np.float64).eps * longest / gap * (1 if threshold == "sqrt" else 2)
    return np.asarray(np.where(is_zero, np.inf, np.maximum(room, 0.0) * (1 + blur)))


def edges_of(records: SparseRecords, counts: Ints, rows: Ints, others: Ints, rule: EdgeRule) -> CheckedEdges:
    """Recompute the edges that lead from each of the rows to each of its others, an array (n_rows, k)."""
    first, second = np.repeat(rows, others.shape[1]), others.ravel()
    product, common = records.pairs(first, second)
    room = room_of(records.squares[first], records.squares[second], product, common, rule.threshold, rule.variance)
    return CheckedEdges(
        others,
        records.scores(product, second).reshape(others.shape),
        room.reshape(others.shape),
        np.minimum(counts[first], counts[second]).reshape(others.shape),
    )


def _spread(edges: CheckedEdges, is_listed: Mask) -> CheckedEdges:
    """The edges at the places of their records; -inf, 0 and 0 at those of records that are not listed."""
    places = np.cumsum(is_listed) - 1
    if not len(edges.others):
        return CheckedEdges(*(np.full((len(places), edges.others.shape[1]), fill) for fill in (-1, -np.inf, 0.0, 0)))
    others, scores, room, common = (
        np.where(is_listed[:, None], values[places], fill)
        for values, fill in ((edges.others, -1), (edges.scores, -np.inf), (edges.room, 0.0), (edges.common, 0))
    )
    return CheckedEdges(others, scores, room, common)


def are_neighbours(records: SparseRecords, rows: Ints, others: Ints) -> Mask:
    """Whether the others of each row are distinct, not the record itself, and not empty."""
    in_range: Mask = np.asarray(((others >= 0) & (others < len(records))).all(axis=1))
    safe = np.where(in_range[:, None], others, 0)
    ordered = np.sort(safe, axis=1)
    distinct = (np.diff(ordered, axis=1) > 0).all(axis=1)
    return np.asarray(
        in_range & distinct & (safe != rows[:, None]).all(axis=1) & (records.squares[safe] > 0).all(axis=1)
    )


def least_ratios(records: SparseRecords, counts: Ints, rows: Ints, scores: Floats, rule: EdgeRule) -> Floats:
    """A bound below all ratios of a record, whoever its neighbours are, as k others are known to reach the score.

    Right for data without negative weights only, for all three variances: there the paper's is the smallest.
    """
    lengths = np.sqrt(records.squares)
    # Of either metric: the cosine of whoever reaches the score is at least this.
    cosine = np.minimum(np.sqrt(np.maximum(scores, 0.0)) / lengths[rows], 1.0) * (1 - SLACK)
    if rule.threshold == "difference":
        return np.sqrt((1 + cosine) / (1 - cosine) / counts[rows])
    # The shortest record with at least t components decides: |x||y| (1 + cosine) over t, for every t up to its own.
    most = int(counts.max(initial=0))
    shortest = np.full(most + 1, np.inf)
    published = (counts > 0) & (lengths > 0)
    np.minimum.at(shortest, counts[published], lengths[published])
    shortest = np.minimum.accumulate(shortest[::-1])[::-1]
    needed = np.maximum.accumulate(np.arange(most + 1) / shortest)
    return np.sqrt(lengths[rows] * (1 + cosine) * (1 - SLACK) / needed[counts[rows]])


def k_variance(
    original: Sparse,
    counts: Ints,
    rule: EdgeRule,
    claimed: npt.NDArray[np.integer] | None,
    are_exact: bool,
    rng: np.random.Generator,
    most_work: float = MOST_WORK,
) -> tuple[Guarantee, str]:
    """Recompute k-variance anonymity.

    Parameters
    ----------
    original : Sparse
        All records.
    counts : int64 array (n_records,)
        Published components of each; 0 where it is not published.
    rule : EdgeRule
        What is required.
    claimed : integer array (n_records, k), optional
        The neighbours that the method worked with.
    are_exact : bool
        Whether these are to be the nearest; else they are taken as they are, and their recall is measured.
    rng : Generator
        For the sample.
    most_work : float
        How many products the search may take.

    Returns
    -------
    Guarantee, str
        The result, and what it leaves unverified, if anything.
    """
    records = SparseRecords.of(original, counts, rule.metric)
    rows = np.flatnonzero(counts > 0)
    n_filled = int((records.squares > 0).sum())
    if n_filled <= rule.k:
        return _too_few(rule, n_filled, len(rows)), ""
    rows = rows[records.squares[rows] > 0]  # an empty one that is published fails elsewhere
    has_list = claimed is not None and claimed.shape == (len(original), rule.k)
    listed = np.asarray(claimed, np.int64)[rows] if has_list else np.zeros((len(rows), rule.k), np.int64)
    is_listed = are_neighbours(records, rows, listed) if has_list else np.zeros(len(rows), bool)
    edges = _spread(edges_of(records, counts, rows[is_listed], listed[is_listed], rule), is_listed)
    if not len(rows):
        return _guarantee(rule, edges.holds, edges.ratios, "", "", {}), ""
    if not are_exact:
        return _partition_based(records, counts, rows, edges, is_listed, rule, rng, most_work)
    has_signs = bool((original.weights < 0).any())
    return _exact(records, counts, rows, edges, is_listed, has_signs, rule, rng, most_work)


def _exact(
    records: SparseRecords,
    counts: Ints,
    rows: Ints,
    edges: CheckedEdges,
    is_listed: Mask,
    has_signs: bool,
    rule: EdgeRule,
    rng: np.random.Generator,
    most_work: float,
) -> tuple[Guarantee, str]:
    """Edges to the true neighbours; a list only tells how near they are at least."""
    floors = np.where(is_listed, lowered(edges.scores.min(axis=1)), 0.0)
    floors[~is_listed] = floors_of(records, rows[~is_listed], rule.k)
    bounds = np.zeros(len(rows)) if has_signs else least_ratios(records, counts, rows, floors, rule)
    holds = edges.holds | ~is_listed[:, None]
    ratios = np.where(is_listed[:, None], edges.ratios, bounds[:, None])
    is_searched = np.zeros(len(rows), bool)
    hits: list[Mask] = []

    def search(some: Ints) -> None:
        nonlocal most_work
        some = some[_affordable(records.work[rows[some]], rng, most_work)]
        most_work -= float(records.work[rows[some]].sum())
        others, _ = nearest(records, rows[some], rule.k, floors[some])
        found = edges_of(records, counts, rows[some], others, rule)
        least = lowered(found.scores.min(axis=1))
        hits.append((edges.scores[some] >= least[:, None])[is_listed[some]])
        # Of records that are equally near, up to rounding, the method's choice is as good as ours.
        is_as_near = is_listed[some] & (edges.scores[some].min(axis=1) >= least)
        use_list = is_as_near & edges.holds[some].all(axis=1)
        holds[some[~use_list]], ratios[some[~use_list]] = found.holds[~use_list], found.ratios[~use_list]
        is_searched[some] = True

    is_certain = bounds >= 1
    search(np.flatnonzero(~is_certain))
    # Without a list the ratios of certain records are bounds only; those that matter for the least are found too.
    unlisted = np.flatnonzero(is_certain & ~is_listed)
    unlisted = unlisted[np.argsort(bounds[unlisted], kind="stable")]
    n = _FIRST
    while len(unlisted) and records.work[rows[unlisted[:n]]].sum() <= most_work:
        if bounds[unlisted[0]] >= ratios[is_searched | is_listed].min(initial=np.inf):
            break
        search(unlisted[:n])
        unlisted, n = unlisted[n:], 2 * n
    is_recomputed = is_certain | is_searched
    is_known = is_recomputed | is_listed
    share, known = float(is_recomputed.mean()), float(is_known.mean())
    details = {"recomputed": share, "searched": float(is_searched.mean()), "certain": float(is_certain.mean())}
    seen = np.concatenate(hits)
    if len(seen):
        details["recall"] = float(seen.mean())
    told = unverified = ""
    if known < 1:
        told = f" This is of {100 * known:.1f} % of the records."
        unverified = (
            f"k-variance was recomputed for {100 * known:.1f} % of the published records only; for all of them the "
            "check needs the neighbours that the method found (--private)."
        )
    elif share < 1:
        told = (
            f" The neighbours of {100 * share:.1f} % of the records were recomputed; of the others, those that the "
            "method kept were taken as they are."
        )
    return _guarantee(rule, holds[is_known], ratios[is_known], "", told, details), unverified


def _partition_based(
    records: SparseRecords,
    counts: Ints,
    rows: Ints,
    edges: CheckedEdges,
    is_listed: Mask,
    rule: EdgeRule,
    rng: np.random.Generator,
    most_work: float,
) -> tuple[Guarantee, str]:
    """The method's list is judged as it is; a sample tells how much of the nearest it holds."""
    sample = _affordable(
        records.work[rows], rng, min(most_work, records.work[rows].mean() * SAMPLE if len(rows) else 0)
    )
    others, _ = nearest(records, rows[sample], rule.k)
    found = edges_of(records, counts, rows[sample], others, rule)
    hit = (edges.scores[sample] >= lowered(found.scores.min(axis=1))[:, None]) & is_listed[sample][:, None]
    recall = float(hit.mean()) if len(sample) else 1.0
    low, high = _interval(recall, len(sample))
    n_missed = int((~found.holds).sum())
    told = (
        f" Neighbours are approximate: the list holds {100 * recall:.1f} % of the nearest (95 % interval "
        f"{100 * low:.1f} to {100 * high:.1f} %, from {count(len(sample), 'record')})"
        + (f"; of the true edges of these, {n_missed:,} of {found.holds.size:,} do not hold." if n_missed else ".")
    )
    is_a_list = high >= LEAST_RECALL
    if not is_a_list:
        told += f" That is not a list of neighbours (required: {100 * LEAST_RECALL:.0f} %)."
    holds = edges.holds & is_listed[:, None] & is_a_list
    details = {
        "recall": recall,
        "recall_low": low,
        "recall_high": high,
        "sampled": float(len(sample)),
        "missed": float(n_missed),
        "unlisted": float((~is_listed).sum()),
    }
    ratios = np.where(is_listed[:, None], edges.ratios, 0.0)
    return _guarantee(rule, holds, ratios, "approximate ", told, details), ""


def _affordable(work: Floats, rng: np.random.Generator, most_work: float) -> Ints:
    """All places, or a random part of at least `SAMPLE` that is not too much work; ascending."""
    if work.sum() <= most_work:
        return np.arange(len(work))
    drawn = rng.permutation(len(work))
    n = max(int(np.searchsorted(np.cumsum(work[drawn]), most_work)), min(SAMPLE, len(work)))
    return np.sort(drawn[:n])


def lowered(scores: Floats) -> Floats:
    """The scores less what rounding may have changed."""
    return np.asarray(scores - SLACK * np.abs(scores))


def _interval(share: float, n: int) -> tuple[float, float]:
    """Wilson's interval of a mean of n numbers between 0 and 1, which vary no more than yes and no do."""
    if n == 0:
        return 0.0, 1.0
    z = _QUANTILE**2 / n
    middle = (share + z / 2) / (1 + z)
    half = np.sqrt(share * (1 - share) * z + z * z / 4) / (1 + z)
    return float(max(middle - half, 0.0)), float(min(middle + half, 1.0))


def _guarantee(
    rule: EdgeRule, holds: Mask, ratios: Floats, how: str, told: str, details: dict[str, float]
) -> Guarantee:
    n_failing = int((~holds).sum())
    least = float(ratios.min(initial=np.inf))
    spread = "" if np.isinf(least) else f", at worst {number(coarse(least, 1.0))} times it"
    sentence = (
        f"On {n_failing:,} of {holds.size:,} edges from a record to its {rule.k} {how}nearest the sketches tell the "
        f"similarity too well: the deviation is {number(least)} times the threshold at worst (required: 1)."
        if n_failing
        else f"On all {holds.size:,} edges from a record to its {rule.k} {how}nearest, the deviation of the similarity "
        f"that the sketches tell reaches the threshold{spread}."
    )
    return Guarantee.counted(
        model="k-variance",
        kind=f"{rule.threshold}, {rule.variance}",
        required={"k": rule.k, "ratio": 1.0},
        achieved=least,
        n_classes=int(holds.size),
        n_failing=n_failing,
        sentence=sentence + told,
        details=details,
    )


def _too_few(rule: EdgeRule, n_filled: int, n_rows: int) -> Guarantee:
    return Guarantee(
        model="k-variance",
        kind=f"{rule.threshold}, {rule.variance}",
        sensitive="",
        required={"k": rule.k, "ratio": 1.0},
        achieved=0.0,
        holds=False,
        n_classes=n_rows * rule.k,
        n_failing=n_rows * rule.k,
        worst=(),
        sentence=f"There are {count(n_filled, 'record')} with items, so none has {rule.k} nearest others.",
    )
