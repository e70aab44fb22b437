"""Attacks on releases of millions of rows, and sweeps over methods, in bounded memory.

``python -m benchmarks.bench_scale_attack`` measures 1, 10 and 100 million rows and writes the table on attacks and
sweeps of ``docs/benchmarks-memory.md``; sizes may be named, and with ``--folder`` drawn files stay there.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import show, store
from benchmarks.bench_scale_memory import MEMORY, SCRIPT, SIZES, K, measured_cases, sizes_and_folder
from benchmarks.child import ChildFailed, run_json
from benchmarks.harness import Case, Contestant, Outcome, Setting
from benchmarks.large import Drawn, drawn_from, write_large

TRIED = {"k": [K, 2 * K], "methods": ["mondrian", "full-domain", "datafly"]}


def cases(setting: Setting, sizes: Sequence[int] = SIZES, drawn: Path | None = None) -> Iterator[Case]:
    """Each attack and each sweep in a process of its own."""
    source = drawn_from(is_clinic=setting.quick)
    yield Case(
        "attacks and sweeps, bounded memory",
        f"shoal.attack of a release by strict Mondrian, k = {K}, {len(source.quasi)} quasi-identifiers, beside its "
        f"original; shoal.sweep over {', '.join(TRIED['methods'])} with k = {K} and {2 * K}, each release checked and "
        f"measured; Parquet, --memory {MEMORY}",
        f"{source.origin}, drawn with replacement, 30 % of the cells drawn anew",
        [part for n in ([400] if setting.quick else sizes) for part in contestants(n, source, drawn)],
    )


def contestants(n_rows: int, source: Drawn, drawn: Path | None) -> list[Contestant]:
    """What is done with a file, which is drawn before unless it is there."""
    told = {"quasi": source.quasi, "sensitive": source.sensitive, "memory": MEMORY, "asked": {"k": K}}

    def place(setting: Setting) -> Path:
        path = (drawn or setting.folder) / f"large-{n_rows}.parquet"
        if not path.exists():
            write_large(n_rows, path, source)
        return path

    def run(path: Path, **task: Any) -> dict[str, Any]:
        found: dict[str, Any] = run_json([sys.executable, SCRIPT, path, json.dumps({**told, **task})], timeout=3600)
        return found

    def attack(setting: Setting) -> Outcome:
        path, out = place(setting), setting.folder / f"attacked-{n_rows}"
        shutil.rmtree(out, ignore_errors=True)
        try:
            run(path, out=str(out))
            return Outcome(repeats=1, **run(path, verb="attack", out=str(out)))
        except ChildFailed as failed:
            return Outcome(None, failure=str(failed))
        finally:
            shutil.rmtree(out, ignore_errors=True)

    def sweep(setting: Setting) -> Outcome:
        try:
            return Outcome(repeats=1, **run(place(setting), verb="sweep", tried=TRIED))
        except ChildFailed as failed:
            return Outcome(None, failure=str(failed))

    return [Contestant(f"{n_rows:,} rows: attack", attack), Contestant(f"{n_rows:,} rows: sweep", sweep)]


def main() -> None:
    """Measure the sizes that are named, store the run, and write it into the page."""
    sizes, folder = sizes_and_folder(__doc__, SIZES)
    run = measured_cases(cases, sizes, folder)
    store.write(run, "scale-attack")
    show.print_run(run)
    show.fill_part(show.MEMORY_PAGE, "attacks", show.markdown(run))


if __name__ == "__main__":
    main()
