"""Averages of numbers in bounded memory, from Parquet files of millions of rows to checked folders with reports.

``python -m benchmarks.bench_scale_averages`` measures 1 and 10 million rows, and writes a table of
``docs/benchmarks-memory.md``; sizes may be named, and with ``--folder`` drawn files stay there. The smallest table is
also released from memory, which has to give the same bytes.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import duckdb
import numpy as np

from benchmarks import show, store
from benchmarks.bench_scale_memory import MEMORY, SCRIPT, measured_cases, sizes_and_folder
from benchmarks.child import ChildFailed, run_json
from benchmarks.data import NUMERIC, People, people
from benchmarks.harness import Case, Contestant, Outcome, Setting
from benchmarks.tables.bench_large import NOISE, K, noised

SIZES = (1_000_000, 10_000_000)
SECRET = "answer"


def cases(setting: Setting, sizes: Sequence[int] = SIZES, drawn: Path | None = None) -> Iterator[Case]:
    """Each size in a process of its own, and the smallest in memory too."""
    data = people(setting.quick)
    sizes = [400] if setting.quick else sizes
    checksums: dict[str, str] = {}
    bounded, held = f"{sizes[0]:,} rows, --memory {MEMORY}", f"{sizes[0]:,} rows, held in memory"

    def run(name: str, n_rows: int, memory: str | None) -> Contestant:
        def measure(setting: Setting) -> Outcome:
            path, out = (drawn or setting.folder) / f"numbers-{n_rows}.parquet", setting.folder / "out"
            if not path.exists():
                write_numbers(n_rows, path, data)
            told = {"quasi": NUMERIC, "sensitive": SECRET, "out": str(out), "memory": memory, "report": True}
            asked = {**told, "asked": {"k": K, "partition": "mdav"}}
            try:
                found = run_json([sys.executable, SCRIPT, path, json.dumps(asked)], timeout=3600)
            except ChildFailed as failed:
                return Outcome(None, failure=str(failed))
            finally:
                shutil.rmtree(out, ignore_errors=True)
            checksums[name] = found.pop("sha256")
            return Outcome(repeats=1, **found)

        return Contestant(name, measure)

    def summary(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
        return {"pairs with the same bytes": float(checksums.get(bounded, "") == checksums.get(held, "not made"))}

    yield Case(
        "scale, averages in bounded memory",
        f"shoal.anonymize and save with the report: mdav, k = {K}, averages of {len(NUMERIC)} numbers, Parquet in and "
        "out; SSE/SST of some 200,000 rows in whole groups, held in memory of all",
        f"{data.origin}, drawn with replacement, with normal noise of {NOISE:g} standard deviations, rounded",
        [*(run(f"{n:,} rows, --memory {MEMORY}", n, MEMORY) for n in sizes), run(held, sizes[0], None)],
        summary,
    )


def write_numbers(n_rows: int, path: Path, data: People) -> None:
    """Draw rows and write them as Parquet, with an answer of seven beside."""
    drawn = noised(data, n_rows)
    columns = {name: np.ascontiguousarray(drawn[:, i]) for i, name in enumerate(NUMERIC)}
    columns[SECRET] = np.random.default_rng(2).integers(0, 7, n_rows)
    with duckdb.connect() as database:
        database.register("columns", columns)
        database.execute(f"COPY (SELECT * FROM columns) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")


def main() -> None:
    """Measure the sizes that are named, store the run, and write it into the page."""
    sizes, folder = sizes_and_folder(__doc__, SIZES)
    run = measured_cases(cases, sizes, folder)
    store.write(run, "scale-averages")
    show.print_run(run)
    show.fill_part(show.MEMORY_PAGE, "averages", show.markdown(run))


if __name__ == "__main__":
    main()
