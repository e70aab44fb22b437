"""A matrix of markers: a row of a table is a person, and some of its columns are the places of a string.

So SNPs come as most programs give them (0, 1 and 2, or AA, AG and GG), and answers to the same questions. All strings
have one length and are aligned, and a place has the name of its column. What is written has these columns again, and
that of the classes.

A column in which all but a few have the same value tells who was there by being listed, as a rare variant does: so a
column stays only if two of its values are held by as many persons each as a symbol needs that is shown
(`shoal.data.strings.sites`). A cell without a value is a symbol like others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from shoal.arrays import Codes
from shoal.data.strings.alphabets import Alphabet
from shoal.data.strings.format import (
    FORMATS,
    HowToReadStrings,
    StringFormat,
    refuse_class_names,
    refuse_named_alphabet,
)
from shoal.data.strings.formats.column import class_names, text_delimiter, unguarded_table
from shoal.data.strings.sites import MISSING, only_carried
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.tables.files import read_table
from shoal.data.tables.guarded import unguarded
from shoal.data.tables.table import Column, Table
from shoal.data.tables.write import file_name as table_file_name
from shoal.data.tables.write import write_table
from shoal.errors import DataError, PolicyError, did_you_mean

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


def chosen_columns(asked: Sequence[str], names: Sequence[str], class_column: str | None) -> list[str]:
    """The columns that are asked for by name or, with * for any letters, by pattern, in the order of the table.

    >>> chosen_columns(["rs*"], ["id", "rs7", "rs12", "ill"], "ill")
    ['rs7', 'rs12']
    """
    found: set[str] = set()
    for one in asked:
        fitting = [one] if one in names else [name for name in names if _fits(name, one)]
        if not fitting:
            raise DataError(f"no column is called {one!r}; {did_you_mean(one, names)}")
        found.update(fitting)
    return [name for name in names if name in found and name != class_column]


def matrix_of(table: Table, source: StringSource, alphabet: Alphabet) -> Strings:
    """The rows of a table as strings of the columns that the source asks for.

    Raises
    ------
    DataError
        If a column is not there, none is left, a class is missing, or a value is not in the alphabet.
    PolicyError
        If the alphabet is one of characters.
    """
    refuse_named_alphabet(alphabet)
    if source.class_column is not None and source.class_column not in table.names:
        raise DataError(
            f"no column is called {source.class_column!r}; {did_you_mean(source.class_column, table.names)}"
        )
    names = chosen_columns(source.columns, table.names, source.class_column)
    if not names:
        raise DataError("the columns that are asked for hold nothing but the classes; ask for others too")
    texts = [[text.strip() or MISSING for text in table[name].texts()] for name in names]
    known = tuple(sorted({text for cells in texts for text in cells} if alphabet.symbols is None else alphabet.symbols))
    place = {symbol: code for code, symbol in enumerate(known)}
    symbols = np.empty((table.n_rows, len(names)), dtype=np.int32)
    for j, (name, cells) in enumerate(zip(names, texts, strict=True)):
        codes = np.array([place.get(text, -1) for text in cells] or [0], dtype=np.int32)
        symbols[:, j] = codes[table[name].codes]
        if (symbols[:, j] < 0).any():
            row = int(np.argmax(symbols[:, j] < 0)) + 1
            raise DataError(
                f"the column {name!r} holds a value that is not in the alphabet (row {row} after the header); extend "
                "the alphabet, or leave it out to learn it from the data"
            )
    notes = [*source.notes, *table.source.notes]
    if MISSING in place and (symbols == place[MISSING]).any():
        notes.append(f"cells without a value were read as {MISSING}, a value like others")
    made = Strings(
        symbols.ravel(),
        np.arange(table.n_rows + 1, dtype=np.int64) * len(names),
        known,
        True,
        source=replace(source, sites=tuple(names), notes=tuple(notes)),
    )
    return made if source.class_column is None else made.with_labels(class_names(table[source.class_column]))


def matrix_table(strings: Strings) -> Table:
    """The strings as a table of the columns that they came from, whole numbers as such, and of their classes."""
    symbols = strings.symbols.reshape(len(strings), -1)
    columns = [_column(name, symbols[:, j], strings) for j, name in enumerate(strings.source.sites)]
    if strings.labels is not None:
        names = np.empty(len(strings.classes), dtype=object)
        names[:] = strings.classes
        columns.append(Column(strings.source.class_column or "class", strings.labels, names))
    return Table.of(columns, strings.source.table)


def _column(name: str, symbols: Codes, strings: Strings) -> Column:
    used, codes = np.unique(symbols, return_inverse=True)
    texts = [strings.alphabet[i] for i in used.tolist()]
    present = [text for text in texts if text != MISSING]
    is_whole = bool(present) and all(map(_WHOLE.fullmatch, present))
    ordered = sorted(present, key=int) if is_whole else present
    values = np.array([*map(int, ordered)], dtype=np.int64) if is_whole else np.empty(len(ordered), dtype=object)
    if not is_whole:
        values[:] = ordered
    place = {text: code for code, text in enumerate([*ordered, MISSING])}
    code_of = np.array([place[text] for text in texts], dtype=np.int32)
    return Column(name, code_of[codes], values, (MISSING,) if MISSING in texts else ())


class Matrix(StringFormat):
    """Columns of a table, in any format that tables have."""

    name = "matrix"
    place = 12
    help = "a table; the columns of a row, in their order, are a string"
    has_tokens = True
    is_table = True

    def read(self, path: Path, source: StringSource, reading: HowToReadStrings) -> Strings:
        """Read the columns, and leave out those that tell who was there."""
        if source.column is not None or source.delimiter is not None:
            what = "one column" if source.column is not None else "a delimiter"
            raise PolicyError(
                f"the strings are columns of a table, and {what} is given as well; leave out one of the two"
            )
        if not source.columns:
            raise PolicyError("name the columns that are the places of a string, such as rs* for all that begin so")
        table = read_table(path, markers=(), header=reading.header)
        asked = replace(source, columns=reading.sites or source.columns)
        try:
            made = matrix_of(table, asked, reading.alphabet)
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
        told = replace(
            made.source, gzip=table.source.gzip, header=reading.header, table=replace(table.source, notes=())
        )
        made = replace(made, source=told)
        return only_carried(made, reading.rare) if reading.rare and not reading.sites else made

    def read_back(self, path: str | os.PathLike[str], source: StringSource, alphabet: Alphabet) -> Strings:
        """All columns but the classes, without the quotes that keep a spreadsheet from running a cell."""
        is_text = source.table is None or source.table.format in ("csv", "frame")
        table = read_table(Path(path), markers=(), delimiter=text_delimiter(source), header="first")
        if is_text:
            table = unguarded_table(table)
        made = matrix_of(table, replace(source, columns=("*",), notes=()), alphabet)
        return replace(made, source=replace(source, sites=made.source.sites, notes=()))

    def file_name(self, source: StringSource) -> str:
        """That of the table."""
        return table_file_name(Table.of([], source.table))

    def write(self, strings: Strings, path: str | os.PathLike[str]) -> None:
        """The columns, and that of the classes, alone."""
        write_table(matrix_table(strings), path)

    def holds(self, symbol: str, source: StringSource) -> bool:
        """Whatever a cell holds and a reader does not strip."""
        return bool(symbol) and symbol == symbol.strip()

    def refuse_unwritable(self, strings: Strings) -> None:
        """Strings that do not fill the columns."""
        n_sites = len(strings.source.sites)
        if not n_sites or (strings.lengths != n_sites).any():
            raise DataError("a matrix holds a value of each person in each column, and these strings do not fit")
        refuse_class_names(strings, "\0")

    def beside(self, path: Path, source: StringSource) -> list[str]:
        """Columns of the release are not named in the manifest; they are compared with those of the original."""
        names = read_table(path, markers=(), delimiter=text_delimiter(source), header="first").names
        listed = [unguarded(name) for name in names if unguarded(name) != source.class_column]
        return [
            f"the data has a column {name!r} that the manifest does not know"
            for name in listed
            if not any(_fits(name, one) for one in source.columns)
        ]


def _fits(name: str, asked: str) -> bool:
    """Whether a name is the one that is asked for, where * stands for any letters and all else for itself."""
    return re.fullmatch(".*".join(map(re.escape, asked.split("*"))), name, re.DOTALL) is not None


FORMATS.register(Matrix())
