"""A table into a file like the one it came from.

Text files are UTF-8 with ``\\n`` at the end of each line and quotes only where they are needed. The same
table gives the same bytes every time.

A text, or a column's name, that begins with ``=``, ``+``, ``-``, ``@`` (also in their full-width forms), a
tab or a line end, and that is not a plain number, would be run as a formula by a spreadsheet that opens the
text file. It is written there with a single quote in front. Parquet says that a text is a text, so there it
stays as it is.
"""

from __future__ import annotations

import errno
import gzip
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from shoal.data.database import connection, identifier, literal
from shoal.data.tables.files import read_table
from shoal.data.tables.table import Column, Table
from shoal.errors import DataError

DATA_FILES = ("data.csv", "data.tsv", "data.csv.gz", "data.tsv.gz", "data.parquet")
"""What the file of a published table may be called."""
_TAB = "\t"
_ROWS_AT_ONCE = 1 << 16
_MOST_COMBINED = 1 << 12
_RISKY_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_PLAIN_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?")


def file_name(table: Table) -> str:
    """What a file of this table is called: data.csv, data.tsv, data.csv.gz, data.tsv.gz or data.parquet."""
    if table.source.format == "parquet":
        return "data.parquet"
    return f"data.{'tsv' if table.source.delimiter == _TAB else 'csv'}{'.gz' if table.source.gzip else ''}"


def write_table(table: Table, path: str | os.PathLike[str]) -> None:
    """Write a table in the format, with the delimiter and the compression of its source.

    Missing cells are written as they were spelled; a null is an empty cell in text and a null in Parquet.

    Raises
    ------
    OSError
        If the file cannot be written, for example because the disk is full. What was written stays there.
    DataError
        If the format cannot hold the table.
    """
    if table.source.format == "parquet":
        _write_parquet(table, path)
        return
    with open(path, "wb") as file:
        if table.source.gzip:
            with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed:
                for piece in _pieces(table):
                    packed.write(piece)
        else:
            for piece in _pieces(table):
                file.write(piece)


def guarded(text: str) -> str:
    """The text, with a single quote in front if a spreadsheet would run it.

    A text that only looks guarded gets one more quote, so that `unguarded` gives every text back.

    >>> guarded("=1+1"), guarded("-1.5"), guarded("a=b"), guarded("'=1")
    ("'=1+1", '-1.5', 'a=b', "''=1")
    """
    return "'" + text if _is_risky(text.lstrip("'")) else text


