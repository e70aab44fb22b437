"""Recompute every required guarantee from what would be published, and from nothing else.

Nothing here comes from the methods that made the table: a mistake of theirs is found, not repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from shoal.check.guarantee import Guarantee
from shoal.check.tables.alpha_k import alpha_k
from shoal.check.tables.beta_likeness import beta_likeness
from shoal.check.tables.cells import as_leaves, comparable, in_order, published
from shoal.check.tables.classes import Classes, Missing, classes_of
from shoal.check.tables.distribution import Distribution, distribution
from shoal.check.tables.k_anonymity import k_anonymity
from shoal.check.tables.l_diversity import l_diversity
from shoal.check.tables.t_closeness import Distance, t_closeness
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import MARKERS, Column, Table
from shoal.errors import PolicyError
from shoal.models import Requirement
from shoal.models.alpha_k import AlphaK
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness


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

    Returns
    -------
    tuple of Guarantee
        In the order of the requirements, for each in the order of the sensitive columns.
    """
    classes = classes or classes_of(table, quasi, missing=missing, markers=markers)
    protected = _Protected(table, classes, missing, markers, attributes or {})
    found: list[Guarantee] = []
    for required in requirements:
        if isinstance(required, KAnonymity):
            found.append(k_anonymity(classes, required.k))
            continue
        named = [required.sensitive] if required.sensitive is not None else list(dict.fromkeys(sensitive))
        if not named:
            raise PolicyError(
                f"{required.model} needs a sensitive column and none is named; give one the role 'sensitive'"
            )
        found += [_check(required, name, classes, protected) for name in named]
    return tuple(found)


def _check(required: Requirement, name: str, classes: Classes, protected: _Protected) -> Guarantee:
    if isinstance(required, TCloseness):
        attribute = protected.attributes.get(name)
        distance = required.distance or default_distance(attribute)
        held = protected.held(name, distance)
        return t_closeness(classes, held, required.t, distance, attribute.hierarchy if attribute else None)
    held = protected.held(name)
    if isinstance(required, LDiversity):
        return l_diversity(classes, held, required.l, required.kind, required.c)
    if isinstance(required, AlphaK):
        return alpha_k(classes, held, required.alpha, required.k)
    if isinstance(required, KAnonymity):
        return k_anonymity(classes, required.k)
    return beta_likeness(classes, held, required.beta, required.kind)


def default_distance(attribute: Attribute | None) -> Distance:
    """The distance of t-closeness that fits an attribute."""
    if attribute is None:
        return "equal"
    if attribute.hierarchy is not None:
        return "hierarchical"
    return "ordered" if attribute.type in ("continuous", "ordinal", "date") else "equal"


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

    def held(self, name: str, distance: Distance = "equal") -> Distribution:
        reading = {"equal": comparable, "ordered": in_order, "hierarchical": as_leaves}[distance]
        if (name, reading) not in self._counted:
            column = reading(published(self.table[name], self.markers), self.attributes.get(name))
            self._counted[name, reading] = distribution(self.classes, column, missing=self.missing)
        return self._counted[name, reading]
