"""Mondrian: groups by median cuts, each in the widest attribute that allows one.

References
----------
LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional K-Anonymity, ICDE 2006.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import starmap
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Codes
from shoal.errors import DataError, Infeasible
from shoal.tables.encoding import Ranked
from shoal.tables.partition.base import (
    PARTITIONS,
    GroupingTask,
    Partition,
    PartitionMethod,
    number_through,
    refuse_infeasible,
)

if TYPE_CHECKING:
    from shoal.kernels.tables.diversity import LimitArrays
    from shoal.kernels.tables.mondrian import Space
    from shoal.kinds.tables.policy import Method
    from shoal.tables.limits import Limit

    Job = tuple[Space, LimitArrays | None, int, bool]


def mondrian_labels(
    ranked: Sequence[Ranked],
    k: int,
    limits: Sequence[Limit] = (),
    strict: bool = True,
    *,
    block_rows: int = 100_000,
    run: Callable[..., Iterable[Codes]] = starmap,
    weights: Codes | None = None,
) -> Codes:
    """Put records into groups of at least k that are narrow in all attributes.

    A node of records is cut in its attribute of greatest normalised width, at the boundary between two
    values that is nearest to the median (of two equally near the lower) and leaves at least k records and
    every limit satisfied on both sides; where there is none, in the next widest attribute. Ties go to the
    attribute named first. The width is

    - of numbers (max - min) / range of the table, of ordered categories the same in ranks; 1 where some are
      missing. Such a node is first cut between the missing and the others;
    - of plain categories 0 if there is one, else distinct / values of the table;
    - of a taxonomy the height at which the values meet / height of the tree. Cuts lie between children of
      that node.

    Departing from the paper, which presumes an order of every attribute, the plain categories of a node are
    cut in the order of their frequency in it, most frequent first, ties by rank: frequent values soon stand
    alone. With limits, the 32 boundaries nearest to the median are tried in an attribute.

    Relaxed, the lower half in the order of (value, record number) goes left, and equal values may be
    parted.

    **Guarantee** every group has at least k records and satisfies every limit; strict, the result does not
    depend on the order of the records, and without limits no group has a further allowable cut (LeFevre et
    al.); with limits none among those tried.

    **Not protected** sensitive values beyond the limits given: groups alone do not prevent inference.

    Parameters
    ----------
    ranked : sequence of Ranked
        The quasi-identifiers; sort them by name if the result should not depend on the order of columns.
    k : int
    limits : sequence of Limit
        What `shoal.tables.limits.limits_of` returns.
    strict : bool
    block_rows : int
        Make the first cuts here until blocks have no more distinct rows than this, and finish the blocks with
        `run`. A block is copied together, which also makes one core faster.
    run : callable
        Calls a function with each tuple of arguments: `itertools.starmap`, or one that does so elsewhere. The result is
        the same for every way of running.
    weights : int32 array (n_rows,), optional
        How many records each row stands for; only strict cuts keep these together.

    Returns
    -------
    int32 array (n_rows,)
        Groups 0 .. g - 1 from left to right.

    Raises
    ------
    Infeasible
        If there are fewer than k records, or all records together do not satisfy a limit (then no grouping
        does).
    """
    from shoal.tables.collapse import collapse, single_rows

    _refuse_infeasible(ranked, k, limits, weights)
    strict = bool(strict)
    assert strict or weights is None, "relaxed cuts part equal records"
    codes = [limit.codes for limit in limits]
    alike = collapse(ranked, codes, weights) if strict else single_rows(len(ranked[0].ranks))
    distinct, weights = alike.ranked(ranked), alike.weights
    held = [limit.of_rows(alike.rows) for limit in limits]
    if len(weights) <= block_rows:
        return finish_block(*block_arguments(distinct, None, k, held, strict, weights))[alike.of_record]
    blocks = first_cuts(distinct, k, held, strict, block_rows, weights)
    jobs = (block_arguments(distinct, rows, k, held, strict, weights) for rows in blocks)
    return number_through(blocks, run(finish_block, jobs))[alike.of_record]


def first_cuts(
    ranked: Sequence[Ranked],
    k: int,
    limits: Sequence[Limit] = (),
    strict: bool = True,
    block_rows: int = 100_000,
    weights: Codes | None = None,
) -> list[Codes]:
    """Cut as Mondrian does until blocks have at most block_rows rows or cannot be cut.

    Returns
    -------
    list of int32 arrays
        The row numbers of each block, ascending; blocks from left to right. Finishing each block apart gives the groups
        of one run over all records.
    """
    from shoal.kernels.tables.mondrian import cut_all

    rows, ends = cut_all(*block_arguments(ranked, None, k, limits, strict, weights), block_rows)
    return np.split(rows, ends[:-1])


def block_arguments(
    ranked: Sequence[Ranked],
    rows: Codes | None,
    k: int,
    limits: Sequence[Limit] = (),
    strict: bool = True,
    weights: Codes | None = None,
) -> Job:
    """Collect what `finish_block` needs for some rows or, given None, all; scaled by the whole table.

    Without `weights`, each row is one record.
    """
    from shoal.tables.limits import arrays_of

    ranked = [_without_overflow(r) for r in ranked]
    scales = [_scale(r) for r in ranked]
    if weights is None:
        weights = np.ones(len(ranked[0].ranks), dtype=np.int32)
    if rows is not None:
        ranked = [_of_rows(r, rows) for r in ranked]
        limits = [limit.of_rows(rows) for limit in limits]
        weights = weights[rows]
    space = _space(ranked, scales, weights)
    return space, arrays_of(limits, space.ranks.shape[1]) if limits else None, int(k), bool(strict)


def finish_block(space: Space, limits: LimitArrays | None, k: int, strict: bool) -> Codes:
    """Cut the rows of one block to the end; its groups are 0 .. g - 1 from left to right."""
    from shoal.kernels.tables.mondrian import cut_all

    rows, ends = cut_all(space, limits, k, strict, 0)
    labels = np.empty(len(rows), dtype=np.int32)
    labels[rows] = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    return labels


def _of_rows(attribute: Ranked, rows: Codes) -> Ranked:
    """Some of the rows; values that none of them has are left out where these are many."""
    ranks = attribute.ranks[rows]
    if attribute.n_values <= len(rows):
        return replace(attribute, ranks=ranks)
    used, dense = np.unique(ranks, return_inverse=True)
    return replace(
        attribute,
        ranks=dense.astype(np.int32),
        positions=attribute.positions[used],
        ancestors=None if attribute.ancestors is None else attribute.ancestors[used],
        has_missing=attribute.has_missing and bool(used[-1] == attribute.n_values - 1),
    )


def _space(ranked: Sequence[Ranked], scales: Sequence[float], weights: Codes) -> Space:
    from shoal.kernels.tables import mondrian as kernel

    kinds = {"number": kernel.NUMBER, "order": kernel.ORDER, "category": kernel.CATEGORY, "tree": kernel.TREE}
    nodes = [np.empty(0, np.int32) if r.ancestors is None else r.ancestors.ravel() for r in ranked]
    return kernel.Space(
        ranks=np.array([r.ranks for r in ranked], dtype=np.int32),
        kinds=np.array([kinds[r.kind] for r in ranked], dtype=np.int64),
        missing=np.array([r.n_values - 1 if r.has_missing else -1 for r in ranked], dtype=np.int64),
        scales=np.array(scales, dtype=np.float64),
        starts=np.cumsum([0] + [r.n_values for r in ranked]).astype(np.int64),
        positions=np.concatenate([r.positions for r in ranked]),
        tree_starts=np.cumsum([0] + [len(n) for n in nodes])[:-1].astype(np.int64),
        ancestors=np.concatenate(nodes).astype(np.int32),
        weights=weights,
    )


def _scale(attribute: Ranked) -> float:
    """Width of the whole table, in the attribute's own unit."""
    if attribute.kind == "tree":
        if attribute.ancestors is None:
            raise DataError(f"the taxonomy of {attribute.name!r} is missing; give its hierarchy or make it a category")
        return float(attribute.ancestors.shape[1] - 1)
    if attribute.kind == "category":
        return float(attribute.n_values)
    if attribute.kind == "order":
        return float(attribute.n_values - 1)
    low, high = _extremes(attribute)
    return high - low


