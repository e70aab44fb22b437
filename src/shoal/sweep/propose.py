"""Which method a table asks for: a few releases of a sample, made in memory, measured and let go.

The rule is simple, and stated to the user: of the methods that were tried, the one that loses least certainty (GCP) at
the policy's k while it meets the policy. All of them generalise, so that every published cell stays true of its record
and their losses can be compared. Few methods are tried, since each must be compiled on a new machine: Mondrian, fast at
any size, and the one that lost least on the tables that we tried, k-member where all quasi-identifiers are numbers or
dates, else local recoding (docs/how-to/sweep.md names them). That one is left out where the table has so many records
that it would take more than about half a minute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table
from shoal.kinds.tables.policy import ColumnPolicy, Method, Policy
from shoal.kinds.tables.sweep import TableCell, TableTrials
from shoal.progress import Progress
from shoal.report.points import listed
from shoal.report.tables.words import percent
from shoal.shown import Grid
from shoal.sweep.sweep import try_cell
from shoal.tables.partition.base import usually_narrowest

K = 5
SIZES = (5, 10)
SAMPLE = 5000
FEWEST = 100
MOST_COLUMNS = 40


@dataclass(frozen=True)
class Proposal:
    """What `shoal profile` proposes, and what it was found from; aggregates only.

    Attributes
    ----------
    partition : str
        The method to start with.
    why : str
        One sentence: what was compared, or why nothing was.
    n_rows, n_tried : int
        Records of the table, and of the sample on which the methods were tried; 0 where none was.
    cells : tuple of TableCell
        What was tried, as in a sweep.
    """

    partition: str
    why: str
    n_rows: int
    n_tried: int = 0
    cells: tuple[TableCell, ...] = ()

    def shown(self) -> list[str | Grid]:
        """What was tried, and what is proposed, for a terminal."""
        from shoal.report.tables.words import percent

        shown: list[str | Grid] = []
        if self.cells:
            took = sum(c.seconds for c in self.cells)
            shown.append(f"\nMethods tried on {self.n_tried:,} records in {took:.1f} s; nothing was published:")
            numbers = ("k", "risk, worst", "risk, mean", "certainty lost (GCP)")
            rows = []
            for c in self.cells:
                found = (c.risk_highest, c.risk_average, c.losses.get("GCP"))
                cells = [percent(v) for v in found] if c.holds else [c.status, "", ""]
                rows.append((f"  {c.partition}", str(c.k), *cells))
            shown.append(Grid(("  method", *numbers), rows, numbers))
        return [*shown, f"\nProposed method: {self.partition}. {self.why}"]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "partition": self.partition,
            "publish": "generalise",
            "why": self.why,
            "records_tried": self.n_tried,
            "cells": [c.to_dict() for c in self.cells],
        }


def propose(
    table: Table, attributes: Mapping[str, Attribute], progress: Progress | None = None, person: str | None = None
) -> Proposal:
    """Try methods on a table, or on a sample of it, and propose one.

    Parameters
    ----------
    attributes : mapping of str to Attribute
        The meaning of each column, as it will stand in the policy.
    progress : callable, optional
        Called with (what is being done, releases done, releases in all).
    person : str, optional
        The column that says whose row it is, as it will stand in the policy.
    """
    fallback = Method().partition
    quasi = [a for a in attributes.values() if a.role == "quasi"]
    unsuitable = _unsuitable(table, len(quasi))
    if unsuitable:
        return Proposal(fallback, f"No method was tried, since {unsuitable}.", table.n_records)
    sample = _sample(table)
    better = usually_narrowest(is_numeric=all(a.type in ("continuous", "date") for a in quasi))
    is_too_long = better.most_records is not None and table.n_records > better.most_records
    methods = [fallback] if is_too_long else [fallback, better.name]
    trials = TableTrials(_policy(attributes, person))
    asked = trials.grid(SIZES, {"partition": methods, "publish": "generalise"})
    trials.take(sample)
    cells = []
    for i, a in enumerate(asked):
        if progress is not None:
            progress("trying methods", i, len(asked))
        cells.append(try_cell(trials, a))
    made = sorted((c for c in cells if c.holds and c.k == K), key=lambda c: c.gcp)
    where = f"on a sample of {sample.n_rows:,} records" if sample.n_rows < table.n_records else "on the whole table"
    if not made:
        why = f"No method that was tried {where} can be used: {cells[0].sentence}."
    elif is_too_long:
        why = f"{better.name} would take long on {table.n_records:,} records; GCP {_gcp(made[0])} with k = {K} {where}."
    else:
        others = listed([f"{_gcp(c)} for {c.partition}" for c in made[1:]])
        against = f" against {others}" if others else ""
        is_tie = any(_gcp(c) == _gcp(made[0]) for c in made[1:])
        what = "loses as little as any" if is_tie else "loses least"
        why = f"{made[0].partition} {what}: {_gcp(made[0])} of certainty (GCP){against}, with k = {K} {where}."
    return Proposal(made[0].partition if made else fallback, why, table.n_records, sample.n_rows, tuple(cells))


def _unsuitable(table: Table, n_quasi: int) -> str:
    if not n_quasi:
        return "no column looks quasi-identifying"
    if table.n_records < FEWEST:
        return f"the table has fewer than {FEWEST} records"
    if n_quasi > MOST_COLUMNS:
        return f"more than {MOST_COLUMNS} columns look quasi-identifying"
    return ""


def _sample(table: Table) -> Table:
    """At most so many records, the same each time: what is told of them are sums."""
    if table.n_records <= SAMPLE and table.weights is None:
        return table
    rows = np.sort(np.random.default_rng(0).choice(table.n_records, min(SAMPLE, table.n_records), replace=False))
    if table.weights is not None:
        rows = np.searchsorted(np.cumsum(table.weights, dtype=np.int64), rows, side="right")
    return replace(table.take(rows).compact(), weights=None)


def _policy(attributes: Mapping[str, Attribute], person: str | None) -> Policy:
    """As the policy file will have it: the sample's own values must not change a guess."""
    columns = {n: ColumnPolicy(role=a.role, type=a.type, order=a.order) for n, a in attributes.items()}
    return Policy(columns=columns, person=() if person is None else (person,)).changed(k=K)


def _gcp(cell: TableCell) -> str:
    return percent(cell.gcp)
