"""A published sliced table in numbers: its buckets, and the regions of every slice inside them.

A region is a combination of published quasi-identifiers that stands in one slice of one bucket. Where cells are
published as they are, it is a combination of values. Nothing but the published table is needed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints
from shoal.check.tables.cells import published
from shoal.data.tables.slices import Layout, SlicedTable, SlicesApart
from shoal.data.tables.table import Column, Table, count_codes, spell
from shoal.errors import DataError


@dataclass(frozen=True)
class Part:
    """One slice.

    Attributes
    ----------
    number : int
        Its place in the layout, from 0.
    quasi : tuple of str
        Its quasi-identifying attributes.
    columns : tuple of Column
        Their published columns.
    carries : bool
        Whether the sensitive attributes stand in it.
    region : int64 array (n_rows,)
        The region of each row; regions ascend with the buckets.
    first, sizes, bucket : int64 arrays (n_regions,)
        A row of each region, its number of rows, its bucket.
    sensitive : int64 array (n_rows,)
        The joint sensitive value of each row, numbered alike in all slices; all 0 where it carries none.
    within : int64 array (n_rows,)
        The bucket of each row.
    weights : int32 array (n_rows,), optional
        How many records each row stands for; else each is one.
    """

    number: int
    quasi: tuple[str, ...]
    columns: tuple[Column, ...]
    carries: bool
    region: Ints
    first: Ints
    sizes: Ints
    bucket: Ints
    sensitive: Ints
    within: Ints
    weights: Codes | None = None

    @property
    def n_regions(self) -> int:
        """Number of regions."""
        return len(self.sizes)

    def labels(self, dim: int) -> Codes:
        """The label of each region in one of its columns, as a code."""
        return self.columns[dim].codes[self.first]


@dataclass(frozen=True)
class CheckedSlices(SlicedTable):
    """All slices, with their buckets and regions numbered.

    Attributes
    ----------
    numbers : int64 array (n_buckets,)
        The published number of each bucket, ascending.
    sizes : int64 array (n_buckets,)
        Rows of each bucket.
    sensitive : tuple of str
        The sensitive attributes.
    n_sensitive : int
        Distinct joint sensitive values.
    """

    numbers: Ints
    sizes: Ints
    parts: tuple[Part, ...]
    sensitive: tuple[str, ...]
    n_sensitive: int

    @property
    def n_buckets(self) -> int:
        """Number of buckets."""
        return len(self.sizes)

    @property
    def n_records(self) -> int:
        """Rows of the published table."""
        return int(self.sizes.sum())

    @property
    def bucket(self) -> Ints:
        """The bucket of each row, where slices are held side by side."""
        assert not isinstance(self.table, SlicesApart), "each slice is held for itself"
        return self.parts[0].within

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifying attribute of each dimension, slice by slice."""
        return tuple(q for part in self.parts for q in part.quasi)

    @property
    def carrying(self) -> tuple[Part, ...]:
        """The slices with the sensitive attributes."""
        return tuple(part for part in self.parts if part.carries)


def sliced_of(in_slices: SlicedTable, markers: Sequence[str]) -> CheckedSlices:
    """Number the buckets and regions of a published table."""
    tables, layout, attributes = in_slices.tables, in_slices.layout, in_slices.attributes
    if tables[0].n_rows == 0:
        raise DataError("nothing would be published: the table has no rows; allow less suppression or give more data")
    unknown = sorted(set(layout.attributes.values()) - set(attributes))
    if unknown:
        raise DataError(f"the slices hold an attribute {unknown[0]!r} of unknown role; restore the manifest")
    numbers, within = _buckets(tables, layout.bucket)
    sensitive = tuple(n for n in dict.fromkeys(layout.attributes.values()) if attributes[n].role == "sensitive")
    keys, n_sensitive = _joint_values(tables, layout, sensitive)
    parts = []
    for number, (one, table, bucket) in enumerate(zip(layout.slices, tables, within, strict=True)):
        quasi = tuple(n for n in one.attributes if attributes[n].role == "quasi")
        columns = tuple(published(table[one.column_of(n)], markers) for n in quasi)
        region, first = numbered([bucket, *(c.codes for c in columns)])
        carries = bool(sensitive) and set(sensitive) <= set(one.attributes)
        parts.append(
            Part(
                number,
                quasi,
                columns,
                carries,
                region,
                first,
                count_codes(region, table.weights, len(first)),
                bucket[first],
                keys.get(number, np.zeros(table.n_rows, dtype=np.int64)),
                bucket,
                table.weights,
            )
        )
    sizes = count_codes(within[0], tables[0].weights)
    return CheckedSlices(
        in_slices.table, layout, attributes, numbers, sizes, tuple(parts), sensitive, n_sensitive if sensitive else 1
    )


