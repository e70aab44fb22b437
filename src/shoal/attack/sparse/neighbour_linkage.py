"""Finding a person's sketch by a part of the record, by an attacker with the key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.result import AttackResult, Rate
from shoal.attack.sparse.case import SPARSE_ATTACKS, SparseCase
from shoal.attack.sparse.length import mean_squares
from shoal.attack.sparse.signs import wrong_key
from shoal.attack.sparse.targets import WithKey, mean, sketch_records
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches

AT_ONCE = 1 << 14  # sketches that are scored side by side
PRIOR = 4.0  # components that the mean length of all counts for, beside a sketch's own
FALSE_CLAIMS = 0.01


@dataclass(frozen=True)
class NeighbourLinkage(WithKey):
    """Rank the published sketches by how well they go with the items that are known of a person.

    If the known part y belongs to a record x, then ``s_x - s_y`` is the sketch of the rest, of squared length
    ``|x|^2 - |y|^2``; if not, s_x is a sketch that y has nothing to do with. Sketch components being nearly normal,
    each published sketch gets the logarithm of how much likelier the first is. A success is that the right one is
    first; one of t that tie counts 1/t. The control is the same with a wrong key. With records that were not in the
    release it is also counted how often one can be found whose score no stranger reaches: the threshold is the score
    that 1 in 100 strangers exceed.

    Attributes
    ----------
    n_records : int
        How many published records are looked for.
    known : float
        The share of a record's items that is known, drawn at random, at least one.
    """

    n_records: int = 200
    known: float = 0.5

    name = "neighbour-linkage"
    place = 50
    title = "finding a record's sketch by some items"
    leaked = "the key"
    knows = "the release, the key of the signs, and half of the items of a record"
    stopped_by = "the key, which is not published; and, should it leak, k-variance anonymity"
    remedy = "raise k, or lower max_components: similarities are then estimated less sharply"
    reference = (
        "C. C. Aggarwal, P. S. Yu, On privacy-preservation of text and sparse binary data with sketches, SDM 2007, "
        "section 2.2; A. Narayanan, V. Shmatikov, Robust de-anonymization of large sparse datasets, IEEE S&P 2008"
    )

    def run(self, case: SparseCase, rng: np.random.Generator) -> AttackResult:
        """Look for a sample of the published records, and for strangers."""
        assert case.key is not None
        assert case.rows is not None
        sought = np.flatnonzero(case.published.counts > 0)
        sought = np.sort(rng.choice(sought, min(self.n_records, len(sought)), replace=False))
        parts = part_of(case.original.take(case.rows[sought]), self.known, rng)
        n, n_published = len(sought), len(case.published)
        ours = _search(case.published, parts, case.key, sought)
        theirs = _search(case.published, parts, wrong_key(rng), sought)
        main = Rate(ours.firsts, n)
        details = {
            "in_first_10": mean(ours.better < 10),
            "median_rank": float(np.median(ours.better)) + 1,
            "known_share": self.known,
        }
        told = ""
        if case.control is not None and len(case.control):
            strangers = rng.permutation(np.flatnonzero(case.control.sizes > 0))[: self.n_records]
            scores = _search(case.published, part_of(case.control.take(strangers), self.known, rng), case.key).best
            threshold = np.sort(scores)[::-1][min(int(FALSE_CLAIMS * len(scores)), len(scores) - 1)]
            sure = (ours.better == 0) & (ours.ties == 1) & (ours.best > threshold)
            details["found_for_sure"] = mean(sure)
            details["strangers"] = float(len(scores))
            told = f" {100 * details['found_for_sure']:.0f} % stand out so that hardly a stranger's would."
        return self.result(
            main,
            f"With the key and {100 * self.known:.0f} % of a record's items, the right one of {n_published} "
            f"sketches came first for {100 * main.value:.0f} % of {n} records ({100 * theirs.firsts / max(n, 1):.0f} % "
            f"with a wrong key).{told}",
            control=Rate(theirs.firsts, n),
            baseline=Rate(n / n_published, n),
            details=details,
        )


@dataclass(frozen=True)
class Search:
    """For each person: the best score of all sketches, how many score above the right one, how many as it does."""

    best: Floats
    better: Ints
    ties: Ints

    @property
    def firsts(self) -> float:
        """How many were found; one of t that tie counts 1/t."""
        return float(((self.better == 0) / np.maximum(self.ties, 1)).sum())


def part_of(records: Sparse, share: float, rng: np.random.Generator) -> Sparse:
    """A share of each record's items, drawn at random, at least one."""
    owners = np.repeat(np.arange(len(records)), records.sizes)
    order = np.lexsort((rng.random(len(owners)), owners))
    place = np.arange(len(owners)) - np.repeat(records.starts[:-1], records.sizes)
    wanted = np.maximum(np.rint(share * records.sizes), 1)
    kept = np.sort(order[place < np.repeat(wanted, records.sizes)])
    starts = np.searchsorted(owners[kept], np.arange(len(records) + 1))
    return Sparse(starts, records.items[kept], records.weights[kept], records.names)


