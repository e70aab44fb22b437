"""A made-up file format: a line that says so, then cells with bars between."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np

from shoal.data.sniff import Look, look
from shoal.data.tables.format import FORMATS, HowToRead, TableFormat
from shoal.data.tables.table import Source, Table, encode_cells

START = b"%bars\n"


class Bars(TableFormat):
    """All texts."""

    name = "bars"
    place = 5
    files = ("data.bars",)

    def looks_like(self, seen: Look) -> bool:
        return seen.raw.startswith(START)

    def read(self, seen: Look, reading: HowToRead) -> Table:
        names, *rows = (line.split("|") for line in seen.path.read_text(encoding="utf-8").splitlines()[1:])
        columns = []
        for name, *cells in zip(names, *rows, strict=True):
            texts = np.array(cells, dtype=object)
            columns.append(encode_cells(name, texts, np.isin(texts, list(reading.markers))))
        return Table.of(columns, Source(seen.path.stem, self.name))

    def file_name(self, source: Source) -> str:
        return self.files[0]

    def write(self, table: Table, path: str | os.PathLike[str]) -> None:
        cells = [[c.texts()[code] for code in c.codes] for c in table.columns.values()]
        lines = ["|".join(row) for row in (table.names, *zip(*cells, strict=True))]
        with open(path, "w", encoding="utf-8") as file:
            file.write(START.decode() + "\n".join(lines) + "\n")

    def read_back(self, path: str | os.PathLike[str], names: Iterable[str], reading: HowToRead) -> Table:
        return self.read(look(path), reading)


FORMATS.register(Bars())
