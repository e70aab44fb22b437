"""How much of the memory that is given a table takes: its distinct rows, and the different values of its columns.

They are estimates, by the peaks of releases, and decide what is held, what is left in files and what is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np

from shoal.data.memory import bound
from shoal.data.tables.table import Column
from shoal.errors import DataError

# Of the program, and of distinct rows in all steps of a release and its report, by their peaks at ten million records.
BASE_BYTES, ROW_BYTES, CELL_BYTES = 300 << 20, 100, 22
# More of a record that is held, as it may be of one person with others, and of its key if that is a text; by the peaks
# of releases of a million records of Adult, drawn anew, with keys of both kinds.
HELD_BYTES, KEY_BYTES = 150, 130
# Of different values, which are held once: of a text and each byte of it, and of a moment or, where rows lie in files,
# any other value, which are spelled on the way; by the peaks of releases of 0.4 to 2 million of them.
TEXT_BYTES, CHARACTER_BYTES, VALUE_BYTES = 100, 5, 180
FEW = 8
"""A share of the bound that values, or labels, may take in any case: as much of them is reckoned with rows."""


class TooManyDistinct(DataError):
    """Distinct rows that do not fit into the memory that is given.

    Attributes
    ----------
    n_rows, memory : int
        How many they are, and the bytes that are given.
    names, n_records
        The columns and the records of the table, where its distinct rows were counted; else none.
    """

    names: tuple[str, ...] = ()
    n_records: int = 0

    def __init__(self, path: os.PathLike[str], n_rows: int, memory: int, what: str = "rows are distinct") -> None:
        self.n_rows, self.memory = n_rows, memory
        super().__init__(
            f"{path}: {n_rows:,} {what}, too many for {memory / 1e9:.3g} GB; drop columns that tell "
            "records apart, or raise memory"
        )


def refuse_uncountable(path: os.PathLike[str], n_records: int) -> None:
    """Refuse more records than weights can count."""
    if n_records > np.iinfo(np.int32).max:
        raise DataError(f"{path}: has more than {np.iinfo(np.int32).max:,} records; split it")


def value_bytes(columns: Iterable[Column]) -> int:
    """About how many bytes the different values of some columns take, of texts and moments."""
    taken = 0
    for column in columns:
        if column.is_text:
            taken += text_bytes(len(column.values), sum(map(len, column.values)))
        elif column.values.dtype.kind == "M":
            taken += VALUE_BYTES * len(column.values)
    return taken


def text_bytes(n_texts: int, n_bytes: int) -> int:
    """The same of different texts, which have so many bytes together."""
    return TEXT_BYTES * n_texts + CHARACTER_BYTES * n_bytes


def n_that_fit(n_columns: int, taken: int = 0) -> int | None:
    """How many distinct rows fit into what `bounded` gives, beside what is taken already; None without a bound."""
    memory = bound()
    return None if memory is None else max(0, memory - BASE_BYTES - taken) // (ROW_BYTES + CELL_BYTES * n_columns)


def does_fit(n_rows: int, n_columns: int, taken: int = 0) -> bool:
    """Whether so many distinct rows do."""
    most = n_that_fit(n_columns, taken)
    return most is None or n_rows <= most


def refuse_too_many(
    path: os.PathLike[str],
    n_rows: int,
    n_columns: int,
    what: str = "rows are distinct",
    more_bytes: int = 0,
    taken: int = 0,
) -> None:
    """Refuse rows that do not fit into what `shoal.data.memory.bounded` gives, beside what is taken already."""
    memory, more = bound(), n_rows * (ROW_BYTES + more_bytes + CELL_BYTES * n_columns)
    if memory and BASE_BYTES + more + taken > memory:
        long = " and hold many or long values" if taken > more else ""
        raise TooManyDistinct(path, n_rows, memory, f"{what}{long}")


def refuse_values(path: os.PathLike[str], name: str, n_values: int, taken: int) -> None:
    """Refuse the values of a column that do not fit, together with what is taken of others."""
    memory = bound()
    if memory and taken > max(memory // FEW, memory - BASE_BYTES):
        raise TooManyDistinct(path, n_values, memory, f"values of {name!r} differ")


def refuse_too_many_held(path: os.PathLike[str], n_records: int, n_columns: int, n_texts: int, why: str) -> None:
    """The same of records that have to be held, with keys of persons of which so many columns are texts."""
    what = f"records are to be held, as {why}"
    refuse_too_many(path, n_records, n_columns, what, HELD_BYTES + KEY_BYTES * n_texts)
