"""The frontier of risk and utility: many releases of one table in memory, and what each would cost.

No release is kept or published. What is written is for the owner alone, since losses are measured on the original:
sums and shares of each cell (a method with its parameters), never a record, a seed or a group.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Literal

from shoal._version import __version__
from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.table import Table
from shoal.engine.blocks import run_blocks
from shoal.engine.executors import Pool, open_executor
from shoal.errors import DataError, Infeasible, NotVerified, PolicyError, ShoalError, did_you_mean
from shoal.kind import fitting_policy, kind_of, kind_of_policy
from shoal.kinds.tables.kind import KIND
from shoal.kinds.tables.policy import Policy
from shoal.kinds.tables.release import TableRelease
from shoal.progress import Progress
from shoal.sweep.grid import SETTINGS, grid, meets
from shoal.tables.anonymize import anonymize_table
from shoal.utility.tables.classification import SCORES
from shoal.utility.tables.definitions import MEASURES
from shoal.utility.tables.target import TargetLearning, check_target

Status = Literal["holds", "infeasible", "refused", "fails"]

KS = (2, 5, 10, 20)
PARTITIONS = ("mondrian", "mdav")
ASSOCIATIONS = "associations"
SCORE_NAMES = tuple(name for names in SCORES.values() for name in names)
SHOWN = ("GCP", "query-error", "C_avg", "DM", "IL", "SSE/SST", ASSOCIATIONS)
MOST_LEARNED = 5000  # records that each cell's models are trained on
_STATUS: dict[type[ShoalError], Status] = {
    Infeasible: "infeasible",
    PolicyError: "refused",
    DataError: "refused",
    NotVerified: "fails",
}


@dataclass(frozen=True)
class Cell:
    """One method with its parameters: whether its release would hold, what risk stays, and what it costs.

    Attributes
    ----------
    partition, publish, k, effort, suppression, l, t
        What was tried; l and t are None where diversity or closeness is not required.
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
    scores, scores_before : dict
        How well the target is predicted by the best model trained on this release, and on as many originals.
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
    effort: str = "fast"
    suppression: float = 0.0
    l: float | None = None  # noqa: E741  the paper's name
    t: float | None = None
    scores: dict[str, float | None] = field(default_factory=dict)
    scores_before: dict[str, float | None] = field(default_factory=dict)

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
        """Share of certainty lost; infinite where there is no release."""
        return self.loss("GCP")

    def loss(self, measure: str) -> float:
        """A loss by its name, of a score what is lost against the originals; infinite where there is none."""
        if measure in SCORE_NAMES:
            after, before = self.scores.get(measure), self.scores_before.get(measure)
            return math.inf if after is None or before is None else before - after
        value = self.association_change if measure == ASSOCIATIONS else self.losses.get(measure)
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
    measures : tuple of str
        The losses to be shown. The first is that of the frontier, of the picture and of the proposal.
    target : str or None
        The column whose prediction was tried.
    proposed : Cell or None
        Least loss among the cells that meet the policy at its own k or a larger one; one that publishes in slices only
        where nothing else was tried.
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
    measures: tuple[str, ...] = SHOWN
    target: str | None = None
    version: str = __version__

    @property
    def measured(self) -> tuple[Cell, ...]:
        """Cells that hold and have the first measure."""
        return tuple(c for c in self.cells if c.holds and math.isfinite(c.loss(self.measures[0])))

    @property
    def frontier(self) -> tuple[Cell, ...]:
        """Cells that hold and that no other beats: none has less risk on average without more loss, or the reverse."""
        made = self.measured
        return tuple(c for c in made if not any(_beats(other, c, self.measures[0]) for other in made))

    @property
    def varied(self) -> tuple[str, ...]:
        """The settings beside method and k in which cells differ within a method."""
        pairs = {n: {(c.partition, getattr(c, n)) for c in self.cells} for n in SETTINGS}
        return tuple(n for n, seen in pairs.items() if len(seen) > len({method for method, _ in seen}))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: everything that was measured."""
        frontier = self.frontier
        return {
            "shoal": self.version,
            "data": self.title,
            "records": self.n_rows,
            "policy_k": self.k,
            "measure": self.measures[0],
            "target": self.target,
            "cells": [{**c.to_dict(), "n_suppressed": c.n_suppressed, "frontier": c in frontier} for c in self.cells],
            "proposed": None
            if self.proposed is None
            else {
                "partition": self.proposed.partition,
                "publish": self.proposed.publish,
                "k": self.proposed.k,
                **{n: getattr(self.proposed, n) for n in SETTINGS[1:]},
                "options": list(self.options),
            },
        }

    def _repr_html_(self) -> str:
        from shoal.report.sweep import columns_of, table_rows

        head = "".join(f"<th>{escape(name)}</th>" for name in columns_of(self))
        rows = "".join(f"<tr>{''.join(f'<td>{escape(value)}</td>' for value in row)}</tr>" for row in table_rows(self))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _beats(one: Cell, other: Cell, measure: str) -> bool:
    if one.risk_average is None or other.risk_average is None:
        return False
    mine, theirs = (one.risk_average, one.loss(measure)), (other.risk_average, other.loss(measure))
    return mine != theirs and mine[0] <= theirs[0] and mine[1] <= theirs[1]


def sweep(
    source: Any,
    policy: Policy | None = None,
    *,
    k: int | Iterable[int] = KS,
    partitions: str | Iterable[str] = PARTITIONS,
    publish: str | Iterable[str] | None = None,
    effort: str | Iterable[str] | None = None,
    suppression: float | Iterable[float] | None = None,
    l: float | Iterable[float] | None = None,  # noqa: E741  the paper's name
    t: float | Iterable[float] | None = None,
    target: str | None = None,
    measures: str | Iterable[str] | None = None,
    workers: int = 1,
    pool: Pool = "threads",
    progress: Progress | None = None,
    folder: str | Path | None = None,
) -> Sweep:
    """Try every method with every parameter, and say what each leaves of risk and utility. Nothing is published.

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
    publish, effort, suppression, l, t : value or iterable of values, optional
        What else to try, as in `Policy.changed`: ways of publishing, efforts, shares of records that may be left out,
        and distinct l-diversity and t-closeness in place of what the policy requires under these names. What is None
        stays as the policy says, or as the method does.
    target : str, optional
        A column that readers will want to predict: each cell also trains models on its release (at most 5,000 records)
        and tests them on originals. Adds the measure CM and, for classes, "accuracy" and "AUC", for numbers "R2".
        Needs the extra `mining`.
    measures : str or iterable of str, optional
        The losses to show, of `shoal.utility.tables.definitions.MEASURES`, "associations", and the scores of a target.
        The first is that of the frontier and of the proposal.
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
    from shoal.sweep.folder import SweepFolder, cell_key, table_checksum

    policy = policy or Policy()
    if kind_of_policy(policy) is not KIND or kind_of(source) is not KIND:
        raise PolicyError("a sweep compares releases of tables; make releases of other data one by one")
    fitting_policy(source, policy)
    given = policy if target is None else policy.changed(target=target)
    shown = _measures(SHOWN if measures is None else measures, given.target)
    settings = {"publish": publish, "effort": effort, "suppression": suppression, "l": l, "t": t}
    asked = grid(given, partitions, k, settings)
    home = None if folder is None else SweepFolder(Path(folder))
    table = KIND.load(source, policy)
    attributes = attributes_of(table, policy)
    if given.target is not None:
        for publication in sorted({a.policy.method.publication for a in asked}):
            task = check_target(table, attributes, given.target, publication)
        of_target = (*(["CM"] if task == "classes" else []), *SCORES[task])
        shown = (*shown[:2], *of_target, *shown[2:]) if measures is None else shown
        _refuse_foreign(shown, of_target)
    if home is not None:
        home.open()
        checksum = table_checksum(table)
        keys = [cell_key(checksum, attributes, a.policy, a.k) for a in asked]
        found = {i: cell for i, key in enumerate(keys) if (cell := home.find(key)) is not None}
    else:
        keys, found = [""] * len(asked), {}
    n_reused = len(found)
    missing = [i for i in range(len(asked)) if i not in found]

    def step(done: int, _: int) -> None:
        if progress is not None:
            progress("trying methods", n_reused + done, len(asked))

    step(0, 0)
    places = {i: None if home is None else home.place(keys[i]) for i in missing}
    blocks = [(table, asked[i].policy, asked[i].settings, places[i]) for i in missing]
    with open_executor(min(workers, max(1, len(blocks))), pool) as executor:
        found |= zip(missing, run_blocks(try_cell, blocks, executor, step), strict=True)
    cells = tuple(found[i] for i in range(len(asked)))
    if all(c.status == "refused" for c in cells):
        if home is not None:
            home.abandon()
        raise PolicyError(cells[0].sentence)
    proposed = min(
        (
            i
            for i, c in enumerate(cells)
            if c.holds and math.isfinite(c.loss(shown[0])) and meets(policy, asked[i].policy)
        ),
        # Slices leave labels narrow and part them instead, so that their loss is of another kind.
        key=lambda i: (asked[i].policy.method.way_of_publishing.is_sliced, cells[i].loss(shown[0]), cells[i].k),
        default=None,
    )
    result = Sweep(
        title=table.source.name,
        n_rows=table.n_rows,
        k=policy.k,
        cells=cells,
        proposed=None if proposed is None else cells[proposed],
        options=() if proposed is None else asked[proposed].options(policy),
        n_reused=n_reused,
        measures=shown,
        target=given.target,
    )
    if home is not None:
        if progress is not None:
            progress("writing the sweep", 0, 0)
        home.write(result)
    return result


