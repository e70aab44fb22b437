"""Files of Stata, SPSS and SAS, with the labels of variables and values; need pyreadstat.

Where every code of a column has a label, its values are the labels, as people read them; they go out as codes with
labels again unless the column was generalised, which makes it text. Of other columns, such as ages with a code for "not
known", the codes stay. Labels of variables go out with the columns that are published, and labels of values with those
that still occur: one that no published record has could tell of a record that was changed or left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from shoal.data.sniff import Look, look
from shoal.data.tables.files import extra, stem_of
from shoal.data.tables.format import FORMATS, HowToRead, TableFormat
from shoal.data.tables.frames import from_frame
from shoal.data.tables.table import Column, Source, Table
from shoal.errors import DataError

_OLD_STATA = tuple(bytes([version, order, 1, 0]) for version in range(105, 116) for order in (1, 2))
_SAS = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")


class Labelled(TableFormat):
    """A statistician's file."""

    program: ClassVar[str]
    reader: ClassVar[str]
    writer: ClassVar[str]
    options: ClassVar[Mapping[str, Any]] = {}
    begins: ClassVar[tuple[bytes, ...]]
    """What such a file begins with: one of these."""
    n_head: ClassVar[int]
    """How many bytes stand before anything of the data or its columns."""
    stamp: ClassVar[tuple[bytes, bytes]]
    """The time at which a file was written, as a pattern, and what stands there instead: the same table gives the same
    bytes."""

    def looks_like(self, seen: Look) -> bool:
        """By its first bytes."""
        return seen.raw.startswith(self.begins)

    def read(self, seen: Look, reading: HowToRead) -> Table:
        """Read all columns; missing values of the user's own are missing."""
        library = extra("pyreadstat", f"a {self.program} file")
        try:
            frame, meta = getattr(library, self.reader)(os.fspath(seen.path))
        except Exception:  # of its own kinds, whose texts may quote cells
            raise DataError(f"{seen.path}: the {self.program} file is damaged or of an unknown version") from None
        values = {name: dict(of) for name, of in meta.variable_value_labels.items() if of}
        for name, of in values.items():
            is_clear = len(set(of.values())) == len(of) and not set(of.values()) & set(reading.markers)
            if is_clear and frame[name].dropna().isin(list(of)).all():
                frame[name] = frame[name].map(of).astype(object)
        table = from_frame(frame, markers=reading.markers, header=reading.header)
        labels = {name: text for name, text in meta.column_names_to_labels.items() if text}
        source = Source(stem_of(seen.path), self.name, notes=table.source.notes, labels=labels, value_labels=values)
        return replace(table, source=source)

    def file_name(self, source: Source) -> str:
        """Always the same."""
        return self.files[0]

    def write(self, table: Table, path: str | os.PathLike[str]) -> None:
        """Numbers, texts and dates with their labels."""
        library = extra("pyreadstat", f"a {self.program} file")
        pandas = extra("pandas", f"a {self.program} file")
        values = {name: held for name, column in table.columns.items() if (held := _held(column, table.source))}
        frame = pandas.DataFrame({n: _cells(_as_codes(c, values.get(n, {}))) for n, c in table.columns.items()})
        labels = {name: text for name, text in table.source.labels.items() if name in table.columns}
        more = dict(self.options) | ({"variable_value_labels": values} if values else {})
        try:
            getattr(library, self.writer)(frame, os.fspath(path), column_labels=labels, **more)
        except OSError:
            raise
        except Exception:
            raise DataError(
                f"the table cannot be written for {self.program}, whose names and texts are bounded; shorten the names "
                "of columns, or give the table as CSV"
            ) from None
        whole = Path(path).read_bytes()
        head = whole[: self.n_head]
        Path(path).write_bytes(re.sub(self.stamp[0], self.stamp[1], head) + whole[self.n_head :])

    def read_back(self, path: str | os.PathLike[str], names: Iterable[str], reading: HowToRead) -> Table:
        """As any reader would."""
        return self.read(look(path), reading)


