"""The frontier of risk and utility: many releases of the same data in memory, and what each would cost.

No release is kept or published. What is written is for the owner alone, since losses are measured on the original:
sums and shares of each cell (a method with its parameters), never a record, a seed or a group. What can be tried, and
what is measured, is told by `kinds/<kind>/sweep.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from shoal._version import __version__
from shoal.data.sniff import one_look
from shoal.engine.blocks import run_blocks
from shoal.engine.executors import Pool, open_executor
from shoal.errors import PolicyError
from shoal.kernels.compile import interpreted
from shoal.kind import fitting_policy
from shoal.progress import Progress
from shoal.sweep.cell import Cell
from shoal.sweep.trials import AskedCell, Trials


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
        Method by method, k ascending; `TableCell`, `StringCell` or `SparseCell`.
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
    noun, note : str
        What records are called, and what is to be said of how risk and loss were measured.
    """

    title: str
    n_rows: int
    k: int
    cells: tuple[Any, ...]
    proposed: Any
    options: tuple[str, ...] = ()
    n_reused: int = 0
    measures: tuple[str, ...] = ()
    target: str | None = None
    noun: str = "records"
    note: str = ""
    version: str = __version__

    @property
    def form(self) -> type[Cell]:
        """What cells are of."""
        return type(self.cells[0])

    @property
    def measured(self) -> tuple[Any, ...]:
        """Cells that hold and have the first measure."""
        return tuple(c for c in self.cells if c.holds and math.isfinite(c.loss(self.measures[0])))

    @property
    def frontier(self) -> tuple[Any, ...]:
        """Cells that hold and that no other beats: none has less risk without more loss, or the reverse."""
        made = self.measured
        return tuple(c for c in made if not any(_beats(other, c, self.measures[0]) for other in made))

    @property
    def varied(self) -> tuple[str, ...]:
        """The settings beside method and k in which cells differ within a method."""
        _, *others = self.form.settings
        pairs = {n: {(c.method, getattr(c, n)) for c in self.cells} for n in others}
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
            **({"note": self.note} if self.note else {}),
            "cells": [{**c.to_dict(), "n_suppressed": c.n_suppressed, "frontier": c in frontier} for c in self.cells],
            "proposed": None
            if self.proposed is None
            else {
                "k": self.proposed.k,
                **{n: getattr(self.proposed, n) for n in self.form.settings},
                "options": list(self.options),
            },
        }

    def __repr__(self) -> str:
        held = f"{sum(c.holds for c in self.cells)} of {len(self.cells)} releases hold"
        taken = f"; proposed: {' '.join(self.options)}" if self.options else ""
        return f"Sweep of {self.n_rows:,} {self.noun}: {held}{taken}"

    def _repr_html_(self) -> str:
        from shoal.report.sweep import columns_of, table_rows

        head = "".join(f"<th>{escape(name)}</th>" for name in columns_of(self))
        rows = "".join(f"<tr>{''.join(f'<td>{escape(value)}</td>' for value in row)}</tr>" for row in table_rows(self))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _beats(one: Cell, other: Cell, measure: str) -> bool:
    if one.risk is None or other.risk is None:
        return False
    mine, theirs = (one.risk, one.loss(measure)), (other.risk, other.loss(measure))
    return mine != theirs and mine[0] <= theirs[0] and mine[1] <= theirs[1]


