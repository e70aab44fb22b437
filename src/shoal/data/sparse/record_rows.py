"""Sparse records by the numbers of their items, which are held or lie in files: what methods work on run by run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints
from shoal.data.ragged_rows import AnyRows, Ragged
from shoal.data.sparse.records import Sparse, Weights, count_distinct, ones


@dataclass(frozen=True)
class RecordRows:
    """Records, each a row of items, ascending.

    Attributes
    ----------
    rows : AnyRows
        Of items, and beside them their weights, unless all of these are 1.
    n_items : int
        How many items there are, whether they occur or not.
    labels : int32 array (n_records,), optional
        The class of each.
    persons : int64 array (n_records,), optional
        Whose each is, where a person may have several; such records are held.
    """

    rows: AnyRows
    n_items: int
    labels: Codes | None = None
    persons: Ints | None = None

    @classmethod
    def of(cls, records: Sparse) -> RecordRows:
        """Records that are held."""
        values: list[npt.NDArray[Any]] = [records.items]
        if not records.is_binary:
            values.append(records.weights)
        return cls(Ragged(records.starts, values), records.n_items, records.labels, records.persons)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def sizes(self) -> Ints:
        """The number of items of each."""
        return self.rows.sizes

    @property
    def is_binary(self) -> bool:
        """Whether they are sets."""
        return self.rows.n_values == 1

    @property
    def supports(self) -> Ints:
        """How many records have each item."""
        counts = np.zeros(self.n_items, np.int64)
        for part in self.rows.parts():
            counts += np.bincount(part.values[0], minlength=self.n_items)
        return counts

    @property
    def holders(self) -> Ints:
        """How many persons have each item; of records where each is of another person."""
        if self.persons is None:
            return self.supports
        whole = self.held()
        return count_distinct(whole.values[0], np.repeat(self.persons, whole.sizes), self.n_items)

    def held(self) -> Ragged:
        """All of them at once."""
        return self.rows.part(0, len(self))

    def in_order(self, rows: npt.NDArray[np.integer[Any]]) -> RecordRows:
        """Some of the records, each once, in the given order."""
        return replace(
            self,
            rows=self.rows.in_order(rows),
            labels=None if self.labels is None else self.labels[rows],
            persons=None if self.persons is None else self.persons[rows],
        )

    def like(self, records: Sparse) -> Sparse:
        """These with the names of others, held."""
        found = self.held()
        weights: Weights = ones(found.n_entries) if self.is_binary else found.values[1]
        items = found.values[0]
        return replace(
            records, starts=found.starts, items=items, weights=weights, labels=self.labels, persons=self.persons
        )
