"""What attacks work on: the release, the originals that it was made from, and others that were not in it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from shoal.arrays import Ints
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import Layout
from shoal.data.tables.table import Table

if TYPE_CHECKING:
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

    @cached_property
    def _remembered(self) -> dict[Hashable, Any]:
        return {}

    def remember(self, what: Hashable, make: Callable[[], Any]) -> Any:
        """What attacks work out alike of the case, made once."""
        if what not in self._remembered:
            self._remembered[what] = make()
        return self._remembered[what]

    @property
    def granted(self) -> dict[str, int]:
        """What the attacker was given besides the release, by the number of records of each."""
        tables = {"original": self.original, "others": self.control, "second release": self.other}
        tables |= {"population": self.population}
        given = {name: table.n_rows for name, table in tables.items() if table is not None}
        return given | ({} if self.rows is None else {"rows": len(self.rows)})
