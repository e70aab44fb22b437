"""What attacks work on: the release, the originals that it was made from, and others that were not in it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from shoal.arrays import Ints, Mask
from shoal.attack.attack import Attack, AttackCase
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import Layout, SlicedTable
from shoal.data.tables.table import Table
from shoal.registry import Registry

if TYPE_CHECKING:
    from shoal.kinds.tables.policy import Policy

UNREAD = "memory is bounded"
"""Why what is kept of single records is not used."""


@dataclass(frozen=True)
class TableCase(AttackCase[Table, Table]):
    """A published table under attack.

    Where rows stand for several records, and it is known which (`rows`), there is a published row for each original one
    that is in the release, with the same weight.

    Attributes
    ----------
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
    are_rows_unread : bool
        Whether that is kept, and could not be used, as it is about single records.
    others : tuple of TableCase
        Other releases of overlapping data, for attacks that intersect several, each with what it was made from.
    known_as : int64 array (original.n_rows,), optional
        A number for the person of each original record, the same in all releases; None: records stand in one order.
    present : bool array (original.n_rows,), optional
        Which original records are in the release, where the owner says so; None: all are taken to be.
    population : Table, optional
        A file of the whole population, with some of the quasi-identifiers.
    policy : Policy, optional
        What the release was asked to be, as far as its manifest tells everybody.
    persons, control_persons : int64 arrays, optional
        Whose each original record, and each control, is, numbered from 0; None: records are counted, not persons.
    is_one_each : bool
        Whether each record is known to be another person's, so that to count records is to count persons.
    knows_history : bool
        Whether all records of a person are known, or one.
    providers : int64 array (published.n_rows,), optional
        From whom each published record is, where several provide records and the owner says so.
    coalition : int
        How many of them may put their own records together; 0 where records are not from several.
    """

    quasi: Sequence[str] = ()
    sensitive: Sequence[str] = ()
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    publication: str = "generalise"
    layout: Layout | None = None
    rows: Ints | None = None
    are_rows_unread: bool = False
    others: tuple[TableCase, ...] = ()
    known_as: Ints | None = field(default=None, repr=False)
    present: Mask | None = field(default=None, repr=False)
    population: Table | None = None
    policy: Policy | None = None
    persons: Ints | None = field(default=None, repr=False)
    control_persons: Ints | None = field(default=None, repr=False)
    is_one_each: bool = False
    knows_history: bool = False
    providers: Ints | None = field(default=None, repr=False)
    coalition: int = 0

    @property
    def is_weighted(self) -> bool:
        """Whether rows stand for several records."""
        return self.original.weights is not None

    @property
    def sliced(self) -> SlicedTable | None:
        """The published table as what it is where it stands in slices."""
        return None if self.layout is None else SlicedTable(self.published, self.layout, self.attributes)

    @property
    def noun(self) -> str:
        """What is counted."""
        return "persons" if self.is_one_each or self.persons is not None else "records"

    @property
    def known_of_a_person(self) -> str:
        """How much of a person is known, in words; "" where records are counted."""
        if self.noun == "records":
            return ""
        return "all records of a person are known" if self.knows_history else "one record of a person is known"

    def no_rows(self, so: str) -> str:
        """That it is not known which original each published record stands for, in a sentence that ends as given."""
        if self.are_rows_unread:
            return f"Which original each published record stands for is kept of single records, and {UNREAD}, so {so}."
        return f"It is not known which original each published record stands for, so {so}."

    @property
    def published_persons(self) -> Ints | None:
        """Whose each published record is; None where that is not known, or records are counted."""
        return None if self.persons is None or self.rows is None else self.persons[self.rows]

    @property
    def n_targets(self) -> int:
        """How many there are to be attacked."""
        return self.original.n_records if self.persons is None else int(self.persons.max(initial=-1)) + 1

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
        given = super().granted | {"original": self.original.n_records}
        given |= {} if self.control is None else {"others": self.control.n_records}
        given |= {} if self.population is None else {"population": self.population.n_records}
        if self.others:
            given["second release"] = self.others[0].published.n_rows
            given |= {f"release {i}": other.published.n_rows for i, other in enumerate(self.others[1:], start=3)}
        return given | ({} if self.rows is None else {"rows": self.published.n_records})


TABLE_ATTACKS: Registry[Attack[TableCase]] = Registry("shoal.attack.tables")