class Stata(Labelled):
    """Stata's .dta."""

    name = "stata"
    place = 7
    files = ("data.dta",)
    program = "Stata"
    reader = "read_dta"
    writer = "write_dta"
    begins = (b"<stata_dta>", *_OLD_STATA)  # a tag, or the number of an old version and the order of bytes
    n_head = 512
    stamp = (rb"(<timestamp>\x11)[^<]{17}(</timestamp>)", rb"\g<1>01 Jan 2000 00:00\g<2>")


class Spss(Labelled):
    """SPSS's .sav, plain or compressed."""

    name = "spss"
    place = 8
    files = ("data.sav",)
    program = "SPSS"
    reader = "read_sav"
    writer = "write_sav"
    begins = (b"$FL2", b"$FL3")
    n_head = 176
    stamp = (rb"\d{2} [A-Z][a-z]{2} \d{2}\d{2}:\d{2}:\d{2}", b"01 Jan 0000:00:00")


class SasTransport(Labelled):
    """SAS's transport file, .xpt."""

    name = "sas-transport"
    place = 8
    files = ("data.xpt",)
    program = "SAS"
    reader = "read_xport"
    writer = "write_xport"
    options: ClassVar[Mapping[str, Any]] = {"file_format_version": 8}
    begins = (b"HEADER RECORD*******LIB",)
    n_head = 640
    stamp = (rb"\d{2}[A-Z]{3}\d{2}:\d{2}:\d{2}:\d{2}", b"01JAN00:00:00:00")


class Sas(SasTransport):
    """SAS's own .sas7bdat, which nobody else writes; a transport file goes out."""

    name = "sas"
    reader = "read_sas7bdat"
    begins = (_SAS,)

    def read_back(self, path: str | os.PathLike[str], names: Iterable[str], reading: HowToRead) -> Table:
        """What goes out is a transport file."""
        return SasTransport().read_back(path, names, reading)


def _cells(column: Column) -> Any:
    """The cells of a column as pandas has them; a missing text as it was spelled, or nothing."""
    n_values = len(column.values)
    if column.is_text or not n_values:
        held = [*map(str, column.values), *(marker or "" for marker in column.markers)]
        return [held[code] for code in column.codes.tolist()]
    cells = column.values[np.where(column.missing, 0, column.codes)]
    if column.values.dtype.kind == "M":
        cells = cells.copy()
        cells[column.missing] = np.datetime64("NaT")
        return cells
    if column.values.dtype.kind == "b" or column.has_missing:
        cells = cells.astype(np.float64)
        cells[column.missing] = np.nan
    return cells


def _held(column: Column, source: Source) -> dict[Any, str]:
    """The labels of the codes that occur, if the column holds codes, or nothing but their labels."""
    labels = source.value_labels.get(column.name, {})
    used = column.compact().values
    if column.is_text:
        code_of = {text: code for code, text in labels.items()}
        return {code_of[text]: text for text in used} if all(text in code_of for text in used) else {}
    numbers = set(used.astype(np.float64).tolist()) if used.dtype.kind != "M" else set()
    return {code: text for code, text in labels.items() if not isinstance(code, str) and float(code) in numbers}


def _as_codes(column: Column, labels: Mapping[Any, str]) -> Column:
    """A column of labels as one of codes; others as they are."""
    if not labels or not column.is_text:
        return column
    code_of = {text: code for code, text in labels.items()}
    compact = column.compact()
    codes = np.array([code_of[text] for text in compact.values])
    order = np.argsort(codes)
    place = np.concatenate([np.argsort(order), np.full(len(compact.markers), len(codes), np.int64)])
    return Column(column.name, place[compact.codes].astype(np.int32), codes[order], (None,) if compact.markers else ())


FORMATS.register(Stata())
FORMATS.register(Spss())
FORMATS.register(SasTransport())
FORMATS.register(Sas())
