"""The folder of a sweep: owner-only, with each finished cell in a small file, so that a run can go on where it ended.

::

    sweep/
      sweep.html, sweep.csv, sweep.json
      cells/<hash of table, policy and cell>.json
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from shoal._version import __version__
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.formats.text import guarded
from shoal.data.tables.table import Table, spell
from shoal.errors import ShoalError
from shoal.kinds.tables.policy import Policy
from shoal.scratch import clear_abandoned, write_owned
from shoal.sweep.sweep import Cell
from shoal.utility.tables.definitions import MEASURES

if TYPE_CHECKING:
    from shoal.sweep.sweep import Sweep

CELLS = "cells"
FILES = ("sweep.csv", "sweep.json", "sweep.html")
_CELL: TypeAdapter[Cell] = TypeAdapter(Cell)


class SweepFolder:
    """Where a sweep is written; refuses a folder that holds anything but an earlier sweep."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            if path.is_dir():
                others = sorted(p.name for p in path.iterdir() if not _is_ours(p.name))
            else:
                others = [path.name] if path.exists() or path.is_symlink() else []
        except OSError as error:
            raise ShoalError(f"cannot look at {path}: {_reason(error)}; choose another output folder") from None
        if others:
            what = "holds more than a sweep" if path.is_dir() else "exists and is not a folder"
            raise ShoalError(f"{path} {what}; choose another output folder, or remove it first")

    def open(self) -> None:
        """Make the folder, the owner's alone, and clear away what a killed run left half written."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            for folder in (self.path, self.path / CELLS):
                folder.mkdir(mode=0o700, exist_ok=True)
                folder.chmod(0o700)
                clear_abandoned(folder)
        except OSError as error:
            raise ShoalError(f"cannot write to {self.path}: {_reason(error)}; choose another output folder") from None

    def abandon(self) -> None:
        """Remove the folder if nothing was stored in it."""
        with suppress(OSError):
            (self.path / CELLS).rmdir()
            self.path.rmdir()

    def place(self, key: str) -> Path:
        """The file of a cell."""
        return self.path / CELLS / f"{key}.json"

    def find(self, key: str) -> Cell | None:
        """A cell that an earlier run finished; a file that is spoiled counts for nothing."""
        try:
            return _CELL.validate_json(self.place(key).read_bytes())
        except (OSError, ValidationError):
            return None

    def write(self, sweep: Sweep) -> None:
        """Write the table, the numbers and the page."""
        from shoal.report.sweep import render_sweep

        content = json.dumps(sweep.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        for name, text in zip(FILES, (_as_csv(sweep), content, render_sweep(sweep)), strict=True):
            _write_whole(self.path / name, text)


def _is_ours(name: str) -> bool:
    return name in (CELLS, *FILES) or name.startswith(".sweep.")


def store(path: Path, cell: Cell) -> None:
    """Store a finished cell, whole or not at all."""
    _write_whole(path, json.dumps(cell.to_dict(), allow_nan=False) + "\n")


def _write_whole(path: Path, text: str) -> None:
    try:
        write_owned(path, text, overwrite=True)
    except OSError as error:
        raise ShoalError(
            f"the sweep could not be written to {path.parent}: {_reason(error)}; finished cells are kept"
        ) from None


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def cell_key(checksum: str, attributes: Mapping[str, Attribute], policy: Policy, k: int) -> str:
    """Name of a cell by all that it follows from: the table, the columns' meaning, what is required, the method."""
    meaning = [(a.name, a.type, a.role, a.order, a.hierarchy and a.hierarchy.rows) for a in attributes.values()]
    asked = policy.model_dump(exclude={"columns"}, mode="json")
    text = json.dumps([__version__, checksum, meaning, asked, k], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def table_checksum(table: Table) -> str:
    """A checksum of names and cells in their order."""
    total = hashlib.sha256()
    for column in table.columns.values():
        head = [column.name, column.values.dtype.str, column.markers, spell(column.values), len(column.codes)]
        total.update(json.dumps(head).encode())
        total.update(column.codes.tobytes())
    return total.hexdigest()


def _as_csv(sweep: Sweep) -> str:
    from shoal.sweep.sweep import SCORE_NAMES

    scores = [n for n in SCORE_NAMES if any(n in c.scores for c in sweep.cells)]
    frontier = sweep.frontier
    head = ["method", "publish", "k", "effort", "suppression", "l", "t"]
    head += ["result", "frontier", "records_in", "records_out", "suppressed"]
    risks = ["risk_highest", "risk_average"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    trained = [f"{n}_{which}" for n in scores for which in ("release", "originals")]
    writer.writerow([*head, *risks, *MEASURES, "association_change", *trained, "seconds", "why"])
    for c in sweep.cells:
        is_made = c.holds
        row: list[Any] = [c.partition, c.publish, c.k, c.effort, c.suppression, c.l, c.t]
        row += [c.status, str(c in frontier).lower(), c.n_in, c.n_out if is_made else None, c.n_suppressed]
        row += [c.risk_highest, c.risk_average, *(c.losses.get(n) for n in MEASURES), c.association_change]
        row += [side.get(n) for n in scores for side in (c.scores, c.scores_before)]
        writer.writerow([*row, c.seconds, guarded(c.sentence)])
    return text.getvalue()
