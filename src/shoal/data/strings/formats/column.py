"""A column of a table as strings, and strings as a table of that column."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal.data.strings.alphabets import WHITE, Alphabet, code_points, encode
from shoal.data.strings.format import (
    FORMATS,
    HowToReadStrings,
    StringFormat,
    refuse_class_names,
    refuse_named_alphabet,
)
from shoal.data.strings.formats.lines import split_cell
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.tables.dictionary import TextEncoder
from shoal.data.tables.files import read_table
from shoal.data.tables.guarded import guarded, unguarded
from shoal.data.tables.table import Column, Table
from shoal.data.tables.write import file_name as table_file_name
from shoal.data.tables.write import write_table
from shoal.errors import DataError, did_you_mean

_WHITE = "".join(map(chr, WHITE))
_BETWEEN = (">", "|", ";", ",", " ")
"""What may stand between tokens; of two that part as many cells the earlier is taken."""
_CELLS_LOOKED_AT = 10_000
_LETTERS = re.compile(r"[A-Z*.\s-]*|[acgtun.\s-]*")


def read_column(
    path: os.PathLike[str],
    source: StringSource,
    alphabet: Alphabet,
    *,
    table_delimiter: str | None = None,
    respell: Callable[[str], str] = str,
    header: str | None = None,
    is_guessed: bool = False,
) -> Strings:
    """Read the column that the source names, and the one of the classes.

    Each cell is a string of characters or, where the source has a delimiter, of tokens. No spelling means a missing
    value, since it may be a string; a null of Parquet is an empty string.

    Parameters
    ----------
    respell : function
        Applied to every cell.
    header : {"first", "none"}, optional
        As in `shoal.data.tables.files.read_table`; the source remembers it.
    is_guessed : bool
        Whether the cells themselves tell if they hold tokens (`told_delimiter`).

    Raises
    ------
    DataError
        If a column is not there, a class is missing or a symbol is not in the alphabet, with the row.
    """
    assert source.column is not None
    table = read_table(path, markers=(), delimiter=table_delimiter, header=header)
    try:
        column = table[source.column]
        classes = None if source.class_column is None else table[source.class_column]
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    texts = [respell(text) for text in column.texts()]
    notes = [*source.notes, *table.source.notes]
    if is_guessed and (told := told_delimiter(texts)) is not None:
        source = replace(source, delimiter=told)
        notes.append(
            f"most cells of {source.column!r} hold {told!r} between tokens and were cut there; with --alphabet learned "
            "every character is a symbol"
        )
    if column.has_missing:
        notes.append("cells without a value were read as empty strings")
    of_distinct = _tokens if source.delimiter is not None else _characters
    distinct, is_folded = of_distinct(texts, alphabet, source.delimiter)
    strings = distinct.take(column.codes)
    strangers = np.flatnonzero(strings.symbols < 0)
    if len(strangers):
        row = int(np.searchsorted(strings.starts, strangers[0], side="right"))
        raise DataError(
            f"{path}, row {row} after the header: the column {source.column!r} holds a symbol that is not in the "
            "alphabet; extend the alphabet, or leave it out to learn it from the data"
        )
    if is_folded:
        notes.append("lower case was folded to upper case")
    made = replace(
        strings,
        source=replace(
            source,
            notes=tuple(notes),
            alphabet=alphabet.name,
            gzip=table.source.gzip,
            header=header,
            table=replace(table.source, notes=()),
        ),
    )
    return made if classes is None else _labelled(path, made, classes, respell)


def told_delimiter(texts: Sequence[str]) -> str | None:
    """What stands between the tokens of most cells; None where cells are characters, such as sequences in blocks.

    Tokens occur twice on average, or they are no symbols to draw from.

    >>> told_delimiter(["home>cart>pay", "home>cart", "pay"]), told_delimiter(["log in; buy", "buy; log in"])
    ('>', ';')
    >>> told_delimiter(["ATG CCG", "TTG CCA"])
    """
    cells = [text for text in texts if text.strip()][:_CELLS_LOOKED_AT]
    if all(map(_LETTERS.fullmatch, cells)):
        return None
    best: tuple[int, str | None] = (len(cells) // 2, None)
    for between in _BETWEEN:
        cut = [split_cell(text, between) for text in cells]
        n_cut = sum(len(tokens) > 1 for tokens in cut)
        if n_cut > best[0]:
            tokens = [token for of_cell in cut for token in of_cell]
            if len(tokens) >= 2 * len(set(tokens)):
                best = (n_cut, between)
    return best[1]


def column_table(strings: Strings) -> Table:
    """The strings, and their classes, as a table like the one that they came from."""
    source = strings.source
    between = source.delimiter or ""
    encoder = TextEncoder()
    encoder.add([t if isinstance(t, str) else between.join(t) for t in strings.texts()])
    columns = [encoder.column(source.column or "string")]
    if strings.labels is not None:
        names = np.empty(len(strings.classes), dtype=object)
        names[:] = strings.classes
        columns.append(Column(source.class_column or "class", strings.labels, names))
    return Table.of(columns, source.table)


def _characters(texts: list[str], alphabet: Alphabet, delimiter: str | None) -> tuple[Strings, bool]:
    if alphabet.name is not None:
        nothing = str.maketrans("", "", _WHITE)
        texts = [text.translate(nothing) for text in texts]
    encoded = encode(code_points("".join(texts).encode()), alphabet)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return Strings(encoded.codes, starts, encoded.symbols), encoded.is_folded


def _tokens(texts: list[str], alphabet: Alphabet, delimiter: str | None) -> tuple[Strings, bool]:
    assert delimiter is not None
    cut: list[Any] = [split_cell(text, delimiter) for text in texts]
    found = Strings.of(cut) if cut else Strings(np.zeros(0, np.int32), np.zeros(1, np.int64), (), True)
    if alphabet.symbols is None:
        return found, False
    place = {symbol: code for code, symbol in enumerate(alphabet.symbols)}
    code_of = np.array([*(place.get(symbol, -1) for symbol in found.alphabet), -1], np.int32)
    return replace(found, symbols=code_of[found.symbols], alphabet=alphabet.symbols), False


def _labelled(path: os.PathLike[str], made: Strings, classes: Column, respell: Callable[[str], str]) -> Strings:
    try:
        return made.with_labels(class_names(classes, respell))
    except DataError as error:
        raise DataError(f"{path}, {error}") from None


def class_names(column: Column, respell: Callable[[str], str] = str) -> list[str]:
    """The class of each row of a table; every row must have one."""
    texts = [respell(text) for text in column.texts()]
    is_none = np.array([not text.strip() for text in texts])[column.codes]
    if is_none.any():
        raise DataError(
            f"row {int(np.argmax(is_none)) + 1} after the header: the column {column.name!r} holds no class "
            f"({int(is_none.sum())} of {len(is_none)} rows have none); give every string a class, or leave it out"
        )
    return [texts[code] for code in column.codes.tolist()]


def text_delimiter(source: StringSource) -> str | None:
    """What stands between the cells of a published table; None where it is no text, or nobody says."""
    table = source.table
    return table.delimiter if table is not None and table.format in ("csv", "frame") else None


def unguarded_table(table: Table) -> Table:
    """The table without the quotes that keep a spreadsheet from running a cell or a name."""
    columns = []
    for column in table.columns.values():
        texts = [unguarded(text) for text in column.texts()] or [""]
        columns.append(Column(unguarded(column.name), column.codes, np.array(texts, dtype=object)))
    return Table.of(columns, table.source)


class TableColumn(StringFormat):
    """A column of a table, in any format that tables have."""

    name = "column"
    place = 10
    help = "a table; the strings are in the column {column}"
    is_table = True

    def read(self, path: Path, source: StringSource, reading: HowToReadStrings) -> Strings:
        """See `read_column`."""
        if source.column is None:
            names = read_table(path, markers=(), header=reading.header).names
            raise DataError(f"{path}: name the column that holds the strings; {did_you_mean('', names)}")
        if source.delimiter is not None:
            refuse_named_alphabet(reading.alphabet)
        is_guessed = source.delimiter is None and not reading.is_alphabet_given
        return read_column(path, source, reading.alphabet, header=reading.header, is_guessed=is_guessed)

    def read_back(self, path: str | os.PathLike[str], source: StringSource, alphabet: Alphabet) -> Strings:
        """Without the quotes that keep a spreadsheet from running a cell."""
        is_text = source.table is None or source.table.format in ("csv", "frame")
        spell = guarded if is_text else str
        spelled = replace(
            source,
            column=spell(source.column or "string"),
            class_column=None if source.class_column is None else spell(source.class_column),
            notes=(),
        )
        made = read_column(
            Path(path),
            spelled,
            alphabet,
            table_delimiter=text_delimiter(source),
            respell=unguarded if is_text else str,
            header="first",
        )
        return replace(
            made,
            source=replace(made.source, column=source.column, class_column=source.class_column, header=source.header),
        )

    def file_name(self, source: StringSource) -> str:
        """That of the table."""
        return table_file_name(Table.of([], source.table))

    def write(self, strings: Strings, path: str | os.PathLike[str]) -> None:
        """The column of the strings, and that of the classes, alone."""
        write_table(column_table(strings), path)

    def holds(self, symbol: str, source: StringSource) -> bool:
        """Whatever the delimiter does not cut."""
        return source.delimiter is None or split_cell(symbol, source.delimiter) == [symbol]

    def refuse_unwritable(self, strings: Strings) -> None:
        """Two columns of one name."""
        if strings.labels is not None and strings.source.class_column == strings.source.column:
            raise DataError("the strings and the classes have the same column name; give the classes another one")
        refuse_class_names(strings, "\0")

    def beside(self, path: Path, source: StringSource) -> list[str]:
        """Columns of another name."""
        table = read_table(path, markers=(), delimiter=text_delimiter(source), header="first")
        names = [unguarded(n) for n in table.names]
        strangers = [n for n in names if n not in (source.column, source.class_column)]
        return [f"the data has a column {n!r} that the manifest does not know" for n in strangers]


FORMATS.register(TableColumn())
