"""The first release of a small table: processor time without compiled kernels, and with those that it left.

    python -m benchmarks.cold_start [--docs] [names]

Each row is ``shoal anonymize`` of 6 or of 1,000 rows, from file to folder with report and attacks, in processes of
their own: cold with an empty folder of compiled kernels, then warm with what that run left there. Modules are compiled
to bytecode before, as they are by any installation. Wanted are less than 3 s cold and 1 s warm. With ``--docs`` the
table is written into ``docs/benchmarks.md``.
"""

from __future__ import annotations

import argparse
import compileall
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from benchmarks import show, store
from benchmarks.harness import Case, Contestant, Outcome, Setting, run_case
from benchmarks.save_cost import COLUMNS, ROLES, ROOT, cpu_seconds, write_data

SIZES = {6: "2", 1000: "5"}  # rows, and k
METHODS = (
    "mondrian",
    "mdav",
    "v-mdav",
    "k-member",
    "nearest-neighbours",
    "curve",
    "local-recoding",
    "full-domain",
    "datafly",
)
# A sensitive column no value of which is that of half of the rows.
WORK = ("--quasi", ",".join(COLUMNS[:4]), "--sensitive", COLUMNS[4], "--others", "identifying")
RELEASES: dict[str, tuple[str, ...]] = {
    **{f"--method {name}": (*ROLES, "--method", name) for name in METHODS},
    "--method univariate": ("--quasi", COLUMNS[0], "--others", "identifying", "--method", "univariate"),
    "-l 2": (*ROLES, "-l", "2"),
    "-t 0.5": (*ROLES, "-t", "0.5"),
    **{f"--publish {name} -l 2": (*WORK, "--publish", name, "-l", "2") for name in ("bucketize", "slice", "screen")},
    "--publish condense": (*ROLES, "--publish", "condense"),
    **{
        f"--method mdav --effort {name}": (*ROLES, "--method", "mdav", "--effort", name)
        for name in ("balanced", "best")
    },
}
LONG = ("--method mdav --effort best",)
"""What searches a thousand rows for minutes: run where it is named."""


def cases(names: Sequence[str] = ()) -> list[Case]:
    """A case for each size."""
    return [
        Case(
            f"cold start, {n:,} rows",
            f"shoal anonymize with report and attacks, k = {k}; times of the first run, without compiled kernels",
            "records of the shape of Adult, invented",
            [released(name, n, k) for name in RELEASES if (name in names if names else n < 1000 or name not in LONG)],
        )
        for n, k in SIZES.items()
    ]


def released(name: str, n_rows: int, k: str) -> Contestant:
    """One release, cold and then warm."""

    def measure(setting: Setting) -> Outcome:
        data = setting.folder / f"{n_rows}.csv"
        if not data.exists():
            write_data(data, n_rows)
        with tempfile.TemporaryDirectory(dir=setting.folder) as folder:
            settings = {"NUMBA_CACHE_DIR": os.path.join(folder, "compiled")}
            options = (*RELEASES[name], "-k", k, "-q")
            start = perf_counter()
            try:
                cold = cpu_seconds(ROOT, data, Path(folder, "cold"), options, settings)
                spent = perf_counter() - start
                warm = cpu_seconds(ROOT, data, Path(folder, "warm"), options, settings)
            except subprocess.CalledProcessError as failed:
                return Outcome(None, failure=f"refused (exit code {failed.returncode})")
        return Outcome(spent, cpu_seconds=cold, repeats=1, numbers={"warm CPU s": warm})

    return Contestant(name, measure)


def main() -> None:
    """Measure, print, and write the page if that is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(RELEASES)}; by default all")
    parser.add_argument("--docs", action="store_true", help="put the table into docs/benchmarks.md")
    asked = parser.parse_args()
    compileall.compile_dir(ROOT / "src", quiet=2)
    load_before = store.load()
    with tempfile.TemporaryDirectory() as folder:
        setting = Setting(Path(folder))
        results = [run_case(case, setting, lambda text: print(text, file=sys.stderr)) for case in cases(asked.names)]
    run = store.as_run(results, load_before, False)
    show.print_run(run)
    if asked.docs:
        store.write(run, "cold-start")
        show.fill_page(run, block="cold")


if __name__ == "__main__":
    main()
