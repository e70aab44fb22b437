"""The sample of published records that an attack tries, and what is counted as a success."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints, Signs
from shoal.attack.attack import Attack
from shoal.attack.sparse.case import SparseCase
from shoal.attack.sparse.signs import signs_of
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches

NO_KEY = "It assumes that the key leaked, and the key was not given; hand over the private folder that holds it."
NO_ROWS = "It is not known which record each sketch is of, so successes could not be counted; give the private folder."


class OnSketches(Attack[SparseCase]):
    """An attack on sketches of records."""

    unit: ClassVar[Literal["record", "group"]] = "record"

    def fits(self, case: Any) -> bool:
        """Sketches of its unit, not baskets."""
        return isinstance(case, SparseCase) and case.unit == self.unit


class WithKey(OnSketches):
    """An attack that assumes that the key leaked."""

    def missing(self, case: SparseCase) -> str | None:
        """It needs the key, and to know whose sketches they are."""
        return NO_KEY if case.key is None else NO_ROWS if case.rows is None else None


@dataclass(frozen=True)
class WholeRecords(WithKey):
    """One that is after whole records.

    Attributes
    ----------
    n_records : int
        How many published records are tried.
    n_items : int
        How many items the attacker reckons with, the most popular ones. A record with another one is not recovered.
    """

    n_records: int = 200
    n_items: int = 50_000

    def attempt(self, case: SparseCase, rng: np.random.Generator) -> Attempt:
        """What he sets out with: a sample of the published records, and the items."""
        targets = draw_targets(case, self.n_records, rng)
        return Attempt(case, targets, candidate_items(case.original, self.n_items), item_shares(case.original))


@dataclass(frozen=True)
class Targets:
    """Published sketches under attack, and the records that they are of.

    Attributes
    ----------
    sketches : Sketches
        What the attacker sees.
    records : Sparse
        What he is after, in the same order.
    components : float64 array (n, most components)
        The sketches as rows, zeros behind the last component.
    """

    sketches: Sketches
    records: Sparse
    components: Floats

    def __len__(self) -> int:
        return len(self.sketches)

    def sketch(self, i: int) -> Floats:
        """The components of one."""
        return self.components[i, : int(self.sketches.counts[i])]

    def record(self, i: int) -> tuple[Ints, Floats]:
        """Items and weights of one."""
        ours = slice(self.records.starts[i], self.records.starts[i + 1])
        return self.records.items[ours].astype(np.int64), self.records.weights[ours].astype(np.float64)


def draw_targets(case: SparseCase, n: int, rng: np.random.Generator) -> Targets:
    """Choose published records at random, at most n."""
    if case.rows is None:
        raise ValueError("targets need the record that each sketch is of")
    among = np.flatnonzero(case.published.counts > 0)
    chosen = np.sort(rng.choice(among, min(n, len(among)), replace=False))
    sketches = case.published.take(chosen)
    return Targets(sketches, case.original.take(case.rows[chosen]), sketches.padded())


def matrix_of(records: Sparse, like: Sparse | None = None) -> Any:
    """The weights as a sparse array of scipy, a record a row.

    With `like`, columns are the items of those records, found by their names; items that they lack are left out.
    """
    from scipy.sparse import csr_array

    weights = records.weights.astype(np.float64)
    matrix = csr_array((weights, records.items, records.starts), shape=(len(records), records.n_items))
    if like is None or records.names == like.names:
        return matrix
    places = {name: i for i, name in enumerate(like.names)}
    shared = np.array([i for i, name in enumerate(records.names) if name in places], np.int64)
    found = matrix[:, shared].tocoo()
    columns = np.array([places[records.names[i]] for i in shared.tolist()], np.int64)[found.col]
    return csr_array((found.data, (found.row, columns)), shape=(len(records), like.n_items))


def sketched(signs: Signs, columns: Ints, records: Sparse) -> Floats:
    """The sketches of whole records by a table of the signs of some items; the other items are left out."""
    return np.asarray(matrix_of(records)[:, columns] @ signs.astype(np.float64))


def sketch_records(records: Sparse, key: bytes, n_components: int, step: float | None = None) -> Floats:
    """The first components of records under a key, rounded to the grid where they are of real weights."""
    held = np.unique(records.items).astype(np.int64)
    sketches = sketched(signs_of(records, held, key, n_components), held, records)
    return sketches if step is None else np.rint(sketches / step) * step


def item_shares(records: Sparse) -> Floats:
    """How popular each item is: the share of records that hold it, kept off 0 and 1 by half a record."""
    n = max(len(records), 1)
    return np.clip(np.bincount(records.items, minlength=records.n_items) / n, 0.5 / n, 1 - 0.5 / n)


def candidate_items(records: Sparse, limit: int) -> Ints:
    """The items that an attacker reckons with: those that occur, the `limit` most popular of them, ascending."""
    counts = np.bincount(records.items, minlength=records.n_items)
    by_count = np.argsort(-counts, kind="stable")[:limit]
    return np.sort(by_count[counts[by_count] > 0])


@dataclass(frozen=True)
class TargetOutcome:
    """How near a guess came to a record."""

    exact: bool
    overlap: float


MISSED = TargetOutcome(False, 0.0)


def compare(items: Ints, weights: Floats, truth: tuple[Ints, Floats], integral: bool) -> TargetOutcome:
    """Hold a guessed record against the true one.

    Exact is: the same items, and the same weights where they are whole numbers. Real weights are known to the
    published grid at best, so there the items alone count. The overlap is Jaccard's, of the items.
    """
    theirs, true_weights = truth
    common = len(np.intersect1d(items, theirs, assume_unique=True))
    same = common == len(items) == len(theirs)
    if same and integral:
        same = bool((weights == true_weights).all())
    return TargetOutcome(bool(same), common / max(len(items) + len(theirs) - common, 1))


def popular_guess(shares: Floats, truth: tuple[Ints, Floats], integral: bool) -> TargetOutcome:
    """The best guess without any sketch, by one who even knows the size: the most popular items, once each."""
    n = len(truth[0])
    items = np.sort(np.argsort(-shares, kind="stable")[:n])
    return compare(items, np.ones(n), truth, integral)


@dataclass(frozen=True)
class Attempt:
    """What an attacker who has the key sets out with."""

    case: SparseCase
    targets: Targets
    columns: Ints
    """The items that he reckons with."""
    shares: Floats
    """How popular each item is."""

    def signs(self, key: bytes) -> Signs:
        """The signs of the items under a key."""
        return signs_of(self.case.original, self.columns, key, self.targets.components.shape[1])

    def popular_guesses(self, n: int) -> list[TargetOutcome]:
        """What naming the most popular items gets of the first n records."""
        is_integral = self.case.original.is_integral
        return [popular_guess(self.shares, self.targets.record(i), is_integral) for i in range(n)]


def mean(values: Sequence[float] | npt.NDArray[Any]) -> float:
    """The mean; nan of nothing."""
    return float(np.mean(values)) if len(values) else float("nan")
