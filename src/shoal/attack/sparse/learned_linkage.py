"""Finding a person's sketch by a part of the record, with signs that were learned from known pairs and no key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Ints
from shoal.attack.result import AttackResult, Rate
from shoal.attack.sparse.case import SPARSE_ATTACKS, SparseCase
from shoal.attack.sparse.known_pairs import Learned, learn_signs
from shoal.attack.sparse.neighbour_linkage import Search, part_of, search
from shoal.attack.sparse.targets import NO_ROWS, OnSketches, matrix_of, mean
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches


@dataclass(frozen=True)
class LearnedLinkage(OnSketches):
    """Rank the published sketches as `NeighbourLinkage` does, by signs learned as in `KnownPairs`.

    The signs of items that no known record holds are not learned; such items of a person are left out. A success is
    that the right sketch is first; one of t that tie counts 1/t. The control learns from the same pairs wrongly put
    together.

    Attributes
    ----------
    n_pairs : int
        How many pairs of record and sketch are known; at most half of the release.
    n_records : int
        How many others are looked for.
    known : float
        The share of a record's items that is known, drawn at random, at least one.
    """

    n_pairs: int = 800
    n_records: int = 200
    known: float = 0.5

    name = "learned-linkage"
    place = 130
    title = "finding a record's sketch by some items, without the key"
    knows = "the release, for some records which sketch is theirs, and half of the items of another; not the key"
    stopped_by = "k-variance anonymity; the order of the release, which tells nobody's place"
    remedy = "raise k, or lower max_components: similarities are then estimated less sharply; or publish pseudo-baskets"
    reference = (
        "K. Liu, C. Giannella, H. Kargupta, An attacker's view of distance preserving maps for privacy preserving "
        "data mining, PKDD 2006; A. Narayanan, V. Shmatikov, Robust de-anonymization of large sparse datasets, IEEE "
        "S&P 2008"
    )

    def in_release(self) -> None:
        """Not at all: it takes long."""
        return

    def missing(self, case: SparseCase) -> str | None:
        """It needs to know whose sketches they are."""
        if case.rows is None:
            return NO_ROWS
        return "There are too few records." if len(case.published) < 4 else None

    def run(self, case: SparseCase, rng: np.random.Generator) -> AttackResult:
        """Learn from pairs drawn at random, and look for others."""
        assert case.rows is not None
        order = rng.permutation(np.flatnonzero(case.published.counts > 0))
        n = min(self.n_pairs, max(1, len(order) // 2))
        pairs, sought = order[:n], np.sort(order[n:][: self.n_records])
        parts = part_of(case.original.take(case.rows[sought]), self.known, rng)
        known = case.published.take(pairs)
        right, wrong = (
            learn_signs(case.original.take(case.rows[p]), known.padded(), known.counts)
            for p in (pairs, rng.permutation(pairs))
        )
        ours, theirs = (_search(case.published, parts, learned, sought) for learned in (right, wrong))
        main = Rate(ours.firsts, len(sought))
        return self.result(
            main,
            f"From {n} known pairs of record and sketch, without the key, and {100 * self.known:.0f} % of the items of "
            f"others, the right one of {len(case.published)} sketches came first for {100 * main.value:.0f} % of "
            f"{len(sought)} records.",
            control=Rate(theirs.firsts, len(sought)),
            baseline=Rate(len(sought) / len(case.published), len(sought)),
            details={
                "in_first_10": mean(ours.better < 10),
                "median_rank": float(np.median(ours.better)) + 1,
                "components_learned": float(right.signs.shape[1]),
            },
        )


def _search(published: Sketches, parts: Sparse, learned: Learned, right: Ints) -> Search:
    known = matrix_of(parts)[:, learned.items]
    squares = np.asarray(known.multiply(known).sum(axis=1), np.float64).ravel()
    shown = first_components(published, learned.signs.shape[1])
    return search(shown, np.asarray(known @ learned.signs.astype(np.float64)), squares, right)


def first_components(sketches: Sketches, most: int) -> Sketches:
    """The same sketches, cut to so many components."""
    place = np.arange(len(sketches.components)) - np.repeat(sketches.starts[:-1], sketches.counts)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.minimum(sketches.counts, most))])
    return Sketches(starts, sketches.components[place < most], sketches.step)


SPARSE_ATTACKS.register(LearnedLinkage())
