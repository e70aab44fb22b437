"""Delimited text: CSV and TSV, plain or gzip-compressed, every cell a text as it is spelled.

Two readers give the same table. The fast one lets duckdb split regular files and number the distinct texts
in SQL, so that cells never become Python objects where a column has few distinct values. The careful one is
the csv module: it reads the other encodings, mixed line ends and odd quoting, and names the line on which a
file is broken.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NoReturn

import duckdb
import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes
from shoal.data.bytes import open_bytes
from shoal.data.database import connection, file_literal, lacks_room, literal
from shoal.data.memory import bound
from shoal.data.tables.dictionary import TextEncoder, from_distinct
from shoal.data.tables.format import DistinctScan, HowToRead
from shoal.data.tables.header import check_header, numbered_names, refuse_record
from shoal.data.tables.one_each import is_one_each
from shoal.data.tables.parquet import absent, collapse_rows, sizes_of_texts, weights_of_rows
from shoal.data.tables.room import refuse_too_many, refuse_too_many_held, refuse_values, text_bytes
from shoal.data.tables.table import Column
from shoal.data.tables.text_survey import Survey, survey, unlimited_fields
from shoal.errors import DataError
from shoal.scratch import NoRoom

_ROWS_TO_TELL = 1000
_ROWS_AT_ONCE = 1 << 15
_FEW_DISTINCT = 1 << 15  # above, the texts themselves are fetched: making an ENUM of them takes longer
_MANY_COLUMNS = 50
_PIECE = 1 << 20
_LOOKED_INTO = 16
"""A line or a cell of more than this share of the bound is not looked into, as that takes several times as much."""
_ROWS_A_COLUMN = 64
"""Fewer rows than this for each of many columns: a wide file."""


def read_text(
    path: os.PathLike[str], reading: HowToRead, *, gzipped: bool, expected: Sequence[Collection[str]] | None = None
) -> tuple[list[Column], Survey]:
    """Read all columns of a delimited text file.

    The first line names the columns, unless `reading.header` says that it is a record like all others. A cell is what
    stands between two delimiters, with its blanks; a quoted cell may hold delimiters, line ends and doubled
    quotes; an empty cell equals a quoted empty one. Blank lines are no rows.

    `expected` are texts that the columns are thought to hold. It is a matter of time alone: cells are looked up among
    them, and a file with any other is read as without.

    Raises
    ------
    DataError
        With file and line if the file is empty, damaged, not text, ragged or wrongly quoted, or the first line looks
        like a record and nothing says what it is.
    """
    delimiter, header = reading.delimiter, reading.header
    check_header(header)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n\0 '):
        raise DataError(f"the delimiter {delimiter!r} is not usable; give one character such as ',' or ';'")
    known = survey(path, gzipped=gzipped, delimiter=delimiter, encoding=reading.encoding)
    return _read(path, known, gzipped, reading.markers, header, expected), known


def read_distinct_text(
    path: os.PathLike[str], reading: HowToRead, *, gzipped: bool, drops: Callable[[str], bool]
) -> tuple[list[Column], Survey, Codes | None] | None:
    """Read every distinct row of a text file once, and how many records it stands for; None if it is not regular.

    As `read_text`, and as `shoal.data.tables.parquet.read_distinct` about memory, columns that are dropped and persons.
    """
    header, markers = reading.header, reading.markers
    check_header(header)
    known = survey(path, gzipped=gzipped, delimiter=reading.delimiter, encoding=reading.encoding)
    is_headless = header == "none"
    if not known.is_regular or known.header is None or len(known.header) < 2:
        return None
    if is_headless and known.has_quoted_header:
        return None
    names = _names(path, known.header, is_headless)
    scan, cells = _scan(path, known, gzipped, is_headless, len(names))
    kept = [i for i, name in enumerate(names) if not drops(name)]
    keys = [i for i, name in enumerate(names) if name in reading.person]
    weights: Codes | None = None
    try:
        with connection() as database:
            if keys and not is_one_each(database, scan, [(cells[i], True) for i in keys], markers):
                kept = sorted({*kept, *keys})
                n_counted = known.n_delimiters // (len(names) - 1) + is_headless
                refuse_too_many_held(path, n_counted, len(kept), len(keys), "some may be of one person")
                rows, told = scan, cells
            else:
                keys, told = [], [f"c{i}" for i in range(len(names))]
                shown = ", ".join(f"{cells[i]} AS {told[i]}" for i in kept) or "1"
                source, counted_cells = f"(SELECT {shown} FROM {scan})", [told[i] for i in kept]
                collapse_rows(database, path, source, counted_cells)
                weights = weights_of_rows(database, path, len(kept), names)
                rows = "distinct_rows"
            counted = "count(*)" if weights is None else "sum(n)"
            others = [i for i in kept if i not in keys]
            distinct = "".join(f", list(DISTINCT {told[i]}) AS d{i}" for i in others)
            database.execute(f"CREATE TEMP TABLE found AS SELECT {counted} AS n{distinct} FROM {rows}")
            lengths = "".join(f", len(d{i})" for i in others)
            n_records, *sizes = database.execute(f"SELECT n{lengths} FROM found").fetchone() or (0,)
            taken = 0
            for i in others:
                taken += text_bytes(*sizes_of_texts(database, f"(SELECT unnest(d{i}) AS text FROM found)"))
                refuse_values(path, names[i], sizes[others.index(i)], taken)
            if weights is not None:
                refuse_too_many(path, len(weights), len(kept), taken=taken)
            below = int(n_records) - is_headless
            if not below or below * (len(names) - 1) != known.n_delimiters:
                return None
            few = [i for i, size in zip(others, sizes, strict=True) if size <= _FEW_DISTINCT]
            columns = _by_code(database, rows, told, few, names, markers)
            columns |= _by_text(database, rows, told, [i for i in kept if i not in columns], names, markers)
    except duckdb.OutOfMemoryException:
        raise NoRoom(
            f"{path}: its distinct rows do not fit into memory; drop columns that tell records apart, or raise memory"
        ) from None
    except duckdb.Error as error:
        if lacks_room(error):
            raise NoRoom(f"{path}: there is no room in the temporary folder to read it; make room") from None
        return None
    nothing = absent(int(n_records) if weights is None else len(weights))
    found = [columns.get(i, replace(nothing, name=name)) for i, name in enumerate(names)]
    if header is None:
        first = _of_first_rows(path, known, gzipped, markers)
        refuse_record(str(path), [columns.get(i, column) for i, column in enumerate(first)])
    return found, known, weights


def scan_distinct_text(path: os.PathLike[str], reading: HowToRead, *, gzipped: bool) -> DistinctScan | None:
    """A text file to be scanned, whose cells are texts as they stand; None if it is not regular."""
    check_header(reading.header)
    known = survey(path, gzipped=gzipped, delimiter=reading.delimiter, encoding=reading.encoding)
    is_headless = reading.header == "none"
    if not known.is_regular or known.header is None or len(known.header) < 2:
        return None
    if is_headless and known.has_quoted_header:
        return None
    if reading.header is None:
        refuse_record(str(path), _of_first_rows(path, known, gzipped, reading.markers))
    names, width, drops = _names(path, known.header, is_headless), len(known.header), reading.drops
    scan, cells = _scan(path, known, gzipped, is_headless, width)
    kept = [i for i, name in enumerate(names) if drops is None or not drops(name)]

    def column(place: int, fetched: npt.NDArray[Any]) -> Column:
        texts = np.ma.getdata(fetched).tolist()
        return from_distinct(names[kept[place]], np.arange(len(texts)), texts, reading.markers)

    def has_records(n: int) -> bool:
        return 0 < (n - is_headless) * (width - 1) == known.n_delimiters

    return DistinctScan(scan, tuple(names[i] for i in kept), tuple(cells[i] for i in kept), column, has_records)


def _read(
    path: os.PathLike[str],
    known: Survey,
    gzipped: bool,
    markers: Collection[str],
    header: str | None,
    expected: Sequence[Collection[str]] | None,
) -> list[Column]:
    columns = None
    is_headless = header == "none"
    if known.is_regular and known.header is not None and len(known.header) > 1 and not _is_wide(known):
        names = _names(path, known.header, is_headless)
        if not (is_headless and known.has_quoted_header):
            columns = _read_regular(path, names, known, gzipped, markers, is_headless, expected)
    if columns is None:
        columns = _read_any(path, known, gzipped, markers, is_headless)
    if header is None:
        refuse_record(str(path), columns)
    return columns


def _is_wide(known: Survey) -> bool:
    """Whether a file has so many columns for its rows that the careful reader is the faster one.

    What duckdb does for the distinct values of all columns at once grows with the square of their number.
    """
    width = len(known.header or ())
    return width >= _MANY_COLUMNS and known.n_delimiters < _ROWS_A_COLUMN * width * (width - 1)


def refuse_irregular(path: os.PathLike[str], reading: HowToRead, *, gzipped: bool) -> NoReturn:
    """Say why a text file cannot be read without holding it: where a line is wrong, that line.

    Raises
    ------
    DataError
    """
    known = survey(path, gzipped=gzipped, delimiter=reading.delimiter, encoding=reading.encoding)
    hint = "convert it, or leave memory out"
    if known.is_regular and known.header is not None and len(known.header) == 1:
        raise DataError(
            f"{path}: has one column, and with a bound on memory a text file needs two or more; name the delimiter if "
            f"{known.delimiter!r} is not it, or leave memory out"
        )
    if known.is_regular or known.header is None:
        most = min(2**31 - 1, (bound() or 2**40) // _LOOKED_INTO)
        _refuse_long_line(path, gzipped, most)
        with open_bytes(path, gzipped) as stream, unlimited_fields(most):
            text = io.TextIOWrapper(stream, encoding=known.encoding, newline="")
            is_headless = reading.header == "none"
            if sum(1 for _ in _records(path, text, known, "first line" if is_headless else "header")) == 1:
                _refuse_header_alone(path)
    raise DataError(
        f"{path}: with a bound on memory a text file has to be UTF-8, of two columns or more, with equal line ends and "
        f"a header that is not quoted oddly; {hint}"
    )


def _refuse_long_line(path: os.PathLike[str], gzipped: bool, most: int) -> None:
    """Refuse a line of more bytes than may be held."""
    line, length = 1, 0
    with open_bytes(path, gzipped) as stream:
        while piece := stream.read(_PIECE):
            for i, part in enumerate(piece.split(b"\n")):
                line, length = (line + 1, len(part)) if i else (line, length + len(part))
                if length > most:
                    raise DataError(
                        f"{path}, line {line}: has more than {most / 1e6:.3g} MB, too many for the bound on memory; "
                        "mend the line, drop what is long, or leave memory out"
                    )


def _refuse_header_alone(path: os.PathLike[str]) -> NoReturn:
    raise DataError(f"{path}: has a header but no rows; there is nothing to anonymise")


def _names(path: os.PathLike[str], fields: Collection[str], is_headless: bool) -> list[str]:
    return numbered_names(len(fields)) if is_headless else column_names(path, fields)


def column_names(path: os.PathLike[str], fields: Collection[str]) -> list[str]:
    """The names in a header without surrounding blanks; refuses an empty one and one that occurs twice.

    No name is quoted: it may be a cell of the first record of a file without a header.
    """
    names = [field.strip() for field in fields]
    hint = 'say --header none (header = "none") if the file has no header'
    for position, name in enumerate(names, 1):
        if not name:
            raise DataError(f"{path}: column {position} has no name; give it one in the first line, or {hint}")
    if len(set(names)) < len(names):
        place = next(i for i, name in enumerate(names) if name in names[:i])
        raise DataError(
            f"{path}: columns {names.index(names[place]) + 1} and {place + 1} have the same name; the first line must "
            f"name each column, once, or {hint}"
        )
    return names


def _read_regular(
    path: os.PathLike[str],
    names: list[str],
    known: Survey,
    gzipped: bool,
    markers: Collection[str],
    is_headless: bool = False,
    expected: Sequence[Collection[str]] | None = None,
) -> list[Column] | None:
    """The fast reader; None if duckdb does not read the file as the survey counted it."""
    width = len(names)
    scan, cells = _scan(path, known, gzipped, is_headless, width)
    n_rows, left_over = divmod(known.n_delimiters, width - 1)
    if expected is not None and len(expected) == width and max(map(len, expected)) <= _FEW_DISTINCT and not left_over:
        looked_up = _by_expected(scan, cells, expected, names, markers, n_rows)
        if looked_up is not None:
            return looked_up
    try:
        with connection() as database:
            distinct = ", ".join(f"list(DISTINCT {cell}) AS d{i}" for i, cell in enumerate(cells))
            database.execute(f"CREATE TEMP TABLE found AS SELECT count(*) AS n, {distinct} FROM {scan}")
            sizes = database.execute(f"SELECT n, {', '.join(f'len(d{i})' for i in range(width))} FROM found").fetchone()
            below = None if sizes is None else sizes[0] - is_headless
            if sizes is None or not below or below * (width - 1) != known.n_delimiters:
                return None
            few = [i for i in range(width) if sizes[i + 1] <= _FEW_DISTINCT]
            columns = _by_code(database, scan, cells, few, names, markers)
            columns |= _by_text(database, scan, cells, [i for i in range(width) if i not in columns], names, markers)
    except duckdb.OutOfMemoryException:
        raise DataError(f"{path}: its distinct values do not fit into half of the memory; leave out columns") from None
    except duckdb.Error:
        return None
    return [columns[i] for i in range(width)]


def _scan(path: os.PathLike[str], known: Survey, gzipped: bool, is_headless: bool, width: int) -> tuple[str, list[str]]:
    """The SQL that scans a regular file, and that of each of its cells."""
    layout = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(width))
    scan = (
        f"read_csv({file_literal(path)}, auto_detect=false, header={'false' if is_headless else 'true'}, "
        f"columns={{{layout}}}, "
        f"delim={literal(known.delimiter)}, quote='\"', escape='\"', "
        # With new_line given as CR LF, duckdb 2.0 finds no rows; left out, it takes both kinds of line end.
        f"strict_mode=true, compression='{'gzip' if gzipped else 'none'}', "
        # Cutting a file into parts for threads needs a guess about open quotes.
        f"parallel={'false' if known.has_quotes else 'true'})"
    )
    trimmed = "ltrim({}, ' ')" if known.is_spaced else "{}"
    return scan, [trimmed.format(f"coalesce(c{i}, '')") for i in range(width)]


def _by_expected(
    scan: str,
    cells: list[str],
    expected: Sequence[Collection[str]],
    names: list[str],
    markers: Collection[str],
    n_rows: int,
) -> list[Column] | None:
    """Cells looked up among expected texts; None where one is not among them, or rows are not as many as counted."""
    lists = ", ".join(f"?::VARCHAR[] AS d{i}" for i in range(len(cells)))
    try:
        with connection() as database:
            database.execute(f"CREATE TEMP TABLE found AS SELECT {lists}", [sorted(set(texts)) for texts in expected])
            columns = _by_code(database, scan, cells, list(range(len(cells))), names, markers)
    except duckdb.Error:
        return None
    return [columns[i] for i in range(len(cells))] if len(columns[0].codes) == n_rows > 0 else None


def _by_code(
    database: duckdb.DuckDBPyConnection,
    scan: str,
    cells: list[str],
    few: list[int],
    names: list[str],
    markers: Collection[str],
) -> dict[int, Column]:
    if not few:
        return {}
    for i in few:
        database.execute(f"CREATE TYPE t{i} AS ENUM (SELECT unnest(d{i}) AS text FROM found ORDER BY text)")
    numbered = ", ".join(f"enum_code(CAST({cells[i]} AS t{i})) AS c{i}" for i in few)
    codes = database.execute(f"SELECT {numbered} FROM {scan}").fetchnumpy()
    columns = {}
    for i in few:
        fetched = database.execute(f"SELECT enum_range(NULL::t{i})").fetchone()
        texts, numbers = fetched[0] if fetched else [], codes.pop(f"c{i}")
        used = np.flatnonzero(np.bincount(numbers, minlength=len(texts)))
        if len(used) < len(texts):
            place = np.zeros(len(texts), dtype=np.int32)
            place[used] = np.arange(len(used))
            texts, numbers = [texts[i] for i in used.tolist()], place[numbers]
        columns[i] = from_distinct(names[i], numbers, texts, markers)
    return columns


def _by_text(
    database: duckdb.DuckDBPyConnection,
    scan: str,
    cells: list[str],
    many: list[int],
    names: list[str],
    markers: Collection[str],
) -> dict[int, Column]:
    if not many:
        return {}
    encoders = [TextEncoder() for _ in many]
    found = database.execute(f"SELECT {', '.join(cells[i] for i in many)} FROM {scan}")
    while rows := found.fetchmany(_ROWS_AT_ONCE):
        for encoder, texts in zip(encoders, zip(*rows, strict=True), strict=True):
            encoder.add(texts)
    return {i: encoder.column(names[i], markers) for i, encoder in zip(many, encoders, strict=True)}


def _read_any(
    path: os.PathLike[str], known: Survey, gzipped: bool, markers: Collection[str], is_headless: bool = False
) -> list[Column]:
    """The careful reader."""
    with open_bytes(path, gzipped) as stream, unlimited_fields():
        text = io.TextIOWrapper(stream, encoding=known.encoding, newline="")
        records = _records(path, text, known, "first line" if is_headless else "header")
        first = next(records)
        names = _names(path, first, is_headless)
        records = chain([first], records) if is_headless else records
        encoders = [TextEncoder() for _ in names]
        while rows := list(islice(records, _ROWS_AT_ONCE)):
            for encoder, cells in zip(encoders, zip(*rows, strict=True), strict=True):
                encoder.add(cells)
    columns = [encoder.column(name, markers) for encoder, name in zip(encoders, names, strict=True)]
    if not len(columns[0].codes):
        _refuse_header_alone(path)
    return columns


def _of_first_rows(path: os.PathLike[str], known: Survey, gzipped: bool, markers: Collection[str]) -> list[Column]:
    """All columns of the first rows: what tells a header from a record, where columns are not read."""
    with open_bytes(path, gzipped) as stream, unlimited_fields():
        text = io.TextIOWrapper(stream, encoding=known.encoding, newline="")
        names, *rows = islice(_records(path, text, known, "header"), 1 + _ROWS_TO_TELL)
    encoders = [TextEncoder() for _ in names]
    for encoder, cells in zip(encoders, zip(*rows, strict=True), strict=False):
        encoder.add(cells)
    return [encoder.column(name, markers) for encoder, name in zip(encoders, names, strict=True)]


def _records(path: os.PathLike[str], text: io.TextIOWrapper, known: Survey, first: str) -> Iterator[list[str]]:
    reader = csv.reader(text, delimiter=known.delimiter, strict=True, skipinitialspace=known.is_spaced)
    width, line = 0, 1
    try:
        for record in reader:
            if record:
                width = width or len(record)
                if len(record) != width:
                    raise DataError(
                        f"{path}, line {line}: has {_fields(len(record))} where the {first} has {width}; "
                        f"mend the line, or name the delimiter if {known.delimiter!r} is not it"
                    )
                yield record
            line = reader.line_num + 1
    except csv.Error as error:
        if "field limit" in str(error):
            raise DataError(
                f"{path}, line {line}: a cell that begins in this row is too long for the bound on memory, or a quote "
                "opens and does not close; mend it, or leave memory out"
            ) from None
        raise DataError(
            f"{path}, line {line}: a quote opens in this row and does not close before a delimiter; "
            "close it, and double the quotes inside a quoted cell"
        ) from None


def _fields(count: int) -> str:
    return f"{count} field{'' if count == 1 else 's'}"