def likelihood_ratios(published: Sketches, sketches: Floats, squares: Floats, typical: float) -> Floats:
    """How much likelier each published sketch is if a known part belongs to it: (n_parts, n_published) logarithms.

    Parameters
    ----------
    published : Sketches
        What is scored.
    sketches, squares : float64 arrays (n_parts, n_components), (n_parts,)
        The sketch of each known part, and its squared length.
    typical : float
        The mean squared length of all published records, which a sketch of few components is held to.
    """
    shown = published.padded()
    sketches = sketches[:, : shown.shape[1]]
    counts = published.counts
    energy = (shown**2).sum(axis=1)
    length = (energy + PRIOR * typical) / (counts + PRIOR)
    rest = np.maximum(length - squares[:, None], 0.25 * length)  # the estimate may be below what is known
    running = np.concatenate([np.zeros((len(sketches), 1)), np.cumsum(sketches**2, axis=1)], axis=1)
    off = np.maximum(energy - 2 * sketches @ shown.T + running[:, counts], 0.0)
    return np.asarray(0.5 * (energy / length - off / rest + counts * np.log(length / rest)))


def _search(published: Sketches, parts: Sparse, key: bytes, right: Ints | None = None) -> Search:
    """Score all sketches for each part; `right` is where the part's own stands."""
    width = int(published.counts.max(initial=0))
    step = None if published.is_integral else published.step
    return search(published, sketch_records(parts, key, width, step), parts.squares, right)


def search(published: Sketches, sketches: Floats, squares: Floats, right: Ints | None = None) -> Search:
    """The same, for parts of which the sketches and the squared lengths are given."""
    typical = float(mean_squares(published).mean())
    n = len(sketches)
    best, better, ties = np.full(n, -np.inf), np.zeros(n, np.int64), np.zeros(n, np.int64)
    own = np.full(n, np.inf)
    if right is not None:
        for first in range(0, n, 256):
            rows = slice(first, first + 256)
            own[rows] = np.diagonal(
                likelihood_ratios(published.take(right[rows]), sketches[rows], squares[rows], typical)
            )
    for first in range(0, len(published), AT_ONCE):
        block = published.take(np.arange(first, min(first + AT_ONCE, len(published))))
        scores = likelihood_ratios(block, sketches, squares, typical)
        # The same score, computed in a block of another shape, may differ in the last bits.
        near = np.abs(scores - own[:, None]) <= 1e-9 * (1 + np.abs(own[:, None]))
        better += ((scores > own[:, None]) & ~near).sum(axis=1)
        ties += near.sum(axis=1)
        best = np.maximum(best, scores.max(axis=1))
    return Search(best, better, ties)


SPARSE_ATTACKS.register(NeighbourLinkage())
