"""What is required of the sensitive attributes of a sliced table, each for itself or all together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table, row_keys
from shoal.errors import PolicyError
from shoal.models import Model
from shoal.tables.encoding import Ranked, rank
from shoal.tables.limits import Limit, limits_of, limits_on_table, weighted
from shoal.tables.persons import PersonCounts

JOINED = " with "


def limits_on(
    table: Table,
    attributes: Mapping[str, Attribute],
    sensitive: Sequence[str],
    require: Sequence[Model],
    missing: Literal["value", "any"],
    jointly: bool,
    persons: Ints | None = None,
) -> tuple[Limit, ...]:
    """The limits of every requirement; with `persons`, whose each record is, they hold by records and by persons.

    Jointly, a requirement that names no attribute is one on the combination of all sensitive values, which is a plain
    category. For distinct, probabilistic and entropy l-diversity this is weaker than the same l of each attribute.
    """
    limits: list[Limit] = []
    for requirement in require:
        if jointly and len(sensitive) > 1 and requirement.column is None:
            found = limits_of([requirement], [_joint(table, attributes, sensitive, missing)], missing)
            weights = table.weights
            limits += found if weights is None else [weighted(limit, weights) for limit in found]
        else:
            limits += limits_on_table(table, [requirement], attributes, sensitive, missing)
    own = next((limit.own for limit in limits if limit.own is not None), None)
    if own is not None:
        raise PolicyError(
            f"{own.model} says what holds in a group of records, and nothing of slices; "
            "publish in another way, or require another model"
        )
    if persons is not None:
        limits = [replace(x, by_person=PersonCounts.of(persons, x.codes, x.n_values)) for x in limits]
    return tuple(limits)


def _joint(table: Table, attributes: Mapping[str, Attribute], sensitive: Sequence[str], missing: str) -> Ranked:
    """All sensitive values of a record as one category; unknown, if one of them may be any value."""
    ranked = [rank(table[n], replace(attributes[n], hierarchy=None), by_sense=True) for n in sensitive]
    unknown = np.zeros(table.n_rows, dtype=bool)
    joint = np.zeros(table.n_rows, dtype=np.int64)
    for r in ranked:
        joint = np.unique(joint * r.n_values + r.ranks, return_inverse=True)[1]
        if missing == "any" and r.has_missing:
            unknown |= r.ranks == r.n_values - 1
    joint[unknown] = table.n_rows
    values, ranks = np.unique(joint, return_inverse=True)
    positions = np.arange(len(values), dtype=np.float64)
    if unknown.any():
        positions[-1] = np.nan
    return Ranked(
        JOINED.join(sensitive), "category", ranks.astype(np.int32), positions, has_missing=bool(unknown.any())
    )


def join_keys(table: Table, sensitive: Sequence[str]) -> Codes:
    """The sensitive values of each record as one number, as they are spelled: what slices can be joined on."""
    if not sensitive:
        return np.zeros(table.n_rows, dtype=np.int32)
    return row_keys([table[n] for n in sensitive]).astype(np.int32)