def _buckets(tables: Sequence[Table], name: str) -> tuple[Ints, list[Ints]]:
    """The numbers of the buckets, and in each slice the bucket of each row."""
    numbers, first = np.unique(_numbers(tables[0][name]), return_inverse=True)
    sizes, within = count_codes(first, tables[0].weights), [first.astype(np.int64)]
    for table in tables[1:]:
        if table is tables[0]:
            within.append(within[0])
            continue
        theirs, bucket = np.unique(_numbers(table[name]), return_inverse=True)
        if not np.array_equal(theirs, numbers) or not np.array_equal(count_codes(bucket, table.weights), sizes):
            raise DataError("the slices have not as many rows in each bucket; restore the file")
        within.append(bucket.astype(np.int64))
    return numbers, within


def _numbers(column: Column) -> Ints:
    wrong = f"the column {column.name!r} should number the buckets, and holds other cells too; restore the file"
    try:
        number = np.array([int(text) for text in spell(column.values)], dtype=np.int64)
    except (ValueError, OverflowError):
        raise DataError(wrong) from None
    if bool(column.missing.any()):
        raise DataError(wrong)
    return number[column.codes]


def _joint_values(tables: Sequence[Table], layout: Layout, sensitive: Sequence[str]) -> tuple[dict[int, Ints], int]:
    """The joint sensitive value of each row, for every slice that carries all sensitive attributes."""
    carrying = [i for i, s in enumerate(layout.slices) if sensitive and set(sensitive) <= set(s.attributes)]
    if not carrying:
        return {}, 1
    alike = [alike_codes([tables[i][layout.slices[i].column_of(n)] for i in carrying])[0] for n in sensitive]
    ids, first = numbered([np.concatenate(codes) for codes in alike])
    ends = np.cumsum([tables[i].n_rows for i in carrying])
    return dict(zip(carrying, np.split(ids, ends[:-1]), strict=True)), len(first)


def alike_codes(columns: Sequence[Column]) -> tuple[list[Codes], int]:
    """The cells of several columns in one numbering: equal where they read the same."""
    place: dict[tuple[bool, str], int] = {}
    found = []
    for column in columns:
        n_values = len(column.values)
        recode = [place.setdefault((i >= n_values, text), len(place)) for i, text in enumerate(column.texts())]
        found.append(np.array([*recode, -1], dtype=np.int32)[column.codes])
    return found, max(1, len(place))


def numbered(columns: Sequence[npt.NDArray[np.integer[Any]]]) -> tuple[Ints, Ints]:
    """Number the distinct combinations of non-negative integers, ascending, and give the first place of each."""
    key = np.zeros(len(columns[0]) if columns else 0, dtype=np.int64)
    span = 1
    for column in columns:
        width = int(column.max(initial=0)) + 1
        if span > 2**62 // width:
            uniques, key = np.unique(key, return_inverse=True)
            span = len(uniques)
        key = key * width + column
        span *= width
    if span <= 4 * len(key):  # numbered by counting, which is faster than by sorting
        place = np.full(span, len(key), dtype=np.int64)
        place[key[::-1]] = np.arange(len(key) - 1, -1, -1)
        first = place[place < len(key)]
        place[key[first]] = np.arange(len(first))
        return place[key], first
    _, first, ids = np.unique(key, return_index=True, return_inverse=True)
    return ids.astype(np.int64), first.astype(np.int64)
