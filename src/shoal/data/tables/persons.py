"""Whose row is it? Persons as numbers, from the columns that a policy names."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from shoal.arrays import Ints
from shoal.data.tables.column_words import meanings_of
from shoal.data.tables.guess import is_key
from shoal.data.tables.sense import sense_of
from shoal.data.tables.table import Column, Table, row_keys
from shoal.errors import DataError


def person_codes(table: Table, names: Sequence[str]) -> Ints:
    """Number the persons of a table, 0, 1, ...: rows are of one person if they agree in all the named columns.

    Keys agree if they say the same (`sense_of`): ``7``, ``007`` and ``7.0``, or ``A1`` and ``a1 ``. Where these are two
    persons after all, fewer are counted than there are, which protects them more; the other mistake would protect less.

    A row that stands for several records has one number too, where it is known that each of them is another person's.

    Raises
    ------
    DataError
        If it is not known whose row it is: it may be of anybody, so it can be counted neither as one more person nor as
        none.
    """
    if table.weights is not None and table.is_one_each:
        return np.arange(table.n_rows)
    return _codes(table, names, "whose row it is")


def provider_codes(table: Table, names: Sequence[str]) -> Ints:
    """Number the providers of a table in the same way: rows are from one if they agree in all the named columns."""
    return _codes(table, names, "from which provider a row is")


def persons_at_most(table: Table, name: str) -> Ints:
    """Number the persons of a table by one column, of which a row without a value is of a person of its own."""
    is_known = ~table[name].missing
    codes = np.arange(table.n_rows) + table.n_rows
    codes[is_known] = person_codes(table.select([name]).take(np.flatnonzero(is_known)), [name])
    return codes


def _codes(table: Table, names: Sequence[str], said: str) -> Ints:
    columns = [table[name] for name in names]
    n_unknown = int(np.any([c.missing for c in columns], axis=0).sum())
    if n_unknown:
        named = " or ".join(repr(name) for name in names)
        raise DataError(
            f"{named}, which says {said}, is missing in {n_unknown:,} of {table.n_rows:,} rows; fill it in, or "
            "leave these rows out"
        )
    return row_keys([_by_sense(c) for c in columns])


def _by_sense(column: Column) -> Column:
    """The same cells, numbered by what they say."""
    said = sense_of(column.values)
    if said.dtype.kind == "f" and column.is_text and np.abs(said).max(initial=0.0) >= MOST_EXACT:
        said = sense_of(column.values, is_code=True)  # floats would take long numbers for each other
    values, place = np.unique(said, return_inverse=True)
    return Column(column.name, place[column.codes].astype(np.int32), values)


_DECIMALS = re.compile(r"[+-]?\d*[.,]\d*[1-9]\d*")
MOST_EXACT = 2.0**53
LEAST_DISTINCT = 0.01
"""Of the rows: a column with fewer different values has too many rows of each to be a key of persons."""
LEAST_NAMED = 20
"""So many values are enough in a column whose name says that it numbers people, who may have many rows each."""
CONSTANT = 0.98
"""A column looks constant if rows that may be of one person agree in it to this share; of equal survey weights, which
depend on sex and origin, some 97 % agree in these."""
TRIVIAL = 0.9
"""A column in which two rows of any persons agree with this chance says nothing."""
LEAST_CONSTANT = 2
ENOUGH_KEYS = 5_000
DOUBT = 0.05
"""A share of rows of so many keys is off by less, all but surely."""


def look_like_persons(table: Table, *, may_miss: bool = False) -> list[str]:
    """The columns whose values repeat as keys of persons do, by measure and whatever their names, the likeliest first.

    Many different values, none of them in many rows and none with decimals, and rows of one value agree in at least two
    columns of fewer values, in which rows of different ones do not. Or the name says so, and values repeat: a key of
    people (``user_id``) comes before one of what they do (``trip_id``). A fine code of places can look the same, if the
    table names their regions too.

    Parameters
    ----------
    may_miss : bool
        Whether a column counts in which some rows have no value, so that not all persons can be told by it.
    """
    n_rows, found = table.n_rows, []
    chances = {c.name: _chance(c) for c in table.columns.values()}
    for column in table.columns.values():
        n_values, names_people = len(column.values), _names_people(column.name)
        least = min(LEAST_NAMED, LEAST_DISTINCT * n_rows) if names_people else LEAST_DISTINCT * n_rows
        n_known = n_rows - int(column.missing.sum())
        if (n_known < n_rows and not may_miss) or not least <= n_values < n_known or n_rows < 20:
            continue
        counts = column.counts()[:n_values]
        repeated = np.flatnonzero(np.append(counts, 0)[np.minimum(column.codes, n_values)] > 1)
        n_repeated = int((counts > 1).sum())
        if is_key(column.name) and n_repeated:
            found.append((-len(table.columns) - names_people, column.name))
            continue
        is_even = int(counts.max()) <= max(0.01 * n_rows, 20)
        if not is_even or len(repeated) < 0.05 * n_rows or not _are_keys(column):
            continue
        agreeing = [
            other.name
            for other in table.columns.values()
            if other is not column
            and 4 * len(other.values) <= n_values
            and chances[other.name] < TRIVIAL
            and _is_constant(column, other, repeated, n_repeated)
        ]
        if len(agreeing) >= LEAST_CONSTANT:
            found.append((-len(agreeing), column.name))
    return [name for _, name in sorted(found)]


def _names_people(name: str) -> bool:
    """Whether a column's name says that it numbers people, and not places, things or what happened."""
    return {"key", "somebody"} <= meanings_of(name).keys()


def _are_keys(column: Column) -> bool:
    """Whether no value is a number with decimals, which a measure has and a key does not.

    Keys may have points, as ``756.1234.5678.97``, and whole numbers be read as floats, ``7.0``.
    """
    return not any(_DECIMALS.fullmatch(text.strip()) for text in column.texts()[: len(column.values)])


def _chance(column: Column) -> float:
    """The chance that two rows agree in a column."""
    shares = np.bincount(column.codes) / max(len(column.codes), 1)
    return float((shares**2).sum())


def _is_constant(key: Column, other: Column, rows: Ints, n_keys: int) -> bool:
    """Whether rows of one key agree in the other column; all rows are looked at only if those of some keys do agree.

    These keys are spread evenly over the values of the column.
    """
    if n_keys > 2 * ENOUGH_KEYS:
        some = rows[key.codes[rows] % (n_keys // ENOUGH_KEYS) == 0]
        if _agreement(key, other, some, len(np.unique(key.codes[some]))) < CONSTANT - DOUBT:
            return False
    return _agreement(key, other, rows, n_keys) >= CONSTANT


def _agreement(key: Column, other: Column, rows: Ints, n_keys: int) -> float:
    """The share of rows with a key that was seen before, in which the other column is as it was then."""
    if len(rows) == n_keys:
        return 1.0
    pairs = np.unique(key.codes[rows].astype(np.int64) * (int(other.codes.max(initial=0)) + 1) + other.codes[rows])
    return 1 - (len(pairs) - n_keys) / (len(rows) - n_keys)