def _extremes(attribute: Ranked) -> tuple[float, float]:
    present = attribute.positions[: attribute.n_values - attribute.has_missing]
    return (float(present[0]), float(present[-1])) if len(present) else (0.0, 0.0)


def _without_overflow(attribute: Ranked) -> Ranked:
    """Numbers so large that their range is infinite, made smaller; widths are relative."""
    low, high = _extremes(attribute)
    return attribute if np.isfinite(high - low) else replace(attribute, positions=attribute.positions / 4)


def _refuse_infeasible(ranked: Sequence[Ranked], k: int, limits: Sequence[Limit], weights: Codes | None = None) -> None:
    refuse_infeasible(ranked, k, weights)
    refuse_unlimited(limits, len(ranked[0].ranks))


def refuse_unlimited(limits: Sequence[Limit], n_rows: int) -> None:
    """Refuse rows that do not satisfy a limit all together."""
    from shoal.tables.limits import violations

    for limit in limits:
        if violations(np.zeros(n_rows, dtype=np.int64), [limit])[0]:
            raise Infeasible(
                f"all records together do not satisfy {limit.text} of {limit.name!r}, so no grouping can; "
                "ask for less, or leave out records with its most frequent value"
            )


class Mondrian(Partition):
    """Mondrian's median cuts; see `mondrian_labels` for the algorithm, and the module for its reference.

    Parameters
    ----------
    k : int, default 5
        Smallest size of a group.
    strict : bool, default True
        Records of equal value stay together; else nodes are cut exactly in half.

    Notes
    -----
    **Guarantee**: every group has at least k records. **Not protected**: a group may share one sensitive value.

    Groups are numbered from left to right.

    Examples
    --------
    >>> Mondrian(k=2).fit([[1.0], [2.0], [8.0], [9.0], [9.5]]).labels_
    array([0, 0, 1, 1, 1], dtype=int32)
    """

    grouping = staticmethod(mondrian_labels)

    def __init__(self, k: int = 5, strict: bool = True) -> None:
        super().__init__(k)
        self.strict = strict


def _labels(task: GroupingTask) -> Codes:
    method = task.method
    return mondrian_labels(
        task.ranked,
        task.k,
        task.limits,
        method.strict,
        block_rows=method.block_rows,
        run=task.run,
        weights=task.weights,
    )


def _words(method: Method) -> dict[str, str]:
    return {"Cuts": "strict: equal values stay together" if method.strict else "relaxed: equal values may part"}


MONDRIAN = PARTITIONS.register(
    PartitionMethod(
        name="mondrian",
        help="Mondrian: the table is cut at medians for as long as every part can stand on its own",
        reference="LeFevre, DeWitt, Ramakrishnan, ICDE 2006",
        labels=_labels,
        words=_words,
        keeps_limits=True,
        takes_weights=lambda method: method.strict,
        few_records=10_000,
        place=1,
    )
)
