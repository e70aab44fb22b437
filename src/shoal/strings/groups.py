"""Groups of at least k templates that are alike: CreateGroups.

The first pass picks templates at random, each with the k - 1 closest that are left. Every later pass takes the k
closest to each centroid of the pass before. Fewer than k that remain go to the nearest centroid. Passes end when the
mean distance to the own centroid (Eq. 3) falls by less than 1 %; the best pass is kept. Then (section 4.2) groups are
dissolved and strings moved wherever that lowers the objective and every group keeps k.

A pass costs the square of the number of strings. A segment of more than `block_strings` is first cut in two again and
again, each time by which of two centroids a string is nearer to. What that costs in the objective is estimated from a
sample: `Grouping.split_cost`. Blocks of 6,144 instead of 12,288 cost 0.7 % on 100,000 baskets (V20.I4) and take less
than half the time. Where templates share features with few others, as baskets do, a pass looks only at those that share
some (`shoal.kernels.strings.postings`).

Strings that are not aligned are grouped by templates as well. Groups by profiles of pairs of symbols were tried
instead, as many as groups had grown to: on families of proteins without their classes (2,400, two splits) triples moved
by 20.5 instead of 20.8 % and areas by fragments were 0.54 instead of 0.53, random groups having 23.0 % and 0.51; on
yeast groups had grown to all strings of a range of lengths, where there is nothing to group. So they are not offered.

**Guarantee**: every group has at least k strings.

**Not protected**: what a group has in common; a group of k equal strings hides nothing but who they belong to.

References
----------
C. C. Aggarwal, P. S. Yu, "A framework for condensation-based anonymization of string data", Data Mining and Knowledge
Discovery 16(3), 2008, section 4, Fig. 3, Eq. (3) and section 4.2. We depart from it in three ways: the best pass is
kept and not the last; a re-assignment is judged by the objective itself, with the centroids that it leads to; and
large segments are split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Singles
from shoal.engine.blocks import run_blocks
from shoal.engine.seeds import spawn_seeds
from shoal.kernels.strings.groups import (
    SparseTemplates,
    average,
    group_costs,
    nearest_groups,
    pass_around,
    similarities,
)
from shoal.kernels.strings.postings import nearest_by_postings, pass_by_postings
from shoal.kernels.strings.reassign import reassign
from shoal.strings.templates import MANY_STRINGS, Templates, TemplatesOnDemand, templates_of

Plan = tuple[Templates | TemplatesOnDemand, list[Ints]]
Postings = tuple[Ints, Codes, Singles]

LEAST_IMPROVEMENT = 0.01
MOST_PASSES = 50
MOST_REASSIGNMENTS = 5
N_NEAR = 3
BLOCK_STRINGS = 6144
MOST_POSITIONS = 4096  # of longer templates those that vary, or as many of these, tell who is near
LEAST_FOR_POSTINGS = 1000
NO_GROUPS = (np.zeros(0, np.int64), np.zeros(0, np.int64))
SPLIT_SAMPLE = 2000
SPLIT_ROUNDS = 8


@dataclass(frozen=True)
class StringGrouping:
    """Groups of one segment.

    Attributes
    ----------
    labels : int32 array (n_strings,)
        The group of each string, from 0 on.
    objective : float
        Mean distance of a template to the centroid of its group (Eq. 3), between 0 and 2 L.
    passes : tuple of float
        The objective of the passes before the re-assignment, block by block, over the positions looked at.
    n_blocks : int
        Into how many blocks the segment was split.
    split_cost : float or None
        By which share splitting raised the objective: what one cut of a sample cost, compounded over the cuts above
        each block. None if the segment was not split.
    """

    labels: Codes
    objective: float
    passes: tuple[float, ...]
    n_blocks: int = 1
    split_cost: float | None = None

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.labels.max()) + 1


def order_members(labels: Codes, n_groups: int) -> tuple[Ints, Ints]:
    """The rows group by group, ascending within each, and where each group begins."""
    sizes = np.bincount(labels, minlength=n_groups)
    return np.argsort(labels, kind="stable").astype(np.int64), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def objective_of(templates: Templates, labels: Codes) -> float:
    """Mean distance of a template to the centroid of its group, Eq. (3)."""
    members, group_starts = order_members(labels, int(labels.max()) + 1)
    costs = group_costs(_sparse(templates), templates.length, members, group_starts)
    return float(costs.sum()) / len(labels)


def whole_segment(templates: Templates | TemplatesOnDemand) -> StringGrouping:
    """One group of all."""
    labels = np.zeros(len(templates), np.int32)
    return StringGrouping(labels, objective_of(templates.whole(), labels), ())


def plan_segment(symbols: Codes, starts: Ints, block_strings: int, seed: np.random.SeedSequence) -> Plan:
    """The templates of a segment, and the blocks in which they are to be grouped; any worker can run it."""
    templates = templates_of(symbols, starts)
    return templates, split_by_nearness(templates, block_strings, seed)


def group_segments(
    plans: Sequence[Plan],
    k: int,
    block_strings: int,
    seed: np.random.SeedSequence,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    note: Callable[[str], None] | None = None,
    before: tuple[int, int] = (0, 0),
) -> list[StringGrouping]:
    """Group all blocks of all segments, several at once, and measure on samples what splitting cost.

    `before` are the blocks, and the segments of several blocks, of segments that are grouped elsewhere before these.
    """
    of_blocks, of_samples = spawn_seeds(seed, 2)
    # Large blocks first: the last one to end should not be the longest.
    jobs = [(p, b) for p, (_, blocks) in enumerate(plans) for b in range(len(blocks))]
    seeds = dict(zip(jobs, spawn_seeds(of_blocks, len(jobs), before[0]), strict=True))
    jobs.sort(key=lambda job: -(len(plans[job[0]][1][job[1]]) ** 2) * plans[job[0]][0].length)
    results = run_blocks(group_block, _Jobs(plans, jobs, k, seeds), executor, progress=progress, note=note)
    found = dict(zip(jobs, results, strict=True))
    split = [p for p, (_, blocks) in enumerate(plans) if len(blocks) > 1]
    costs: dict[int, float] = dict(
        zip(
            split,
            run_blocks(
                split_cost,
                [
                    (sample_for_split(plans[p][0], max(block_strings, 2 * k), s), k, s, len(plans[p][1]))
                    for p, s in zip(split, spawn_seeds(of_samples, len(split), before[1]), strict=True)
                ],
                executor,
                note=note,
            ),
            strict=True,
        )
    )
    return [
        join_blocks(blocks, [found[p, b] for b in range(len(blocks))], costs.get(p))
        for p, (_, blocks) in enumerate(plans)
    ]


class _Jobs:
    """The blocks to group, of known number; each is cut out of its segment when it is asked for."""

    def __init__(
        self,
        plans: Sequence[Plan],
        jobs: Sequence[tuple[int, int]],
        k: int,
        seeds: dict[tuple[int, int], np.random.SeedSequence],
    ) -> None:
        self.plans, self.jobs, self.k, self.seeds = plans, jobs, k, seeds

    def __len__(self) -> int:
        return len(self.jobs)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for p, b in self.jobs:
            templates, blocks = self.plans[p]
            yield templates.take(blocks[b]), self.k, self.seeds[p, b]


def join_blocks(blocks: Sequence[Ints], found: Sequence[StringGrouping], cost: float | None) -> StringGrouping:
    """The grouping of a segment from those of its blocks."""
    labels = np.empty(sum(map(len, blocks)), np.int32)
    n_groups = 0
    for rows, grouping in zip(blocks, found, strict=True):
        labels[rows] = grouping.labels + n_groups
        n_groups += grouping.n_groups
    total = sum(g.objective * len(g.labels) for g in found)
    passes = tuple(p for g in found for p in g.passes)
    return StringGrouping(labels, total / len(labels), passes, len(blocks), cost)


def group_block(templates: Templates, k: int, seed: np.random.SeedSequence) -> StringGrouping:
    """Passes and re-assignment over templates that are few enough for it; any worker can run it."""
    whole, templates = templates, templates.shortened(MOST_POSITIONS)
    n, arrays = len(templates), _sparse(templates)
    n_groups = n // k
    order = np.random.default_rng(seed).permutation(n)
    by_feature = postings(templates) if _is_sparse(templates, k) else None
    if by_feature is None:
        labels = pass_around(arrays, k, order, *NO_GROUPS)
    else:
        labels = pass_by_postings(arrays, by_feature, k, order, *NO_GROUPS)
    best, best_objective = labels, np.inf
    passes: list[float] = []
    while True:
        _place_leftovers(templates, labels, n_groups)
        members, group_starts = order_members(labels, n_groups)
        costs = group_costs(arrays, templates.length, members, group_starts)
        objective = float(costs.sum()) / n
        passes.append(objective)
        has_improved = objective < best_objective * (1 - LEAST_IMPROVEMENT)
        if objective < best_objective:
            best, best_objective = labels, objective
        if not has_improved or len(passes) == MOST_PASSES:
            break
        if by_feature is None:
            labels = pass_around(arrays, k, NO_GROUPS[0], members, group_starts)
        else:
            labels = pass_by_postings(arrays, by_feature, k, NO_GROUPS[0], members, group_starts)
    labels = reassign_strings(templates, best, k, by_feature)
    return StringGrouping(labels, objective_of(whole, labels), tuple(passes))


def _is_sparse(templates: Templates, k: int) -> bool:
    """Whether to look at the templates that share features with a centre is less work than to look at all.

    A centre has the features of k templates at most, and every feature is looked up in as many as have it.
    """
    n_having = np.bincount(templates.features, minlength=templates.n_features).astype(np.float64)
    return len(templates) >= LEAST_FOR_POSTINGS and k * float((n_having**2).sum()) < len(templates) * n_having.sum()


def postings(templates: Templates) -> Postings:
    """For each feature where its templates begin, these templates, ascending, and their weights."""
    order = np.argsort(templates.features, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(templates.features, minlength=templates.n_features))])
    rows = np.repeat(np.arange(len(templates), dtype=np.int32), np.diff(templates.starts))
    return (
        first.astype(np.int64),
        rows[order],
        templates.weights[order] if len(templates.weights) else templates.weights,
    )


def reassign_strings(templates: Templates, labels: Codes, k: int, by_feature: Postings | None = None) -> Codes:
    """Dissolve groups and move strings while that lowers the objective; groups are numbered anew without gaps."""
    arrays, everyone = _sparse(templates), np.arange(len(templates))
    labels = labels.copy()
    for _ in range(MOST_REASSIGNMENTS):
        n_groups = int(labels.max()) + 1
        if n_groups == 1:
            break
        members, group_starts = order_members(labels, n_groups)
        costs = group_costs(arrays, templates.length, members, group_starts)
        if by_feature is None:
            near = nearest_groups(arrays, members, group_starts, labels, everyone, N_NEAR)
        else:
            near = nearest_by_postings(arrays, by_feature, members, group_starts, labels, N_NEAR)
        loosest_first = np.argsort(-costs / np.diff(group_starts), kind="stable")
        before = costs.sum()
        n_moved = reassign(arrays, templates.length, k, labels, costs, near, loosest_first)
        labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
        if n_moved == 0 or costs.sum() > before * (1 - LEAST_IMPROVEMENT):
            break
    return labels


def split_by_nearness(
    templates: Templates | TemplatesOnDemand, block_strings: int, seed: np.random.SeedSequence
) -> list[Ints]:
    """Cut the templates in two, by which of two centroids they are nearer to, until no part has too many."""
    everyone = np.arange(len(templates))
    # Where the part's templates stand, and at which rows there.
    waiting: list[tuple[Templates | TemplatesOnDemand, Ints, Ints, np.random.SeedSequence]]
    waiting = [(templates, everyone, everyone, seed)]
    blocks: list[Ints] = []
    while waiting:
        source, places, rows, own_seed = waiting.pop()
        if len(rows) <= block_strings:
            blocks.append(rows)
            continue
        if isinstance(source, TemplatesOnDemand) and len(rows) <= source.at_once:
            source, places = source.take(places), np.arange(len(rows))
        of_cut, of_left, of_right = spawn_seeds(own_seed, 3)
        order = np.argsort(_lean(source, places, of_cut), kind="stable")
        n_parts = -(-len(rows) // block_strings)
        half = len(rows) * (n_parts // 2) // n_parts
        for part, of_part in ((np.sort(order[half:]), of_right), (np.sort(order[:half]), of_left)):
            there = source.part(places[part]) if isinstance(source, TemplatesOnDemand) else (source, places[part])
            waiting.append((*there, rows[part], of_part))
    return blocks


def sample_for_split(
    templates: Templates | TemplatesOnDemand, block_strings: int, seed: np.random.SeedSequence
) -> Templates:
    """The strings that `split_cost` looks at: as many as a block may hold."""
    rng = np.random.default_rng(seed)
    n_sample = min(len(templates), block_strings)
    return templates.take(np.sort(rng.choice(len(templates), n_sample, replace=False)))


def split_cost(sample: Templates, k: int, seed: np.random.SeedSequence, n_blocks: int) -> float:
    """Estimate by which share a split into so many blocks raises the objective.

    A sample is grouped whole and cut in two, and the difference compounded over the levels of cuts. That is an
    estimate and errs on the low side: strings of a sample lie farther apart, so a cut parts fewer close ones.
    """
    of_split, of_whole, *of_halves = spawn_seeds(seed, 4)
    halves = split_by_nearness(sample, max(-(-len(sample) // 2), k), of_split)
    found = [group_block(sample.take(rows), k, s) for rows, s in zip(halves, of_halves, strict=True)]
    whole = group_block(sample, k, of_whole).objective
    ratio = join_blocks(halves, found, None).objective / whole if whole > 0 else 1.0
    return float(ratio ** np.log2(n_blocks) - 1.0)


def _lean(templates: Templates | TemplatesOnDemand, rows: Ints, seed: np.random.SeedSequence) -> Floats:
    """How much nearer each of some templates is to the second of two centroids than to the first.

    The centroids are those of the halves of a sample, which is halved by this very measure for some rounds.
    """
    rng = np.random.default_rng(seed)
    n = len(rows)
    sample = templates.take(rows[np.sort(rng.choice(n, min(n, SPLIT_SAMPLE), replace=False))])
    arrays = _sparse(sample)
    order = rng.permutation(len(sample))
    half = len(sample) // 2
    first, second = order[:1], order[1:2]
    for _ in range(SPLIT_ROUNDS):
        one, two = (average(arrays, rows) for rows in (first, second))
        score = similarities(arrays, two) - similarities(arrays, one)
        order = np.argsort(score, kind="stable")
        if np.array_equal(np.sort(order[:half]), np.sort(first)):
            break
        first, second = order[:half], order[half:]
    lean = np.empty(n)
    at_once = templates.at_once if isinstance(templates, TemplatesOnDemand) else MANY_STRINGS
    for low in range(0, n, at_once):
        arrays = _sparse(templates.take(rows[low : low + at_once]))
        lean[low : low + at_once] = similarities(arrays, two) - similarities(arrays, one)
    return lean


def _place_leftovers(templates: Templates, labels: Codes, n_groups: int) -> None:
    left = np.flatnonzero(labels < 0)
    if len(left) == 0:
        return
    taken = np.flatnonzero(labels >= 0)
    members, group_starts = order_members(labels[taken], n_groups)
    labels[left] = nearest_groups(_sparse(templates), taken[members], group_starts, labels, left, 1)[:, 0]


def _sparse(templates: Templates) -> SparseTemplates:
    return SparseTemplates(templates.starts, templates.features, templates.weights, templates.n_features)