def try_cell(table: Table, policy: Policy, settings: dict[str, Any], path: Path | None = None) -> Cell:
    """Make one release in memory, check it, measure it and let it go; store the cell at once where a path is given."""
    began = time.perf_counter()
    about: dict[str, Any] = {**settings, "group_size": policy.k, "n_in": table.n_rows}
    try:
        measured = _measured(table, policy)
    except (Infeasible, PolicyError, DataError, NotVerified) as error:
        measured = {"status": _STATUS[type(error)], "sentence": str(error), "n_out": 0}
    cell = Cell(**about, **measured, seconds=round(time.perf_counter() - began, 3))
    # A method that does not suit the table says so at once, and a defect is to be tried again.
    if path is not None and cell.status in ("holds", "infeasible"):
        from shoal.sweep.folder import store

        store(path, cell)
    return cell


def _measured(table: Table, policy: Policy) -> dict[str, Any]:
    release = TableRelease.of(table, anonymize_table(table, policy), policy, in_memory=True)
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
        **_learned(release),
    }


def _learned(release: TableRelease) -> dict[str, Any]:
    """The best scores for the target; none where no model can be trained, which does not spoil the cell."""
    target = release.policy.target
    if target is None:
        return {}
    found = TargetLearning.of(target, lambda: release.compare_learning(target, most_rows=MOST_LEARNED)).comparison
    if found is None:
        return {}
    return {
        "scores": {n: _finite(found.best(n, "after")) for n in found.scores},
        "scores_before": {n: _finite(found.best(n, "before")) for n in found.scores},
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _measures(measures: str | Iterable[str], target: str | None) -> tuple[str, ...]:
    names = tuple(dict.fromkeys([measures] if isinstance(measures, str) else measures))
    known = (*MEASURES, ASSOCIATIONS, *SCORE_NAMES)
    for name in names:
        if name not in known:
            raise PolicyError(f"there is no measure {name!r}; {did_you_mean(name, known)}")
        if target is None and name in ("CM", *SCORE_NAMES):
            raise PolicyError(f"the measure {name!r} needs a column to predict; name it as the target")
    if not names:
        raise PolicyError(f"no measure was named; there are {', '.join(known)}")
    return names


def _refuse_foreign(names: tuple[str, ...], of_target: tuple[str, ...]) -> None:
    for name in names:
        if name in ("CM", *SCORE_NAMES) and name not in of_target:
            raise PolicyError(f"the target has no measure {name!r}; it has {', '.join(of_target)}")
