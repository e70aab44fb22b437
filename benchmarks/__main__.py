"""`python -m benchmarks`: run benchmarks, print the tables, store the numbers."""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks import show, store
from benchmarks.harness import Result, Setting, run_case

HERE = Path(__file__).parent


def find() -> dict[str, str]:
    """The modules of all benchmarks by name."""
    paths = sorted(HERE.rglob("bench_*.py"), key=lambda path: path.name)
    return {
        path.stem.removeprefix("bench_"): ".".join(("benchmarks", *path.relative_to(HERE).with_suffix("").parts))
        for path in paths
    }


def run(names: Sequence[str], setting: Setting, tell: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Run benchmarks by name, all if none is named."""
    known = find()
    load_before = store.load()
    results: list[Result] = []
    for name in names or known:
        module: ModuleType = import_module(known[name])
        results.extend(run_case(case, setting, tell) for case in module.cases(setting))
    return store.as_run(results, load_before, setting.quick)


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line and do what it says."""
    known = find()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Ours beside the peers, as ratios.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"what to run, by default all: {', '.join(known)}")
    parser.add_argument("--quick", action="store_true", help="tiny generated data, to see that everything runs")
    parser.add_argument("--no-peers", action="store_true", help="ours alone; nothing is installed")
    parser.add_argument("--list", action="store_true", help="say what there is and stop")
    parser.add_argument("--name", help="store the run under this name; by default the date, and not if --quick")
    parser.add_argument("--docs", action="store_true", help="put the stored run (--name, else latest) into docs/")
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.names if name not in known]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(known)}")
    if asked.list:
        for name, module in known.items():
            print(f"{name:<10} {(import_module(module).__doc__ or '').splitlines()[0]}")
        return 0
    if asked.docs:
        show.fill_page(store.read(asked.name or "latest"))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        if not asked.quick:
            # Empty at the start, so that the first calls show what compiling costs on a new machine.
            os.environ["NUMBA_CACHE_DIR"] = str(Path(folder) / "compiled")
        made = run(
            asked.names,
            Setting(Path(folder), asked.quick, not asked.no_peers),
            tell=lambda text: print(text, file=sys.stderr, flush=True),
        )
    show.print_run(made)
    if asked.name or not asked.quick:
        path = store.write(made, asked.name or datetime.date.today().isoformat())
        print(f"stored as benchmarks/results/{path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
