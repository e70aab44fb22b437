"""A table as a finished step of a run, in files that hold arrays and JSON and nothing that could be run.

Of a table in memory all codes are kept; of one whose rows lie in files, what these mean: the files are another step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.data.tables.spill import SpilledRows, SpilledTable, SpillFolder, save_arrays, spread
from shoal.data.tables.table import Column, Source, Table
from shoal.resume import FinishedStep, StepFolder

TABLE, ROWS = "table", "rows"
"""The steps: what is known of a table, and its rows where they lie in a file."""
BLOCKS, RANGES = "blocks", "ranges"
"""The steps that take the place of the rows: in blocks as they were cut, or in ranges of a curve."""
IN_FILES = (ROWS, BLOCKS, RANGES)

_SOURCE = ("name", "format", "delimiter", "gzip", "table")
_Array = npt.NDArray[Any]


def keep_table(steps: StepFolder, table: Table) -> None:
    """Let what was read be a finished step."""
    with steps.finishing(TABLE) as step:
        told: Any = step.told
        source = {name: getattr(table.source, name) for name in _SOURCE}
        told |= {"source": source, "notes": list(table.source.notes), "labels": dict(table.source.labels)}
        told |= {"n_rows": table.n_rows, "is_one_each": table.is_one_each, "columns": [], "rows": None}
        is_spilled = isinstance(table, SpilledTable)
        for i, column in enumerate(table.columns.values()):
            is_read = bool(len(column.values) or column.markers != (None,))
            told["columns"].append({"name": column.name, "markers": list(column.markers), "is_read": is_read})
            _save_values(step.path, i, column.values)
            if is_read and not is_spilled:
                save_arrays(step.path / f"codes-{i}.npy", column.codes)
        if isinstance(table, SpilledTable):
            rows = table.rows
            told["rows"] = {"names": list(rows.names), "n_records": rows.n_records}
            for i, name in enumerate(rows.names):
                save_arrays(step.path / f"counts-{i}.npy", rows.counts[name])
        elif table.weights is not None:
            save_arrays(step.path / "weights.npy", table.weights)
    if isinstance(table, SpilledTable):
        table.rows.folder.keep(ROWS, [table.rows.file])


def kept_table(step: FinishedStep, steps: StepFolder) -> Table:
    """The table that was read by an earlier run.

    Raises
    ------
    ValueError
        If it is none.
    """
    told: Any = step.told
    labels, notes = told["labels"], tuple(told["notes"])
    source = Source(**told["source"], notes=notes, labels=labels)
    if told["rows"] is None:
        return _held(step, source)
    columns = [
        Column(c["name"], np.zeros(0, np.int32), _values(step.path, i), tuple(c["markers"]))
        for i, c in enumerate(told["columns"])
    ]
    named = {column.name: column for column in spread(columns)}
    names = tuple(told["rows"]["names"])
    counts = {name: np.load(step.path / f"counts-{i}.npy") for i, name in enumerate(names)}
    folder = SpillFolder(steps)
    files = folder.kept(ROWS) or [folder.new(len(names))]  # the rows may have gone into a later step
    spilled = SpilledRows(folder, files[0], names, counts, told["rows"]["n_records"])
    return SpilledTable.over(Table(named, source, is_one_each=told["is_one_each"]), spilled)


def _held(step: FinishedStep, source: Source) -> Table:
    told: Any = step.told
    n_rows, path = told["n_rows"], step.path / "weights.npy"
    nothing = np.zeros(n_rows, dtype=np.int32)
    columns = []
    for i, c in enumerate(told["columns"]):
        values, markers = _values(step.path, i), tuple(c["markers"])
        codes = np.load(step.path / f"codes-{i}.npy") if c["is_read"] else nothing
        _refuse_odd(codes, n_rows, 0, len(values) + len(markers))
        columns.append(Column(c["name"], codes, values, markers))
    weights = np.load(path) if path.exists() else None
    if weights is not None:
        _refuse_odd(weights, n_rows, 1, 1 << 31)
    return replace(Table.of(columns, source), weights=weights, is_one_each=told["is_one_each"])


def _refuse_odd(numbers: _Array, n_rows: int, least: int, end: int) -> None:
    """Refuse numbers that would be used as places, and are none."""
    is_odd = numbers.dtype != np.int32 or numbers.shape != (n_rows,)
    if is_odd or (n_rows and (int(numbers.min()) < least or int(numbers.max()) >= end)):
        raise ValueError("the numbers of a table are none of its own")


def _save_values(folder: Path, number: int, values: _Array) -> None:
    if values.dtype != object:
        save_arrays(folder / f"values-{number}.npy", values)
        return
    texts = [text.encode("utf-8", "surrogatepass") for text in values.tolist()]
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    save_arrays(folder / f"ends-{number}.npy", ends)
    save_arrays(folder / f"texts-{number}.npy", np.frombuffer(b"".join(texts), dtype=np.uint8))


def _values(folder: Path, number: int) -> _Array:
    if (folder / f"values-{number}.npy").exists():
        found: _Array = np.load(folder / f"values-{number}.npy")
        return found
    texts = np.load(folder / f"texts-{number}.npy").tobytes()
    ends: Sequence[int] = np.load(folder / f"ends-{number}.npy").tolist()
    values = np.empty(len(ends), dtype=object)
    for i, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
        values[i] = texts[begin:end].decode("utf-8", "surrogatepass")
    return values
