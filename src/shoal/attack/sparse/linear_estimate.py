"""Single items from sketches by the linear estimate of least mean square error, by an attacker with the key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.arrays import Floats, Ints, Mask, Signs
from shoal.attack.result import AttackResult, Rate
from shoal.attack.sparse.case import SPARSE_ATTACKS, SparseCase
from shoal.attack.sparse.known_pairs import learn_signs
from shoal.attack.sparse.length import mean_squares
from shoal.attack.sparse.signs import signs_of, wrong_key
from shoal.attack.sparse.targets import (
    NO_KEY,
    NO_ROWS,
    OnSketches,
    Targets,
    candidate_items,
    draw_targets,
    item_shares,
    matrix_of,
    mean,
)
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches

CELLS_AT_ONCE = 1 << 23  # estimates that are held in memory
RIDGE = 1e-9  # of the mean variance of a component: signs of few items may depend on one another


@dataclass(frozen=True)
class Prior:
    """What is believed of the weights of some items before a sketch is read.

    Attributes
    ----------
    means, variances : float64 arrays (n_items,)
        Of each item's weight over the records.
    others : scipy sparse array (n_others, n_items), optional
        Weights of other records of the kind, which tell the items that go together. Their covariance counts as
        ``n_others / (n_others + n_items)``, the rest is the diagonal of `variances`: few records tell little of so
        many pairs.
    """

    means: Floats
    variances: Floats
    others: Any = None

    @classmethod
    def of(cls, records: Sparse, columns: Ints, others: Sparse | None = None) -> Prior:
        """From all records: how popular each item is, and how much its weight varies."""
        n = max(len(records), 1)
        sums, squares = (
            np.bincount(records.items, weights=w, minlength=records.n_items)[columns] / n
            for w in (records.weights.astype(np.float64), records.weights.astype(np.float64) ** 2)
        )
        known = None if others is None or not len(others) else matrix_of(others, records)[:, columns]
        return cls(sums, np.maximum(squares - sums**2, 0.25 / n**2), known)

    @classmethod
    def flat(cls, published: Sketches, n_items: int) -> Prior:
        """For who has nothing but release and key: all items are equally popular, and weights are 0 or 1.

        How many items a record has on average is told by the mean square of the components. The mean of all sketches
        tells popularities no better than one sketch tells a record, as all records share the signs.
        """
        share = float(np.clip(mean(mean_squares(published)) / max(n_items, 1), 1e-9, 0.5))
        return cls(np.full(n_items, share), np.full(n_items, share * (1 - share)))

    def covariances(self, signs: Floats) -> tuple[Floats, Floats]:
        """Of items with components, and of components with one another."""
        crossed = self.variances[:, None] * signs
        own = signs.T @ crossed
        if self.others is None:
            return crossed, own
        n_others, n_items = self.others.shape
        sketches = self.others @ signs
        centred = sketches - sketches.mean(axis=0)
        share = n_others / (n_others + n_items)
        return (
            (1 - share) * crossed + share * (self.others.T @ centred) / n_others,
            (1 - share) * own + share * centred.T @ centred / n_others,
        )


@dataclass(frozen=True)
class LinearEstimate(OnSketches):
    """Estimate every item's weight from a sketch, and name the item with the largest estimate.

    The usual estimate of item i from r components, ``sum_j s_j r_ij / r``, is right on average whatever the record, and
    its variance is what delta-anonymity bounds. An attacker who knows how popular items are does better by giving that
    up: with means p and covariances C of the weights, and signs R, the linear estimate of least mean square error is
    ``p + C R (R' C R + N)^-1 (s - R' p)``, where N is the variance that rounding adds to components of real weights.
    A success is a named item that the record holds.

    The control takes the same items for those of other records: the held-out ones where there are any, else other
    members in random order. Guessing names the most popular item for all. The details tell what less knowledge gets:
    the usual estimate, no knowledge of popularity, a wrong key, and no key but some known pairs.

    Attributes
    ----------
    n_records : int
        How many published records are tried.
    n_items : int
        How many items the attacker reckons with, the most popular ones.
    n_pairs : int
        How many pairs of record and sketch he knows who has no key; at most half of the release is granted.
    """

    n_records: int = 1000
    n_items: int = 50_000
    n_pairs: int = 200

    name = "linear-estimate"
    place = 70
    title = "single items from sketches"
    leaked = "the key"
    knows = "the release, the key of the signs, how popular each item is, and the held-out records where there are any"
    stopped_by = "the key, which is not published; delta-anonymity bounds the usual estimate alone"
    remedy = "destroy the key; or lower recovery_share or max_components: fewer components tell less"
    reference = (
        "S. M. Kay, Fundamentals of statistical signal processing: estimation theory, 1993, chapter 12 (linear "
        "minimum mean square error estimation)"
    )

    def in_release(self) -> LinearEstimate:
        """On fewer records."""
        return replace(self, n_records=500)

    def missing(self, case: SparseCase) -> str | None:
        """It needs the key, and to know whose sketches they are."""
        if case.key is None:
            return NO_KEY
        return NO_ROWS if case.rows is None else "There are too few records." if len(case.published) < 4 else None

    def run(self, case: SparseCase, rng: np.random.Generator) -> AttackResult:
        """Attack a sample of the published records."""
        assert case.key is not None
        targets = draw_targets(case, self.n_records, rng)
        columns = candidate_items(case.original, self.n_items)
        width = int(case.published.counts.max())
        signs = signs_of(case.original, columns, case.key, width)
        wrong = signs_of(case.original, columns, wrong_key(rng), width)
        popular = Prior.of(case.original, columns)
        informed = Prior.of(case.original, columns, case.control)
        noise = 0.0 if case.published.is_integral else case.published.step**2 / 12
        is_signed = bool((case.original.weights < 0).any())

        def attempt(prior: Prior | None, with_signs: Signs) -> Named:
            return name_items(targets, columns, with_signs, prior, noise=noise, signed=is_signed)

        least, usual = attempt(informed, signs), attempt(None, signs)
        n = len(targets)
        others = matrix_of(targets.records)[_moved(n, rng)]
        if case.control is not None and len(case.control):
            others = matrix_of(case.control, case.original)[rng.integers(0, len(case.control), n)]
        most_popular = np.full(n, int(item_shares(case.original).argmax()))
        guessed = Rate(int(holds(matrix_of(targets.records), most_popular).sum()), n)
        details = {
            "named_usual": usual.share,
            "named_by_popularity_alone": attempt(popular, signs).share,
            "named_with_no_popularity": attempt(Prior.flat(case.published, len(columns)), signs).share,
            "named_wrong_key": attempt(informed, wrong).share,
            "mean_square_error": least.error,
            "mean_square_error_usual": usual.error,
            "mean_square_error_naming_means": mean_square(targets, columns, popular),
            "median_components": float(np.median(targets.sketches.counts)),
            "items_tried": float(len(columns)),
            **self._without_key(case, rng, noise, is_signed),
        }
        main = Rate(int(least.right.sum()), n)
        return self.result(
            main,
            f"With the key, the linear estimate of least mean square error names an item that the record "
            f"holds for {100 * main.value:.0f} % of {n} records, the usual estimate for "
            f"{100 * usual.share:.0f} %; naming the most popular item is right for {100 * guessed.value:.0f} %.",
            control=Rate(int(holds(others, least.items).sum()), n),
            baseline=guessed,
            details=details,
        )

    def _without_key(
        self, case: SparseCase, rng: np.random.Generator, noise: float, is_signed: bool
    ) -> dict[str, float]:
        """The same with signs learned from known pairs, tried on records that are not among them."""
        assert case.rows is not None
        order = rng.permutation(np.flatnonzero(case.published.counts > 0))
        n = min(self.n_pairs, len(order) // 2)
        pairs, rest = order[:n], order[n : n + self.n_records]
        known, sketches = case.published.take(pairs), case.published.take(rest)
        learned = learn_signs(case.original.take(case.rows[pairs]), known.padded(), known.counts)
        targets = Targets(sketches, case.original.take(case.rows[rest]), sketches.padded())
        prior = Prior.of(case.original, learned.items)
        named = name_items(targets, learned.items, learned.signs, prior, noise=noise, signed=is_signed)
        return {"known_pairs": float(n), "named_with_known_pairs_and_no_key": named.share}


@dataclass(frozen=True)
class Named:
    """The item named for each record, whether the record holds it, and the mean square error over all weights."""

    items: Ints
    right: Mask
    error: float

    @property
    def share(self) -> float:
        """How many were right."""
        return mean(self.right)


def name_items(
    targets: Targets, columns: Ints, signs: Signs, prior: Prior | None, *, noise: float = 0.0, signed: bool = False
) -> Named:
    """Estimate all weights of each target, name its item with the largest, and hold both against the truth.

    Parameters
    ----------
    targets : Targets
    columns : int64 array (n_items,)
        The items reckoned with; of others, weights are estimated as 0.
    signs : int8 array (n_items, n_components)
        Their signs; components beyond are not used.
    prior : Prior, optional
        None for the usual estimate.
    noise : float
        Variance that rounding adds to a component.
    signed : bool
        Whether weights may be negative, so that the largest in size is named.
    """
    whole = matrix_of(targets.records)
    truth = whole[:, columns]
    named = np.zeros(len(targets), np.int64)
    squares = float((targets.records.weights.astype(np.float64) ** 2).sum())
    for rows, estimates in _estimates(targets, signs, prior, noise):
        named[rows] = columns[(np.abs(estimates) if signed else estimates).argmax(axis=1)]
        squares += float((estimates**2).sum()) - 2 * float(truth[rows].multiply(estimates).sum())
    return Named(named, holds(whole, named), squares / max(len(targets) * len(columns), 1))


def _estimates(targets: Targets, signs: Signs, prior: Prior | None, noise: float) -> Iterator[tuple[Ints, Floats]]:
    """Rows of targets and the estimates of their weights, few enough to be held in memory."""
    counts = np.minimum(targets.sketches.counts, signs.shape[1])
    at_once = max(1, CELLS_AT_ONCE // max(len(signs), 1))
    for r in np.unique(counts).tolist():
        weights = estimator(signs[:, :r].astype(np.float64), prior, noise)
        rows = np.flatnonzero(counts == r)
        for first in range(0, len(rows), at_once):
            part = rows[first : first + at_once]
            shown = targets.components[part, :r]
            if prior is None:
                yield part, shown @ weights
            else:
                yield part, prior.means + (shown - prior.means @ signs[:, :r]) @ weights


def estimator(signs: Floats, prior: Prior | None, noise: float = 0.0) -> Floats:
    """What each component counts in the estimate of each item: (n_components, n_items)."""
    r = signs.shape[1]
    if prior is None:
        return np.asarray(signs.T / max(r, 1))
    crossed, own = prior.covariances(signs)
    own[np.diag_indices_from(own)] += noise + RIDGE * max(float(own.trace()) / max(r, 1), 1e-300)
    return np.asarray(np.linalg.solve(own, crossed.T))


def mean_square(targets: Targets, columns: Ints, prior: Prior) -> float:
    """The mean square error of naming the means for every record."""
    truth = matrix_of(targets.records)[:, columns]
    squares = float((targets.records.weights.astype(np.float64) ** 2).sum())
    squares += len(targets) * float((prior.means**2).sum()) - 2 * float((truth @ prior.means).sum())
    return squares / max(len(targets) * len(columns), 1)


def holds(matrix: Any, items: Ints) -> Mask:
    """Whether each record, a row, has the one item that is named for it."""
    n = matrix.shape[0]
    owners = np.repeat(np.arange(n), np.diff(matrix.indptr))
    return np.asarray(np.bincount(owners, weights=matrix.indices == items[owners], minlength=n) > 0)


def _moved(n: int, rng: np.random.Generator) -> Ints:
    """Another record for each of n: all are moved on by the same number of places, so none stays at its own."""
    return (np.arange(n) + int(rng.integers(1, max(n, 2)))) % n


SPARSE_ATTACKS.register(LinearEstimate())
