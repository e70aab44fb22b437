"""The folder of a sweep: owner-only, with each finished cell in a small file, so that a run can go on where it ended.

::

    sweep/
      sweep.html, sweep.csv, sweep.json
      cells/<hash of data, policy and cell>.json
"""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from shoal.data.tables.guarded import guarded
from shoal.sweep.cell import Cell, finite
from shoal.sweep.kept import KeptFolder

if TYPE_CHECKING:
    from shoal.sweep.sweep import Sweep


class SweepFolder(KeptFolder):
    """Where a sweep is written."""

    noun, parts, files = "sweep", "cells", ("sweep.csv", "sweep.json", "sweep.html")

    def find(self, key: str, form: type[Cell]) -> Cell | None:
        """A cell that an earlier run finished; a file that is spoiled counts for nothing."""
        try:
            return TypeAdapter(form).validate_json(self.place(key).read_bytes())
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


def _as_csv(sweep: Sweep) -> str:
    method, *settings = sweep.form.settings
    risks, frontier = list(sweep.form.risks), sweep.frontier
    scores = [n for n in sweep.form.measures if any(n in c.scores for c in sweep.cells)]
    losses = [n for n in sweep.form.measures if any(math.isfinite(c.loss(n)) for c in sweep.cells) and n not in scores]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    counts = ["result", "frontier", "records_in", "records_out", "suppressed"]
    trained = [f"{n}_{which}" for n in scores for which in ("release", "originals")]
    writer.writerow(["method", *settings, "k", *counts, *risks, *losses, *trained, "seconds", "why"])
    for c in sweep.cells:
        row: list[Any] = [getattr(c, n) for n in (method, *settings)]
        row += [c.k, c.status, str(c in frontier).lower(), c.n_in, c.n_out if c.holds else None, c.n_suppressed]
        row += [*(getattr(c, n) for n in risks), *(finite(c.loss(n)) for n in losses)]
        row += [side.get(n) for n in scores for side in (c.scores, c.scores_before)]
        writer.writerow([*row, c.seconds, guarded(c.sentence)])
    return text.getvalue()
