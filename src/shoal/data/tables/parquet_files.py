"""Parquet files as a database scans them, one or several that are one table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from shoal.data.database import connection, file_literal, identifier, literal
from shoal.data.tables.parts import Parts
from shoal.data.tables.scannable import Described, Scannable
from shoal.data.tables.sql_types import FLOATS, INTEGERS, LOCAL_TIMES, family, refuse_type
from shoal.data.tables.workers import FileCells, collapsed
from shoal.errors import DataError

_SCHEMA = "name, type, type_length, num_children, converted_type, scale, precision, logical_type"


@dataclass
class ParquetFiles(Scannable):
    """One file, or all files of some parts.

    Attributes
    ----------
    path : Path
        The file, the folder or the pattern.
    parts : Parts, optional
        The files, if they are several.
    """

    path: Path
    parts: Parts | None = None
    _cells: list[FileCells] = field(default_factory=list)
    """What workers have to know of each file, once it is described."""

    @property
    def files(self) -> tuple[Path, ...]:
        """All files, in their order."""
        return (self.path,) if self.parts is None else self.parts.files

    def described(self, database: duckdb.DuckDBPyConnection, is_read: Callable[[str], bool]) -> Described:
        """All columns, whether they are read or not: a scan takes those alone that are asked for."""
        if self.parts is None:
            found = _one(database, self.path)
            self._cells = [FileCells.plain(self.path, len(found.names))]
        else:
            found, self._cells = _several(database, self.path, self.parts)
        if not found.n_records:
            raise DataError(f"{self.path}: has columns but no rows; there is nothing to anonymise")
        return found

    def damage(self) -> str:
        """Which file it is."""
        bad = self.path
        if self.parts is not None:
            bad = next((file for file in self.files if not _is_readable(file)), self.path)
        return f"{bad}: the Parquet file is damaged or of an unknown make; export it again"

    @contextmanager
    def collapsed(self, cells: Mapping[str, str]) -> Iterator[str | None]:
        """Row groups of all files are dealt to workers."""
        with collapsed(self._cells, cells) as found:
            yield found


def _is_readable(file: Path) -> bool:
    try:
        with connection() as database:
            database.execute(f"SELECT count(*) FROM parquet_metadata({file_literal(file)})").fetchone()
    except duckdb.Error:
        return False
    return True


def _one(database: duckdb.DuckDBPyConnection, path: Path) -> Described:
    scan = f"read_parquet({file_literal(path)})"
    described = database.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
    types = tuple(str(row[1]) for row in described)
    for name, kind in zip((row[0] for row in described), types, strict=True):
        refuse_type(str(path), str(name), kind)
    # duckdb renames columns that differ only in case; the schema has the true names, the root first.
    schema = database.execute(f"SELECT name FROM parquet_schema({file_literal(path)})").fetchall()
    names = tuple(str(row[0]) for row in schema[1:])
    counted = database.execute(f"SELECT count(*) FROM {scan}").fetchone()
    aliases = ", ".join(f"c{i}" for i in range(len(types)))
    return Described(f"{scan} AS file({aliases})", names, types, int(counted[0]) if counted else 0)


def _several(database: duckdb.DuckDBPyConnection, path: Path, parts: Parts) -> tuple[Described, list[FileCells]]:
    """Columns by their names, in the order of the first file, and behind them those that folders name."""
    listed = f"[{', '.join(map(file_literal, parts.files))}]"
    alike = _alike(database, parts.files)
    makes = [_one(database, parts.files[places[0]]) for places in alike]
    names = makes[0].names
    for make, places in zip(makes, alike, strict=True):
        _refuse_names(path, parts.files[0], names, parts.files[places[0]], make.names)
    some = f"[{', '.join(file_literal(parts.files[places[0]]) for places in alike)}]"
    joined = database.execute(f"DESCRIBE SELECT * FROM read_parquet({some}, union_by_name = true)").fetchall()
    kinds = {str(name): str(kind) for name, kind, *_ in joined}
    types = [_joined_type(path, name, kinds[name], [m.types[m.names.index(name)] for m in makes]) for name in names]
    twice = {name.casefold() for name in names} & {key.casefold() for key in parts.keys}
    if twice:
        raise DataError(
            f"{path}: the column {min(twice)!r} is in its files, and in the names of their folders too; rename the "
            "folders, so that they name no column"
        )
    folded, file_name = {name.casefold() for name in names}, "file"
    while file_name in folded:
        file_name += "_"
    how = f"union_by_name = true, filename = {literal(file_name)}" if parts.keys else "union_by_name = true"
    told = [identifier(name) for name in names]
    if parts.keys:
        files = ", ".join(literal(os.path.abspath(file)) for file in parts.files)
        database.execute(f"CREATE TYPE part_names AS ENUM ({files})")
        # The name is one value for many rows at once, so that looking it up costs next to nothing.
        place = f"enum_code(CAST({identifier(file_name)} AS part_names)) + 1"
        for key, cells in parts.keys.items():
            kind = "BIGINT" if parts.is_whole(key) else "VARCHAR"
            told.append(f"list_extract([{', '.join(_spelled(cell, kind) for cell in cells)}], {place})")
    kept = (*types, *("BIGINT" if parts.is_whole(key) else "VARCHAR" for key in parts.keys))
    aliases = ", ".join(f"c{i}" for i in range(len(kept)))
    scan = f"(SELECT {', '.join(told)} FROM read_parquet({listed}, {how})) AS file({aliases})"
    counted = database.execute(f"SELECT count(*) FROM read_parquet({listed}, union_by_name = true)").fetchone()
    read: dict[int, FileCells] = {}
    for make, places in zip(makes, alike, strict=True):
        own = [f"CAST(p{make.names.index(name)} AS {kinds[name]})" for name in names]
        for i in places:
            of_key = [_spelled(c[i], kind) for c, kind in zip(parts.keys.values(), kept[len(types) :], strict=True)]
            read[i] = FileCells(parts.files[i], (*own, *of_key), len(make.names))
    described = Described(scan, (*names, *parts.keys), kept, int(counted[0]) if counted else 0)
    return described, [read[i] for i in range(len(parts.files))]


def _alike(database: duckdb.DuckDBPyConnection, files: Sequence[Path]) -> list[list[int]]:
    """The places of files that have the same columns in the same types."""
    listed = f"[{', '.join(map(file_literal, files))}]"
    schemas: dict[str, list[tuple[object, ...]]] = {}
    for file, *column in database.execute(f"SELECT file_name, {_SCHEMA} FROM parquet_schema({listed})").fetchall():
        schemas.setdefault(str(file), []).append(tuple(column))
    alike: dict[tuple[tuple[object, ...], ...], list[int]] = {}
    for i, file in enumerate(files):
        alike.setdefault(tuple(schemas[os.path.abspath(file)][1:]), []).append(i)
    return list(alike.values())


def _refuse_names(path: Path, first: Path, names: Sequence[str], file: Path, others: Sequence[str]) -> None:
    folded = [name.casefold() for name in others]
    if len(set(folded)) < len(folded):
        twice = next(name for i, name in enumerate(others) if folded[i] in folded[:i])
        raise DataError(
            f"{file}: of several files, names of columns have to differ in more than case; rename {twice!r}"
        )
    for here, there, lacking in ((names, others, file), (others, names, first)):
        missing = [name for name in here if name not in there]
        if missing:
            raise DataError(
                f"{path}: the column {missing[0]!r} is not in all of its files, {lacking.name} has none; give files "
                "of the same columns"
            )


def _joined_type(path: Path, name: str, joined: str, kinds: Sequence[str]) -> str:
    """The type of a column that files have in several; refused where it would not hold the values of all."""
    families = {family(kind) for kind in kinds}
    if len(set(kinds)) == 1:
        return kinds[0]
    if families <= INTEGERS:
        return joined if family(joined) in INTEGERS else "BIGINT"
    is_exact = families <= INTEGERS | FLOATS and family(joined) in FLOATS - {"FLOAT"}
    if is_exact or families <= LOCAL_TIMES:
        return joined
    raise DataError(
        f"{path}: the column {name!r} is {' and '.join(sorted(families))} in its files; write it in one type into all"
    )


def _spelled(cell: str | None, kind: str) -> str:
    """A cell that a folder names, in SQL."""
    return f"CAST({'NULL' if cell is None else literal(cell)} AS {kind})"
