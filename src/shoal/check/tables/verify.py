"""Recompute every required guarantee from what would be published, and from nothing else.

Nothing here comes from the methods that made the table: a mistake of theirs is found, not repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from shoal.arrays import Ints
from shoal.check.guarantee import Guarantee
from shoal.check.tables.cells import as_leaves, comparable, in_order, published
from shoal.check.tables.classes import Classes, Missing, classes_of
from shoal.check.tables.distribution import Distribution, distribution
from shoal.check.tables.models import Check, Held, check_of
from shoal.check.tables.t_closeness import Distance
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import MARKERS, Column, Table
from shoal.errors import PolicyError
from shoal.models import Requirement

READINGS: Mapping[Distance, Callable[[Column, Attribute | None], Column]] = {
    "equal": comparable,
    "ordered": in_order,
    "hierarchical": as_leaves,
}
"""How each distance reads a column."""


def verify(
    table: Table,
    requirements: Sequence[Requirement],
    quasi: Sequence[str],
    sensitive: Sequence[str] = (),
    *,
    missing: Missing = "value",
    markers: Sequence[str] = MARKERS,
    attributes: Mapping[str, Attribute] | None = None,
    classes: Classes | None = None,
    persons: Ints | None = None,
    knows_history: bool = False,
) -> tuple[Guarantee, ...]:
    """Recompute the guarantees of a published table.

    Parameters
    ----------
    table : Table
        What would be published, typed or read back as text.
    requirements : sequence of Requirement
        One that names no sensitive column applies to all of them, each on its own.
    quasi, sensitive : sequence of str
        Columns by role.
    missing : {"value", "any"}
        Whether a missing cell is a value of its own, or may hide any value and so must not help.
    markers : sequence of str
        Texts that mean "missing".
    attributes : mapping of str to Attribute, optional
        Type, order and hierarchy of the sensitive columns. They choose the distance of t-closeness where
        the requirement does not: hierarchical with a hierarchy, ordered for continuous, ordinal and date,
        else equal (the strictest).
    classes : Classes, optional
        What to take for the classes, for publications that hide records in another way than by equal
        quasi-identifiers; by default those that look alike.
    persons : int64 array, optional
        Whose each row is. Sizes are then of persons, and what is required of sensitive values must hold both by persons
        and by rows; the worse is told.
    knows_history : bool
        Whether an attacker knows the quasi-identifiers of all rows of a person, rather than of one.

    Returns
    -------
    tuple of Guarantee
        In the order of the requirements, for each in the order of the sensitive columns.
    """
    of_records = classes = classes or classes_of(table, quasi, missing=missing, markers=markers)
    if persons is not None:
        classes = classes.of_histories(persons) if knows_history else classes.of_persons(persons)
    protected = _Protected(table, classes, missing, markers, attributes or {})
    by_records = protected if persons is None else _Protected(table, of_records, missing, markers, attributes or {})
    found: list[Guarantee] = []
    for required in requirements:
        check = check_of(required)
        if not required.is_about_values():
            found.append(check.of_sizes(required, classes))
            continue
        named = [required.column] if required.column is not None else list(dict.fromkeys(sensitive))
        if not named:
            raise PolicyError(
                f"{required.model} needs a sensitive column and none is named; give one the role 'sensitive'"
            )
        for name in named:
            distance = check.distance(required, protected.attributes.get(name))
            reached = check.of_values(required, classes, protected.held(name, distance))
            if persons is not None:
                plain = check.of_values(required, of_records, by_records.held(name, distance))
                reached = worse(reached, plain, low_is_worse=check.is_low_worse(required))
            found.append(reached)
    return tuple(found)


def worse(by_persons: Guarantee, by_records: Guarantee, *, low_is_worse: bool) -> Guarantee:
    """The one that fails, or that reaches less; a reader counts records, and whoever knows of persons counts these."""
    if by_persons.holds != by_records.holds:
        return by_records if by_persons.holds else by_persons
    is_less = by_records.achieved < by_persons.achieved
    is_more = by_records.achieved > by_persons.achieved
    return by_records if (is_less if low_is_worse else is_more) else by_persons


def held_by(
    table: Table,
    check: Check[Any],
    required: Requirement,
    classes: Classes,
    name: str,
    markers: Sequence[str],
    attributes: Mapping[str, Attribute],
) -> Held:
    """The values of a sensitive column in every class, none of which may hide another, as a model compares them."""
    return _Protected(table, classes, "value", markers, attributes).held(
        name, check.distance(required, attributes.get(name))
    )


class _Protected:
    """The sensitive columns as each distance reads them, counted once."""

    def __init__(
        self,
        table: Table,
        classes: Classes,
        missing: Missing,
        markers: Sequence[str],
        attributes: Mapping[str, Attribute],
    ) -> None:
        self.table, self.classes, self.missing, self.markers, self.attributes = (
            table,
            classes,
            missing,
            markers,
            attributes,
        )
        self._counted: dict[tuple[str, Callable[[Column, Attribute | None], Column]], Distribution] = {}

    def held(self, name: str, distance: Distance) -> Held:
        reading = READINGS[distance]
        if (name, reading) not in self._counted:
            column = reading(published(self.table[name], self.markers), self.attributes.get(name))
            self._counted[name, reading] = distribution(self.classes, column, missing=self.missing)
        return Held(self._counted[name, reading], distance, self.attributes.get(name))
