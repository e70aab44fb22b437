"""Sparse records as a file that ordinary readers read: baskets, SVMlight, or a column of a table.

How records are written is told by the source that they came from (`published_form`): texts and folders as a column of
words, lists as baskets, matrices as SVMlight. Items that count more than once are written so often.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from shoal.data.ragged import ragged_places
from shoal.data.sparse.files import read_blocks
from shoal.data.sparse.on_disk import RecordsOnDisk
from shoal.data.sparse.records import Sparse, SparseSource, WeightFacts, assemble
from shoal.data.sparse.svmlight import read_svmlight
from shoal.data.strings.files import read_strings_back, string_file_name, write_strings, write_strings_on_disk
from shoal.data.strings.formats.lines import split_cell
from shoal.data.strings.on_disk import DiskWriter
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.tables.table import Source
from shoal.data.whole_text import load_text
from shoal.errors import DataError

DELIMITERS = (" ", ",", ";", "\t", "|")
COLUMN, CLASS_COLUMN = "items", "class"
_LINES_AT_ONCE = 1 << 14
MOST_REPEATS = 1 << 27
"""Items of a file in which each is repeated as often as it counts."""


@dataclass(frozen=True)
class RecordForm:
    """How published records stand in their file.

    Attributes
    ----------
    format : {"baskets", "svmlight", "column"}
    delimiter : str, optional
        Between items; None is a blank.
    column, class_column : str, optional
        Of a table.
    table : {"csv", "parquet"}, optional
    gzip : bool
    counts : bool
        Whether an item is repeated as often as it counts; else it counts once.
    """

    format: Literal["baskets", "svmlight", "column"]
    delimiter: str | None = None
    column: str | None = None
    class_column: str | None = None
    table: Literal["csv", "parquet"] | None = None
    gzip: bool = False
    counts: bool = False

    @property
    def strings(self) -> StringSource:
        """The same for a list of tokens, which baskets and cells of items are written as."""
        table = None if self.table is None else Source(format=self.table, gzip=self.gzip and self.table == "csv")
        return StringSource(
            name="data",
            format="tokens" if self.format == "baskets" else "column",
            delimiter=self.delimiter,
            gzip=self.gzip,
            column=self.column,
            class_column=self.class_column,
            table=table,
        )


def published_form(records: Sparse) -> RecordForm:
    """The form for records like these: that of the file that they came from, as far as it can hold them.

    Raises
    ------
    DataError
        If no form holds them.
    """
    weights = WeightFacts(records.is_integral, records.is_binary, bool((records.weights < 0).any()), 0.0)
    if not records.is_binary:
        weights = replace(weights, total=float(records.weights.sum(dtype=np.float64)))
    has_classes = records.labels is not None
    return form_for(records.source, records.names, records.classes, weights, has_classes=has_classes)


def form_for(
    source: SparseSource, names: tuple[str, ...], classes: tuple[str, ...], weights: WeightFacts, *, has_classes: bool
) -> RecordForm:
    """The same for records of which this is known."""
    is_numbered = all(name.isdigit() and str(int(name)) == name for name in names)
    labels_fit = all(_is_number(name) for name in classes)
    is_svmlight = source.format == "svmlight" or (not weights.is_integral or (source.format == "csr" and labels_fit))
    if is_svmlight and is_numbered and labels_fit:
        return RecordForm("svmlight", gzip=source.gzip)
    if not weights.is_integral or weights.is_negative:
        raise DataError(
            "weights that are not counts can be published as SVMlight alone, whose items and classes are numbers; "
            "number the items, or give counts"
        )
    counts = not weights.is_binary
    if counts and weights.total > MOST_REPEATS:
        raise DataError(
            "an item is written as often as it counts, and these would be more than any file should hold; number the "
            "items, so that weights stand beside them (SVMlight), or give smaller counts"
        )
    is_cell = source.column is not None or has_classes
    delimiter = fitting_delimiter(names, source.delimiter, is_cell=is_cell)
    if source.column is None and not has_classes:
        plain = None if delimiter == " " else delimiter
        return RecordForm("baskets", plain, gzip=source.gzip, counts=counts)
    column = source.column or COLUMN
    class_column = source.class_column or CLASS_COLUMN if has_classes else None
    return RecordForm("column", delimiter, column, class_column, source.table or "csv", source.gzip, counts)


def record_file_name(records: Sparse, form: RecordForm) -> str:
    """What the file is called: data.dat, data.svm, data.csv or data.parquet, with .gz behind."""
    return string_file_name(_strings(records, form)) if form.format == "column" else line_file_name(form)


def line_file_name(form: RecordForm) -> str:
    """The same of baskets and SVMlight."""
    return f"data.{'dat' if form.format == 'baskets' else 'svm'}{'.gz' if form.gzip else ''}"


def write_records(records: Sparse, path: str | os.PathLike[str], form: RecordForm) -> None:
    """Write records, none of which is empty.

    Raises
    ------
    OSError
        If the file cannot be written. What was written stays there.
    DataError
        If the form cannot hold them.
    """
    if form.format != "svmlight":
        write_strings(_strings(records, form), path)
        return
    _write_pieces(_svmlight_pieces(records), path, form)


def write_records_on_disk(records: RecordsOnDisk, path: str | os.PathLike[str], form: RecordForm) -> None:
    """The same of records in files, as baskets or SVMlight."""
    if form.format == "svmlight":
        _write_pieces((piece for block in records.blocks() for piece in _svmlight_pieces(block)), path, form)
        return
    writer = DiskWriter(records.names, True, form.strings)
    for block in records.blocks():
        strings = _strings(block, form)
        writer.add(strings.symbols, strings.lengths)
    write_strings_on_disk(writer.done(), path)


def blocks_back(path: str | os.PathLike[str], form: RecordForm, n_bytes: int) -> Iterator[Sparse]:
    """Read what `write_records_on_disk` wrote, in blocks of about so many bytes, each with names of its own."""
    weights = "counts" if form.counts else "binary"
    return read_blocks(path, format=form.format, delimiter=form.delimiter, weights=weights, n_bytes=n_bytes)


def _write_pieces(pieces: Iterator[bytes], path: str | os.PathLike[str], form: RecordForm) -> None:
    with open(path, "wb") as file:
        if not form.gzip:
            file.writelines(pieces)
            return
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed:
            for piece in pieces:
                packed.write(piece)


def read_records(path: str | os.PathLike[str], form: RecordForm, *, has_classes: bool = False) -> Sparse:
    """Read what `write_records` wrote, or what another tool made of it.

    `has_classes` says that the records have some, of which one may be called 0; else that stands for no class.
    """
    source = SparseSource("data", form.format, form.delimiter, form.gzip)
    if form.format == "svmlight":
        made = read_svmlight(load_text(Path(path)), source)
        is_unlabelled = not has_classes and set(made.classes) <= {"0"}
        return replace(made, labels=None, classes=()) if is_unlabelled else made
    tokens = read_strings_back(path, form.strings)
    starts, symbols = tokens.starts, tokens.symbols
    made = assemble(starts, symbols, list(tokens.alphabet), repeats="sum" if form.counts else "once", source=source)
    made = replace(made, labels=tokens.labels, classes=tokens.classes)
    return compact(made)


def compact(records: Sparse) -> Sparse:
    """The same with the names of no items and classes but those that occur."""
    is_used = records.supports > 0
    items, names = records.items, records.names
    if not is_used.all():
        items = (np.cumsum(is_used, dtype=np.int32) - 1).astype(np.int32)[items]
        names = tuple(name for name, used in zip(names, is_used.tolist(), strict=True) if used)
    labels, classes = records.labels, records.classes
    if labels is not None:
        held, codes = np.unique(labels, return_inverse=True)
        labels, classes = codes.astype(np.int32), tuple(classes[c] for c in held.tolist())
    return replace(records, items=items, names=names, labels=labels, classes=classes)


def _strings(records: Sparse, form: RecordForm) -> Strings:
    """Records as tokens, each item as often as it counts."""
    symbols, starts = records.items, records.starts
    if form.counts:
        times = np.maximum(records.weights.astype(np.int64), 1)
        owners = np.repeat(np.repeat(np.arange(len(records)), records.sizes), times)
        symbols = np.repeat(symbols, times)
        starts = np.searchsorted(owners, np.arange(len(records) + 1)).astype(np.int64)
    return Strings(symbols, starts, records.names, True, records.labels, records.classes, form.strings)


def _svmlight_pieces(records: Sparse) -> Iterator[bytes]:
    """Lines of a class, then items by their numbers with their weights; 0 stands for no class."""
    numbers = np.array([int(name) for name in records.names], np.int64)
    for begin in range(0, len(records), _LINES_AT_ONCE):
        rows = np.arange(begin, min(begin + _LINES_AT_ONCE, len(records)))
        places, starts = ragged_places(records.starts, rows)
        indices = numbers[records.items[places]]
        order = np.lexsort((indices, np.repeat(rows, np.diff(starts))))
        shown = [
            f"{i}:{_spelled(w)}"
            for i, w in zip(indices[order].tolist(), records.weights[places][order].tolist(), strict=True)
        ]
        labels = ["0"] * len(rows) if records.labels is None else [records.classes[c] for c in records.labels[rows]]
        bounds = starts.tolist()
        lines = [
            " ".join([label, *shown[low:high]])
            for label, low, high in zip(labels, bounds[:-1], bounds[1:], strict=True)
        ]
        yield ("\n".join(lines) + "\n").encode()


def _spelled(weight: Any) -> str:
    return repr(int(weight)) if weight == int(weight) else repr(float(weight))


def _is_number(text: str) -> bool:
    try:
        return text == text.strip() and np.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def fitting_delimiter(names: tuple[str, ...], given: str | None, *, is_cell: bool) -> str:
    """What can stand between these items, the one that came in before others."""
    tried = DELIMITERS if given is None else (given,)
    for delimiter in tried:
        if delimiter == " " and not is_cell:
            holds = all(len(name.split()) == 1 and name == name.strip() for name in names)
        else:
            holds = all(split_cell(name, delimiter) == [name] for name in names)
        if holds and not any("\n" in name or "\r" in name or "\0" in name for name in names):
            return delimiter
    raise DataError(
        "the names of the items hold every delimiter that there is, or a line end, so that no file could hold them; "
        "rename the items"
    )
