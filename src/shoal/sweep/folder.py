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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from shoal._version import __version__
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.guarded import guarded
from shoal.data.tables.table import Table, spell
from shoal.kinds.tables.policy import Policy
from shoal.sweep.kept import KeptFolder
from shoal.sweep.sweep import Cell
from shoal.utility.tables.definitions import MEASURES

if TYPE_CHECKING:
    from shoal.sweep.sweep import Sweep

_CELL: TypeAdapter[Cell] = TypeAdapter(Cell)


class SweepFolder(KeptFolder):
    """Where a sweep is written."""

    noun, parts, files = "sweep", "cells", ("sweep.csv", "sweep.json", "sweep.html")

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
        for name, text in zip(self.files, (_as_csv(sweep), content, render_sweep(sweep)), strict=True):
            self.write_file(name, text)


def store(path: Path, cell: Cell) -> None:
    """Store a finished cell, whole or not at all."""
    SweepFolder.store(path, json.dumps(cell.to_dict(), allow_nan=False) + "\n")


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
