"""Were the slices of a table really permuted apart?

A permutation cannot be proved random, but one that was left out shows: rows then read like records of the original far
more often than chance puts them together, or, in a screened table, hold the same sensitive values in every slice. Both
are counted, and counted again after permuting the slices anew.

**Not protected.** A few links that were put back by hand, or all those of a table of some twenty records, drown in what
chance makes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints, Rows
from shoal.check.slices.sliced import CheckedSlices, alike_codes, numbered
from shoal.check.tables.cells import published
from shoal.data.tables.slices import SlicesApart
from shoal.data.tables.table import Table

MOST_ROWS = 100_000  # whole buckets of so many rows are looked at
_N_AGAIN = 16
_DEVIATIONS = 7.0  # a true permutation exceeds them less than once in a thousand million times
_SPARE = 5.0


def aligned_values(sliced: CheckedSlices) -> list[str]:
    """Whether slices that all carry the sensitive values stand row beside row."""
    if len(sliced.carrying) < 2:
        return []
    chosen = _some_rows(sliced)

    def agreeing(values: Sequence[Ints]) -> int:
        return int(np.all([v == values[0] for v in values[1:]], axis=0).sum())

    n_found, by_chance = _beside_chance(sliced.bucket[chosen], [p.sensitive[chosen] for p in sliced.carrying], agreeing)
    if by_chance is None:
        return []
    return [
        f"in {n_found:,} rows all slices hold the same sensitive values, where chance makes about {by_chance:,.0f}: "
        "the slices were not permuted apart, so that rows can be read as records"
    ]


def aligned_records(sliced: CheckedSlices, original: Table, markers: Sequence[str]) -> list[str]:
    """Whether rows of a table whose cells are published as they are read like records."""
    if len(sliced.parts) < 2:
        return []
    table = sliced.table
    rows = table.some if isinstance(table, SlicesApart) else table.take(_some_rows(sliced))
    known, shown = [], []
    for one in sliced.layout.slices:
        both = [
            alike_codes([published(original[a], markers), published(rows[c], markers)])[0]
            for c, a in zip(one.columns, one.attributes, strict=True)
        ]
        ids, _ = numbered([np.concatenate(cells) for cells in both])
        known.append(ids[: original.n_rows])
        shown.append(ids[original.n_rows :])

    def readable(contents: Sequence[Ints]) -> int:
        ids, _ = numbered([np.concatenate(pair) for pair in zip(known, contents, strict=True)])
        return int(np.isin(ids[original.n_rows :], ids[: original.n_rows]).sum())

    n_found, by_chance = _beside_chance(rows[sliced.layout.bucket].codes, shown, readable)
    if by_chance is None:
        return []
    return [
        f"{n_found:,} rows read as a whole like a record of the original, where chance makes about {by_chance:,.0f}: "
        "the slices were not permuted apart"
    ]


def step_of_buckets(n_rows: int) -> int:
    """How far apart the numbers of the buckets are that are looked at, of so many rows; the first is one of them."""
    return max(1, -(-n_rows // MOST_ROWS))


def _some_rows(sliced: CheckedSlices) -> Rows:
    """All rows, or those of evenly spaced buckets that have about as many as are looked at."""
    return np.flatnonzero(sliced.bucket % step_of_buckets(sliced.n_records) == 0)


def _beside_chance(
    bucket: npt.NDArray[np.integer[Any]], contents: Sequence[Ints], counted: Callable[[Sequence[Ints]], int]
) -> tuple[int, float | None]:
    """What is counted, and what is counted by chance where that is far less; else None."""
    n_found = counted(contents)
    if n_found <= _SPARE:
        return n_found, None
    rng = np.random.default_rng(0)  # for comparison only: nothing is hidden with it
    order = np.argsort(bucket, kind="stable")
    contents = [c[order] for c in contents]
    bucket = bucket[order]
    again = [counted([c[np.lexsort((rng.random(len(c)), bucket))] for c in contents]) for _ in range(_N_AGAIN)]
    mean = float(np.mean(again))
    far = mean + _DEVIATIONS * max(mean, float(np.var(again, ddof=1))) ** 0.5 + _SPARE
    return n_found, mean if n_found > far else None
