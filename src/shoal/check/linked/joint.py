"""Who looks like whom over all files together: asked of the written files themselves, by a query over their join.

For each file with quasi-identifiers the query collects, by pseudonym, the sorted list of the quasi-identifiers of its
rows, spelled as they are (a person may have none); joins these lists to the pseudonyms of the main file; and counts the
pseudonyms with the same lists. Nothing of the methods is used for it, and of CSV and Parquet files nothing of how
tables are read elsewhere; other files are read as every table is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np

from shoal.arrays import Ints
from shoal.data.database import connection, file_literal, literal
from shoal.data.tables.table import Table
from shoal.errors import DataError


@dataclass(frozen=True)
class WrittenTable:
    """One of the files.

    Attributes
    ----------
    path : Path
    delimiter : str, optional
        Of a text.
    read : Table
        What was read back from it, which is asked in place of a file that SQL does not read.
    quasi : sequence of str
        Its quasi-identifiers.
    """

    path: Path
    delimiter: str | None
    read: Table
    quasi: Sequence[str]

    @property
    def names(self) -> list[str]:
        """All its columns, in the order of the file."""
        return self.read.names

    def scan(self, database: duckdb.DuckDBPyConnection, name: str) -> str:
        """The file as SQL reads it, its columns called c0, c1, ...; what it does not read goes by the given name."""
        columns = [f"c{i}" for i in range(len(self.names))]
        if self.path.name.endswith(".parquet"):
            return f"read_parquet({file_literal(self.path)}) AS t({', '.join(columns)})"
        if self.delimiter is None:
            cells = [np.array(c.texts(), dtype=object)[c.codes] for c in self.read.columns.values()]
            database.register(name, dict(zip(columns, cells, strict=True)))
            return f"{name} AS t"
        packed = "gzip" if self.path.name.endswith(".gz") else "none"
        layout = ", ".join(f"'{c}': 'VARCHAR'" for c in columns)
        return (
            f"read_csv({file_literal(self.path)}, auto_detect=false, header=true, columns={{{layout}}}, "
            f"delim={literal(self.delimiter)}, quote='\"', escape='\"', compression='{packed}', parallel=false)"
        )

    def cell(self, name: str) -> str:
        """A column in SQL, its cells as texts."""
        return f"coalesce(CAST(c{list(self.names).index(name)} AS VARCHAR), '')"


@dataclass(frozen=True)
class Joined:
    """What the query found.

    Attributes
    ----------
    classes : mapping of str to int
        The class of each pseudonym of the main file: those with the same number look alike in all files.
    sizes : int64 array (n_classes,)
        Pseudonyms of each class.
    strangers : mapping of str to int
        Of each file, rows whose pseudonym the main one does not have.
    """

    classes: Mapping[str, int]
    sizes: Ints
    strangers: Mapping[str, int]


def join_files(tables: Mapping[str, WrittenTable], link: str, missing: str, markers: Sequence[str]) -> Joined:
    """Ask the files who looks like whom; the first is the main one.

    With ``missing="any"`` a missing quasi-identifier may hide any value, so whoever has one looks like nobody.
    """
    unknown = ", ".join(literal(m) for m in {"", *markers})
    with connection() as database:
        for i, table in enumerate(tables.values()):
            cells = [table.cell(n) for n in table.quasi]
            shown = f"[{', '.join(cells)}]" if cells else "CAST([] AS VARCHAR[])"
            alone = " OR ".join(f"{cell} IN ({unknown})" for cell in cells) if missing == "any" and cells else "false"
            try:
                database.execute(
                    f"CREATE TEMP TABLE r{i} AS SELECT {table.cell(link)} AS who, {shown} AS shown, ({alone}) AS alone "
                    f"FROM {table.scan(database, f't{i}')}"
                )
            except duckdb.Error:  # whose message may quote a row
                raise DataError(f"{table.path} cannot be read as a table; restore it from the release") from None
            history = "list_sort(list(shown))" if table.quasi else "CAST([] AS VARCHAR[][])"
            database.execute(
                f"CREATE TEMP TABLE h{i} AS SELECT who, {history} AS h, bool_or(alone) AS alone FROM r{i} GROUP BY who"
            )
        known = [0, *(i for i, table in enumerate(tables.values()) if i and table.quasi)]
        joins = " ".join(f"LEFT JOIN h{i} ON h{i}.who = h0.who" for i in known[1:])
        lists = ", ".join(f"h{i}.h AS g{i}" for i in known)
        is_alone = " OR ".join(f"coalesce(h{i}.alone, false)" for i in known)
        database.execute(
            f"CREATE TEMP TABLE joined AS SELECT h0.who AS who, {lists}, CASE WHEN {is_alone} THEN h0.who END AS own "
            f"FROM h0 {joins}"
        )
        names = ", ".join([*(f"g{i}" for i in known), "own"])
        found = database.execute(
            f"SELECT who, dense_rank() OVER (ORDER BY {names}) - 1 AS class FROM joined ORDER BY who"
        ).fetchall()
        strangers = {}
        for i, name in enumerate(tables):
            counted = database.execute(f"SELECT count(*) FROM r{i} WHERE who NOT IN (SELECT who FROM h0)").fetchone()
            strangers[name] = int(counted[0]) if counted else 0
    classes = {str(who): int(number) for who, number in found}
    sizes = np.bincount(np.array(list(classes.values()), dtype=np.int64)) if classes else np.zeros(0)
    return Joined(classes, sizes.astype(np.int64), strangers)
