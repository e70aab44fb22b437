"""How much of a run in bounded memory need not be done again, by the step after which it is killed.

``python -m benchmarks.resume_steps`` prints a table, and writes it into ``docs/benchmarks-memory.md``. Each run is
``shoal anonymize --memory --resume`` without a report, killed (SIGKILL) as soon as the folder of a step is seen; then
another one is let through, which goes on from there and has to write the bytes of an undisturbed run. What counts is
processor time, so that the load of the machine does not matter.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

from benchmarks.bench_scale_averages import write_numbers
from benchmarks.bench_scale_spill import numbered
from benchmarks.data import NUMERIC, people
from benchmarks.kill_large import Runs, checksums, refuse_leftovers, remove
from benchmarks.large import drawn_from, write_large
from benchmarks.show import MEMORY_PAGE, fill_part

HEAD = "| run | CPU s | with `--resume` | folder, MB | killed after the step | CPU s of the next run | saved |"


@dataclass(frozen=True)
class Way:
    """One way to make a release, and the steps after which it is killed: their names, and what they are.

    Attributes
    ----------
    name : str
    runs : Runs
    steps : sequence of two str
    """

    name: str
    runs: Runs
    steps: Sequence[tuple[str, str]]


def ways(folder: Path) -> Iterator[Way]:
    """Those that differ in where the time goes; the table of each is there while it is used."""
    table = folder / "large.parquet"
    source, more = drawn_from(), ["-k", "10", "--seed", "1", "--no-report"]
    roles = ["--quasi", ",".join(source.quasi), "--sensitive", source.sensitive]
    held = [("table", "distinct rows"), ("groups", "groups")]
    write_large(10_000_000, table, source)
    yield Way("10,000,000 rows, mondrian", Runs(folder, [str(table), *roles, *more, "--memory", "2GB"]), held)
    write_large(1_000_000, table, source)
    recoding = [str(table), *roles, *more, "--memory", "2GB", "--method", "local-recoding"]
    yield Way("1,000,000 rows, local-recoding", Runs(folder, recoding), held)
    source = numbered(source)
    roles = ["--quasi", ",".join(source.quasi), "--sensitive", source.sensitive]
    steps = [("rows", "distinct rows"), ("blocks", "blocks"), ("groups-2", "groups of the first three blocks")]
    write_large(3_000_000, table, source)
    command = [str(table), *roles, *more, "--memory", "1GB"]
    yield Way("3,000,000 rows in files, mondrian", Runs(folder, command), steps)
    write_numbers(2_000_000, table, people())
    roles = ["--quasi", ",".join(NUMERIC), "--others", "identifying", "--method", "mdav"]
    steps = [("ranges", "records in two ranges"), ("groups-0", "averages of the first range")]
    yield Way("2,000,000 records, mdav", Runs(folder, [str(table), *roles, *more, "--memory", "2GB"]), steps)


def rows_of(way: Way) -> Iterator[str]:
    """Rows of the table, one for each step."""
    runs, going_on = way.runs, ("--resume", str(way.runs.kept))
    remove(runs.out)
    _, plain = runs.run()
    whole = checksums(runs.out)
    remove(runs.out)
    _, kept = runs.run(inf, *going_on)
    refuse_leftovers(runs, whole)
    told = f"{way.name} | {plain:.1f} | {kept:.1f}"
    for name, what in way.steps:
        remove(runs.out)
        ended, _ = runs.run(inf, *going_on, until=runs.kept / f"step-{name}")
        if ended:
            raise SystemExit(f"a run ended before the step {name} was seen")
        size = sum(path.stat().st_size for path in runs.kept.rglob("*") if path.is_file()) / 1e6
        _, after = runs.run(inf, *going_on)
        refuse_leftovers(runs, whole)
        yield f"| {told} | {size:,.0f} | {what} | {after:.1f} | {1 - after / plain:.0%} |"
        told = " | | "


def main() -> None:
    """Measure all, and write it into the page."""
    with tempfile.TemporaryDirectory() as name:
        lines = [row for way in ways(Path(name)) for row in rows_of(way)]
    told = "\n".join([HEAD, "| --- " * 7 + "|", *lines])
    print(told)
    fill_part(MEMORY_PAGE, "resumed steps", told)


if __name__ == "__main__":
    main()
