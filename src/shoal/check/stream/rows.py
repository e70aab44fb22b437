"""The rows of a published stream, some at a time, so that memory does not grow with it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from shoal.errors import DataError

Row = Sequence[str]


def read_rows(path: Path, names: Sequence[str], delimiter: str | None, *, has_header: bool) -> Iterator[Row]:
    """Every row of a CSV file, or of JSON objects where there is no delimiter."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if delimiter is None:
                yield from (_object(line, names, i) for i, line in enumerate(file, 1))
                return
            rows = csv.reader(file, delimiter=delimiter)
            if has_header and next(rows, None) != list(names):
                raise DataError(f"{path}, line 1: does not name the columns that the manifest names")
            for i, row in enumerate(rows, 1 + has_header):
                if len(row) != len(names):
                    raise DataError(f"{path}, line {i:,}: has {len(row)} cells, and there are {len(names)} columns")
                yield row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} cannot be read ({type(error).__name__}); restore it from the release") from None


def _object(line: str, names: Sequence[str], number: int) -> Row:
    try:
        row = json.loads(line)
        cells = [row[name] for name in names]
    except (ValueError, KeyError, TypeError):
        cells = []
    if len(cells) != len(names) or len(row) != len(names) or any(isinstance(c, list | dict) for c in cells):
        raise DataError(
            f"line {number:,} is not an object with the columns of the manifest; restore it from the release"
        )
    return [_text(c) for c in cells]


def _text(cell: object) -> str:
    if cell is None:
        return ""
    return str(cell).lower() if isinstance(cell, bool) else str(cell)


def blocks(rows: Iterator[Row], quasi: Sequence[int], most: int) -> Iterator[list[Row]]:
    """Rows in blocks of about so many; those that follow each other with the same quasi-identifiers stay together."""

    def key(row: Row) -> list[str]:
        return [row[j] for j in quasi]

    kept: list[Row] = []
    while True:
        more = list(islice(rows, most))
        if not more:
            break
        kept += more
        last, cut = key(kept[-1]), len(kept)
        while cut and key(kept[cut - 1]) == last:
            cut -= 1
        if cut:
            yield kept[:cut]
            kept = kept[cut:]
    if kept:
        yield kept
