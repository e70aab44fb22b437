"""The frontier of risk and utility: many releases of one table in memory, and what each would cost.

No release is kept or published. What is written is for the owner alone, since losses are measured on the original:
sums and shares of each cell (a method with a k), never a record, a seed or a group.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Literal, get_args

from shoal._version import __version__
from shoal.api import load
from shoal.data.meaning import attributes_of
from shoal.data.table import Table
from shoal.engine.blocks import run_blocks
from shoal.engine.executors import Pool, open_executor
from shoal.errors import DataError, Infeasible, NotVerified, PolicyError, ShoalError, did_you_mean
from shoal.policy import RECODINGS, AlphaK, Partition, Policy
from shoal.release import Release, verified
from shoal.tables.anonymize import anonymize_table

Progress = Callable[[str, int, int], None]
Status = Literal["holds", "infeasible", "refused", "fails"]

KS = (2, 5, 10, 20)
PARTITIONS = ("mondrian", "mdav")
SHOWN_LOSSES = ("GCP", "DM", "C_avg", "IL", "SSE/SST")
_STATUS: dict[type[ShoalError], Status] = {
    Infeasible: "infeasible",
    PolicyError: "refused",
    DataError: "refused",
    NotVerified: "fails",
}


@dataclass(frozen=True)
class Cell:
    """One method with one k: whether its release would hold, what risk stays, and what it costs.

    Attributes
    ----------
    partition, publish, k
        The method and the k that was tried.
    group_size : int
        The least group that all requirements together ask for, which may be more than k.
    status : {"holds", "infeasible", "refused", "fails"}
        All guarantees hold; no release can meet them; the method does not suit the table or the policy; the release
        failed its own check, which is a defect.
    sentence : str
        Why there are no numbers, "" where there are.
    n_in, n_out : int
        Records of the original and of the release.
    guarantees : tuple of dict
        What was required and achieved.
    risk_highest, risk_average : float or None
        The prosecutor's chance of picking the right record, at worst and for an average record.
    losses : dict
        Every loss by its name; null where it is not a number.
    association_change : float or None
        Mean absolute change of the associations between attributes.
    seconds : float
        What it took, the compiling of a first run included.
    """

    partition: str
    publish: str
    k: int
    group_size: int
    status: Status
    sentence: str
    n_in: int
    n_out: int
    seconds: float
    guarantees: tuple[dict[str, Any], ...] = ()
    risk_highest: float | None = None
    risk_average: float | None = None
    losses: dict[str, float | None] = field(default_factory=dict)
    association_change: float | None = None

    @property
    def holds(self) -> bool:
        """Whether a release was made and all its guarantees hold."""
        return self.status == "holds"

    @property
    def n_suppressed(self) -> int | None:
        """Records left out; None where there is no release."""
        return self.n_in - self.n_out if self.holds else None

    @property
    def gcp(self) -> float:
        """Share of certainty lost; all of it where there is no release."""
        value = self.losses.get("GCP")
        return math.inf if value is None else value

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "guarantees": [dict(g) for g in self.guarantees]}


@dataclass(frozen=True)
class Sweep:
    """What `sweep` gives back.

    Attributes
    ----------
    title : str
        Name of the data.
    n_rows, k : int
        Records of the original, and the least group that the policy asks for.
    cells : tuple of Cell
        Method by method, k ascending.
    proposed : Cell or None
        Least GCP among the cells that meet the policy at its own k or a larger one.
    options : tuple of str
        What makes `shoal anonymize` with the same policy do as the proposed cell did.
    n_reused : int
        Cells that an earlier run had finished.
    """

    title: str
    n_rows: int
    k: int
    cells: tuple[Cell, ...]
    proposed: Cell | None
    options: tuple[str, ...] = ()
    n_reused: int = 0
    version: str = __version__

    @property
    def frontier(self) -> tuple[Cell, ...]:
        """Cells that hold and that no other beats: none has less risk on average without more loss, or the reverse."""
        return tuple(c for c in self.cells if c.holds and not any(_beats(other, c) for other in self.cells))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: everything that was measured."""
        frontier = self.frontier
        return {
            "shoal": self.version,
            "data": self.title,
            "records": self.n_rows,
            "policy_k": self.k,
            "cells": [{**c.to_dict(), "n_suppressed": c.n_suppressed, "frontier": c in frontier} for c in self.cells],
            "proposed": None
            if self.proposed is None
            else {
                "partition": self.proposed.partition,
                "publish": self.proposed.publish,
                "k": self.proposed.k,
                "options": list(self.options),
            },
        }

    def _repr_html_(self) -> str:
        from shoal.report.frontier import table_rows

        rows = "".join(f"<tr>{''.join(f'<td>{escape(value)}</td>' for value in row)}</tr>" for row in table_rows(self))
        return f"<table><tbody>{rows}</tbody></table>"


