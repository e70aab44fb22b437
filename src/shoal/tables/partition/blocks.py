"""Run the partition that a policy asks for over a table, block by block where it is large.

The first cuts of Mondrian make the blocks. For Mondrian itself nothing changes by that: finishing the blocks gives the
very groups of one run. Methods that look at all records at once, at a cost that grows with their square, are run within
blocks of near records above `block_rows` records; that changes their groups a little, and the user is told. The cost of
the curve, of local recoding and of the optimal cut of one attribute is near-linear, so they are never run in blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.engine.blocks import run_blocks
from shoal.kernels.mdav import MixedPoints, label_mdav
from shoal.policy import Method
from shoal.tables.encoding import Ranked
from shoal.tables.limits import Limit
from shoal.tables.partition.base import Labels, number_through, refuse_infeasible
from shoal.tables.partition.curve_order import curve_order_labels
from shoal.tables.partition.improve import improve
from shoal.tables.partition.k_member import k_member_labels
from shoal.tables.partition.local_recoding import local_recoding_labels
from shoal.tables.partition.mdav import mixed_points
from shoal.tables.partition.mondrian import first_cuts, mondrian_labels
from shoal.tables.partition.nearest_neighbours import nearest_neighbours_labels
from shoal.tables.partition.univariate import univariate_labels
from shoal.tables.partition.v_mdav import label_mixed

NEAR_LINEAR: dict[str, Callable[[Sequence[Ranked], int], Labels]] = {
    "curve": curve_order_labels,
    "local-recoding": local_recoding_labels,
    "univariate": univariate_labels,
}
BY_SQUARES: dict[str, Callable[[MixedPoints, int], Labels]] = {"mdav": label_mdav, "v-mdav": label_mixed}
BY_WIDTHS: dict[str, Callable[[Sequence[Ranked], int], Labels]] = {
    "k-member": k_member_labels,
    "nearest-neighbours": nearest_neighbours_labels,
}


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
) -> Labels:
    """Group records by the method that is asked for; the result does not depend on the executor.

    Mondrian honours the limits while it cuts; after any other method, or when its groups were improved, `merge.satisfy`
    has to look after them.
    """
    refuse_infeasible(ranked, k)
    bare = [replace(r, labels=None) for r in ranked]  # no method needs to see, or to send, how values are spelled

    def shown(what: str) -> Callable[[int, int], None]:
        return lambda done, total: progress(what, done, total) if progress is not None else None

    def run(job: Callable[..., Labels], blocks: Iterable[tuple[Any, ...]]) -> list[Labels]:
        return run_blocks(job, blocks, executor, shown("grouping records"), note)

    if method.partition == "mondrian":
        labels = mondrian_labels(bare, k, limits, method.strict, block_rows=method.block_rows, run=run)
    elif method.partition in NEAR_LINEAR:
        labels = NEAR_LINEAR[method.partition](bare, k)
    else:
        labels = _in_blocks(bare, k, method, run, note)
    return improve(
        bare,
        labels,
        k,
        method.effort,
        seed=seed,
        run=lambda job, blocks: run_blocks(job, blocks, executor, note=note),
        progress=shown("improving groups"),
    )


def label_block(partition: str, records: Any, k: int) -> Labels:
    """Group the records of one block, which keep the scale of the whole table; any worker can run it."""
    return (BY_SQUARES[partition] if partition in BY_SQUARES else BY_WIDTHS[partition])(records, k)


def _in_blocks(
    ranked: Sequence[Ranked],
    k: int,
    method: Method,
    run: Callable[[Callable[..., Labels], Iterable[tuple[Any, ...]]], list[Labels]],
    note: Callable[[str], None],
) -> Labels:
    points = mixed_points(ranked) if method.partition in BY_SQUARES else None

    def of(rows: npt.NDArray[np.int32]) -> MixedPoints | list[Ranked]:
        if points is None:
            return [r.take(rows) for r in ranked]
        return points._replace(points=points.points[rows], codes=points.codes[rows])

    if len(ranked[0].ranks) <= method.block_rows:
        return run(label_block, [(method.partition, ranked if points is None else points, k)])[0]
    blocks = first_cuts(ranked, k, (), False, method.block_rows)
    note(
        f"{method.partition} ran in {len(blocks)} blocks of near records (method.block_rows = {method.block_rows:,}); "
        "groups are a little wider at the borders of blocks than those of one run."
    )
    jobs = ((method.partition, of(rows), k) for rows in blocks)
    return number_through(blocks, run(label_block, jobs))
