"""Rows that stay at home: a provider counts coarse combinations of values, and only these numbers travel.

Each provider replaces its quasi-identifiers by their labels at a level of a hierarchy that all have agreed on, drops
what identifies, and counts the rows of each combination. Whoever makes the release puts the counts of all providers
together, as rows again, and asks for m-privacy, so that no provider finds the rows of another.

**Guarantee** none by itself: no row leaves a provider, but how many it has of each coarse combination does.

**Not protected** from the one who makes the release, who is trusted with counts: one of 1 is one person. Persons with
several rows are not known as such, as their keys stay at home.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.parse import parse_numbers
from shoal.data.tables.table import Column, Table, encode_cells, row_keys
from shoal.data.tables.write import write_table
from shoal.errors import DataError, PolicyError, did_you_mean
from shoal.kinds.tables.kind import load
from shoal.kinds.tables.policy import Policy

COUNT = "count"
PROVIDER = "provider"


def provider_counts(
    source: Any, policy: Policy, levels: Mapping[str, int] | None = None, *, to: str | Path | None = None
) -> dict[str, list[Any]]:
    """Count the coarse combinations of one provider's rows.

    Parameters
    ----------
    source : path or frame
        The provider's rows.
    policy : Policy
        What the columns are. Where a level is asked for, it gives the hierarchy: a file or a `Hierarchy`.
    levels : mapping of str to int, optional
        The level of a column's hierarchy whose labels stand for its values; others stay as they are.
    to : path, optional
        A CSV file to write besides.

    Returns
    -------
    dict of str to list
        The columns, sorted by content, and the number of rows in ``count``.
    """
    table = load(source, policy.missing_markers, policy.header, policy.reading)
    dropped = {*policy.person, *policy.provider}
    known = [n for n in policy.person if n in table.columns]
    attributes = attributes_of(table, policy.changed(person=known, provider=[], coalition=1))
    columns = {n: table[n] for n, a in attributes.items() if a.role != "identifying" and n not in dropped}
    if COUNT in columns or PROVIDER in columns:
        raise DataError(f"a column is called {COUNT!r} or {PROVIDER!r}, which counts have of their own; rename it")
    for name, level in (levels or {}).items():
        if name not in columns:
            raise PolicyError(f"levels names {name!r}, which is not published; {did_you_mean(name, columns)}")
        columns[name] = _at_level(columns[name], _agreed(policy, name), level)
    keys = row_keys(list(columns.values()))
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    made = Table.of([*(c.take(first).compact() for c in columns.values()), encode_cells(COUNT, counts)])
    if to is not None:
        write_table(made, Path(to))
    return {name: column.cells().tolist() for name, column in made.columns.items()}


def join_counts(counts: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Rows again, from the counts of all providers, with the provider of each in the column ``provider``.

    Parameters
    ----------
    counts : mapping of str to path or frame
        By the name of the provider, what `provider_counts` gave or wrote.
    """
    if not counts:
        raise PolicyError("no counts were given; give those of each provider by its name")
    joined: dict[str, list[Any]] = {}
    for name, given in counts.items():
        table = load(given)
        if COUNT not in table.columns:
            raise DataError(f"the counts of {name!r} have no column {COUNT!r}; give what provider_counts made")
        numbers = parse_numbers(table[COUNT].values)
        if table[COUNT].has_missing or numbers is None or (numbers < 1).any() or (numbers % 1).any():
            raise DataError(f"the column {COUNT!r} of {name!r} holds more than whole numbers of rows; mend it")
        repeats = numbers.astype(np.int64)[table[COUNT].codes]
        part = {n: np.repeat(c.cells(), repeats).tolist() for n, c in table.columns.items() if n != COUNT}
        part[PROVIDER] = [name] * int(repeats.sum())
        if joined and list(part) != list(joined):
            raise DataError(f"the counts of {name!r} have other columns than those before; agree on them")
        for column, cells in part.items():
            joined.setdefault(column, []).extend(cells)
    return joined


def coarse_policy(policy: Policy, levels: Mapping[str, int] | None = None) -> Policy:
    """The policy for rows from `join_counts`: hierarchies begin at the levels, and the provider is named."""
    columns = {n: c.model_dump(exclude_none=True) for n, c in policy.columns.items()}
    for name in {*policy.person, *policy.provider, *(n for n, c in columns.items() if c.get("role") == "identifying")}:
        columns.pop(name, None)
    for name, level in (levels or {}).items():
        rows = dict.fromkeys(row[level:] for row in _agreed(policy, name).rows)
        columns[name] = {"role": columns[name].get("role"), "type": "nominal", "hierarchy": Hierarchy(tuple(rows))}
    asked = {name: getattr(policy, name) for name in type(policy).model_fields}
    return Policy(**{**asked, "person": (), "provider": PROVIDER, "columns": columns})


def _agreed(policy: Policy, name: str) -> Hierarchy:
    """The hierarchy that a policy gives a column; an automatic one would be of the provider's own values."""
    column = policy.columns.get(name)
    given = None if column is None else column.hierarchy
    if given is None or given == "auto":
        raise PolicyError(
            f"levels names {name!r}, for which the policy gives no hierarchy; all providers need the same one"
        )
    return given if isinstance(given, Hierarchy) else Hierarchy.read(given)


def _at_level(column: Column, hierarchy: Hierarchy, level: int) -> Column:
    """The same column with labels in the place of values."""
    labels = [hierarchy.label(text, level) for text in column.texts()[: len(column.values)]]
    values, place = np.unique(np.array(labels, dtype=object), return_inverse=True)
    codes = np.append(place, np.arange(len(values), len(values) + len(column.markers)))[column.codes]
    return Column(column.name, codes.astype(np.int32), values, column.markers)