def _beats(one: Cell, other: Cell) -> bool:
    if not one.holds or one.risk_average is None or other.risk_average is None:
        return False
    mine, theirs = (one.risk_average, one.gcp), (other.risk_average, other.gcp)
    return mine != theirs and mine[0] <= theirs[0] and mine[1] <= theirs[1]


def sweep(
    source: Any,
    policy: Policy | None = None,
    *,
    k: int | Iterable[int] = KS,
    partitions: str | Iterable[str] = PARTITIONS,
    publish: str | None = None,
    workers: int = 1,
    pool: Pool = "threads",
    progress: Progress | None = None,
    folder: str | Path | None = None,
) -> Sweep:
    """Try every method with every k, and say what each leaves of risk and utility. Nothing is published.

    Parameters
    ----------
    source : path, or frame of pandas, polars or arrow, or dict of columns
        The original records.
    policy : Policy, optional
        What every cell has in common; its k and its method are replaced.
    k : int or iterable of int
        Sizes of the smallest group to try.
    partitions : str or iterable of str
        Methods to try.
    publish : {"generalise", "aggregate"}, optional
        How all methods publish; else as the policy says, or each in its own way.
    workers, pool
        How many cells at once, on threads or processes.
    progress : callable, optional
        Called with (what is being done, cells done, cells in all).
    folder : path, optional
        Where to write `sweep.csv`, `sweep.json` and `sweep.html`, for the owner alone. Each finished cell is stored
        there at once, and the same call takes it from there; another table or policy does not.

    Returns
    -------
    Sweep

    Raises
    ------
    PolicyError, DataError
        What was asked for is not understood, or no cell can be tried. A cell that is infeasible is part of the result.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [31, 32, 47, 48], "disease": ["flu", "cold", "flu", "ulcer"]}
    >>> found = shoal.sweep(people, shoal.Policy.of(quasi=["age"], sensitive=["disease"], k=2), k=[2, 4, 8])
    >>> [(c.partition, c.k, c.status) for c in found.cells if c.partition == "mdav"]
    [('mdav', 2, 'holds'), ('mdav', 4, 'holds'), ('mdav', 8, 'infeasible')]
    >>> found.proposed.k
    2
    """
    from shoal.frontier_folder import SweepFolder, cell_key, table_checksum

    policy = policy or Policy()
    asked = [(size, _cell_policy(policy, name, size, publish)) for name in _methods(partitions) for size in _sizes(k)]
    home = None if folder is None else SweepFolder(Path(folder))
    table = load(source, policy.missing_markers)
    attributes = attributes_of(table, policy)
    if home is not None:
        home.open()
        checksum = table_checksum(table)
        keys = [cell_key(checksum, attributes, cell_policy, size) for size, cell_policy in asked]
        found = {i: cell for i, key in enumerate(keys) if (cell := home.find(key)) is not None}
    else:
        keys, found = [""] * len(asked), {}
    n_reused = len(found)
    missing = [i for i in range(len(asked)) if i not in found]

    def step(done: int, _: int) -> None:
        if progress is not None:
            progress("trying methods", n_reused + done, len(asked))

    step(0, 0)
    blocks = [(table, asked[i][1], asked[i][0], None if home is None else home.place(keys[i])) for i in missing]
    with open_executor(min(workers, max(1, len(blocks))), pool) as executor:
        found |= zip(missing, run_blocks(try_cell, blocks, executor, step), strict=True)
    cells = tuple(found[i] for i in range(len(asked)))
    if all(c.status == "refused" for c in cells):
        if home is not None:
            home.abandon()
        raise PolicyError(cells[0].sentence)
    proposed = min(
        (i for i, c in enumerate(cells) if c.holds and c.group_size >= policy.k),
        key=lambda i: (cells[i].gcp, cells[i].k),
        default=None,
    )
    result = Sweep(
        title=table.source.name,
        n_rows=table.n_rows,
        k=policy.k,
        cells=cells,
        proposed=None if proposed is None else cells[proposed],
        options=() if proposed is None else _options(policy, *asked[proposed]),
        n_reused=n_reused,
    )
    if home is not None:
        if progress is not None:
            progress("writing the sweep", 0, 0)
        home.write(result)
    return result


