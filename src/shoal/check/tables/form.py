"""How a published file is written: a mark on a row that no value shows could say whose it is.

A release has its rows in the order of what they say, and writes every cell in one way. So what a table is read from is
written again and compared: another quote, blank line or end of line is found, as is a row out of place.

Not seen: in which order a release takes the values of a column, of the three that are natural.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.data.bytes import open_bytes
from shoal.data.tables.parse import parse_dates, parse_numbers
from shoal.data.tables.table import Column, Table, spell
from shoal.data.tables.write import file_name, is_text, write_table
from shoal.scratch import scratch_folder

AT_ONCE = 1 << 20


def compare_form(path: Path, table: Table) -> tuple[list[str], list[str]]:
    """What is written otherwise than a release with these rows has it, and what was not compared of that.

    Of text all but its compression: that, and the bytes of other formats, differ from one library to another.
    """
    with scratch_folder() as scratch:
        again = scratch / file_name(table)
        write_table(table, again)
        if _alike(path, again, gzipped=(False, False)):
            return [], []
        if not is_text(path.name):
            return [], [f"the bytes of {path.name} that hold no value"]
        if _alike(path, again, gzipped=(path.name.endswith(".gz"), again.name.endswith(".gz"))):
            return [], [f"how {path.name} is compressed"]
    return [f"{path.name} has other quotes, ends of lines or blank lines than a release with these rows"], []


def out_of_order(table: Table, quasi: Sequence[str]) -> list[str]:
    """Whether rows stand where what they say does not put them, by quasi-identifiers first, columns by name."""
    ours = sorted(n for n in table.names if n in quasi)
    is_tied = np.ones(max(0, table.n_rows - 1), dtype=bool)
    for name in [*ours, *sorted(set(table.names) - set(ours))]:
        column = table[name]
        if not any(_ascends(place(column), column, is_tied) for place in _ORDERS):
            return [f"the rows are not in the order of {name!r}, so their places may tell whose they are"]
        is_tied &= column.codes[1:] == column.codes[:-1]
    return []


def _alike(one: Path, other: Path, gzipped: tuple[bool, bool]) -> bool:
    with open_bytes(one, gzipped[0]) as ours, open_bytes(other, gzipped[1]) as theirs:
        while True:
            some = ours.read(AT_ONCE)
            if some != theirs.read(AT_ONCE):
                return False
            if not some:
                return True


def _ascends(places: Ints | Floats | None, column: Column, is_tied: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> bool:
    """Whether no row that is equal to the one before in all columns before has a lower place; missing ones are last."""
    if places is None:
        return False
    markers = np.unique(np.array([m or "" for m in column.markers], dtype=str), return_inverse=True)[1]
    last = places.max(initial=0) + 1
    rows = np.concatenate([places, last + markers])[column.codes]
    return not bool((is_tied & (rows[1:] < rows[:-1])).any())


def _by_themselves(column: Column) -> Ints:
    return np.arange(len(column.values))


def _as_texts(column: Column) -> Ints:
    return np.argsort(np.argsort(np.array(spell(column.values), dtype=str), kind="stable"), kind="stable")


def _as_numbers(column: Column) -> Floats | None:
    return parse_numbers(column.values)


def _as_dates(column: Column) -> Ints | None:
    dates = parse_dates(column.values)
    return None if dates is None else dates.values.astype(np.int64)


_ORDERS: tuple[Callable[[Column], Ints | Floats | None], ...] = (_by_themselves, _as_numbers, _as_texts, _as_dates)
