"""Parquet files of millions of rows to checked folders, in bounded memory and held in memory.

``python -m benchmarks.bench_scale_memory`` measures 1, 10 and 100 million rows and writes a table of
``docs/benchmarks-memory.md``; sizes may be named, as in
``python -m benchmarks.bench_scale_memory 1_000_000 10_000_000``. With ``--folder`` the drawn files stay there, and are
not drawn again. Above `MOST_HELD` rows none is held in memory.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from benchmarks import show, store
from benchmarks.child import ChildFailed, run_json
from benchmarks.harness import Case, Contestant, Outcome, Setting, growth, run_case
from benchmarks.large import Drawn, drawn_from, write_large

K = 10
MEMORY = "2GB"
MOST_HELD = 1_000_000
SIZES = (1_000_000, 10_000_000, 100_000_000)
OTHERS_AT = 10_000_000
OTHERS = {"full-domain": (OTHERS_AT,), "datafly": (OTHERS_AT,), "local-recoding": SIZES}
"""Other methods, and the numbers of rows on which they are measured, where these are asked for."""
SCRIPT = Path(__file__).parent / "run_large.py"


def cases(setting: Setting, sizes: Sequence[int] = SIZES, drawn: Path | None = None) -> Iterator[Case]:
    """Each size in a process of its own, with a bound on memory and without."""
    source = drawn_from(is_clinic=setting.quick)
    sizes = [400] if setting.quick else sizes
    checksums: dict[str, str] = {}
    bounded = {n: f"{n:,} rows, --memory {MEMORY}" for n in sizes}
    held = {n: f"{n:,} rows, held in memory" for n in sizes if n <= MOST_HELD}
    n_other = 400 if setting.quick else OTHERS_AT

    def run(name: str, n_rows: int, memory: str | None, form: str = "parquet", **asked: str) -> Contestant:
        return released(name, source, n_rows, {"memory": memory, "asked": {"k": K, **asked}}, checksums, drawn, form)

    def summary(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
        same = [checksums[bounded[n]] == checksums[held[n]] for n in held if {bounded[n], held[n]} <= checksums.keys()]
        seconds = [outcomes[name].cpu_seconds or 0.0 for name in bounded.values()]
        found = growth(list(sizes), seconds) if len(sizes) > 1 else {}
        return {**found, "pairs of releases": float(len(same)), "pairs with the same bytes": float(sum(same))}

    yield Case(
        "scale, bounded memory",
        f"shoal.anonymize and save without a report: strict Mondrian, k = {K}, {len(source.quasi)} quasi-identifiers, "
        "Parquet in and out unless CSV is named, checked from the written file",
        f"{source.origin}, drawn with replacement, 30 % of the cells drawn anew",
        [
            *(run(name, n, MEMORY) for n, name in bounded.items()),
            *(run(name, n, None) for n, name in held.items()),
            *(
                [run(f"{n_other:,} rows, CSV, --memory {MEMORY}", n_other, MEMORY, "csv")]
                if setting.quick or n_other in sizes
                else []
            ),
            *(
                run(f"{n:,} rows, {way}, --memory {MEMORY}", n, MEMORY, partition=way)
                for way, its in OTHERS.items()
                for n in its
                if n in sizes
            ),
        ],
        summary,
    )


def released(
    name: str,
    source: Drawn,
    n_rows: int,
    task: Mapping[str, Any],
    checksums: dict[str, str],
    drawn: Path | None,
    form: str = "parquet",
    stem: str = "large",
) -> Contestant:
    """The whole job on a file, which is drawn before unless it is there."""

    def measure(setting: Setting) -> Outcome:
        path = (drawn or setting.folder) / f"{stem}-{n_rows}.parquet"
        if not path.exists():
            write_large(n_rows, path, source)
        if form == "csv":
            parquet, path = path, setting.folder / f"large-{n_rows}.csv"
            duckdb.sql(f"COPY (SELECT * FROM '{parquet}') TO '{path}' (HEADER)")
        out = setting.folder / "out"
        asked = {**task, "quasi": source.quasi, "sensitive": source.sensitive, "out": str(out)}
        try:
            found = run_json([sys.executable, SCRIPT, path, json.dumps(asked)], timeout=3600)
        except ChildFailed as failed:
            return Outcome(None, failure=str(failed))
        finally:
            shutil.rmtree(out, ignore_errors=True)
            if form == "csv":
                path.unlink()
        checksums[name] = found["sha256"]
        return Outcome(seconds=found["seconds"], cpu_seconds=found["cpu_seconds"], repeats=1, peak_mb=found["peak_mb"])

    return Contestant(name, measure)


def sizes_and_folder(about: str | None, sizes: Sequence[int]) -> tuple[Sequence[int], Path | None]:
    """What the command line says: numbers of rows, and where drawn files stay."""
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument("sizes", nargs="*", type=int, help="numbers of rows")
    parser.add_argument("--folder", type=Path, help="where drawn files stay; by default they are removed")
    asked = parser.parse_args()
    return asked.sizes or sizes, asked.folder


def measured_cases(
    cases: Callable[[Setting, Sequence[int], Path | None], Iterator[Case]], sizes: Sequence[int], drawn: Path | None
) -> dict[str, Any]:
    """Run the cases of some sizes."""
    load_before = store.load()
    with tempfile.TemporaryDirectory(dir=drawn) as folder:
        setting = Setting(Path(folder))
        results = [
            run_case(case, setting, lambda text: print(text, file=sys.stderr)) for case in cases(setting, sizes, drawn)
        ]
    return store.as_run(results, load_before, False)


def main() -> None:
    """Measure the sizes that are named, store the run, and write it into the page."""
    sizes, folder = sizes_and_folder(__doc__, SIZES)
    run = measured_cases(cases, sizes, folder)
    store.write(run, "scale-memory")
    show.print_run(run)
    show.fill_page(run, show.MEMORY_PAGE)


if __name__ == "__main__":
    main()
