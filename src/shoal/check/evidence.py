"""What a check may look at besides the published table: the original, and who stood together in it. All of it secret.

From the published table alone a class-based model can be recomputed. Other publications promise something about how
the table was made; to recompute that, the original is needed, and mostly the groups too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.check.tables.classes import Classes
from shoal.data.tables.persons import person_codes, provider_codes
from shoal.data.tables.table import Table


@dataclass(frozen=True)
class Evidence:
    """Secrets to check a release against; what is None is not there.

    Attributes
    ----------
    original : Table, optional
        All records as they came in, also those that were suppressed.
    original_groups : int64 array (original.n_rows,), optional
        The group of each original record; negative where it was suppressed.
    groups : int64 array (n_published,), optional
        The group of each published record.
    original_persons : int64 array (original.n_rows,), optional
        Whose each original record is, where persons count.
    rows : int64 array (n_published,), optional
        The original record that each published one stands for, where it stands for one.
    listed_persons : int64 array (n_published,), optional
        Whose each published record is by the list that the owner kept; numbered as `original_persons` where these are
        known.
    pseudonyms : int64 array (n_published,), optional
        Whose each published record is by its pseudonym, where it has one.
    providers : int64 array (n_published,), optional
        From whom each published record is, where several provide records.
    is_one_each : bool
        Whether every record is known to be another person's, though the original is not held.
    """

    original: Table | None = None
    original_groups: Ints | None = None
    groups: Ints | None = None
    original_persons: Ints | None = None
    rows: Ints | None = None
    listed_persons: Ints | None = None
    pseudonyms: Ints | None = None
    providers: Ints | None = None
    is_one_each: bool = False

    @classmethod
    def of(
        cls,
        original: Table,
        rows: npt.NDArray[np.integer[Any]],
        groups: npt.NDArray[np.integer[Any]],
        person: Sequence[str] = (),
        provider: Sequence[str] = (),
    ) -> Evidence:
        """From what a method knows: for each published record the original one it stands for, and its group.

        `person` names the columns that say whose a record is, `provider` those that say from whom.
        """
        original_groups = np.full(original.n_rows, -1, dtype=np.int64)
        original_groups[rows] = groups
        persons = person_codes(original, person) if person else None
        numbers = np.asarray(groups, dtype=np.int64)
        providers = provider_codes(original, provider)[rows] if provider else None
        return cls(original, original_groups, numbers, persons, np.asarray(rows, dtype=np.int64), providers=providers)

    @property
    def persons(self) -> Ints | None:
        """Whose record each published one is, if that is known."""
        if self.original_persons is not None and self.rows is not None:
            return self.original_persons[self.rows]
        return self.pseudonyms if self.listed_persons is None else self.listed_persons

    @property
    def tells_persons(self) -> bool:
        """Whether the owner says whose each published record is, so that pseudonyms can be compared with it."""
        return self.listed_persons is not None or (self.original_persons is not None and self.rows is not None)

    @property
    def has_groups(self) -> bool:
        """Whether it is known who stood together."""
        return self.groups is not None and self.original_groups is not None

    def misfit(self, table: Table) -> str | None:
        """A sentence where the groups are not those of this published table and this original."""
        assert self.original is not None
        assert self.groups is not None
        assert self.original_groups is not None
        if len(self.groups) == table.n_rows and len(self.original_groups) == self.original.n_rows:
            return None
        return (
            f"The groups that were kept are of {len(self.groups):,} published and {len(self.original_groups):,} "
            f"original records, but there are {table.n_rows:,} and {self.original.n_rows:,}: the data was changed, or "
            "they are of another release."
        )


def group_classes(groups: npt.NDArray[np.integer[Any]]) -> Classes:
    """The secret groups in the place of classes of records that look alike: for models about who stands together."""
    ids = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    sizes = np.bincount(ids).astype(np.int64)
    first = np.empty(len(sizes), dtype=np.int64)
    first[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)
    return Classes((), ids, sizes, first)
