"""Sketches that are not held: in a database that spills while they are made, and in the file that was written of them.

Of whole numbers alone. A database sorts them, as they are published, and finds those of some records again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from shoal.arrays import Ints
from shoal.data.database import connection, file_literal
from shoal.data.sparse.sketch_files import LABEL, SKETCH, copy_query, integer_type, is_file_of_integers
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError


@contextmanager
def sketch_store() -> Iterator[SketchStore]:
    """A store that is there as long as the block lasts."""
    with connection() as database:
        yield SketchStore(database)


class SketchStore:
    """Sketches as they are made, each with the number of its record."""

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        self._database = database
        database.execute(f"CREATE TEMP TABLE made (row BIGINT, {LABEL} VARCHAR, {SKETCH} BIGINT[])")

    def add(self, rows: Ints, sketches: Sketches) -> None:
        """Keep sketches, none of them empty, of the records with these numbers."""
        records, label = {"row": rows}, "NULL"
        if sketches.labels is not None:
            records["class"] = np.array([*sketches.classes, None], dtype=object)[:-1][sketches.labels]
            label = "CAST(class AS VARCHAR)"
        entries = {
            "row": np.repeat(rows, sketches.counts),
            "place": np.arange(len(sketches.components)),
            "component": sketches.components.astype(np.int64),
        }
        self._database.register("entries", entries)
        self._database.register("records", records)
        self._database.execute(
            f"INSERT INTO made SELECT row, {label}, components FROM records JOIN (SELECT row, "
            "list(component ORDER BY place) AS components FROM entries GROUP BY row) USING (row)"
        )
        self._database.unregister("entries")
        self._database.unregister("records")

    def drop_small_classes(self, fewest: int) -> int:
        """Forget the sketches of classes that have fewer; how many they were."""
        small = f"SELECT {LABEL} FROM made GROUP BY {LABEL} HAVING count(*) < {int(fewest)}"
        found = self._database.execute(f"DELETE FROM made WHERE {LABEL} IN ({small})").fetchone()
        return int(found[0]) if found else 0

    def write(self, path: str | os.PathLike[str], *, has_classes: bool) -> Ints:
        """Write them as `shoal.data.sparse.sketch_files.write_sketches` does, sorted by content; whose each is."""
        database = self._database
        by = [*([LABEL] if has_classes else []), f"len({SKETCH})", SKETCH, "row"]
        database.execute(f"CREATE TEMP TABLE ordered AS SELECT * FROM made ORDER BY {', '.join(by)}")
        database.execute("DROP TABLE made")
        low, high = database.execute(
            f"SELECT min(list_min({SKETCH})), max(list_max({SKETCH})) FROM ordered"
        ).fetchone() or (0, 0)
        told = f"CAST({SKETCH} AS {integer_type(low or 0, high or 0)}[]) AS {SKETCH}"
        # What a table knows to be never null would be written as a column that cannot be, unlike `write_sketches`.
        label = f", CASE WHEN len({SKETCH}) > 0 THEN {LABEL} END AS {LABEL}"
        copy_query(database, f"SELECT {told}{label if has_classes else ''} FROM ordered", path, 1.0)
        rows: Ints = np.ma.getdata(database.execute("SELECT row FROM ordered").fetchnumpy()["row"]).astype(np.int64)
        database.execute("DROP TABLE ordered")
        return rows


@contextmanager
def written_sketches(path: Path, rows: Ints) -> Iterator[WrittenSketches]:
    """A file of sketches of whole numbers, and which record each is of, as long as the block lasts.

    Raises
    ------
    DataError
        If it is damaged, or holds something else.
    """
    try:
        with connection() as database:
            yield WrittenSketches.of(database, path, rows)
    except duckdb.OutOfMemoryException:
        raise DataError(f"{path}: its sketches do not fit into the temporary folder; make room there") from None
    except duckdb.Error:
        raise DataError(f"{path}: the Parquet file is damaged or of an unknown make; export it again") from None


@dataclass(frozen=True)
class WrittenSketches:
    """Sketches in a file, read in the order of the file or of their records.

    Attributes
    ----------
    n : int
        How many they are.
    classes : tuple of str
        Those that occur, ascending; none where sketches have none.
    counts : mapping of int to int
        How many have each number of components.
    class_counts : mapping of str to int
        How many are of each class.
    has_classes : bool
    """

    n: int
    classes: tuple[str, ...]
    counts: Mapping[int, int]
    class_counts: Mapping[str, int]
    has_classes: bool
    _database: duckdb.DuckDBPyConnection

    @classmethod
    def of(cls, database: duckdb.DuckDBPyConnection, path: Path, rows: Ints) -> WrittenSketches:
        """Look at a file, and sort its sketches by their records."""
        scan = f"read_parquet({file_literal(path)}, file_row_number = true)"
        has_classes = is_file_of_integers(database, path)
        told = f"{SKETCH}, {LABEL if has_classes else f'NULL AS {LABEL}'}"
        database.execute(f"CREATE TEMP VIEW written AS SELECT file_row_number AS place, {told} FROM {scan}")
        database.register("owners", {"place": np.arange(len(rows)), "row": np.ascontiguousarray(rows)})
        database.execute(
            f"CREATE TEMP TABLE dealt AS SELECT owners.row AS place, {SKETCH}, {LABEL} FROM written "
            "JOIN owners USING (place) ORDER BY owners.row"
        )
        database.unregister("owners")
        nulls = f"{SKETCH} IS NULL OR list_count({SKETCH}) < len({SKETCH})"
        nulls += f" OR {LABEL} IS NULL" if has_classes else ""
        n, n_null = database.execute(f"SELECT count(*), count(*) FILTER ({nulls}) FROM written").fetchone() or (0, 0)
        if n_null:
            raise DataError(f"{path}: a sketch, a component or a class is a null; leave the record out")
        counts = database.execute(f"SELECT len({SKETCH}) AS m, count(*) FROM written GROUP BY m").fetchall()
        classes = database.execute(f"SELECT {LABEL}, count(*) FROM written GROUP BY {LABEL}").fetchall()
        class_counts = {str(name): int(size) for name, size in classes} if has_classes else {}
        sizes = {int(m): int(size) for m, size in counts}
        return cls(int(n), tuple(sorted(class_counts)), sizes, class_counts, has_classes, database)

    def in_file(self, low: int, high: int) -> Sketches:
        """Those at some places of the file."""
        return self._fetch("written", low, high)[1]

    def of_records(self, low: int, high: int) -> tuple[Ints, Sketches]:
        """Those of the records with some numbers, ascending, and which record each is of."""
        return self._fetch("dealt", low, high)

    def _fetch(self, source: str, low: int, high: int) -> tuple[Ints, Sketches]:
        some = f"SELECT place, {SKETCH}, {LABEL} FROM {source} WHERE place >= {low} AND place < {high} ORDER BY place"
        found = self._database.execute(f"SELECT place, len({SKETCH}) AS m, {LABEL} FROM ({some})").fetchnumpy()
        unnested = f"SELECT CAST(unnest({SKETCH}) AS BIGINT) AS component FROM ({some})"
        components = self._database.execute(unnested).fetchnumpy()["component"]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.ma.getdata(found["m"]), dtype=np.int64)])
        labels = None
        if self.has_classes:
            texts: Any = np.ma.getdata(found[LABEL])
            labels = np.searchsorted(np.array(self.classes, dtype=object), texts).astype(np.int32)
        places = np.ma.getdata(found["place"]).astype(np.int64)
        return places, Sketches(starts, np.ma.getdata(components).astype(np.int64), 1.0, labels, self.classes)
