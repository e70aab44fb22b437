"""Equivalence classes: the published records that no reader can tell apart by their quasi-identifiers.

References ---------- P. Samarati, L. Sweeney, "Protecting privacy when disclosing information: k-anonymity
and its enforcement through generalization and suppression", SRI-CSL-98-04, 1998.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.check.tables.cells import published
from shoal.data.tables.table import MARKERS, Column, Table, count_codes, row_keys, spell
from shoal.errors import DataError, PolicyError

Missing = Literal["value", "any"]


@dataclass(frozen=True)
class Classes:
    """The equivalence classes of a table.

    Attributes
    ----------
    columns : tuple of Column
        The quasi-identifiers.
    ids : int64 array of n_rows
        The class of each row, numbered from 0 in the order of the published values.
    sizes : int64 array of n_classes
        Records in each class.
    first : int64 array of n_classes
        The first row of each class.
    persons : int64 array of n_rows, optional
        Whose each row is. Then sizes are of persons: how many different ones have a row in the class. Where rows stand
        for several records, each of these is another person's.
    are_histories : bool
        Whether the rows of a class are those of all persons with the same published history.
    weights : int32 array of n_rows, optional
        How many records each row stands for; else each is one.
    n_apart : int
        The last so many classes are of one record each, as a missing cell may hide any value.
    """

    columns: tuple[Column, ...]
    ids: Ints
    sizes: Ints
    first: Ints
    persons: Ints | None = None
    are_histories: bool = False
    weights: Codes | None = None
    n_apart: int = 0

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.sizes)

    @property
    def n_rows(self) -> int:
        """Number of records."""
        return len(self.ids) if self.weights is None else int(self.sizes.sum())

    @property
    def noun(self) -> str:
        """What is counted."""
        return "record" if self.persons is None else "person"

    @property
    def n_members(self) -> int:
        """How many there are of what is counted; a person may have rows in several classes."""
        return self.n_rows if self.persons is None or self.is_one_each else len(np.unique(self.persons))

    @property
    def is_one_each(self) -> bool:
        """Whether as many persons are counted as records, or records alone."""
        return self.persons is None or self.weights is not None

    def of_persons(self, persons: Ints) -> Classes:
        """The same classes, in which persons count and not rows: (X, Y)-anonymity of Wang and Fung, KDD 2006.

        A row with a negative number is of nobody, a counterfeit: no class is larger by it.
        """
        if self.weights is not None:
            return replace(self, persons=np.arange(len(self.ids)))
        numbers = np.unique(persons, return_inverse=True)[1].astype(np.int64)
        pairs = np.unique((self.ids * (int(numbers.max(initial=0)) + 1) + numbers)[persons >= 0])
        sizes = np.bincount(pairs // (int(numbers.max(initial=0)) + 1), minlength=self.n_classes).astype(np.int64)
        return replace(self, sizes=sizes, persons=numbers)

    def of_histories(self, persons: Ints) -> Classes:
        """Put persons together whose rows are in the same of these classes, equally often: all rows of such persons."""
        if self.weights is not None:
            return replace(self.of_persons(persons), are_histories=True)
        numbers = np.unique(persons, return_inverse=True)[1].astype(np.int64)
        order = np.lexsort((self.ids, numbers))
        counts = np.bincount(numbers)
        starts = np.cumsum(counts) - counts
        history = np.zeros(len(counts), dtype=np.int64)  # of each person, told apart by one more row at a time
        for place in range(int(counts.max(initial=0))):
            more = np.flatnonzero(counts > place)
            pairs = history[more] * self.n_classes + self.ids[order[starts[more] + place]]
            history[more] = np.unique(pairs, return_inverse=True)[1]
        # Histories of one length were numbered together, those of different lengths apart.
        ids = np.unique(history * (len(order) + 1) + counts, return_inverse=True)[1].astype(np.int64)[numbers]
        first = np.empty(int(ids.max(initial=-1)) + 1, dtype=np.int64)
        first[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)
        alike = Classes(self.columns, ids, np.bincount(ids).astype(np.int64), first, are_histories=True)
        return alike.of_persons(persons)

    def place(self, index: int) -> tuple[int, ...]:
        """Where a class stands among others by its published values, also among those of other parts of a table."""
        is_apart = index >= self.n_classes - self.n_apart
        return (int(is_apart), *(int(c.ranks()[c.codes[self.first[index]]]) for c in self.columns))

    def values(self, index: int) -> dict[str, str]:
        """Name a class: the published text of each of its quasi-identifiers."""
        row = int(self.first[index])
        return {c.name: _text(c, int(c.codes[row])) for c in self.columns}


def _text(column: Column, code: int) -> str:
    n_values = len(column.values)
    if code >= n_values:
        return (column.markers[code - n_values] if code - n_values < len(column.markers) else None) or ""
    if column.values.dtype.kind == "M":
        return column.texts()[code]  # whether the time of day is shown depends on the whole column
    return spell(column.values[code : code + 1])[0]


def classes_of(
    table: Table,
    quasi: Sequence[str],
    *,
    missing: Missing = "value",
    markers: Sequence[str] = MARKERS,
) -> Classes:
    """Group the records of a table by their published quasi-identifiers, with one sort of the records.

    Parameters
    ----------
    table : Table
        What would be published.
    quasi : sequence of str
        The quasi-identifiers.
    missing : {"value", "any"}
        "value": a missing cell is a value of its own, each spelling another, since a reader can tell them
        apart; the methods write one spelling a column. "any": it may hide any value
        and so must not help to hide a record; a record that publishes a missing quasi-identifier counts as
        a class of one.
    markers : sequence of str
        Texts that mean "missing".
    """
    if not quasi:
        raise PolicyError("no quasi-identifier is named; give at least one column the role 'quasi'")
    if table.n_rows == 0:
        raise DataError("nothing would be published: the table has no rows; allow less suppression or give more data")
    columns = tuple(published(table[name], markers) for name in dict.fromkeys(quasi))
    ids, weights, n_apart = row_keys(columns), table.weights, 0
    if missing == "any":
        alone = np.any([c.missing for c in columns], axis=0)
        weights = None if weights is None else np.where(alone, 1, weights).astype(np.int32)  # one such fails as many do
        n_apart = int(alone.sum())
        by_value = np.flatnonzero(alone)[np.argsort(ids[alone], kind="stable")]
        ids[by_value] = table.n_rows + np.arange(n_apart)
        ids = np.unique(ids, return_inverse=True)[1].astype(np.int64)
    sizes = count_codes(ids, weights)
    first = np.empty(len(sizes), dtype=np.int64)
    first[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)  # the last assignment stands: the first row
    return Classes(columns, ids, sizes, first, weights=weights, n_apart=n_apart)
