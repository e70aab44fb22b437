"""Averages of a published file whose records do not fit into memory: block by block, and all blocks beside the file.

Of every block of the original it is known who stood together, and what is said to be published of them. In each,
`shoal.check.tables.averages` verifies that every value that is said to be published is the average of at least k
present originals, which then holds of all blocks together. Then the records that are said to be published are counted
by their values, in SQL, beside those of the written file: no combination of values may stand there more or less often.

That the blocks hold the records that were read, and no others, is compared by how often each value of a column occurs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints
from shoal.check.evidence import Evidence
from shoal.check.guarantee import count
from shoal.check.tables.averages import averages
from shoal.check.verdict import Asked, Verdict
from shoal.data.database import connection, file_literal, identifier
from shoal.data.tables.table import Column, Table
from shoal.errors import NotVerified


@dataclass(frozen=True)
class Averaged:
    """A block of the original, and what is said to be published of it: record by record, in the same order. Secret.

    Attributes
    ----------
    original, published : Table
        The quasi-identifiers of each.
    groups : int64 array (n_records,)
        Who stood together; groups of another block have other numbers.
    """

    original: Table
    published: Table
    groups: Ints


def verify_averages(
    path: str | os.PathLike[str],
    asked: Asked,
    blocks: Iterable[Averaged],
    read: Mapping[str, tuple[Column, Codes]],
) -> Verdict:
    """What is wrong with the averages of a written Parquet file; no guarantee of its own.

    Call it inside `shoal.data.memory.bounded`.

    Parameters
    ----------
    path : path
        The written file.
    asked : Asked
        What is required, of which columns.
    blocks : iterable of Averaged
        All records, each in one of them.
    read : mapping
        Of each quasi-identifier of the original every value once, and how many records have it.
    """
    quasi = list(dict.fromkeys(asked.quasi))
    findings: dict[str, None] = {}
    left = {name: _Left(*read[name]) for name in quasi}
    last = -1
    try:
        with connection() as database:
            for block in blocks:
                groups = np.asarray(block.groups, dtype=np.int64)
                if not len(groups) or int(groups.min()) <= last:
                    findings["groups of one number stand in several blocks"] = None
                    break
                last = int(groups.max())
                evidence = Evidence(block.original, original_groups=groups, groups=groups)
                verdict = averages(block.published, asked, evidence)
                findings |= dict.fromkeys((*verdict.findings, *verdict.unverified, *verdict.not_compared))
                for name in quasi:
                    left[name].count_off(block.original[name])
                _note_classes(database, block, quasi)
            other = [name for name, values in left.items() if not values.are_none]
            if other:
                findings[f"the blocks do not hold the values of {other[0]!r} that were read"] = None
            if not findings:
                n_unlike = _n_unlike(database, path, quasi)
                if n_unlike:
                    findings[
                        f"{count(n_unlike, 'combination')} of values stand in more or fewer records than have "
                        "their average"
                    ] = None
    except duckdb.Error:
        raise NotVerified(
            "the averages of the written file could not be compared, for want of memory or of room in the temporary "
            "folder, so nothing was published"
        ) from None
    return Verdict((), findings=tuple(findings))


class _Left:
    """Values of a column that no block has had yet, each with its number of records."""

    def __init__(self, column: Column, counts: Codes) -> None:
        held = column.codes < len(column.values)
        values = column.values[column.codes[held]]
        order = np.argsort(values, kind="stable")
        self._values, self._counts = values[order], counts[held][order].astype(np.int64)
        self._are_known = bool(held.all())

    def count_off(self, column: Column) -> None:
        """Take the values of a block off."""
        place = np.minimum(np.searchsorted(self._values, column.values), len(self._values) - 1)
        self._are_known &= bool((self._values[place] == column.values).all()) and not column.has_missing
        np.subtract.at(self._counts, place, column.counts()[: len(column.values)])

    @property
    def are_none(self) -> bool:
        return self._are_known and not self._counts.any()


def _note_classes(database: duckdb.DuckDBPyConnection, block: Averaged, quasi: Sequence[str]) -> None:
    """Add what is said to be published, a row for each group with its number of records."""
    _, first, sizes = np.unique(block.groups, return_index=True, return_counts=True)
    said = {f"c{i}": _values(block.published[name], first) for i, name in enumerate(quasi)}
    database.register("block", {**said, "n": sizes.astype(np.int64)})
    is_there = database.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'said'").fetchone()
    database.execute(
        "INSERT INTO said SELECT * FROM block"
        if is_there and is_there[0]
        else "CREATE TEMP TABLE said AS SELECT * FROM block"
    )
    database.unregister("block")


def _values(column: Column, rows: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
    """The cells of some rows; none is missing, or the file could not have it."""
    if column.missing[rows].any():
        raise NotVerified(f"averages of {column.name!r} are missing, and cannot be compared in blocks")
    return column.values[column.codes[rows]]


def _n_unlike(database: duckdb.DuckDBPyConnection, path: str | os.PathLike[str], quasi: Sequence[str]) -> int:
    """How many combinations of values the file has more or less often than was said."""
    told = ", ".join(f"c{i}" for i in range(len(quasi)))
    shown = ", ".join(f"{identifier(name)} AS c{i}" for i, name in enumerate(quasi))
    written = f"(SELECT {shown} FROM read_parquet({file_literal(path)}))"
    both = f"SELECT {told}, n FROM said UNION ALL SELECT {told}, -1 FROM {written}"
    found = database.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM ({both}) GROUP BY {told} HAVING sum(n) <> 0)"
    ).fetchone()
    return int(found[0]) if found else 0