def try_cell(table: Table, policy: Policy, k: int, path: Path | None = None) -> Cell:
    """Make one release in memory, check it, measure it and let it go; store the cell at once where a path is given."""
    began = time.perf_counter()
    about: dict[str, Any] = {
        "partition": policy.method.partition,
        "publish": policy.method.publication,
        "k": k,
        "group_size": policy.k,
        "n_in": table.n_rows,
    }
    try:
        measured = _measured(table, policy)
    except (Infeasible, PolicyError, DataError, NotVerified) as error:
        measured = {"status": _STATUS[type(error)], "sentence": str(error), "n_out": 0}
    cell = Cell(**about, **measured, seconds=round(time.perf_counter() - began, 3))
    # A method that does not suit the table says so at once, and a defect is to be tried again.
    if path is not None and cell.status in ("holds", "infeasible"):
        from shoal.frontier_folder import store

        store(path, cell)
    return cell


def _measured(table: Table, policy: Policy) -> dict[str, Any]:
    made = anonymize_table(table, policy)
    release = Release(
        table=made.table,
        guarantees=verified(made.table, policy, made.attributes),
        policy=policy,
        attributes=made.attributes,
        notes=made.notes,
        _original=table,
        _rows=made.rows,
        _groups=made.groups,
    )
    risk, utility = release.risk_after, release.utility
    return {
        "status": "holds",
        "sentence": "",
        "n_out": release.records["out"],
        # Without the worst classes, which show published values.
        "guarantees": tuple(
            {n: v for n, v in g.to_dict().items() if n not in ("worst", "sentence")} for g in release.guarantees
        ),
        "risk_highest": risk.prosecutor_highest,
        "risk_average": risk.prosecutor_average,
        "losses": {found.name: _finite(found.value) for found in utility.losses},
        "association_change": _finite(utility.correlation.mean_change),
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _methods(partitions: str | Iterable[str]) -> tuple[str, ...]:
    known = get_args(Partition)
    names = tuple(dict.fromkeys([partitions] if isinstance(partitions, str) else partitions))
    for name in names:
        if name not in known:
            raise PolicyError(f"there is no method {name!r}; {did_you_mean(name, known)}")
    if not names:
        raise PolicyError(f"no method was named; there are {', '.join(known)}")
    return names


def _sizes(k: int | Iterable[int]) -> Sequence[int]:
    sizes = [k] if isinstance(k, int) else list(k)
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int) or size < 2:
            raise PolicyError(f"k = {size} cannot be tried; give whole numbers of 2 or more")
    if not sizes:
        raise PolicyError("no k was given; give whole numbers of 2 or more, such as 2,5,10")
    return sorted(set(sizes))


def _cell_policy(policy: Policy, partition: str, k: int, publish: str | None) -> Policy:
    """The policy with another method and k; what one recoding for all records cannot have is left out for those."""
    changes: dict[str, Any] = {"partition": partition}
    if partition in RECODINGS:
        changes["effort"] = "fast"
        if policy.method.publish == "aggregate":
            changes["publish"] = "generalise"
    if publish is not None:
        changes["publish"] = publish
    require = [r.model_copy(update={"k": k}) if isinstance(r, AlphaK) else r for r in policy.require]
    return policy.changed(require=require, k=k, **changes)


def _options(policy: Policy, k: int, proposed: Policy) -> tuple[str, ...]:
    options = ["--method", proposed.method.partition]
    if proposed.k != policy.k:
        options += ["-k", str(k)]
    if proposed.method.publish not in (None, policy.method.publish):
        options += ["--publish", proposed.method.publish]
    if proposed.method.effort != policy.method.effort:
        options += ["--effort", proposed.method.effort]
    return tuple(options)
