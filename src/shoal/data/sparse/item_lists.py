"""A column of a table whose cells are lists of items: delimited text, JSON, or true lists of Parquet."""

from __future__ import annotations

import ast
import json
import os
import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import duckdb
import numpy as np

from shoal.arrays import Codes, Ints
from shoal.data.database import connection, file_literal, identifier
from shoal.data.sniff import look
from shoal.data.sparse.records import Sparse, SparseSource, assemble
from shoal.data.strings.alphabets import WHITE
from shoal.data.strings.formats.lines import split_cell
from shoal.data.tables.files import read_table
from shoal.data.tables.header import refuse_named_by_record
from shoal.data.tables.persons import person_codes
from shoal.data.tables.sql_types import refuse_type
from shoal.data.tables.table import Column, Table, encode_cells
from shoal.data.tables.unchanged import unchanged
from shoal.errors import DataError, did_you_mean

_WHITE = "".join(map(chr, WHITE))
_WORD = re.compile(f"[^{_WHITE}]+")
_EMPTY_NOTE = "cells without a value were read as empty records"
_LISTED = ("VARCHAR", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")


@dataclass(frozen=True)
class ItemCells:
    """A column with texts or lists, and the class of each row.

    Attributes
    ----------
    codes : int32 array of n_rows, optional
        Row i of a column of texts is ``texts[codes[i]]``; a missing cell is the empty text.
    texts : list of str
        Distinct or not.
    lists : (starts, items), optional
        Of a column of lists: where each row begins, and the items of all.
    classes : list of str, optional
        The class of each row.
    notes : tuple of str
        What was done that a user might not expect.
    persons : int64 array (n_rows,), optional
        Whose each row is.
    """

    codes: Codes
    texts: list[str]
    lists: tuple[Ints, list[str]] | None
    classes: list[str] | None
    notes: tuple[str, ...]
    gzip: bool = False
    persons: Ints | None = None

    def all_texts(self) -> list[str]:
        """The text of each row."""
        return [self.texts[code] for code in self.codes.tolist()]

    def look_like_lists(self) -> bool:
        """Whether the cells are lists, or most texts that are not blank are lists in brackets."""
        return self.lists is not None or 2 * sum(map(_is_bracketed, self._told)) > len(self._told)

    def look_like_numbers(self) -> bool:
        """Whether the cells are nothing but whole numbers between blanks, as no text is."""
        told = self._told
        return bool(told) and all(word.isdecimal() for text in told for word in text.split())

    @property
    def _told(self) -> list[str]:
        return [text for text in self.texts if text.strip(_WHITE)]


def read_cells(
    path: str | os.PathLike[str],
    column: str | None,
    class_column: str | None,
    header: str | None = None,
    person: Sequence[str] = (),
) -> ItemCells:
    """Read the named columns of a table, and no others of a Parquet file, whose names are taken as they are.

    Raises
    ------
    DataError
        If a column is not there or has no usable type, or a class is missing, with the row.
    """
    where = Path(path)
    if look(where).is_parquet:
        refuse_named_by_record(str(where), (), header)
        with unchanged(where):  # its columns are scanned one by one
            return _parquet_cells(where, column, class_column, person)
    table = read_table(where, markers=(), header=header)
    _refuse_names(where, column, class_column, table.names, person)
    assert column is not None
    texts = table[column].texts()
    codes = table[column].codes
    classes = None
    if class_column is not None:
        names = table[class_column].texts()
        classes = [names[code] for code in table[class_column].codes.tolist()]
    cells = ItemCells(codes, texts, None, classes, table.source.notes, table.source.gzip, _persons(table, person))
    return _settled(where, class_column, cells)


def read_item_lists(
    path: str | os.PathLike[str], cells: ItemCells, source: SparseSource, repeats: Literal["once", "sum"] = "once"
) -> Sparse:
    """Make a record of each cell: a list, or a text cut at the source's delimiter, as a list in brackets, or at blanks.

    A missing or blank cell is an empty record.

    Parameters
    ----------
    repeats : {"once", "sum"}
        Whether an item that a cell repeats gets the weight 1 or its count.

    Raises
    ------
    DataError
        With the row whose cell is a broken list, or holds something else than texts and integers.
    """
    notes = (*source.notes, *cells.notes)
    if cells.lists is not None:
        starts, items = cells.lists
        kind = "lists"
    else:
        kind = "delimited" if source.delimiter is not None else "lists" if cells.look_like_lists() else "words"
        cut = _cut(Path(path), cells, source.delimiter, kind)
        sizes = np.fromiter(map(len, cut), np.int64, len(cut))[cells.codes]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        items = [item for code in cells.codes.tolist() for item in cut[code]]
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    codes = np.fromiter(map(numbers.__getitem__, items), np.int64, len(items))
    source = replace(source, notes=notes, gzip=cells.gzip, reading={"cells": kind})
    made = replace(assemble(starts, codes, list(numbers), repeats=repeats, source=source), persons=cells.persons)
    return made if cells.classes is None else made.with_labels(cells.classes)


def _cut(path: Path, cells: ItemCells, delimiter: str | None, kind: str) -> list[list[str]]:
    if kind == "words":
        return [_WORD.findall(text) for text in cells.texts]
    if kind == "delimited":
        assert delimiter is not None
        return [split_cell(text, delimiter) for text in cells.texts]
    cut = [_bracketed_items(text.strip(_WHITE)) for text in cells.texts]
    broken = [code for code, items in enumerate(cut) if items is None]
    if broken:
        row = int(np.argmax(np.isin(cells.codes, broken))) + 1
        raise DataError(
            f"{path}, row {row} after the header: the cell is not a list of texts or integers, as most others are; "
            'write it as ["a", "b"], or give the delimiter of the items'
        )
    return [items for items in cut if items is not None]


def _is_bracketed(text: str) -> bool:
    bare = text.strip(_WHITE)
    return bare.startswith("[") and bare.endswith("]")


def _bracketed_items(text: str) -> list[str] | None:
    """The items of a list in the spelling of JSON or of Python; None if it is no list of texts and integers."""
    if not text:
        return []
    items: Any = None
    if _is_bracketed(text):
        try:
            items = json.loads(text)
        except (ValueError, RecursionError):
            with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
                items = ast.literal_eval(text)
    if not isinstance(items, list) or not all(type(item) in (str, int) for item in items):
        return None
    return [str(item) for item in items]


def _persons(table: Table, names: Sequence[str]) -> Ints | None:
    """Whose each row is; a blank says of nobody."""
    return person_codes(Table.of([_without_blanks(table[name]) for name in names]), names) if names else None


def _without_blanks(column: Column) -> Column:
    texts = np.array([*column.texts(), ""], object)[column.codes]
    return encode_cells(column.name, texts, np.array([not text.strip(_WHITE) for text in texts], bool))


def _parquet_cells(path: Path, column: str | None, class_column: str | None, person: Sequence[str]) -> ItemCells:
    scan = f"read_parquet({file_literal(path)})"
    try:
        with connection() as database:
            kinds = {str(r[0]): str(r[1]) for r in database.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()}
            _refuse_names(path, column, class_column, list(kinds), person)
            assert column is not None
            classes = None
            if class_column is not None:
                refuse_type(str(path), class_column, kinds[class_column])
                named = _fetch(database, scan, f"CAST({identifier(class_column)} AS VARCHAR)")
                classes = ["" if is_null else str(text) for text, is_null in named]
            persons = _persons(Table.of([_text_column(database, scan, path, n, kinds[n]) for n in person]), person)
            if kinds[column].endswith("[]"):
                cells = _parquet_lists(database, path, scan, column, kinds[column])
            else:
                refuse_type(str(path), column, kinds[column])
                fetched = _fetch(database, scan, f"CAST({identifier(column)} AS VARCHAR)")
                texts = ["" if is_null else str(text) for text, is_null in fetched]
                cells = ItemCells(np.arange(len(texts), dtype=np.int32), texts, None, None, ())
    except duckdb.OutOfMemoryException:
        raise DataError(f"{path}: its columns do not fit into half of the memory; split the file") from None
    except duckdb.Error:
        raise DataError(f"{path}: the Parquet file is damaged or of an unknown make; export it again") from None
    if not len(cells.codes):
        raise DataError(f"{path}: has columns but no rows; there is nothing to anonymise")
    return _settled(path, class_column, replace(cells, classes=classes, persons=persons))


def _text_column(database: duckdb.DuckDBPyConnection, scan: str, path: Path, name: str, kind: str) -> Column:
    refuse_type(str(path), name, kind)
    fetched = _fetch(database, scan, f"CAST({identifier(name)} AS VARCHAR)")
    missing = np.array([is_null for _, is_null in fetched], bool)
    return encode_cells(name, np.array(["" if is_null else str(text) for text, is_null in fetched], object), missing)


def _parquet_lists(database: duckdb.DuckDBPyConnection, path: Path, scan: str, column: str, kind: str) -> ItemCells:
    if kind.removesuffix("[]") not in _LISTED:
        raise DataError(f"{path}: the column {column!r} has the type {kind}; give lists of texts or of integers")
    counted = _fetch(database, scan, f"len({identifier(column)})")
    sizes = np.array([0 if is_null else int(size) for size, is_null in counted], np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    items = _fetch(database, scan, f"CAST(unnest({identifier(column)}) AS VARCHAR)")
    null = next((i for i, (_, is_null) in enumerate(items) if is_null), None)
    if null is not None:
        row = int(np.searchsorted(starts, null, side="right"))
        raise DataError(f"{path}, row {row}: the list in the column {column!r} holds a null; leave it out")
    notes = (_EMPTY_NOTE,) if any(is_null for _, is_null in counted) else ()
    return ItemCells(np.zeros(len(sizes), np.int32), [], (starts, [str(text) for text, _ in items]), None, notes)


def _fetch(database: duckdb.DuckDBPyConnection, scan: str, cell: str) -> list[tuple[Any, bool]]:
    """The values of an expression, and whether each is null."""
    cells = database.execute(f"SELECT {cell} AS cell FROM {scan}").fetchnumpy()["cell"]
    return list(zip(np.ma.getdata(cells).tolist(), np.ma.getmaskarray(cells).tolist(), strict=True))


def _refuse_names(
    path: Path, column: str | None, class_column: str | None, names: Sequence[str], person: Sequence[str] = ()
) -> None:
    if column is None:
        raise DataError(f"{path}: name the column that holds the items or the text; {did_you_mean('', names)}")
    for name in (column, class_column, *person):
        if name is not None and name not in names:
            raise DataError(f"{path}: there is no column {name!r}; {did_you_mean(name, names)}")
    if {column, class_column} & set(person):
        raise DataError(
            f"{path}: the column that says whose a record is cannot be the record or its class; name another"
        )
    if column == class_column:
        raise DataError(f"{path}: the column {column!r} cannot be both the record and its class; name two columns")


def _settled(path: Path, class_column: str | None, cells: ItemCells) -> ItemCells:
    """Refuse missing classes, and note missing cells."""
    if cells.classes is not None:
        is_none = np.array([not name.strip() for name in cells.classes], dtype=bool)
        if is_none.any():
            raise DataError(
                f"{path}, row {int(np.argmax(is_none)) + 1} after the header: the column {class_column!r} holds no "
                f"class ({int(is_none.sum())} of {len(is_none)} rows have none); give every record a class, or leave "
                "out the class column"
            )
    is_blank = np.array([*(not text.strip(_WHITE) for text in cells.texts), False], dtype=bool)
    if cells.lists is None and is_blank[cells.codes].any():
        return replace(cells, notes=(*cells.notes, _EMPTY_NOTE))
    return cells
