"""Releases that count persons, and checks of releases, in bounded memory, from Parquet files of millions of rows.

``python -m benchmarks.bench_scale_check`` measures 1, 10 and 100 million rows of a person each, and a million rows of
persons who have some three each, and writes a table of ``docs/benchmarks-memory.md``; sizes may be named, and with
``--folder`` drawn files stay there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb

from benchmarks import show, store
from benchmarks.bench_scale_memory import MEMORY, MOST_HELD, SCRIPT, SIZES, K, measured_cases, sizes_and_folder
from benchmarks.child import ChildFailed, run_json
from benchmarks.harness import Case, Contestant, Outcome, Setting
from benchmarks.large import Drawn, drawn_from, write_large

PERSON = "id"
RECORDS_EACH = 3  # on average, of persons who have several


def cases(setting: Setting, sizes: Sequence[int] = SIZES, drawn: Path | None = None) -> Iterator[Case]:
    """A release, and two checks of it, each in a process of its own."""
    source = drawn_from(is_clinic=setting.quick)
    sizes = [400] if setting.quick else sizes
    several = [n for n in sizes if n <= MOST_HELD][:1]
    tables = [*((n, False) for n in sizes), *((n, True) for n in several)]
    yield Case(
        "persons and checks, bounded memory",
        f"shoal.anonymize and save without a report: strict Mondrian, groups of {K} persons, {len(source.quasi)} "
        f"quasi-identifiers, Parquet in and out, --memory {MEMORY}; then shoal.check of the folder, alone and with the "
        "original",
        f"{source.origin}, drawn with replacement, 30 % of the cells drawn anew, with a number for each person",
        [part for n, repeats in tables for part in contestants(n, repeats, source, drawn)],
    )


def contestants(n_rows: int, repeats: bool, source: Drawn, drawn: Path | None) -> list[Contestant]:
    """The release of a file, which is drawn before unless it is there, and its checks."""
    whose = f"persons with some {RECORDS_EACH} records" if repeats else "a person each"
    name = f"{n_rows:,} rows, {whose}"

    def place(setting: Setting) -> tuple[Path, Path]:
        stem = f"{'several' if repeats else 'single'}-{n_rows}"
        return (drawn or setting.folder) / f"{stem}.parquet", setting.folder / f"out-{stem}"

    def run(path: Path, task: dict[str, Any]) -> Outcome:
        try:
            found = run_json([sys.executable, SCRIPT, path, json.dumps(task)], timeout=3600)
        except ChildFailed as failed:
            return Outcome(None, failure=str(failed))
        found.pop("sha256", None)
        return Outcome(repeats=1, **found)

    def release(setting: Setting) -> Outcome:
        path, out = place(setting)
        if not path.exists():
            number_persons(n_rows, path, source, drawn or setting.folder, repeats=repeats)
        asked = {"k": K, "person": PERSON}
        told = {"quasi": source.quasi, "sensitive": source.sensitive, "out": str(out)}
        return run(path, {**told, "memory": MEMORY, "asked": asked})

    def check(setting: Setting, *, beside: bool) -> Outcome:
        path, out = place(setting)
        return run(path, {"verb": "check", "memory": MEMORY, "out": str(out), "beside": beside})

    return [
        Contestant(f"{name}: release", release),
        Contestant(f"{name}: check", lambda setting: check(setting, beside=False)),
        Contestant(f"{name}: check with the original", lambda setting: check(setting, beside=True)),
    ]


def number_persons(n_rows: int, path: Path, source: Drawn, folder: Path, *, repeats: bool) -> None:
    """The drawn table with one more column: the number of the row, or one of a third as many, drawn by its hash."""
    rows = folder / f"large-{n_rows}.parquet"
    if not rows.exists():
        write_large(n_rows, rows, source)
    number = f"(hash(file_row_number) % {max(1, n_rows // RECORDS_EACH)})::BIGINT" if repeats else "file_row_number"
    cells = f"{number} AS {PERSON}, * EXCLUDE (file_row_number)"
    with duckdb.connect(config={"memory_limit": "2GB"}) as database:
        database.execute(
            f"COPY (SELECT {cells} FROM read_parquet('{rows}', file_row_number = true)) "
            f"TO '{path}' (FORMAT parquet, COMPRESSION zstd)"
        )


def main() -> None:
    """Measure the sizes that are named, store the run, and write it into the page."""
    sizes, folder = sizes_and_folder(__doc__, SIZES)
    run = measured_cases(cases, sizes, folder)
    store.write(run, "scale-check")
    show.print_run(run)
    show.fill_part(show.MEMORY_PAGE, "checks", show.markdown(run))


if __name__ == "__main__":
    main()
