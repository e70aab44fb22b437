"""The form of a sliced table: which columns stand together, and what the file calls them.

One row of the file is no record: every slice is permuted within its bucket, apart from the others. The columns of one
slice belong together, those of two slices do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Column, Table
from shoal.errors import DataError

BUCKET = "bucket"


@dataclass(frozen=True)
class Slice:
    """Columns that stand together.

    Attributes
    ----------
    columns : tuple of str
        Their names in the published table.
    attributes : tuple of str
        The attribute of the original that each of them holds.
    """

    columns: tuple[str, ...]
    attributes: tuple[str, ...]

    def column_of(self, attribute: str) -> str:
        """The published name of an attribute of this slice."""
        return self.columns[self.attributes.index(attribute)]


@dataclass(frozen=True)
class Layout:
    """All slices of a table, and the column that numbers its buckets."""

    bucket: str
    slices: tuple[Slice, ...]

    @classmethod
    def of(cls, groups: Sequence[Sequence[str]]) -> Layout:
        """Name the columns of a sliced table.

        An attribute of one slice keeps its name; one that stands in several gets the slice's number behind it.

        >>> layout = Layout.of([["age", "sex", "salary"], ["zip", "salary"]])
        >>> layout.names
        ['bucket', 'age', 'sex', 'salary@1', 'zip', 'salary@2']
        """
        times: dict[str, int] = {}
        for group in groups:
            for attribute in group:
                times[attribute] = times.get(attribute, 0) + 1
        taken = {a for a, n in times.items() if n == 1}

        def fresh(name: str) -> str:
            while name in taken:
                name += "@"
            taken.add(name)
            return name

        bucket = fresh(BUCKET)
        slices = []
        for number, group in enumerate(groups, start=1):
            columns = tuple(a if times[a] == 1 else fresh(f"{a}@{number}") for a in group)
            slices.append(Slice(columns, tuple(group)))
        return cls(bucket, tuple(slices))

    @property
    def names(self) -> list[str]:
        """Every column of the published table, in order."""
        return [self.bucket, *(c for s in self.slices for c in s.columns)]

    @property
    def attributes(self) -> dict[str, str]:
        """The attribute that each published column holds; the bucket holds none."""
        return {c: a for s in self.slices for c, a in zip(s.columns, s.attributes, strict=True)}

    def to_dict(self) -> dict[str, Any]:
        """As the manifest writes it."""
        return {"bucket": self.bucket, "slices": [dict(zip(s.columns, s.attributes, strict=True)) for s in self.slices]}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Layout:
        """Read what `to_dict` wrote; refuse what cannot be a layout."""
        try:
            slices = tuple(Slice(tuple(s), tuple(s.values())) for s in content["slices"])
            layout = cls(content["bucket"], slices)
            texts = [layout.bucket, *layout.attributes, *layout.attributes.values()]
        except (KeyError, TypeError, AttributeError):
            raise DataError("the manifest's slices cannot be read; restore the manifest from the release") from None
        if not slices or not all(isinstance(t, str) for t in texts) or len(set(layout.names)) < len(layout.names):
            raise DataError("the manifest's slices name no columns, or one twice; restore it from the release")
        return layout


def attributes_held(names: Iterable[str], layout: Layout | None) -> dict[str, str]:
    """The attribute that each published column holds: of a table that is not in slices, the one of its name."""
    return {name: name for name in names} if layout is None else layout.attributes


@dataclass(frozen=True)
class SlicesApart:
    """The columns of a table in slices, each slice for itself: what stands in it in a bucket, with how many records.

    Nothing that a table in slices tells is lost, but for which rows of its slices stand side by side, which is chance.

    Attributes
    ----------
    tables : tuple of Table
        Of each slice the number of the bucket and its own columns; rows stand for several records.
    names : tuple of str
        All columns, in the order of the file.
    some : Table
        Some rows as they stand in the file.
    """

    tables: tuple[Table, ...]
    names: tuple[str, ...]
    some: Table

    def holding(self, names: Sequence[str]) -> Table:
        """The slice in which some columns stand; of none, the first."""
        return next(table for table in self.tables if all(n in table.columns for n in names))

    @property
    def columns(self) -> Mapping[str, Column]:
        """By name."""
        return {name: table[name] for table in reversed(self.tables) for name in table.names}

    def marginal(self, name: str) -> tuple[Column, npt.NDArray[np.integer[Any]] | None]:
        """A column, and how many records each of its rows stands for."""
        return self.holding([name]).marginal(name)

    @property
    def n_records(self) -> int:
        """Number of rows of the table."""
        return self.tables[0].n_records

    @property
    def n_rows(self) -> int:
        """Rows of all slices that are held."""
        return sum(table.n_rows for table in self.tables)


@dataclass(frozen=True)
class SlicedTable:
    """A table in slices: a row ties together the cells of each slice, but no slice to another.

    Attributes
    ----------
    table, layout : Table or SlicesApart, Layout
        The columns, and which of them stand together.
    attributes : mapping of str to Attribute
        Type, role, order and hierarchy of what the columns hold, by its name in the original.
    """

    table: Table | SlicesApart
    layout: Layout
    attributes: Mapping[str, Attribute]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Where the columns of each slice are."""
        return (self.table,) * len(self.layout.slices) if isinstance(self.table, Table) else self.table.tables

    @property
    def rows(self) -> Table:
        """All slices side by side, where they are held so."""
        assert isinstance(self.table, Table), "each slice is held for itself"
        return self.table
