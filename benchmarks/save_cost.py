"""What a release of 400,000 x 8 rows costs, against another working tree in the same run.

    python -m benchmarks.save_cost OTHER [--rows 400000] [--repeats 3] [names]

OTHER is another checkout of Shoal, such as one that ``git archive`` made of an older commit. Each release is
``shoal anonymize DATA -o OUT``, all that it does from file to folder, in a process of its own. The trees take turns;
what is compared is the processor time of those processes, which other work on the machine hardly changes.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks.data import invented

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "sex",
    "hours-per-week",
    "salary-class",
)
ROLES = ("--quasi", ",".join(COLUMNS[:5]), "--sensitive", "salary-class", "--others", "identifying")
_FEW = 12_000
"""Rows of what is released first: enough that loops are compiled, and not interpreted as those of small tables are."""
RUN = """
try:
    from shoal.cli.app import main
except ImportError:  # before the command line had a folder
    from shoal.cli import main
main()
"""
RELEASES: dict[str, tuple[str, ...]] = {
    "mondrian": (*ROLES, "-k", "5", "--method", "mondrian"),
    "mdav": (*ROLES, "-k", "5", "--method", "mdav"),
    "l-diversity": (*ROLES, "-k", "5", "-l", "2", "--method", "mondrian"),
}


def write_data(path: Path, n_rows: int) -> None:
    """Records of the shape of Adult as a CSV file."""
    columns = invented(n_rows).select(COLUMNS)
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join(columns) + "\n")
        file.writelines(",".join(map(str, row)) + "\n" for row in zip(*columns.values(), strict=True))


def cpu_seconds(
    tree: Path, data: Path, out: Path, options: Sequence[str], settings: Mapping[str, str] | None = None
) -> float:
    """Processor time of one release by the code of a tree; `settings` are put into its environment."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", RUN, "anonymize", str(data), "-o", str(out), "--seed", "1", *options]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), **(settings or {})}
    subprocess.run(command, check=True, env=environment, cwd=out.parent, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(other: Path, names: Sequence[str], n_rows: int, repeats: int) -> None:
    """Print the processor time of each release by both trees, and the ratio."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        few, data = folder / "few.csv", folder / "data.csv"
        write_data(few, _FEW)
        write_data(data, n_rows)
        trees = {"other": other, "this": ROOT}
        # As of an installed package, whose modules pip compiled: they are not compiled anew in each process.
        settings = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
        for release in names:
            for tree in trees:  # compiles what is not in the cache
                cpu_seconds(trees[tree], few, folder / f"{release}-{tree}-few", RELEASES[release], settings)
            seconds: dict[str, list[float]] = {tree: [] for tree in trees}
            for i in range(repeats):
                for tree, path in trees.items():
                    out = folder / f"{release}-{tree}-{i}"
                    seconds[tree].append(cpu_seconds(path, data, out, RELEASES[release], settings))
            theirs, ours = median(seconds["other"]), median(seconds["this"])
            ratios = [mine / other for mine, other in zip(seconds["this"], seconds["other"], strict=True)]
            told = f"ratio {ours / theirs:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            print(f"{release:12} other {theirs:6.2f} s  this {ours:6.2f} s  {told}", flush=True)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(RELEASES)}; by default all")
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_intermixed_args()
    compare(given.other.resolve(), given.names or list(RELEASES), given.rows, given.repeats)


if __name__ == "__main__":
    main()
