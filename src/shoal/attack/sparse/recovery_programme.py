"""Recovery of whole records by linear programming, by an attacker with the key."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Floats, Ints, Signs, Singles
from shoal.attack.result import AttackResult, Rate
from shoal.attack.sparse.case import SPARSE_ATTACKS, SparseCase
from shoal.attack.sparse.signs import wrong_key
from shoal.attack.sparse.targets import MISSED, TargetOutcome, Targets, WholeRecords, compare, mean, sketched

AT_ONCE = 800  # columns of the first programme; the others are priced and brought in where they pay
ROUNDS = 60
PAYS = 1e-5  # a column is brought in below this reduced cost; float32 products are no finer
LEAST_COST = 1e-3
N_OVERLAPS = 20  # records whose overlap is measured with a wrong key


@dataclass(frozen=True)
class RecoveryProgramme(WholeRecords):
    """Find the cheapest record that has the published sketch.

    Two attackers solve ``min c.x, Rx = s, 0 <= x <= 1`` (``x >= 0`` for counts and real weights; within half a step of
    s for rounded components). One looks for the fewest items, c = 1. The other knows how popular each item is and looks
    for the likeliest record, ``c_i = log((1 - p_i) / p_i)``. It counts as a success when either finds the record
    exactly, after rounding. Where there are many items, the programme is begun with some of the columns and the others
    are brought in as their reduced costs ask, which changes the time and not the solution.

    Attributes
    ----------
    seconds : float
        No further record is tried after this time.
    """

    n_items: int = 200_000
    seconds: float = 120.0

    name = "recovery-programme"
    place = 10
    title = "whole records from sketches, by linear programming"
    leaked = "the key"
    knows = "the release, the key of the signs, all items there are and how popular each is"
    stopped_by = "the key, which is not published; and, should it leak, the recovery cap"
    remedy = "leave recovery_cap on, or raise delta: fewer components determine a record less"
    reference = (
        "E. J. Candes, T. Tao, Decoding by linear programming, IEEE Trans. Inf. Theory 51, 2005; "
        "S. S. Chen, D. L. Donoho, M. A. Saunders, Atomic decomposition by basis pursuit, SIAM Review 43, 2001"
    )

    def in_release(self) -> RecoveryProgramme:
        """On fewer records, and for seconds."""
        return replace(self, n_records=100, seconds=10.0)

    def run(self, case: SparseCase, rng: np.random.Generator) -> AttackResult:
        """Attack a sample of the published records."""
        assert case.key is not None
        attempt = self.attempt(case, rng)
        targets, columns = attempt.targets, attempt.columns
        costs = {"fewest": np.ones(len(columns)), "likeliest": np.log(1 / attempt.shares[columns] - 1)}
        signs = attempt.signs(case.key).astype(np.float32)
        end = time.monotonic() + self.seconds
        found: dict[str, list[TargetOutcome]] = {name: [] for name in costs}
        for i in range(len(targets)):
            if i and time.monotonic() > end:
                break
            for name, cost in costs.items():
                found[name].append(recover(targets, i, signs, columns, cost, case))
        n = len(found["fewest"])
        exact = {name: np.array([o.exact for o in outcomes], bool) for name, outcomes in found.items()}
        guesses = attempt.popular_guesses(n)
        main = Rate(int((exact["fewest"] | exact["likeliest"]).sum()), n)

        wrong = attempt.signs(wrong_key(rng))
        control, overlap = self._with_wrong_key(targets, n, wrong, columns, costs["likeliest"], case)
        details = {
            **{f"exact_{name}": mean(exact[name]) for name in exact},
            **{f"overlap_{name}": mean([o.overlap for o in found[name]]) for name in found},
            "overlap_wrong_key": overlap,
            "overlap_popular": mean([g.overlap for g in guesses]),
            "median_components": float(np.median(targets.sketches.counts[:n])),
            "items_tried": float(len(columns)),
        }
        best = max(details["overlap_fewest"], details["overlap_likeliest"])
        return self.result(
            main,
            f"With the key, {main.successes:.0f} of {n} records were recovered whole from their sketches by "
            f"linear programming; guess and record overlapped by {100 * best:.0f} %, against "
            f"{100 * details['overlap_popular']:.0f} % when the most popular items are named.",
            control=control,
            baseline=Rate(sum(g.exact for g in guesses), n),
            details=details,
        )

    def _with_wrong_key(
        self, targets: Targets, n: int, wrong: Signs, columns: Ints, costs: Floats, case: SparseCase
    ) -> tuple[Rate, float]:
        """The same with another key: exact successes of all, the overlap of a few.

        A record whose sketch under the other key is not the published one is no solution of the programme there, so
        that the programme need not be solved to know that it fails.
        """
        slack = 1e-6 if case.published.is_integral else case.published.step * 0.51
        theirs = sketched(wrong, columns, targets.records)
        shown = np.arange(theirs.shape[1]) < targets.sketches.counts[:, None]
        possible = np.all(~shown | (np.abs(theirs - targets.components) <= slack), axis=1)
        signs = wrong.astype(np.float32)
        tried = {i: recover(targets, i, signs, columns, costs, case) for i in range(min(n, N_OVERLAPS))}
        for i in np.flatnonzero(possible[:n]).tolist():
            tried[i] = tried.get(i) or recover(targets, i, signs, columns, costs, case)
        few = [tried[i].overlap for i in range(min(n, N_OVERLAPS))]
        return Rate(sum(o.exact for o in tried.values()), n), mean(few)


def recover(targets: Targets, i: int, signs: Singles, columns: Ints, costs: Floats, case: SparseCase) -> TargetOutcome:
    """The cheapest record of one sketch, by the components that there are signs of, held against the true one."""
    sketch = targets.sketch(i)[: signs.shape[1]]
    solution = cheapest_record(
        signs[:, : len(sketch)],
        sketch,
        costs,
        at_most_one=case.original.is_binary,
        signed=bool((case.original.weights < 0).any()),
        slack=0.0 if case.published.is_integral else case.published.step / 2,
    )
    if solution is None:
        return MISSED
    items, weights = rounded(solution, case)
    return compare(columns[items], weights, targets.record(i), case.original.is_integral)


def cheapest_record(
    signs: Singles,
    sketch: Floats,
    costs: Floats,
    *,
    at_most_one: bool = True,
    signed: bool = False,
    slack: float = 0.0,
) -> Floats | None:
    """Solve ``min costs.x`` over all x with the given sketch, ``0 <= x`` and, for sets, ``x <= 1``.

    Parameters
    ----------
    signs : float32 array (n_items, n_components)
        The signs of the items.
    sketch, costs : float64 arrays
        The published components, and the price of one unit of each item.
    at_most_one : bool
        Whether records are sets.
    signed : bool
        Whether weights may be negative; then each item may be taken in either direction at its price.
    slack : float
        How far the sketch of x may be from the given one.

    Returns
    -------
    float64 array (n_items,) or None
        None where no x has this sketch, or the solver gave up.
    """
    from scipy.optimize import linprog

    if signed:
        signs, costs = np.concatenate([signs, -signs]), np.concatenate([costs, costs])
    if not at_most_one:
        costs = np.maximum(costs, LEAST_COST)  # else a popular item could be taken without end, and be paid for it
    n = len(signs)
    order = _promising(signs, sketch, costs)
    active = order[:AT_ONCE]
    for _ in range(ROUNDS):
        held = signs[active].T.astype(np.float64)
        if slack == 0:
            asked = {"A_eq": held, "b_eq": sketch}
        else:
            asked = {"A_ub": np.concatenate([held, -held]), "b_ub": np.concatenate([sketch + slack, slack - sketch])}
        result = linprog(costs[active], bounds=(0, 1 if at_most_one else None), method="highs-ds", **asked)
        if result.status != 0:
            if result.status != 2 or len(active) == n:
                return None
            active = order[: 4 * len(active)]  # infeasible with these columns alone
            continue
        if len(active) == n:
            break
        marginal = result.eqlin.marginals if slack == 0 else np.subtract(*np.split(result.ineqlin.marginals, 2))
        reduced = costs - signs @ marginal.astype(np.float32)
        reduced[active] = 0
        entering = np.flatnonzero(reduced < -PAYS)
        if len(entering) == 0:
            break
        active = np.concatenate([active, entering[np.argsort(reduced[entering], kind="stable")[: AT_ONCE // 2]]])
    else:
        return None
    solution = np.zeros(n)
    solution[active] = result.x
    return solution[: n // 2] - solution[n // 2 :] if signed else solution


def rounded(solution: Floats, case: SparseCase) -> tuple[Ints, Floats]:
    """The items of a solution and their weights: whole numbers where records are of such.

    Of real weights, those above a quarter of the median weight count as found.
    """
    if case.original.is_integral:
        whole = np.rint(np.clip(solution, 0, 1) if case.original.is_binary else solution)
        items = np.flatnonzero(whole)
        return items, whole[items]
    least = np.median(np.abs(case.original.weights)) / 4
    items = np.flatnonzero(np.abs(solution) > least)
    return items, solution[items]


def _promising(signs: Singles, sketch: Floats, costs: Floats) -> Ints:
    """All columns, those first that are cheap or agree with the sketch."""
    by_cost = np.argsort(costs, kind="stable")
    by_sketch = np.argsort(-(signs @ sketch.astype(np.float32)), kind="stable")
    both = np.stack([by_cost, by_sketch], axis=1).ravel()
    return both[np.sort(np.unique(both, return_index=True)[1])]


SPARSE_ATTACKS.register(RecoveryProgramme())
