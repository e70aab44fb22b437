"""The signs from pairs of record and sketch that an attacker knows, without the key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Floats, Ints, Signs
from shoal.attack.result import AttackResult, Rate
from shoal.attack.sparse.case import SPARSE_ATTACKS, SparseCase
from shoal.attack.sparse.recovery_programme import recover
from shoal.attack.sparse.signs import signs_of
from shoal.attack.sparse.targets import NO_KEY, NO_ROWS, OnSketches, TargetOutcome, Targets, item_shares, mean
from shoal.data.sparse.records import Sparse

RIDGE = 1e-3
ROUNDS = 20


@dataclass(frozen=True)
class KnownPairs(OnSketches):
    """Learn the signs of items from records that are known together with their sketches.

    One who put records of his own into the release, or who knows persons in it and found their sketches, has linear
    equations in the signs: ``s_j = sum_i x_i r_ij``. He solves them by least squares with a small ridge and, as signs
    are between -1 and 1, by turns with a cut to that range. A success is a sign that is right, of an item that occurs
    in the pairs; chance is one half. With the signs learned he then attacks other records, as if he had the key.

    The key itself is 32 random bytes and is not found; the signs do instead, and they serve against every release that
    was made with the same key. That is why a key is made anew for each release.

    Attributes
    ----------
    n_pairs : tuple of int
        How many pairs he may know; at most half of the release is granted. The largest is the result's rate.
    n_others : int
        How many other records are attacked with the learned signs.
    """

    n_pairs: tuple[int, ...] = (50, 200, 800)
    n_others: int = 20

    name = "known-pairs"
    place = 30
    title = "the secret signs from known records"
    knows = "the release, and for some records which sketch is theirs; not the key"
    stopped_by = "a new key for every release; the order of the release, which tells nobody's place"
    remedy = "never use a key twice; publish fewer components, so that learned signs help less"
    reference = (
        "K. Liu, C. Giannella, H. Kargupta, An attacker's view of distance preserving maps for privacy preserving "
        "data mining, PKDD 2006 (known input-output attack)"
    )

    def in_release(self) -> None:
        """Not at all: it takes minutes."""
        return

    def missing(self, case: SparseCase) -> str | None:
        """It needs the key to count what was learned right, and to know whose sketches they are."""
        if case.rows is None:
            return NO_ROWS
        if case.key is None:
            return NO_KEY.replace("It assumes that the key leaked", "What it learns is held against the key")
        return "There are too few records." if len(case.published) < 4 else None

    def run(self, case: SparseCase, rng: np.random.Generator) -> AttackResult:
        """Learn from pairs drawn at random, and from the same pairs wrongly put together."""
        assert case.rows is not None
        assert case.key is not None
        order = rng.permutation(np.flatnonzero(case.published.counts > 0))
        most = max(1, len(order) // 2)
        details: dict[str, float] = {}
        main = control = Rate(0, 0)
        learned = None
        for n in sorted({min(n, most) for n in self.n_pairs}):
            pairs = order[:n]
            ours, theirs = (
                learn_signs(
                    case.original.take(case.rows[p]), case.published.take(pairs).padded(), case.published.counts[pairs]
                )
                for p in (pairs, rng.permutation(pairs))
            )
            main, control = (self._right(case, signs) for signs in (ours, theirs))
            learned = ours
            details[f"signs_right_{n}_pairs"] = main.value
        assert learned is not None
        others = order[most:][: self.n_others]
        sketches = case.published.take(others)
        targets = Targets(sketches, case.original.take(case.rows[others]), sketches.padded())
        true = signs_of(case.original, learned.items, case.key, learned.signs.shape[1])
        with_learned, with_key = (_recover(case, targets, learned.items, signs) for signs in (learned.signs, true))
        details |= {
            "overlap_learned": mean([o.overlap for o in with_learned]),
            "overlap_key": mean([o.overlap for o in with_key]),
            "exact_learned": mean([o.exact for o in with_learned]),
            "exact_key": mean([o.exact for o in with_key]),
            "components_attacked": float(learned.signs.shape[1]),
            "items_attacked": float(len(learned.items)),
        }
        return self.result(
            main,
            f"From {n} known pairs of record and sketch, {100 * main.value:.0f} % of the secret signs were "
            f"learned right (chance: 50 %). With them {100 * details['exact_learned']:.0f} % of {len(others)} other "
            f"records were recovered whole, against {100 * details['exact_key']:.0f} % with the key.",
            control=control,
            baseline=Rate(main.attempts / 2, main.attempts),
            details=details,
        )

    def _right(self, case: SparseCase, learned: Learned) -> Rate:
        assert case.key is not None
        true = signs_of(case.original, learned.items, case.key, learned.signs.shape[1])
        return Rate(int((true == learned.signs).sum()), true.size)


@dataclass(frozen=True)
class Learned:
    """Signs that an attacker believes in: one row for each of some items, one column a component."""

    items: Ints
    signs: Signs


def learn_signs(records: Sparse, components: Floats, counts: Ints) -> Learned:
    """Signs from pairs; of the components that at least half of the pairs have."""
    order = np.argsort(-counts, kind="stable")
    records, components, counts = records.take(order), components[order], counts[order]
    width = int(counts[(len(counts) - 1) // 2])
    matrix, items = _matrix(records)
    holders = (counts[:, None] > np.arange(width)).sum(axis=0)  # of each component; they come first in the order
    return Learned(items, np.where(solve_signs(matrix, components[:, :width], holders) < 0, -1, 1).astype(np.int8))


def solve_signs(matrix: Any, components: Floats, holders: Ints) -> Floats:
    """Solve ``matrix @ signs = components`` for signs in -1..1; component j is known of the first holders[j] rows.

    Parameters
    ----------
    matrix : scipy sparse array (n_pairs, n_items)
        The known records.
    components : float64 array (n_pairs, n_components)
        Their sketches.
    holders : int64 array (n_components,)
        Not ascending.

    Returns
    -------
    float64 array (n_items, n_components)
    """
    from scipy.linalg import cholesky, solve_triangular

    gram = (matrix @ matrix.T).toarray().astype(np.float64)
    gram[np.diag_indices_from(gram)] += RIDGE * max(gram.trace() / len(gram), 1e-12)
    lower = cholesky(gram, lower=True)  # its leading blocks are the factors for the first rows alone
    signs = np.zeros((matrix.shape[1], components.shape[1]))
    for rows in np.unique(holders):
        ours = np.flatnonzero(holders == rows)
        known, factor, asked = matrix[:rows], lower[:rows, :rows], components[:rows, ours]
        guess = signs[:, ours]
        for _ in range(ROUNDS):
            miss = asked - known @ guess
            middle = solve_triangular(factor, miss, lower=True, check_finite=False)
            push = known.T @ solve_triangular(factor, middle, lower=True, trans="T", check_finite=False)
            guess = np.clip(guess + push, -1, 1)
        signs[:, ours] = guess
    return signs


def _matrix(records: Sparse) -> tuple[Any, Ints]:
    from scipy.sparse import csr_array

    items, places = np.unique(records.items, return_inverse=True)
    shape = (len(records), len(items))
    return csr_array((records.weights.astype(np.float64), places, records.starts), shape=shape), items.astype(np.int64)


def _recover(case: SparseCase, targets: Targets, items: Ints, signs: Signs) -> list[TargetOutcome]:
    """The likeliest records of the learned items, as in `RecoveryProgramme`."""
    costs = np.log(1 / item_shares(case.original)[items] - 1)
    return [recover(targets, i, signs.astype(np.float32), items, costs, case) for i in range(len(targets))]


SPARSE_ATTACKS.register(KnownPairs())
