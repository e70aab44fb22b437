"""A table of events, one a row: the string of a person is what they did, in the order of time.

Cells of the named column are the tokens. What is written has one row an event again, with a number for the person and
nothing of the time but its order: a pseudo-string has no times.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints
from shoal.data.strings.alphabets import Alphabet
from shoal.data.strings.format import FORMATS, HowToReadStrings, refuse_class_names, refuse_named_alphabet
from shoal.data.strings.formats.column import TableColumn, text_delimiter, unguarded_table
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.tables.files import read_table
from shoal.data.tables.guarded import guarded, unguarded
from shoal.data.tables.parse import parse_dates, parse_numbers, zones_in
from shoal.data.tables.persons import person_codes
from shoal.data.tables.table import Column, Table
from shoal.data.tables.write import write_table
from shoal.errors import DataError, PolicyError


class Events(TableColumn):
    """One row an event, of somebody and at some time."""

    name = "events"
    place = 11
    help = "a table of events, one a row, in order; {column} tells what, and the names of persons mean nothing"
    has_tokens = True

    def read(self, path: Path, source: StringSource, reading: HowToReadStrings) -> Strings:
        """Sort the events of each person by their time, or leave them in the order of the file."""
        if source.column is None or not source.person:
            raise PolicyError(
                "events need the columns that tell who (--person) and what (--column), and when (--time) if the rows "
                "are not in order"
            )
        refuse_named_alphabet(reading.alphabet)
        table = read_table(path, markers=(), header=reading.header)
        persons = _by_first_row(np.asarray(person_codes(_without_empty(table, source.person), source.person)))
        order = np.lexsort((_places(path, table, source.time), persons))
        made = _strings(path, table, source, persons, order, reading.alphabet)
        described = replace(
            source,
            notes=(*source.notes, *table.source.notes),
            gzip=table.source.gzip,
            header=reading.header,
            table=replace(table.source, notes=()),
        )
        return replace(made, source=described)

    def read_back(self, path: str | os.PathLike[str], source: StringSource, alphabet: Alphabet) -> Strings:
        """The rows are in order, and each person has a number."""
        is_text = source.table is None or source.table.format in ("csv", "frame")
        table = read_table(path, markers=(), delimiter=text_delimiter(source), header="first")
        if is_text:
            table = unguarded_table(table)
        persons = _by_first_row(np.asarray(person_codes(table, source.person[:1])))
        return replace(_strings(Path(path), table, source, persons, np.arange(table.n_rows), alphabet), source=source)

    def write(self, strings: Strings, path: str | os.PathLike[str]) -> None:
        """Who, what and the class, an event a row."""
        source = strings.source
        row = np.repeat(np.arange(len(strings), dtype=np.int32), strings.lengths)
        columns = [
            Column(source.person[0], row, _objects([_neutral(i) for i in range(1, len(strings) + 1)])),
            Column(source.column or "event", strings.symbols, _objects(strings.alphabet)),
        ]
        if strings.labels is not None:
            columns.append(Column(source.class_column or "class", strings.labels[row], _objects(strings.classes)))
        write_table(Table.of(columns, source.table), path)

    def holds(self, symbol: str, source: StringSource) -> bool:
        """Whatever a cell holds and a reader does not strip."""
        return bool(symbol) and symbol == symbol.strip()

    def refuse_unwritable(self, strings: Strings) -> None:
        """Persons without an event, whom no row would name."""
        if not strings.lengths.all():
            raise DataError("a string of nothing has no event, so no row would name it; leave it out")
        if len({*strings.source.person[:1], strings.source.column, strings.source.class_column}) < 3:
            raise DataError("two of the columns of person, event and class have one name; give each its own")
        refuse_class_names(strings, "\0")

    def beside(self, path: Path, source: StringSource) -> list[str]:
        """Columns of another name, and persons who are not numbers in order."""
        table = read_table(path, markers=(), delimiter=text_delimiter(source), header="first")
        known = {source.person[0] if source.person else None, source.column, source.class_column}
        strangers = [name for name in map(unguarded, table.names) if name not in known]
        found = [f"the data has a column {name!r} that the manifest does not know" for name in strangers]
        if source.person and not strangers and guarded(source.person[0]) in table.names:
            column = table[guarded(source.person[0])]
            shown = [str(column.texts()[code]) for code in dict.fromkeys(column.codes.tolist())]
            if shown != [_neutral(i) for i in range(1, len(shown) + 1)]:
                found.append("the names of persons in the data cannot come from a release")
        return found


def _neutral(row: int) -> str:
    return f"pseudo_{row:06d}"


def _objects(values: tuple[str, ...] | list[str]) -> npt.NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _without_empty(table: Table, names: tuple[str, ...]) -> Table:
    """Refuse events of nobody: an empty cell is no person."""
    for name in names:
        column = table[name]
        n_empty = int(np.array([not text.strip() for text in column.texts()] or [False])[column.codes].sum())
        if n_empty:
            raise DataError(f"{name!r}, which says whose an event is, is empty in {n_empty:,} rows; leave these out")
    return table


def _by_first_row(persons: npt.NDArray[np.integer]) -> Ints:
    """The same persons, numbered in the order in which they come."""
    _, first, of_row = np.unique(persons, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[of_row], dtype=np.int64)


def _places(path: Path, table: Table, time: str | None) -> npt.NDArray[np.float64]:
    """When each row was, as a number; without a column of times the order of the file."""
    if time is None:
        return np.arange(table.n_rows, dtype=np.float64)
    column = table[time]
    texts = _objects([str(text) for text in column.texts()])
    numbers = parse_numbers(texts)
    if numbers is None:
        dates = parse_dates(texts)
        if dates is None:
            raise DataError(f"{path}: the times in {time!r} are neither numbers nor dates of one spelling; mend them")
        zones_in(texts.tolist())
        numbers = dates.values.astype(np.int64).astype(np.float64)
    return np.asarray(numbers[column.codes])


def _strings(path: Path, table: Table, source: StringSource, persons: Ints, order: Ints, alphabet: Alphabet) -> Strings:
    assert source.column is not None
    column = table[source.column]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(persons))])
    texts = [str(text).strip() for text in column.texts()]
    known = alphabet.symbols if alphabet.symbols is not None else tuple(sorted(set(texts)))
    place = {symbol: code for code, symbol in enumerate(known)}
    codes: Codes = np.array([place.get(text, -1) for text in texts], dtype=np.int32)[column.codes[order]]
    if (codes < 0).any():
        raise DataError(
            f"{path}: the column {source.column!r} holds an event that is not in the alphabet; extend the alphabet, or "
            "leave it out to learn it from the data"
        )
    made = Strings(codes, starts, known, True)
    if source.class_column is None:
        return made
    classes = table[source.class_column]
    of_event = classes.codes[order]
    of_person = of_event[starts[:-1]]
    if (np.repeat(of_person, np.diff(starts)) != of_event).any():
        raise DataError(
            f"{path}: some persons have events of several classes in {source.class_column!r}; give each one"
        )
    names = [str(text) for text in classes.texts()]
    return made.with_labels([names[code] for code in of_person.tolist()])


FORMATS.register(Events())
