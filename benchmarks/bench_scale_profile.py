"""Profiles of Parquet files of millions of rows in bounded memory.

``python -m benchmarks.bench_scale_profile`` measures 1 and 100 million rows and writes a table of
``docs/benchmarks-memory.md``; sizes may be named, and with ``--folder`` drawn files stay there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import show, store
from benchmarks.bench_scale_memory import MEMORY, SCRIPT, measured_cases, sizes_and_folder
from benchmarks.child import ChildFailed, run_json
from benchmarks.harness import Case, Contestant, Outcome, Setting
from benchmarks.large import Drawn, drawn_from, write_large

SIZES = (1_000_000, 100_000_000)


def cases(setting: Setting, sizes: Sequence[int] = SIZES, drawn: Path | None = None) -> Iterator[Case]:
    """Each size in a process of its own."""
    source = drawn_from(is_clinic=setting.quick)
    yield Case(
        "profile, bounded memory",
        "shoal.profile of Parquet: roles, risk, who is alone in what, and methods tried on a sample of 5,000 records, "
        "with what is compiled and imported for it",
        f"{source.origin}, drawn with replacement, 30 % of the cells drawn anew",
        [profiled(n, source, drawn) for n in ([400] if setting.quick else sizes)],
    )


def profiled(n_rows: int, source: Drawn, drawn: Path | None) -> Contestant:
    """The profile of a file, which is drawn before unless it is there."""

    def measure(setting: Setting) -> Outcome:
        path = (drawn or setting.folder) / f"large-{n_rows}.parquet"
        if not path.exists():
            write_large(n_rows, path, source)
        task = json.dumps({"verb": "profile", "memory": MEMORY})
        try:
            return Outcome(repeats=1, **run_json([sys.executable, SCRIPT, path, task], timeout=3600))
        except ChildFailed as failed:
            return Outcome(None, failure=str(failed))

    return Contestant(f"{n_rows:,} rows, --memory {MEMORY}", measure)


def main() -> None:
    """Measure the sizes that are named, store the run, and write it into the page."""
    sizes, folder = sizes_and_folder(__doc__, SIZES)
    run = measured_cases(cases, sizes, folder)
    store.write(run, "scale-profile")
    show.print_run(run)
    show.fill_part(show.MEMORY_PAGE, "profiles", show.markdown(run))


if __name__ == "__main__":
    main()
