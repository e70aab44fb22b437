"""The meaning of every column of a table: what the policy says, and the guess where it says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes
from shoal.data.tables import guess
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.dictionary import objects
from shoal.data.tables.hierarchy import Hierarchy, calendar, intervals, prefixes
from shoal.data.tables.moments import moments_of
from shoal.data.tables.offending import first_place
from shoal.data.tables.parse import parse_dates, parse_numbers
from shoal.data.tables.table import Column, Table, spell
from shoal.data.tables.text_survey import DELIMITERS
from shoal.errors import DataError, PolicyError, did_you_mean
from shoal.kinds.tables.policy import ColumnPolicy, Policy


def _there_are(name: str, names: Sequence[str]) -> str:
    """Which columns there are; where all of a line was read as one, that the delimiter is another."""
    other = next((d for d in DELIMITERS if len(names) == 1 and d in names[0]), None)
    if other is None:
        return did_you_mean(name, names)
    return f"every line was read as one column, so its delimiter seems to be another: {other!r}, not the one stated"


def attributes_of(table: Table, policy: Policy) -> dict[str, Attribute]:
    """Combine the policy's columns with guesses for what it leaves open, and refuse what does not fit the data.

    A type that the data does not have (numbers asked for, words found) is an error, not a silent change.
    """
    if "*" in table.columns:
        raise DataError("a column is named '*', which in a policy means all columns not named; rename it")
    for name in policy.columns:
        if name != "*" and name not in table.columns:
            raise PolicyError(
                f"the policy names a column {name!r} that is not in the data; {_there_are(name, table.names)}"
            )
    for requirement in policy.require:
        wanted = requirement.column
        if wanted is not None and wanted not in table.columns:
            raise PolicyError(
                f"{requirement.model} names a sensitive column {wanted!r} that is not in the data; "
                f"{did_you_mean(wanted, table.names)}"
            )
    for name in (*policy.person, *policy.provider):
        if name not in table.columns:
            whom = "a person" if name in policy.person else "a provider"
            raise PolicyError(
                f"the policy names {whom} by a column {name!r} that is not in the data; "
                f"{did_you_mean(name, table.names)}"
            )
    if policy.panel is not None and policy.panel not in table.columns:
        raise PolicyError(
            f"the policy names a panel by a column {policy.panel!r} that is not in the data; "
            f"{did_you_mean(policy.panel, table.names)}"
        )
    default = policy.columns.get("*", ColumnPolicy())
    given = {name: policy.columns.get(name, default) for name in table.columns}
    dropped = (*policy.person, *policy.provider, *([] if policy.panel is None else [policy.panel]))
    given |= {name: given[name].model_copy(update={"role": "identifying"}) for name in dropped}
    return {name: _resolve(column, given[name], table.weights) for name, column in table.columns.items()}


def refitted(table: Table, attributes: Mapping[str, Attribute], policy: Policy) -> dict[str, Attribute]:
    """The same meaning, with automatic hierarchies made from the values that are left in the table."""
    default = policy.columns.get("*", ColumnPolicy())
    fitted = dict(attributes)
    for name, column in table.columns.items():
        given = policy.columns.get(name, default)
        if attributes[name].hierarchy is not None and given.hierarchy in (None, "auto"):
            fitted[name] = replace(attributes[name], hierarchy=_hierarchy(column, attributes[name].type, given))
    return fitted


def _resolve(column: Column, given: ColumnPolicy, weights: Codes | None) -> Attribute:
    kind = given.type
    if kind is None and given.order is not None:
        kind = "ordinal"
    if kind is None and given.hierarchy not in (None, "auto"):
        kind = "nominal"
    guessed = guess.guess_attribute(column, type=kind, weights=weights)
    role = given.role or guessed.role
    why = guessed.why if given.role is None else f"{guessed.why.split('; ')[0]}; role given"
    if role in ("quasi", "sensitive"):
        _refuse_unreadable(column, guessed.type, weights)
    if given.shift is not None:
        moments_of(column)  # which refuses what cannot be moved
    order = given.order or guessed.order
    if given.order is not None:
        listed = set(given.order)
        absent = len(set(spell(column.values)) - listed)
        if absent:
            raise PolicyError(
                f"columns.{column.name}.order leaves out {absent} of the column's values (the first: "
                f"{first_place(column, lambda v: spell(_alone(v))[0] not in listed, weights)}); list all of them"
            )
    return Attribute(column.name, guessed.type, role, order, _hierarchy(column, guessed.type, given, weights), why)


def _refuse_unreadable(column: Column, kind: str, weights: Codes | None) -> None:
    if kind == "continuous":
        numbers = parse_numbers(column.values)
        if numbers is None:
            raise DataError(
                f"column {column.name!r} is to be continuous but holds values that are not numbers "
                f"(the first: {first_place(column, lambda v: parse_numbers(_alone(v)) is None, weights)}); "
                'say type = "nominal", or add their spelling to missing_markers'
            )
        if column.values.dtype.kind in "iO" and (np.abs(numbers) > 2**53).any() and _are_whole(column):
            raise DataError(
                f"column {column.name!r} holds whole numbers too large to be told apart as numbers; "
                'say type = "nominal" or "prefix", or drop it'
            )
        if not np.isfinite(numbers).all():
            raise DataError(
                f"column {column.name!r} holds infinite values (the first: "
                f"{first_place(column, lambda v: not np.isfinite(float(v)), weights)}); replace them, add their "
                'spelling to missing_markers, or say type = "nominal" if these are codes'
            )
    if kind == "date" and parse_dates(column.values) is None and len(column.values):
        raise DataError(
            f"column {column.name!r} is to be a date but holds values that are not dates of one form (the first: "
            f"{first_place(column, lambda v: parse_dates(_alone(v)) is None, weights)}); write them as YYYY-MM-DD"
        )


def _alone(value: Any) -> npt.NDArray[Any]:
    """One value of a dictionary as a dictionary."""
    return objects([value]) if isinstance(value, str) else np.array([value])


def _are_whole(column: Column) -> bool:
    """Whether every value is written in digits alone, so that none was meant to be rounded."""
    return column.values.dtype.kind == "i" or all(str(v).lstrip("+-").isdigit() for v in column.values)


def _hierarchy(column: Column, kind: str, given: ColumnPolicy, weights: Codes | None = None) -> Hierarchy | None:
    """The hierarchy given, read and checked to cover every value; prefix codes always have one."""
    if isinstance(given.hierarchy, Hierarchy):
        hierarchy = given.hierarchy
    elif given.hierarchy is not None and given.hierarchy != "auto":
        hierarchy = Hierarchy.read(given.hierarchy)
    elif kind == "prefix":
        return prefixes(spell(column.values)) if len(column.values) else None
    elif given.hierarchy == "auto" and len(column.values):
        return _automatic(column, kind)
    else:
        return None
    absent = set(hierarchy.missing_from(spell(column.values)))
    where = first_place(column, lambda v: spell(_alone(v))[0] in absent, weights) if absent else ""
    hierarchy.require_all(spell(column.values), column.name, column.counts()[: len(column.values)].tolist(), where)
    return hierarchy


def automatic_rows(table: Table, policy: Policy, most: int) -> dict[str, tuple[list[str], list[tuple[str, ...]]]]:
    """The values of each column, and the rows of the hierarchy that it would have by itself, from left to right.

    Of a column with more than `most` values some are taken, from the first to the last at equal steps.
    """
    default = policy.columns.get("*", ColumnPolicy())
    found: dict[str, tuple[list[str], list[tuple[str, ...]]]] = {}
    for name, column in table.columns.items():
        given, values = policy.columns.get(name, default), column.values
        if len(values) > most:
            values = values[np.linspace(0, len(values) - 1, most).astype(np.intp)]
        texts, made = spell(values), None
        if len(values):
            kind = guess.guess_attribute(column, type=given.type, weights=table.weights).type
            with suppress(PolicyError, DataError):  # which has none
                made = prefixes(texts) if kind == "prefix" else _automatic(replace(column, values=values), kind)
        row_of = {row[0]: row for row in made.rows} if made is not None else {}
        found[name] = texts, [row_of[leaf] for leaf in made.leaf_order()] if made is not None else []
    return found


def _automatic(column: Column, kind: str) -> Hierarchy:
    """Nested intervals or calendar levels, with leaves spelled as the column spells them."""
    texts = spell(column.values)
    if kind == "continuous":
        numbers = parse_numbers(column.values)
        if numbers is not None:
            return intervals(numbers, texts)
    if kind == "date":
        dates = parse_dates(column.values)
        if dates is not None:
            days = dates.values.astype("datetime64[D]")
            levels = {row[0]: row[1:] for row in calendar(days).rows}
            return Hierarchy(tuple((t, *levels[str(d)]) for t, d in zip(texts, days, strict=True)))
    raise PolicyError(
        f"columns.{column.name}.hierarchy: {kind} values have no automatic hierarchy; "
        "give a file, or a type of continuous, date or prefix"
    )
