"""What an attack works on: the release, the originals that it was made from, and others that were not in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Ints
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.data.strings.strings import Strings
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import Layout
from shoal.data.tables.table import Table

if TYPE_CHECKING:
    from shoal.attack.strings.fragments import Fragments
    from shoal.attack.strings.neighbourhood import Neighbourhood
    from shoal.kinds.tables.policy import Policy


@dataclass(frozen=True)
class TableCase:
    """A published table under attack.

    Attributes
    ----------
    published, original : Table
        What was published, and all records that came in.
    control : Table, optional
        Records of the same kind that were not in the original.
    quasi, sensitive : sequence of str
        Columns by role.
    attributes : mapping of str to Attribute
        Type, order and hierarchy of the original's columns.
    publication : str
        How the table was published: generalise, aggregate, condense, recode, bucketize, slice or screen.
    layout : Layout, optional
        Of a table in slices, which columns stand together.
    rows : int64 array (published.n_rows,), optional
        The original record that each published one stands for: the owner's knowledge, to count what was linked right.
    other : Table, optional
        A second release of overlapping data, for attacks that intersect two.
    population : Table, optional
        A file of the whole population, with some of the quasi-identifiers.
    policy : Policy, optional
        What the release was asked to be, as far as its manifest tells everybody.
    """

    published: Table
    original: Table = field(repr=False)
    control: Table | None = field(default=None, repr=False)
    quasi: Sequence[str] = ()
    sensitive: Sequence[str] = ()
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    publication: str = "generalise"
    layout: Layout | None = None
    rows: Ints | None = None
    other: Table | None = None
    population: Table | None = None
    policy: Policy | None = None

    @property
    def granted(self) -> dict[str, int]:
        """What the attacker was given besides the release, by the number of records of each."""
        tables = {"original": self.original, "others": self.control, "second release": self.other}
        tables |= {"population": self.population}
        given = {name: table.n_rows for name, table in tables.items() if table is not None}
        return given | ({} if self.rows is None else {"rows": len(self.rows)})


@dataclass(frozen=True)
class StringCase:
    """Published strings under attack.

    Attributes
    ----------
    published, original : Strings
        What was published, and all strings that came in.
    control : Strings, optional
        Strings of the same kind that were not in it.
    """

    published: Strings
    original: Strings = field(repr=False)
    control: Strings | None = field(default=None, repr=False)

    @property
    def granted(self) -> dict[str, int]:
        """What the attacker was given besides the release, by the number of records of each."""
        return {"original": len(self.original), **({} if self.control is None else {"others": len(self.control)})}

    @cached_property
    def fragments(self) -> Fragments:
        """Where fragments of some of the strings stand in the published ones; all attacks look there."""
        from shoal.attack.strings.fragments import Fragments

        return Fragments.of(self, np.random.default_rng(0))

    @cached_property
    def neighbourhood(self) -> Neighbourhood:
        """How many published strings lie near some of the strings, where there is a control."""
        from shoal.attack.strings.neighbourhood import Neighbourhood

        return Neighbourhood.of(self, np.random.default_rng(0))


@dataclass(frozen=True)
class SparseCase:
    """Published sketches under attack.

    Attributes
    ----------
    published : Sketches
        What was published.
    original : Sparse
        All records that came in.
    control : Sparse, optional
        Records that were not in it.
    rows : int64 array (n_published,), optional
        The original record that each sketch is of: to count what was recovered right.
    key : bytes, optional
        The key of the signs: granted to attacks that assume that it leaked.
    """

    published: Sketches
    original: Sparse = field(repr=False)
    control: Sparse | None = field(default=None, repr=False)
    rows: Ints | None = None
    key: bytes | None = field(default=None, repr=False)

    @property
    def granted(self) -> dict[str, int]:
        """What the attacker was given besides the release, by the number of records of each."""
        given = {"original": self.original, "others": self.control, "rows": self.rows}
        told = {name: len(records) for name, records in given.items() if records is not None}
        return told | ({} if self.key is None else {"key": 1})
