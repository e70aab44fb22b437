"""What other packages make of the tables of `reproductions.adult_partitions`, in the same run and by the same measures.

Each runs in an environment of its own (`benchmarks.peers`). One that cannot be installed, fails or takes too long is
told in the table.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import shoal
from benchmarks.child import ChildFailed
from benchmarks.data import NUMERIC, People, people, write_csv
from benchmarks.losses import of_averaging, of_generalising
from benchmarks.peers import ANJANA, ANONYPY, ANONYPYX, Peer
from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.table import Table
from shoal.kinds.tables.kind import load
from shoal.tables import MDAV
from shoal.utility.tables.classification import classification_metric
from shoal.utility.tables.grouping import Grouping
from shoal.utility.tables.measure import measure

N_FIRST = 5_000  # rows for anonypyx, which keeps the distances of all pairs


@dataclass(frozen=True)
class Beside:
    """One package at one k, on a task that both do; `numbers` is empty where there is a failure."""

    name: str
    k: int
    numbers: dict[str, float]
    cpu_seconds: float = np.nan
    failure: str = ""


def cpu_time(call: Any) -> tuple[Any, float]:
    """The result of a second call, after compilation, and its processor time."""
    call()
    start = time.process_time()
    made = call()
    return made, time.process_time() - start


def recode_by_anjana(table: Table, policy: shoal.Policy, target: str, folder: Path) -> dict[str, float] | str:
    """The losses of anjana's recoding, as of a release of ours; or why there are none."""
    quasi = [name for name, column in policy.columns.items() if column.role == "quasi"]
    columns = {name: table[name].cells() for name in table.names}
    files = {name: str(policy.columns[name].hierarchy) for name in quasi}
    task = {"quasi": quasi, "k": policy.k, "suppression": policy.method.suppression, "hierarchies": files}
    try:
        found = ANJANA.run(write_csv(columns, folder / "recoding.csv"), **task)
    except ChildFailed as error:
        return str(error)
    rows = np.array(found["rows"], dtype=np.intp)
    coded = {name: np.array(codes) for name, (codes, _) in found["published"].items()}
    labels = {name: np.array(values, dtype=object)[coded[name]] for name, (_, values) in found["published"].items()}
    groups = np.unique(np.column_stack(list(coded.values())), axis=0, return_inverse=True)[1].ravel().astype(np.int32)
    lost = measure(table, load(labels), rows, groups, attributes_of(table, policy), policy.k, is_recoding=True)
    grouping, _ = Grouping.of(table.n_rows, rows, groups)
    return {
        "GCP": lost["GCP"],
        "IL": lost["IL"],
        "DM": lost["DM"],
        "CM": classification_metric(table[target].codes, grouping),
        "suppressed": table.n_rows - len(rows),
        "seconds": found["seconds"],
        "CPU s": found["cpu_seconds"],
    }


def _of_peer(peer: Peer, path: Path, k: int, losses: Any, **task: Any) -> Beside:
    try:
        found = peer.run(path, k=k, **task)
    except ChildFailed as error:
        return Beside(peer.requirement, k, {}, failure=str(error))
    return Beside(peer.requirement, k, losses(found["labels"]), found["cpu_seconds"])


def mondrian_without_hierarchies(
    table: Table, quasi: Sequence[str], target: str, sizes: Sequence[int], folder: Path
) -> Iterator[Beside]:
    """Ours and anonypy's, of which each calls and publishes as it does by itself."""
    path = write_csv({name: table[name].cells() for name in table.names}, folder / "mondrian.csv")
    for k in sizes:
        policy = shoal.Policy.of(quasi=quasi, sensitive=[target], k=k, partition="mondrian", publish="generalise")
        attributes = attributes_of(table, policy)

        def losses(labels: Any, attributes: Any = attributes) -> dict[str, float]:
            return of_generalising(table, attributes, quasi, labels)

        release, seconds = cpu_time(lambda policy=policy: shoal.anonymize(table, policy))
        labels = np.empty(table.n_rows, dtype=np.int32)
        labels[release._rows] = release._groups
        yield Beside("shoal", k, losses(labels), seconds)
        yield _of_peer(ANONYPY, path, k, losses, quasi=list(quasi), sensitive=target)


def mdav_of_numbers(sizes: Sequence[int], folder: Path) -> Iterator[Beside]:
    """Ours and anonypyx's on the first rows; ours on all of them too."""
    whole: People = people()
    part = whole.take(slice(0, N_FIRST))
    path = write_csv(part.select(NUMERIC), folder / "mdav.csv")
    for k in sizes:
        for name, X in ((f"shoal, {N_FIRST:,} rows", part.matrix()), ("shoal, all rows", whole.matrix())):
            labels, seconds = cpu_time(lambda X=X, k=k: MDAV(k).fit_predict(X))
            yield Beside(name, k, of_averaging(X, labels), seconds)
        yield _of_peer(ANONYPYX, path, k, lambda labels: of_averaging(part.matrix(), labels))


def table_of(found: Sequence[Beside], columns: Sequence[str], digits: Sequence[int]) -> list[str]:
    """Markdown lines: a row for each package and k, and the time as a multiple of ours, the first at each k."""
    lines = [
        "| package | k | " + " | ".join(columns) + " | CPU seconds | of ours |",
        "|---|---:|" + "---:|" * (len(columns) + 2),
    ]
    ours: dict[int, float] = {}
    for row in found:
        ours.setdefault(row.k, row.cpu_seconds)
        if row.failure:
            lines.append(f"| {row.name} | {row.k} | " + f"{row.failure} |" + " |" * (len(columns) + 1))
            continue
        cells = [f"{row.numbers[c]:,.{d}f}" for c, d in zip(columns, digits, strict=True)]
        ratio = f"{row.cpu_seconds / ours[row.k]:,.0f} x" if not row.name.startswith("shoal") else ""
        lines.append(f"| {row.name} | {row.k} | " + " | ".join(cells) + f" | {row.cpu_seconds:.3g} | {ratio} |")
    return lines