@one_look()
@interpreted(False)  # many releases
def sweep(
    source: Any,
    policy: Any = None,
    *,
    k: int | Iterable[int] | None = None,
    methods: str | Iterable[str] | None = None,
    partitions: str | Iterable[str] | None = None,
    publish: str | Iterable[str] | None = None,
    effort: str | Iterable[str] | None = None,
    suppression: float | Iterable[float] | None = None,
    l: float | Iterable[float] | None = None,  # noqa: E741  the paper's name
    t: float | Iterable[float] | None = None,
    generator: str | Iterable[str] | None = None,
    order: int | Iterable[int] | None = None,
    support: int | Iterable[int] | None = None,
    delta: float | Iterable[float] | None = None,
    target: str | None = None,
    measures: str | Iterable[str] | None = None,
    workers: int = 1,
    pool: Pool = "threads",
    progress: Progress | None = None,
    folder: str | Path | None = None,
) -> Sweep:
    """Try every method with every parameter, and say what each leaves of risk and utility. Nothing is published.

    Of strings and sparse records a part is held out of every release, and the risk is what attacks get of the others
    beyond what they get of that part.

    Parameters
    ----------
    source : as for `shoal.anonymize`
        The original records.
    policy : Policy, StringPolicy or SparsePolicy, optional
        What every cell has in common; its k and its method are replaced.
    k : int or iterable of int, optional
        Sizes of the smallest group to try.
    methods : str or iterable of str, optional
        Methods to try: of tables partitions, of strings generators, of sparse records ways of publishing.
    partitions, generator : str or iterable of str, optional
        The same of tables and of strings, by their own names.
    publish : str or iterable of str, optional
        Of tables and sparse records: ways of publishing to try.
    effort, suppression, l, t : value or iterable of values, optional
        What else to try on tables, as in `Policy.changed`: efforts, shares of records that may be left out, and
        distinct l-diversity and t-closeness in place of what the policy requires under these names. What is None stays
        as the policy says, or as the method does.
    order : int or iterable of int, optional
        What to try on strings: lengths of contexts.
    support : int or iterable of int, optional
        What to try on strings and pseudo-baskets.
    delta : float or iterable of float, optional
        What to try on sketches.
    target : str, optional
        A column that readers will want to predict: each cell also trains models on its release (at most 5,000 records)
        and tests them on originals. Adds the measure CM and, for classes, "accuracy" and "AUC", for numbers "R2".
        Needs the extra `mining`.
    measures : str or iterable of str, optional
        The losses to show: of tables those of `shoal.utility.tables.definitions.MEASURES`, "associations", and the
        scores of a target; of strings "pairs", "triples", "composition" and "accuracy"; of sparse records "pairs",
        "triples", "items", "neighbours" and "accuracy". The first is that of the frontier and of the proposal.
    workers, pool
        How many cells at once, on threads or processes.
    progress : callable, optional
        Called with (what is being done, cells done, cells in all).
    folder : path, optional
        Where to write `sweep.csv`, `sweep.json` and `sweep.html`, for the owner alone. Each finished cell is stored
        there at once, and the same call takes it from there; other data or another policy does not.

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
    from shoal.sweep.folder import SweepFolder

    kind, policy = fitting_policy(source, policy)
    trials = kind.trials(policy, target)
    of_tables = {"partition": partitions, "effort": effort, "suppression": suppression, "l": l, "t": t}
    of_others = {"generator": generator, "order": order, "support": support, "delta": delta}
    settings: dict[str, Any] = {**of_tables, "publish": publish, **of_others}
    if methods is not None:
        settings[next(iter(trials.cell.settings))] = methods
    trials.grid(k, settings)  # what is not understood is refused before the data is read
    trials.choose(measures)
    home = None if folder is None else SweepFolder(Path(folder))
    trials.take(trials.load(source, kind, workers))
    asked, shown = trials.grid(k, settings), trials.choose(measures)
    if home is not None:
        home.open()
        checksum = trials.checksum()
        keys = [trials.key(a, checksum) for a in asked]
        found = {i: cell for i, key in enumerate(keys) if (cell := home.find(key, trials.cell)) is not None}
    else:
        keys, found = [""] * len(asked), {}
    n_reused = len(found)
    missing = [i for i in range(len(asked)) if i not in found]

    def step(done: int, _: int) -> None:
        if progress is not None:
            progress("trying methods", n_reused + done, len(asked))

    step(0, 0)
    blocks = [(trials, asked[i], None if home is None else home.place(keys[i])) for i in missing]
    with open_executor(min(workers, max(1, len(blocks))), pool) as executor:
        found |= zip(missing, run_blocks(try_cell, blocks, executor, step), strict=True)
    cells = tuple(found[i] for i in range(len(asked)))
    if all(c.status == "refused" for c in cells):
        if home is not None:
            home.abandon()
        raise PolicyError(cells[0].sentence)
    fitting = (
        i for i, c in enumerate(cells) if c.holds and math.isfinite(c.loss(shown[0])) and trials.meets(asked[i].policy)
    )
    proposed = min(
        fitting, key=lambda i: (trials.rank(asked[i], cells[i]), cells[i].loss(shown[0]), cells[i].k or 0), default=None
    )
    result = Sweep(
        title=trials.title,
        n_rows=trials.n_records,
        k=policy.k or 0,
        cells=cells,
        proposed=None if proposed is None else cells[proposed],
        options=() if proposed is None else trials.options(asked[proposed]),
        n_reused=n_reused,
        measures=shown,
        target=trials.target,
        noun=trials.noun,
        note=trials.note,
    )
    if home is not None:
        if progress is not None:
            progress("writing the sweep", 0, 0)
        home.write(result)
    return result


def try_cell(trials: Trials, asked: AskedCell, path: Path | None = None) -> Any:
    """Make one release in memory, check it, measure it and let it go; store the cell at once where a path is given."""
    cell = trials.attempt(asked)
    # A method that does not suit the data says so at once, and a defect is to be tried again.
    if path is not None and cell.status in ("holds", "infeasible"):
        from shoal.sweep.folder import store

        store(path, cell)
    return cell
