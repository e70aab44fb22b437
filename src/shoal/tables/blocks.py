"""Run the partition that a policy asks for over a table, in blocks or in a near-linear way where it is large.

Some partitions look at all records at once, at a cost that grows up to their square. Above `block_rows` records

* those that aim at the least sum of squares give way to `shoal.tables.microaggregation.near_linear`, which aims at the
  same (`by_squares`),
* others run within blocks of near records (`by_widths`),

and the user is told, with what it costs on a sample of the table.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.arrays import Codes
from shoal.engine.blocks import run_blocks
from shoal.kernels.compile import is_interpreting
from shoal.kernels.tables.mdav import MixedPoints
from shoal.kinds.tables.policy import Method
from shoal.tables.encoding import Ranked
from shoal.tables.information_loss import information_loss
from shoal.tables.limits import Limit
from shoal.tables.microaggregation.improve import Effort, improve, needs_seed
from shoal.tables.microaggregation.merge_runs import number_groups
from shoal.tables.microaggregation.near_linear import curve_blocks, group_blocks, near_linear_labels, squares_within
from shoal.tables.partition.base import PARTITIONS, GroupingTask, PartitionMethod, number_through, refuse_infeasible
from shoal.tables.partition.mdav import mixed_points

STOPPED = (
    "The improvement of the groups was stopped, and the best found until then were kept: the release depends on when "
    "that was, so the same seed need not give it again."
)
LARGER = 10  # times block_rows are the blocks of the near-linear way: borders cost more than anything else about it
SAMPLE = 30_000  # records on which the exact method is run beside: well under a second, if there are few columns
SAMPLE_COLUMNS = 10  # more columns than these have a smaller sample, as the exact methods look at all its pairs
SAMPLE_BLOCK = 1_000  # records of a block of the sample at least

_latest: tuple[bytes, Codes] = (b"", np.zeros(0, np.int32))  # of a small table: what was asked for, and its groups


def partition_labels(
    ranked: Sequence[Ranked],
    k: int,
    method: Method,
    limits: Sequence[Limit] = (),
    *,
    seed: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    note: Callable[[str], None] = lambda _: None,
    stop: Callable[[], bool] | None = None,
    weights: Codes | None = None,
) -> Codes:
    """Group records by the method that is asked for; the result does not depend on the executor.

    ``stop`` is asked now and then while groups are improved; True ends that, and keeps the best so far, with a note.

    ``weights`` says how many records each row stands for, where the method takes that.

    Few methods honour the limits, and groups that were improved may not: `merge.satisfy` has to look after them.

    The attack that repeats the partition of a release asks for what that was made from, to the last byte, as methods
    see sorted quasi-identifiers alone. A small table's groups, which are made here and without compiling, are kept for
    it.
    """
    global _latest
    refuse_infeasible(ranked, k, weights)
    bare = [replace(r, labels=None) for r in ranked]  # no method needs to see, or to send, how values are spelled
    way, asked = PARTITIONS[method.partition], b""
    is_again = executor is None and is_interpreting() and not needs_seed(method.effort, len(bare[0].ranks))
    if is_again and not (limits and way.keeps_limits):
        asked = hashlib.sha256(pickle.dumps((bare, k, method.model_dump(), weights))).digest()
        if _latest[0] == asked:
            return np.array(_latest[1], dtype=np.int32)
    was_told = False

    def tell(what: str) -> None:
        nonlocal was_told
        was_told = True
        note(what)

    labels = _labels(bare, k, method, limits, seed, executor, progress, tell, stop, weights)
    if asked and not was_told:
        _latest = asked, labels.copy()
    return labels


def _labels(
    bare: Sequence[Ranked],
    k: int,
    method: Method,
    limits: Sequence[Limit],
    seed: int | None,
    executor: Executor | None,
    progress: Callable[[str, int, int], None] | None,
    note: Callable[[str], None],
    stop: Callable[[], bool] | None,
    weights: Codes | None,
) -> Codes:
    """What `partition_labels` does where these groups were not the last that it made."""
    n_rows = len(bare[0].ranks)

    def shown(what: str) -> Callable[..., None]:
        return lambda done, total, *_: progress(what, done, total) if progress is not None else None

    def show_gain(done: int, total: int, gone: float) -> None:
        shown(f"improving groups, loss down by {gone:.1%}")(done, total)

    was_stopped = False

    def is_stopped() -> bool:
        nonlocal was_stopped
        if stop is not None and not was_stopped and stop():
            was_stopped = True
            note(STOPPED)
        return was_stopped

    def run(job: Callable[..., Codes], blocks: Iterable[tuple[Any, ...]]) -> list[Codes]:
        return run_blocks(job, blocks, executor, shown("grouping records"), note)

    way = PARTITIONS[method.partition]
    labels = way.group(GroupingTask(bare, k, method, limits, run, note, weights))
    if method.effort == "balanced" and n_rows > method.block_rows:  # its lists of nearest records grow up to the square
        data = mixed_points(bare)
        blocks = group_blocks(data, labels, method.block_rows)
        jobs = ((_rows_of(data, rows), labels[rows], k, "fast" if is_stopped() else "balanced") for rows in blocks)
        shown("improving groups")(0, len(blocks))
        improved = run_blocks(improve_block, jobs, executor, shown("improving groups"), note)
        note(f"Groups were improved within {len(blocks)} blocks of near ones, not across them.")
        return number_through(blocks, improved)
    return improve(
        bare,
        labels,
        k,
        method.effort,
        seed=seed,
        run=lambda job, blocks: run_blocks(job, blocks, executor, note=note),
        stop=is_stopped,
        progress=show_gain,
    )


def label_block(label: Callable[[Any, int], Codes], records: Any, k: int) -> Codes:
    """Group the records of one block, which keep the scale of the whole table; any worker can run it."""
    return label(records, k)


def improve_block(data: MixedPoints, labels: Codes, k: int, effort: Effort) -> Codes:
    """Improve the groups of one block, or only number them; any worker can run it."""
    return number_groups(improve(data, labels, k, effort))


def _rows_of(data: MixedPoints, rows: Any) -> MixedPoints:
    return data._replace(points=data.points[rows], codes=data.codes[rows])


def group_in_blocks(task: GroupingTask, method_of: PartitionMethod) -> Codes:
    """Group all records at once or, if these are more than the exact method is good for, tell what that costs.

    One that aims at the least sum of squares gives way to a near-linear one; others run within blocks of near records.
    """
    is_by_squares = method_of.by_squares is not None
    label: Any = method_of.by_squares or method_of.by_widths
    assert label is not None, "a recoding of all records has no groups of its own"
    ranked, k, method = task.ranked, task.k, task.method
    n_rows = len(ranked[0].ranks)
    if n_rows <= method.block_rows:
        return task.run(label_block, [(label, mixed_points(ranked) if is_by_squares else ranked, k)])[0]
    points = mixed_points(ranked)
    way = near_linear_labels if is_by_squares else label
    blocks = curve_blocks(points, k, method.block_rows * (LARGER if is_by_squares else 1))

    def of(rows: Any) -> MixedPoints | list[Ranked]:
        return _rows_of(points, rows) if is_by_squares else [r.take(rows) for r in ranked]

    sample = sample_rows(n_rows, points.points.shape[1])
    parts = _sample_blocks(_rows_of(points, sample), k, len(blocks))
    asked: list[tuple[Callable[[Any, int], Codes], Any]] = [(way, rows) for rows in blocks]
    if parts:
        asked += [(way, sample[rows]) for rows in parts] + [(label, sample)]
    found = task.run(label_block, ((job, of(rows), k) for job, rows in asked))
    labels = number_through(blocks, found[: len(blocks)])
    told = _way_taken(method, n_rows, len(blocks), is_by_squares)
    if parts:
        ours, exact = number_through(parts, found[len(blocks) : -1]), found[-1]
        records = of(sample)
        losses = [
            squares_within(records, groups) if isinstance(records, MixedPoints) else information_loss(records, groups)
            for groups in (ours, exact)
        ]
        told += _beside_exact(method, n_rows, len(sample), len(parts), losses, is_by_squares=is_by_squares)
    task.note(told)
    return labels


def near_linear_told(method: Method, k: int, n_rows: int, n_blocks: int, sample: MixedPoints) -> str:
    """What is told of many records that were grouped in blocks in the near-linear way, and what it loses on a sample.

    The sample is of rows at equal steps (`sample_rows`), and has the scale of the whole table.
    """
    exact = PARTITIONS[method.partition].by_squares
    assert exact is not None
    told = _way_taken(method, n_rows, n_blocks, is_by_squares=True)
    parts = _sample_blocks(sample, k, n_blocks)
    if not parts:
        return told
    ours = number_through(parts, [near_linear_labels(_rows_of(sample, rows), k) for rows in parts])
    losses = [squares_within(sample, labels) for labels in (ours, exact(sample, k))]
    return told + _beside_exact(method, n_rows, len(sample.points), len(parts), losses, is_by_squares=True)


def _sample_blocks(sample: MixedPoints, k: int, n_blocks: int) -> list[Codes]:
    """About as many blocks of a sample as there are of the whole; none of too few records."""
    n_rows = len(sample.points)
    return curve_blocks(sample, k, max(SAMPLE_BLOCK, -(-n_rows // n_blocks))) if n_rows >= k else []


def _beside_exact(
    method: Method, n_rows: int, n_sampled: int, n_parts: int, losses: Sequence[float], *, is_by_squares: bool
) -> str:
    """How the loss on a sample stands to that of the exact method, in a sentence."""
    measure = "sum of squares" if is_by_squares else "information loss"
    where = f"a sample of {n_sampled:,} of them" if n_sampled < n_rows else "these records"
    if n_parts > 1:
        where += f", cut into {n_parts} blocks, whose borders weigh more there"
    return f" On {where}, its {measure} is {_compared(losses[0], losses[1])} exact {method.partition}'s."


def _way_taken(method: Method, n_rows: int, n_blocks: int, is_by_squares: bool) -> str:
    why = f"{n_rows:,} records are many for exact {method.partition} (method.block_rows = {method.block_rows:,})"
    if not is_by_squares:
        return f"{why}, so it ran within {n_blocks} blocks of near records."
    within = f", within {n_blocks} blocks" if n_blocks > 1 else ""
    return (
        f"{why}, so a near-linear way was taken: the best cut along a path through near records, then moves and swaps "
        f"between near groups{within}."
    )


def _compared(ours: float, exact: float) -> str:
    """How one loss stands to another, in words before "exact mdav's".

    >>> _compared(75.0, 100.0), _compared(100.4, 100.0), _compared(100.01, 100.0), _compared(0.0, 0.0)
    ('25 % below', '0.4 % above', 'the same as', 'the same as')
    """
    if exact <= 0:
        return "the same as" if ours <= 0 else "above nothing, which is"
    change = 100 * (ours / exact - 1)
    if abs(change) < 0.05:
        return "the same as"
    return f"{abs(change):.{0 if abs(change) >= 10 else 1}f} % {'below' if change < 0 else 'above'}"


def sample_rows(n_rows: int, n_columns: int) -> Codes:
    """Rows at equal steps: the caller's rows are in the order of their content, so they are a fair sample of it."""
    n_sampled = min(n_rows, int(SAMPLE * min(1.0, (SAMPLE_COLUMNS / n_columns) ** 0.5)))
    return (np.arange(n_sampled) * n_rows // n_sampled).astype(np.int32)
