"""Better groups from any partition: moves and swaps that lower the within-group sum of squares.

========  ============================================================================================================
effort    what is done
========  ============================================================================================================
fast      nothing: the groups stay as they are
balanced  relocate and swap records, form and dissolve groups, until nothing gains, from the given groups, from those
          of a path through near records and from those of MDAV; a short annealing of the best ones, and again; of up
          to a thousand records, all at once (`shoal.tables.microaggregation.dense_search`)
best      many long annealings, some from molten groups, some from the best so far; after each few, the best partition
          that can be put together from all groups that any of them found, until that no longer gains; random, but for
          a given seed; of up to a hundred records, all at once as well, with random numbers that are always the same
========  ============================================================================================================

All moves look at near neighbours only, so a sweep over the records is linear in their number. The annealings make a
number of proposals in proportion to the records of a small table (18,000 a record in each of up to 16 runs of "best",
and half as many in up to 64 more), and a fixed number from some nine thousand records on: a larger table gets shorter
runs, cooler starts, and at last fewer runs (at 30,000 records 1,300 and 670 a record; above 100,000 some hundreds).

The loss of a group is the sum of the squared distances (of `shoal.tables.partition.mdav`) of all its pairs, over its
size. For numbers and ordered categories this is the sum of squares around the mean; for a category it is the number of
records times half the chance that two of them, drawn with replacement, differ: 0 where all agree, as for the mode.

**Guarantee**: every group has k to 2k-1 records, and the loss never grows.

**Not protected**: what a group has in common, as for every partition by quasi-identifiers alone. Limits on sensitive
values must be looked after again once groups were improved.

References
----------
J. Domingo-Ferrer, J. M. Mateo-Sanz, "Practical data-oriented microaggregation for statistical disclosure control", IEEE
Transactions on Knowledge and Data Engineering 14(1), 2002: the loss, and why no group needs 2k records. The search and
the merging of runs are ours; the annealing is that of `shoal.kernels.tables.annealing`.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from shoal.arrays import Codes, Floats, Words
from shoal.engine.seeds import spawn_seeds
from shoal.errors import Infeasible, PolicyError
from shoal.kernels.compile import interpreted
from shoal.kernels.tables.annealing import anneal
from shoal.kernels.tables.local_search import SearchGroups, descend, fill_groups, lay_out, regroup
from shoal.kernels.tables.mdav import MixedPoints, label_mdav
from shoal.kernels.tables.near_path import near_order
from shoal.kernels.tables.neighbours import nearest_lists
from shoal.kernels.tables.shortest_path import cut_order
from shoal.tables.encoding import Ranked
from shoal.tables.microaggregation import dense_search as dense
from shoal.tables.microaggregation.merge_runs import losses_of, merge_pool, number_groups
from shoal.tables.partition.mdav import mixed_points

Effort = Literal["fast", "balanced", "best"]

Run = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], list[Any]]

MOST_FOR_MDAV = 100_000  # records: half a second
FEWEST_LISTED, MOST_LISTED = 20, 60  # neighbours a record, 3k between these
LEAST_SHARE = 1e-12  # of the loss; a gain below it is rounding
ROUNDING = 1e-14  # of the sum of squares of the whole table
STEPS_A_CALL = 100_000  # records of a descent between two looks at the clock
STEPS_A_LEG = 60_000_000  # proposals of all runs between two looks at the clock: two or three seconds of one core
SWEEPS_A_REGROUPING = 20  # and then one record in five forms or dissolves a group: by trial
REGROUPED = 0.2
N_HEATS = 60
FEWEST_SWEEPS = 50
WORTHWHILE_SWEEPS = 500  # rather fewer runs than shorter ones
MELTING_SWEEPS = 2_500  # a shorter run does not make up for what it melts
# Temperatures, as multiples of the local scale of losses over k: a move changes the mean of a group by a kth.
MOLTEN, WARM, COLDEST = 6.0, 1.5, 0.15  # by trial; colder than the last, the descent does as well
REHEATED = (1.5, 1.0, 2.0, 1.0, 1.5, 1.0, 2.0, 1.0)  # from the best so far, again and again: this gives most


@dataclass(frozen=True)
class Annealing:
    """Some runs at once.

    Attributes
    ----------
    n_runs : int
        At most; a very large table gets fewer.
    n_steps : int
        Proposals of all runs together: what a large table gets, so that its size hardly matters.
    n_sweeps : int
        Proposals a record in each run, at most: what a small table gets.
    hottest : float
        The first temperature.
    """

    n_runs: int
    n_steps: int
    n_sweeps: int
    hottest: float

    def runs(self, n_rows: int) -> int:
        """How many runs there are."""
        return min(self.n_runs, max(2, self.n_steps // (n_rows * WORTHWHILE_SWEEPS)))

    def legs(self, n_rows: int, k: int) -> list[tuple[Floats, int, bool]]:
        """The parts of a run: their temperatures, the sweeps at each, and whether it is the last."""
        n_sweeps = max(FEWEST_SWEEPS, min(self.n_steps // (n_rows * self.runs(n_rows)), self.n_sweeps))
        hottest = self.hottest if n_sweeps >= MELTING_SWEEPS else min(self.hottest, WARM)
        heats = np.geomspace(hottest / k, COLDEST / k, min(N_HEATS, n_sweeps))
        n_legs = min(len(heats), 1 + n_rows * n_sweeps * self.runs(n_rows) // STEPS_A_LEG)
        parts = np.array_split(heats, n_legs)
        return [(part, n_sweeps // len(heats), i == n_legs - 1) for i, part in enumerate(parts)]


MOST_IDLE = 3  # reheated rounds in a row that gain next to nothing are the last
LEAST_ROUND_GAIN = 1e-5  # of the loss
MOST_DENSE_RUNS = 8  # of "best" where all distances are held
MOST_DENSE_IDLE = 2  # in a row that gain next to nothing are the last
TOGETHER, TOGETHER_BEST = 1_000, 2_000  # records of all copies that are searched side by side
SHORT = Annealing(n_runs=1, n_steps=8_000_000, n_sweeps=8_000, hottest=MOLTEN)
LONG = (
    *(Annealing(n_runs=4, n_steps=160_000_000, n_sweeps=18_000, hottest=MOLTEN),) * 4,
    *(Annealing(n_runs=8, n_steps=160_000_000, n_sweeps=9_000, hottest=heat) for heat in REHEATED),
)


class _Watch:
    """Tells how far the work is, and whether it should end."""

    def __init__(
        self,
        deadline: float | None,
        stop: Callable[[], bool] | None,
        progress: Callable[[int, int, float], None] | None,
        loss: float,
    ) -> None:
        self.end = None if deadline is None else time.monotonic() + deadline
        self.stop = stop
        self.progress = progress
        self.done, self.total = 0, 1
        self.first_loss, self.loss = loss, loss
        self.tell()

    def is_over(self) -> bool:
        """Whether the time is up or the caller asks to stop."""
        late = self.end is not None and time.monotonic() >= self.end
        return late or (self.stop is not None and self.stop())

    def advance(self) -> None:
        """Count a step."""
        self.done += 1
        self.tell()

    def finish(self) -> None:
        """Leave out what is not worth doing."""
        if self.done < self.total:
            self.done = self.total
            self.tell()

    def tell(self) -> None:
        """Show how far the work is, and which share of the loss is gone."""
        if self.progress is not None:
            gone = 1.0 - self.loss / self.first_loss if self.first_loss > 0 else 0.0
            self.progress(self.done, self.total, gone)


def improve(
    records: Sequence[Ranked] | MixedPoints,
    labels: Codes,
    k: int,
    effort: Effort = "balanced",
    *,
    seed: int | np.random.SeedSequence | None = None,
    run: Run | None = None,
    deadline: float | None = None,
    stop: Callable[[], bool] | None = None,
    progress: Callable[[int, int, float], None] | None = None,
) -> Codes:
    """Lower the loss of a partition, keeping k to 2k-1 records in every group.

    Parameters
    ----------
    records : sequence of Ranked, or MixedPoints
        The quasi-identifiers, as for `mdav_labels`.
    labels : int32 array (n_rows,)
        A group for each record; each has k records or more. Groups of 2k and more are cut first.
    k : int
        Smallest size of a group, 2 at least.
    effort : {"fast", "balanced", "best"}
        See the module.
    seed : int, SeedSequence or None
        For "best": the same seed gives the same groups, unless the work is cut short; None takes the operating
        system's entropy. "balanced" gives the same groups always, and so does "best" of up to a hundred records.
    run : callable, optional
        For "best": calls a function of plain arrays for each of some tuples of arguments and returns the results in
        order, as `shoal.engine.run_blocks` does; it may do so on several cores. None calls one after the other.
    deadline : float, optional
        Seconds from now after which no further step begins; a step takes a few seconds. The best groups so far are
        returned.
    stop : callable, optional
        Asked between steps; True ends the work in the same way.
    progress : callable, optional
        Called with the number of steps done, their total, and the share of the loss that is gone so far.

    Returns
    -------
    int32 array (n_rows,)
        The group of each record, numbered by their first records ("fast": as they came).

    Raises
    ------
    Infeasible
        If a group has fewer than k records.
    PolicyError
        If the effort has another name.
    """
    if effort not in ("fast", "balanced", "best"):
        raise PolicyError(f"effort is 'fast', 'balanced' or 'best', not {effort!r}")
    if effort == "fast":
        return labels
    return _improved(records, labels, k, effort, seed, run, deadline, stop, progress)


def needs_seed(effort: Effort, n_rows: int) -> bool:
    """Whether groups depend on random numbers that are not always the same."""
    return effort == "best" and not _is_dense(effort, n_rows)


def _is_dense(effort: Effort, n_rows: int) -> bool:
    """Whether there are so few records that all distances are held, and nothing is compiled."""
    return n_rows <= (dense.MOST_DENSE if effort == "balanced" else dense.MOST_DENSE_BEST)


def _improved(
    records: Sequence[Ranked] | MixedPoints,
    labels: Codes,
    k: int,
    effort: Effort,
    seed: int | np.random.SeedSequence | None,
    run: Run | None,
    deadline: float | None,
    stop: Callable[[], bool] | None,
    progress: Callable[[int, int, float], None] | None,
) -> Codes:
    """What `improve` does where there is something to do."""
    if len(labels) and np.unique(labels, return_counts=True)[1].min() < k:
        raise Infeasible(f"the groups to improve hold fewer than k = {k} records; start from groups of k or more")
    data = records if isinstance(records, MixedPoints) else mixed_points(records)
    start = cut_large(data.points, number_groups(labels), k)
    n_rows, n_listed = len(labels), min(max(FEWEST_LISTED, 3 * k), MOST_LISTED)
    loss = float(losses_of(data, start, k).sum()) if n_rows else 0.0
    watch = _Watch(deadline, stop, progress, loss)
    if n_rows < 2 * k or watch.is_over():
        return start
    starts = (start, *_other_starts(data, start, k))
    n_listed = min(n_listed, n_rows - 1)
    if _is_dense(effort, n_rows):
        return _improved_densely(data, starts, k, n_listed, effort, watch)
    near = nearest_lists(data.points, data.weights, data.n_metric, n_listed)
    with interpreted(False):  # millions of steps, on however few records
        return _improved_by_loops(data, starts, near, k, effort, seed, run, watch)


def _improved_by_loops(
    data: MixedPoints,
    starts: Sequence[Codes],
    near: Codes,
    k: int,
    effort: Effort,
    seed: int | np.random.SeedSequence | None,
    run: Run | None,
    watch: _Watch,
) -> Codes:
    """Better groups by moving one record after the other."""
    n_rows = len(data.points)
    rounds = [SHORT] if effort == "balanced" else [SHORT, *LONG]
    watch.total = sum(len(r.legs(n_rows, k)) for r in rounds)
    scale = _local_scale(data, near, k)
    pool = [starts[0]]
    for begun in starts:
        groups = lay_out(data.points, data.weights, data.n_metric, near, begun, k)
        _settle(groups, float(losses_of(data, begun, k).sum()), watch)
        pool.append(number_groups(groups.labels))
    found = min(pool, key=lambda labels: float(losses_of(data, labels, k).sum()))
    # The random numbers of the short annealing are fixed, so that "balanced" needs no seed.
    seeds = [np.random.SeedSequence(0), *spawn_seeds(seed, len(rounds) - 1)]
    n_idle = 0
    for annealing, round_seed in zip(rounds, seeds, strict=True):
        pool += _anneal_round(data, near, scale, found, k, annealing, round_seed, run, watch)
        found = merge_pool(data, [found, *pool], k, watch.is_over)
        before, watch.loss = watch.loss, float(losses_of(data, found, k).sum())
        is_idle = annealing.hottest in REHEATED and before - watch.loss <= LEAST_ROUND_GAIN * before
        n_idle = n_idle + 1 if is_idle else 0
        if watch.is_over():
            return found
        if n_idle == MOST_IDLE:
            break
    watch.finish()
    return found


def _improved_densely(
    data: MixedPoints, starts: Sequence[Codes], k: int, n_listed: int, effort: Effort, watch: _Watch
) -> Codes:
    """Better groups where all distances are held: annealings of several copies at once, from the best so far."""
    n_runs, together = (1, TOGETHER) if effort == "balanced" else (MOST_DENSE_RUNS, TOGETHER_BEST)
    apart = dense.distances(data.points, data.weights, data.n_metric)
    least = _least_gain(data.points, data.weights, data.n_metric, watch.loss)
    watch.total = dense.N_HEATS * n_runs
    pool = [starts[0]]
    for begun in starts:
        groups = dense.DenseGroups(apart, begun, k)
        dense.descend(groups, least, watch.is_over)
        pool += groups.numbered()
    found = min(pool, key=lambda labels: float(losses_of(data, labels, k).sum()))
    near = dense.nearest_of(apart, n_listed)
    scale = _local_scale(data, near, k)
    n_idle = 0
    for run in range(n_runs):
        groups = dense.DenseGroups(apart, found, k, dense.copies_of(len(apart), together))
        rng = np.random.default_rng(run)  # always the same, so that no seed is needed
        for heat in np.geomspace(dense.REHEATED if run else dense.HOTTEST, dense.COLDEST, dense.N_HEATS):
            if watch.is_over():
                return found
            dense.anneal(groups, near, heat / k * scale, rng, n_ways=1 if heat > dense.REHEATED else 2)
            watch.advance()
        groups.fill()
        dense.descend(groups, least)
        pool += groups.numbered()
        found = merge_pool(data, [found, *pool], k, watch.is_over, dense.TRIES_A_PASS)
        before, watch.loss = watch.loss, float(losses_of(data, found, k).sum())
        n_idle = n_idle + 1 if before - watch.loss <= LEAST_ROUND_GAIN * before else 0
        if n_idle == MOST_DENSE_IDLE:
            break
    watch.finish()
    watch.tell()
    return found


def cut_large(points: Floats, labels: Codes, k: int) -> Codes:
    """Cut groups of 2k records or more into groups of k to 2k-1, along the column in which each is widest.

    The sum of squares of a group is never below that of its parts.
    """
    sizes = np.bincount(labels)
    if sizes.max() < 2 * k:
        return labels
    widest = np.zeros(len(sizes), np.intp)
    width = np.full(len(sizes), -1.0)
    for j, column in enumerate(points.T):
        mean = np.bincount(labels, column) / sizes
        spread = np.bincount(labels, (column - mean[labels]) ** 2)
        widest[spread > width] = j
        width = np.maximum(width, spread)
    order = np.lexsort((points[np.arange(len(labels)), widest[labels]], labels))
    place = np.empty(len(labels), np.intp)
    place[order] = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    part = np.minimum(place // k, sizes[labels] // k - 1)
    return number_groups((labels * np.int64(len(labels)) + part).astype(np.int64))


def _other_starts(data: MixedPoints, start: Codes, k: int) -> list[Codes]:
    """Other groups to begin with: where a search ends depends on its start, and no start is best for all tables.

    They are the same for every start but for that one itself, so that a search ends where it does from the best.
    """
    order = near_order(data.points, data.weights, data.n_metric, k)
    others = [number_groups(cut_order(data.points, data.weights, data.n_metric, order, k)[0])]
    if len(start) <= MOST_FOR_MDAV:
        others.append(cut_large(data.points, number_groups(label_mdav(data, k)), k))
    return [labels for labels in others if not np.array_equal(labels, start)]


def _local_scale(data: MixedPoints, near: Codes, k: int) -> Floats:
    """How hot it has to be at each record: between the spacing of the records there and that of the whole table.

    One temperature for all would leave dense places molten until the outliers are long frozen.
    """
    total = np.zeros(len(data.points))
    n_used = min(k, near.shape[1])
    for i in range(n_used):
        step = data.points - data.points[near[:, i]]
        metric, other = step[:, : data.n_metric], step[:, data.n_metric :]
        total += (metric * metric).sum(axis=1) + (other != 0) @ data.weights[data.n_metric :]
    spacing = total / (2 * n_used)
    return np.asarray(np.maximum(np.sqrt(spacing * spacing.mean()), 1e-4 * spacing.mean()))


def _least_gain(points: Floats, weights: Floats, n_metric: int, loss: float) -> float:
    """Below it a gain is rounding; where next to nothing is lost, gains of rounding errors would never end."""
    metric = points[:, :n_metric]
    return max(LEAST_SHARE * loss, ROUNDING * float((metric * metric).sum() + len(points) * weights.sum()))


def _settle(groups: SearchGroups, loss: float, watch: _Watch | None = None) -> None:
    """Make every move that gains, until there is none."""
    n_rows = len(groups.labels)
    least = _least_gain(groups.points, groups.weights, groups.n_metric, loss)
    asked, seen = np.ones(n_rows, np.bool_), np.full(len(groups.sizes), -1, np.int32)
    n_made = 1
    while n_made:
        queue = np.zeros(n_rows, np.int32)
        waiting = np.flatnonzero(asked)
        queue[: len(waiting)] = waiting
        ends = np.array([0, len(waiting)])
        while ends[1]:
            if watch is not None and watch.is_over():
                return
            descend(groups, queue, asked, ends, STEPS_A_CALL, least, seen)
        fill_groups(groups)
        firsts = groups.members[groups.sizes > 0, 0]
        rows = np.concatenate([np.arange(n_rows), firsts])
        limits = np.full(len(rows), -least)
        n_made = regroup(groups, rows, limits, np.arange(len(rows)) < n_rows, asked)


def anneal_leg(
    points: Floats,
    weights: Floats,
    n_metric: int,
    near: Codes,
    scale: Floats,
    k: int,
    labels: Codes,
    heats: Floats,
    n_sweeps: int,
    is_last: bool,
    seed: np.random.SeedSequence,
) -> Codes:
    """One part of an annealing: ``n_sweeps`` proposals a record at each of some temperatures."""
    n_rows = len(points)
    rng = np.random.default_rng(seed)
    state: Words = rng.integers(1, 2**63, size=1).astype(np.uint64)
    asked = np.zeros(n_rows, np.bool_)
    groups = lay_out(points, weights, n_metric, near, labels, k)
    for heat in heats:
        for start in range(0, n_sweeps, SWEEPS_A_REGROUPING):
            n_now = min(SWEEPS_A_REGROUPING, n_sweeps - start)
            anneal(groups, state, heat, scale, n_rows * n_now)
            rows = rng.integers(n_rows, size=int(np.ceil(n_rows * REGROUPED * n_now / SWEEPS_A_REGROUPING)))
            limits = heat * scale[rows] * rng.exponential(size=len(rows))
            regroup(groups, rows, limits, rng.random(len(rows)) < 0.5, asked)
        fill_groups(groups)
    if is_last:
        _settle(groups, float(scale.sum()))
    return number_groups(groups.labels)


def _anneal_round(
    data: MixedPoints,
    near: Codes,
    scale: Floats,
    labels: Codes,
    k: int,
    annealing: Annealing,
    seed: np.random.SeedSequence,
    run: Run | None,
    watch: _Watch,
) -> list[Codes]:
    """Make the runs of an annealing, all from the same groups; no runs if the work is cut short."""
    legs = annealing.legs(len(labels), k)
    leg_seeds = [spawn_seeds(s, len(legs)) for s in spawn_seeds(seed, annealing.runs(len(labels)))]
    states = [labels] * len(leg_seeds)
    fixed = (data.points, data.weights, data.n_metric, near, scale, k)
    for i, leg in enumerate(legs):
        if watch.is_over():
            return []
        jobs = [(*fixed, state, *leg, seeds[i]) for state, seeds in zip(states, leg_seeds, strict=True)]
        states = run(anneal_leg, jobs) if run is not None else list(itertools.starmap(anneal_leg, jobs))
        watch.advance()
    return states
