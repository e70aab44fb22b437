"""What attacks work on: the published tables, those that they were made from, and others not among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.arrays import Ints
from shoal.attack.attack import Attack
from shoal.attack.tables.case import TableCase
from shoal.data.linked.linked import Linked
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import MARKERS, Table
from shoal.registry import Registry


@dataclass(frozen=True)
class LinkedCase:
    """Published tables under attack.

    Attributes
    ----------
    published, original : Linked
        Persons of the published ones are pseudonyms.
    control : Linked, optional
        Tables of persons that were not among them.
    attributes : mapping of str to mapping
        What the published columns of each table mean, but for the link.
    shifted : mapping of str to sequence of str
        Columns of each table whose days were moved.
    own : int64 array (n_persons,), optional
        Which pseudonym each original person has, -1 for none: the owner's knowledge, to count who was found.
    k : int
        How many persons are to look alike.
    """

    published: Linked
    original: Linked = field(repr=False)
    control: Linked | None = field(repr=False)
    attributes: Mapping[str, Mapping[str, Attribute]]
    shifted: Mapping[str, Sequence[str]]
    own: Ints | None = field(repr=False)
    k: int
    markers: tuple[str, ...] = MARKERS

    def names(self, table: str, role: str) -> list[str]:
        """The columns of a table that have a role, and whose days were not moved."""
        moved = self.shifted[table]
        return [n for n, a in self.attributes[table].items() if a.role == role and n not in moved]

    def as_table(self, name: str) -> TableCase:
        """One of the tables, as attacks on tables see it."""
        known = self.names(name, "quasi")
        attributes = {n: self.attributes[name][n] for n in known}

        def some(linked: Linked) -> Table:
            return linked.tables[name].select(known)

        control = None if self.control is None else some(self.control)
        return TableCase(some(self.published), some(self.original), control, known, attributes=attributes)

    @property
    def granted(self) -> dict[str, int]:
        """What the attacker was given besides the release, by the number of persons of each."""
        given = {"original": len(self.original)}
        given |= {} if self.control is None else {"others": len(self.control)}
        return given | ({} if self.own is None else {"rows": len(self.published)})


def pseudonyms_of(published: Linked, original: Linked, rows: Ints) -> Ints:
    """Which pseudonym each original person has, -1 for none, given the original row of each published main one."""
    own = np.full(len(original), -1, dtype=np.int64)
    own[original.persons[original.main][rows]] = published.persons[published.main]
    return own


LINKED_ATTACKS: Registry[Attack[LinkedCase]] = Registry("shoal.attack.linked")