def unguarded(text: str) -> str:
    """The text that was guarded.

    >>> unguarded("'=1+1"), unguarded("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and _is_risky(text.lstrip("'")) else text


def _is_risky(text: str) -> bool:
    return text.startswith(_RISKY_STARTS) and not _PLAIN_NUMBER.fullmatch(text)


def read_back(
    path: str | os.PathLike[str], names: Iterable[str], *, markers: Sequence[str], delimiter: str | None = None
) -> Table:
    """Read a file that `write_table` wrote, without the quotes that guard its texts and with the names as they were.

    Parameters
    ----------
    names : iterable of str
        The columns that there should be; a reader strips blanks around a name.
    """
    table = read_table(path, markers=(), delimiter=delimiter, header="first")
    if table.source.format == "parquet":
        return read_table(path, markers=markers, header="first")
    spelled = {name.strip(): name for name in names}
    columns = [_unguarded_column(c, spelled.get(unguarded(n), unguarded(n)), markers) for n, c in table.columns.items()]
    return Table.of(columns, table.source)


def _unguarded_column(column: Column, name: str, markers: Sequence[str]) -> Column:
    """The same cells; those that are spelled like a missing value are missing."""
    texts = [unguarded(str(value)) for value in column.values]
    missing = sorted({t for t in texts if t in markers})
    values = sorted(set(texts).difference(missing))
    place = {text: i for i, text in enumerate([*values, *missing])}
    new_code = np.array([place[text] for text in texts], dtype=np.int32)
    dictionary = np.empty(len(values), dtype=object)
    dictionary[:] = values
    return Column(name, new_code[column.codes], dictionary, tuple(missing))


def _pieces(table: Table) -> Iterator[bytes]:
    """The file in pieces of whole lines."""
    delimiter = table.source.delimiter
    is_alone = len(table.columns) == 1
    try:
        header = delimiter.join(_field(guarded(name), delimiter, is_alone) for name in table.columns)
        yield (header + "\n").encode()
        parts = _combined([_spelled(column, delimiter, is_alone) for column in table.columns.values()], delimiter)
        for start in range(0, table.n_rows, _ROWS_AT_ONCE):
            cells = [texts[codes[start : start + _ROWS_AT_ONCE]].tolist() for texts, codes in parts]
            lines = cells[0] if len(cells) == 1 else map(delimiter.join, zip(*cells, strict=True))
            yield ("\n".join(lines) + "\n").encode()
    except UnicodeEncodeError:
        raise DataError("a text holds half a character (a lone surrogate), which no file can; mend it") from None


_Part = tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]


def _spelled(column: Column, delimiter: str, is_alone: bool) -> _Part:
    texts = column.texts()
    if column.is_text:
        texts = [guarded(text) for text in texts]
    else:
        texts[len(column.values) :] = map(guarded, texts[len(column.values) :])
    dictionary = np.empty(len(texts), dtype=object)
    dictionary[:] = [_field(text, delimiter, is_alone) for text in texts]
    return dictionary, column.codes


def _combined(parts: list[_Part], delimiter: str) -> list[_Part]:
    """Join neighbouring columns with dictionaries so small that all pairs of values can be spelled before."""
    joined: list[_Part] = []
    for texts, codes in parts:
        if joined and len(codes) > _MOST_COMBINED and 0 < len(joined[-1][0]) * len(texts) <= _MOST_COMBINED:
            before, codes_before = joined[-1]
            pairs = np.add.outer(before + delimiter, texts).ravel()
            joined[-1] = (pairs, codes_before * np.int32(len(texts)) + codes)
        else:
            joined.append((texts, codes))
    return joined


def _field(text: str, delimiter: str, is_alone: bool) -> str:
    if not text:
        return '""' if is_alone else ""  # a blank line would be no row
    # A blank at the start would read as the ", " style, and a byte order mark as one of the file.
    if text[0] in " \ufeff" or delimiter in text or '"' in text or "\n" in text or "\r" in text:
        return '"' + text.replace('"', '""') + '"'
    return text


def _write_parquet(table: Table, path: str | os.PathLike[str]) -> None:
    folded = [name.casefold() for name in table.columns]
    if len(set(folded)) < len(folded):
        twice = next(name for i, name in enumerate(table.columns) if folded[i] in folded[:i])
        raise DataError(f"Parquet is written without names that differ only in case; rename the column {twice!r}")
    target = literal(os.path.abspath(path))
    try:
        with connection() as database:
            cells = register_cells(database, table)
            selected = ", ".join(f"{cell} AS {identifier(name)}" for name, cell in cells.items())
            database.execute(f"COPY (SELECT {selected} FROM cells) TO {target} (FORMAT parquet, COMPRESSION zstd)")
    except duckdb.IOException as error:
        code = errno.ENOSPC if "space left" in str(error) else errno.EIO
        raise OSError(code, os.strerror(code), os.fspath(path)) from None
    except duckdb.Error:
        raise DataError("the table cannot be written as Parquet; give it as CSV") from None


def register_cells(database: duckdb.DuckDBPyConnection, table: Table) -> dict[str, str]:
    """Show duckdb the cells of a table as ``cells``; the SQL of each column's cells, null where one is missing.

    Which cells are missing is a column of its own: duckdb before 2.0 takes no notice of the mask of an array.
    """
    arrays, cells = {}, {}
    for i, (name, column) in enumerate(table.columns.items()):
        arrays[f"c{i}"] = typed_cells(column)
        cell = f"c{i}"
        if column.has_missing and not column.is_text:
            arrays[f"missing{i}"] = column.missing
            cell = f"CASE WHEN missing{i} THEN NULL ELSE c{i} END"
        cells[name] = f"CAST({cell} AS {sql_type(column)})"
    database.register("cells", arrays)
    return cells


def typed_cells(column: Column) -> npt.NDArray[Any]:
    """All cells of a column in its type; the spellings of missing texts are texts, other missing cells any value."""
    n_values = len(column.values)
    if column.is_text or not n_values:
        dictionary = np.empty(n_values + len(column.markers), dtype=object)
        dictionary[:n_values] = column.values
        dictionary[n_values:] = column.markers
        return dictionary[column.codes]
    return column.values[np.where(column.missing, 0, column.codes)]


def sql_type(column: Column) -> str:
    """The SQL type of a column's values; times that are all midnight are dates."""
    kind = column.values.dtype.kind
    if kind == "M":
        return "DATE" if bool((column.values == column.values.astype("datetime64[D]")).all()) else "TIMESTAMP"
    return {"f": "DOUBLE", "i": "BIGINT", "b": "BOOLEAN"}.get(kind, "VARCHAR")
