"""CSV and TSV, plain or compressed with gzip.

Files are written as UTF-8 with ``\\n`` at the end of each line and quotes only where they are needed. The same
table gives the same bytes every time.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.data.sniff import Look, look
from shoal.data.tables.csv import read_distinct_text, read_text, refuse_irregular, scan_distinct_text
from shoal.data.tables.decimals import with_points
from shoal.data.tables.files import refuse_aliens, stem_of
from shoal.data.tables.format import FORMATS, DistinctScan, HowToRead, TableFormat
from shoal.data.tables.guarded import guarded, unguarded
from shoal.data.tables.table import Column, Source, Table
from shoal.data.tables.text_survey import DELIMITERS, Survey
from shoal.errors import DataError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_TAB = "\t"
_ROWS_AT_ONCE = 1 << 16
_MOST_COMBINED = 1 << 12


class Text(TableFormat):
    """Lines of cells; what a file is taken for that is nothing else."""

    name = "csv"
    place = 9
    files = ("data.csv", "data.tsv", "data.csv.gz", "data.tsv.gz")
    reads_distinct = True

    def looks_like(self, seen: Look) -> bool:
        """Whatever no other format knows."""
        return True

    def read(self, seen: Look, reading: HowToRead) -> Table:
        """Find delimiter and encoding where they are not given, and read all cells, or every distinct row once."""
        refuse_aliens(seen)
        if reading.drops is not None:
            found = self._read_distinct(seen, reading)
            if found is None:
                refuse_irregular(seen.path, reading, gzipped=seen.is_gzip)
            return found
        columns, known = read_text(
            seen.path,
            reading,
            gzipped=seen.is_gzip,
            expected=None
            if reading.expected is None
            else [_guarded_texts(c) for c in reading.expected.columns.values()],
        )
        return self._table(seen, reading, columns, known)

    def _read_distinct(self, seen: Look, reading: HowToRead) -> Table | None:
        assert reading.drops is not None
        found = read_distinct_text(seen.path, reading, gzipped=seen.is_gzip, drops=reading.drops)
        if found is None:
            return None
        columns, known, weights = found
        table = self._table(seen, reading, columns, known)
        return replace(table, weights=weights, is_one_each=reading.tells_one_each(weights))

    def _table(self, seen: Look, reading: HowToRead, columns: list[Column], known: Survey) -> Table:
        if reading.decimal == ",":
            columns = with_points(str(seen.path), columns)
        between = known.delimiter if known.delimiter in DELIMITERS else DELIMITERS[0]
        return Table.of(columns, Source(stem_of(seen.path), self.name, between, seen.is_gzip, known.notes))

    def scan(self, database: DuckDBPyConnection, seen: Look, reading: HowToRead) -> DistinctScan:
        """As `read` reads it."""
        found = scan_distinct_text(seen.path, reading, gzipped=seen.is_gzip)
        if found is None:
            refuse_irregular(seen.path, reading, gzipped=seen.is_gzip)
        if reading.decimal != ",":
            return found
        as_texts = found.column
        return replace(found, column=lambda i, cells: with_points(str(seen.path), [as_texts(i, cells)])[0])

    def file_name(self, source: Source) -> str:
        """By delimiter and compression."""
        return f"data.{'tsv' if source.delimiter == _TAB else 'csv'}{'.gz' if source.gzip else ''}"

    def write(self, table: Table, path: str | os.PathLike[str]) -> None:
        """With the delimiter and the compression of the source; a null is an empty cell."""
        with open(path, "wb") as file:
            if table.source.gzip:
                with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed:
                    for piece in _pieces(table):
                        packed.write(piece)
            else:
                for piece in _pieces(table):
                    file.write(piece)

    def read_back(self, path: str | os.PathLike[str], names: Iterable[str], reading: HowToRead) -> Table:
        """Without the quotes that guard texts, and with the names as they were: a reader strips blanks around them."""
        seen, plain = look(path), HowToRead((), reading.delimiter, None, "first", expected=reading.expected)
        table = None
        if reading.drops is not None:
            table = self._read_distinct(seen, replace(plain, drops=reading.drops))
        if table is None:
            table = self.read(seen, plain)
        shown = _unguarded_names(table.names, names)
        columns = [_unguarded_column(c, shown[n], reading.markers) for n, c in table.columns.items()]
        return replace(Table.of(columns, table.source), weights=table.weights)

    def scan_back(
        self, database: DuckDBPyConnection, path: str | os.PathLike[str], names: Iterable[str], reading: HowToRead
    ) -> DistinctScan:
        """As `read_back` reads it."""
        plain = HowToRead((), reading.delimiter, None, "first")
        found = scan_distinct_text(Path(path), plain, gzipped=look(path).is_gzip)
        if found is None:
            refuse_irregular(Path(path), plain, gzipped=look(path).is_gzip)
        shown, as_texts = list(_unguarded_names(found.names, names).values()), found.column
        return replace(
            found,
            names=tuple(shown),
            column=lambda i, cells: _unguarded_column(as_texts(i, cells), shown[i], reading.markers),
        )


def _unguarded_names(found: Iterable[str], names: Iterable[str]) -> dict[str, str]:
    """What columns of a file were called, by the names that were found there."""
    spelled = {name.strip(): name for name in names}
    return {name: spelled.get(unguarded(name), unguarded(name)) for name in found}


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
        for some, n_records in table.pieces(_ROWS_AT_ONCE):
            cells = [texts[codes[some]].tolist() for texts, codes in parts]
            lines = cells[0] if len(cells) == 1 else map(delimiter.join, zip(*cells, strict=True))
            if table.weights is None:
                yield ("\n".join(lines) + "\n").encode()
            else:
                yield "".join([f"{line}\n" * n for line, n in zip(lines, n_records.tolist(), strict=True)]).encode()
    except UnicodeEncodeError:
        raise DataError("a text holds half a character (a lone surrogate), which no file can; mend it") from None


_Part = tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]


def _spelled(column: Column, delimiter: str, is_alone: bool) -> _Part:
    texts = _guarded_texts(column)
    dictionary = np.empty(len(texts), dtype=object)
    dictionary[:] = [_field(text, delimiter, is_alone) for text in texts]
    return dictionary, column.codes


def _guarded_texts(column: Column) -> list[str]:
    texts = column.texts()
    if column.is_text:
        return [guarded(text) for text in texts]
    texts[len(column.values) :] = map(guarded, texts[len(column.values) :])
    return texts


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


FORMATS.register(Text())
