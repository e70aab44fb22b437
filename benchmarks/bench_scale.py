"""Up to a million rows through the whole of `shoal.anonymize`, by stage, and Mondrian alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.child import ChildFailed, run_json
from benchmarks.data import QUASI, People, people, write_csv
from benchmarks.harness import Case, Contestant, Outcome, Setting, growth, timed
from shoal.data.tables.meaning import attributes_of
from shoal.kinds.tables.kind import load
from shoal.kinds.tables.policy import Policy
from shoal.tables.encoding import rank
from shoal.tables.partition.mondrian import mondrian_labels

K = 10
SENSITIVE = "salary-class"
SCRIPT = Path(__file__).parent / "run_release.py"


def cases(setting: Setting) -> Iterator[Case]:
    """From file to folder, each size in a process of its own; then the groups alone."""
    data = people(setting.quick)
    sizes = [400] if setting.quick else [10_000, 100_000, 1_000_000]
    names = [f"{n:,} rows" for n in sizes]

    def summary(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
        return growth(sizes, [outcomes[name].seconds for name in names])

    yield Case(
        "scale, file to folder",
        f"shoal.anonymize and save: Mondrian, k = {K}, {len(QUASI)} quasi-identifiers, CSV in and out",
        f"{data.origin}, resampled",
        [released(name, data, n) for name, n in zip(names, sizes, strict=True)],
        summary,
    )
    yield Case(
        "scale, groups alone",
        f"Mondrian, k = {K}, {len(QUASI)} quasi-identifiers, groups alone",
        f"{data.origin}, resampled",
        [grouped(name, data, n) for name, n in zip(names, sizes, strict=True)],
        summary,
    )


def released(name: str, data: People, n_rows: int) -> Contestant:
    """The whole job on a file."""

    def measure(setting: Setting) -> Outcome:
        path = write_csv(data.resampled(n_rows).select([*QUASI, SENSITIVE]), setting.folder / f"scale-{n_rows}.csv")
        task = {"quasi": QUASI, "sensitive": SENSITIVE, "k": K, "out": str(setting.folder / f"out-{n_rows}")}
        try:
            found = run_json([sys.executable, SCRIPT, path, json.dumps(task)])
        except ChildFailed as error:  # a million rows may be too much for a small machine
            return Outcome(None, failure=str(error))
        path.unlink()
        return Outcome(
            seconds=found["seconds"],
            cpu_seconds=found["cpu_seconds"],
            repeats=1,
            peak_mb=found["peak_mb"],
            numbers={f"{stage} s": round(spent, 3) for stage, spent in found["stages"].items()},
        )

    return Contestant(name, measure)


def grouped(name: str, data: People, n_rows: int) -> Contestant:
    """The groups alone; the columns are ranked outside the time."""

    def measure(setting: Setting) -> Outcome:
        table = load(data.resampled(n_rows).select(QUASI))
        attributes = attributes_of(table, Policy.of(quasi=QUASI))
        ranked = [rank(table[column], attributes[column]) for column in sorted(QUASI)]
        return timed(name, lambda: mondrian_labels(ranked, K)).measure(setting)

    return Contestant(name, measure)
