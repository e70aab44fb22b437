"""A table in slices whose records are too many to be held: its distinct rows are, and a run of buckets at a time.

Strict cuts never part records that are equal in all columns, so buckets are made from distinct rows with their numbers
of records. What stands side by side in a bucket is drawn by the places that its records have in an order by content
(`shoal.tables.publish.slices.permute.Permuted`), so that the published rows are those of the same table in memory,
whichever buckets are drawn at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from shoal.arrays import Codes, Ints, Mask, Rows
from shoal.data.memory import bound
from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.room import BASE_BYTES, TooManyDistinct
from shoal.data.tables.slices import Layout
from shoal.data.tables.slices_apart import refuse_unheld
from shoal.data.tables.spill import Rows2D, spread
from shoal.data.tables.table import Column, Table
from shoal.kinds.tables.policy import Policy
from shoal.progress import Progress
from shoal.tables.anonymize import Anonymized, refuse_hopeless, repeated_persons, unstated_roles
from shoal.tables.publish.base import PublishingTask
from shoal.tables.publish.slices.permute import Permuted
from shoal.tables.publish.slices.slice_table import CutSlices, cut_slices
from shoal.tables.publish.slicing import InSlices
from shoal.tables.record_order import content_order

RUN_RECORDS = 1 << 19
"""Records of the buckets that are drawn at once."""
SAMPLE_RECORDS = 200_000
"""Records, in whole buckets, that are measured and attacked."""
_RECORD_BYTES, _CELL_BYTES = 100, 12
"""What a record, and each of its cells, take while its bucket is drawn and written."""


@dataclass(frozen=True)
class SlicesInRuns:
    """What is to be published of a table whose distinct rows are held.

    Attributes
    ----------
    table : Table
        The distinct rows of the original, by their content. Secret.
    buckets : int32 array (n_rows,)
        The bucket of each, from 0; published with a number greater by one. Secret.
    columns : dict of str to Column
        What is published, in order: dictionaries, and no rows.
    layout : Layout
        Which of them stand together.
    sizes : int64 array (n_buckets,)
        Records of each bucket.
    sample : Anonymized
        Some whole buckets, as if they were all.
    original : Table
        The records of these buckets, each a row.
    n_large : int
        Buckets that were too large to be drawn into the sample.
    pieces : callable
        Gives the published rows in their order.
    """

    table: Table
    buckets: Codes
    columns: dict[str, Column]
    layout: Layout
    sizes: Ints
    sample: Anonymized
    original: Table
    n_large: int
    pieces: Callable[[], Iterator[Rows2D]]

    @property
    def n_records(self) -> int:
        """Of all that is published."""
        return self.table.n_records


def slice_in_runs(
    table: Table,
    policy: Policy,
    seed: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    *,
    run_records: int | None = None,
) -> SlicesInRuns:
    """Make what is to be published of distinct rows; about `run_records` records are drawn at once.

    Raises
    ------
    Infeasible, PolicyError
        As `shoal.tables.anonymize.anonymize_table`.
    TooManyDistinct
        If the distinct rows, or the records of a bucket, do not fit into memory.
    """
    step, run_records = progress or (lambda *_: None), run_records or RUN_RECORDS
    attributes, way = attributes_of(table, policy), policy.method.way_of_publishing
    assert isinstance(way, InSlices)
    assert table.weights is not None
    kept = [n for n, a in attributes.items() if a.role != "identifying"]
    refuse_unheld(Path(table.source.name), [table[n] for n in kept], table.n_rows)
    repeated = [] if policy.person else repeated_persons(table)
    notes = [*repeated, *table.source.notes, *unstated_roles(attributes, policy)]
    quasi = sorted(n for n, a in attributes.items() if a.role == "quasi")
    sensitive = sorted(n for n, a in attributes.items() if a.role == "sensitive")
    refuse_hopeless(table, policy, attributes, quasi, sensitive)
    # Strict cuts part no records that are equal, so that no order decides who stands where.
    everything = table.take(content_order(table, quasi, kept))
    held = everything.select(kept)
    task = PublishingTask(held, np.arange(held.n_rows), attributes, policy, notes, seed, executor, progress)
    made = cut_slices(held, attributes, **way.asked(task))
    permuted = made.permuted(seed)
    _refuse_large(table, permuted, len(kept))
    step("publishing slices", 0, 0)
    columns = [made.number, *(c for part in made.columns for c in part)]
    sample, original, n_large = _sample(everything, made, permuted, run_records)

    def pieces() -> Iterator[Rows2D]:
        runs = permuted.runs(run_records)
        for i, (first, last) in enumerate(runs):
            step("writing the release", i, len(runs))
            yield _shown(
                made, permuted.rows(first, last), np.repeat(np.arange(first, last), permuted.sizes[first:last])
            )

    return SlicesInRuns(
        everything,
        made.buckets,
        {c.name: c for c in spread(columns)},
        made.layout,
        permuted.sizes,
        replace(sample, attributes=attributes, notes=tuple(notes)),
        original,
        n_large,
        pieces,
    )


def _refuse_large(table: Table, permuted: Permuted, n_columns: int) -> None:
    """Refuse a bucket whose records cannot be drawn in memory."""
    memory, largest = bound(), int(permuted.sizes.max())
    each = _RECORD_BYTES + _CELL_BYTES * n_columns
    if memory is not None and largest * each > max(0, memory - BASE_BYTES) // 2:
        raise TooManyDistinct(Path(table.source.name), largest, memory, "records stand in one bucket")


def _shown(made: CutSlices, sources: list[Rows], buckets: Rows) -> Rows2D:
    """Published rows as codes, each of one record."""
    cells: list[Codes] = [buckets.astype(np.int32)]
    for rows, part in zip(sources, made.published, strict=True):
        cells += [c.codes[rows] for c in part]
    return np.column_stack([*cells, np.ones(len(buckets), dtype=np.int32)])


def _sample(table: Table, made: CutSlices, permuted: Permuted, run_records: int) -> tuple[Anonymized, Table, int]:
    """Some whole buckets as they are published, and the records that are in them."""
    among, n_large = _drawn(permuted.sizes)
    assert table.weights is not None
    held = np.flatnonzero(among[made.buckets])
    held = held[np.argsort(made.buckets[held], kind="stable")]
    behind = np.repeat(held, table.weights[held])
    original = replace(table.take(behind), weights=np.ones(len(behind), dtype=np.int32))
    place = np.zeros(table.n_rows, dtype=np.int64)
    place[held] = np.arange(len(held))
    parts = [permuted.rows(first, last, among) for first, last in permuted.runs(run_records) if among[first:last].any()]
    sources = [np.concatenate(rows) for rows in zip(*parts, strict=True)]
    buckets = made.buckets[behind]
    columns = [replace(made.number, codes=buckets)]
    behind_each = []
    for rows, part in zip(sources, made.columns, strict=True):
        columns += [c.take(rows) for c in part]
        # Which of several equal records it is makes no difference: the first of them that is left.
        own = np.empty(len(rows), dtype=np.intp)
        own[np.argsort(place[rows], kind="stable")] = np.arange(len(rows))
        behind_each.append(own)
    every = np.arange(len(behind))
    return (
        Anonymized(Table.of(columns, table.source), {}, every, buckets, (), made.layout, tuple(behind_each)),
        original,
        n_large,
    )


def _drawn(sizes: Ints) -> tuple[Mask, int]:
    """Which buckets are looked at, and how many are too large for that; the smallest, if all are."""
    among = np.zeros(len(sizes), dtype=bool)
    small = np.flatnonzero(sizes <= SAMPLE_RECORDS)
    if not len(small):
        among[np.argmin(sizes)] = True
        return among, len(sizes) - 1
    order = small[np.random.default_rng(0).permutation(len(small))]
    n_taken = np.searchsorted(np.cumsum(sizes[order]), SAMPLE_RECORDS, side="right")
    among[order[: max(1, int(n_taken))]] = True
    return among, len(sizes) - len(small)
