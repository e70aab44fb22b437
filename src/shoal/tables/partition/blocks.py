"""Run a partition method over a table, block by block where it is large.

The first cuts of Mondrian make the blocks. For Mondrian itself nothing changes by that: finishing the blocks gives the
very groups of one run. MDAV looks at all records at once, so blocks change its groups a little; they are used only
above `block_rows` records, and the user is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from typing import Any

from shoal.engine.blocks import run_blocks
from shoal.kernels.mdav import label_mdav
from shoal.policy import Method
from shoal.tables.encoding import Ranked
from shoal.tables.limits import Limit
from shoal.tables.partition.base import Labels, number_through, refuse_infeasible
from shoal.tables.partition.mdav import mixed_points
from shoal.tables.partition.mondrian import first_cuts, mondrian_labels


def partition_labels(
    ranked: Sequence[Ranked],
    k: int,
    method: Method,
    limits: Sequence[Limit] = (),
    *,
    executor: Executor | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> Labels:
    """Group records by the method that is asked for; the result does not depend on the executor."""

    def show(done: int, total: int) -> None:
        if progress is not None:
            progress("grouping records", done, total)

    def run(job: Callable[..., Labels], blocks: Iterable[tuple[Any, ...]]) -> list[Labels]:
        return run_blocks(job, blocks, executor, show, note)

    n_rows = len(ranked[0].ranks)
    if method.partition == "mondrian":
        return mondrian_labels(ranked, k, limits, method.strict, block_rows=method.block_rows, run=run)
    refuse_infeasible(ranked, k)
    points = mixed_points(ranked)
    if n_rows <= method.block_rows:
        return run(label_mdav, [(points, k)])[0]
    blocks = first_cuts(ranked, k, (), False, method.block_rows)
    note(
        f"MDAV ran in {len(blocks)} blocks of near records (method.block_rows = {method.block_rows:,}); "
        "its groups are a little wider at the borders of blocks than those of one run."
    )
    jobs = ((points._replace(points=points.points[rows], codes=points.codes[rows]), k) for rows in blocks)
    return number_through(blocks, run(label_mdav, jobs))
