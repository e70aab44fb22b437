"""The same bytes in memory, out of it, on two processes and on a cluster.

``python -m benchmarks.same_bytes [ROWS ...]``: eight ways of making a release of Adult's 30,162 rows (without it, of
invented ones), and of tables of as many rows as are named, 10,000,000 unless others are; each held in memory,
with a bound on it, and so with two processes and with a dask cluster of two workers, which read the row groups of the
file themselves and, of the large table, write those of the release. The SHA-256 of all that is
published goes into ``docs/benchmarks-memory.md``.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.bench_scale_memory import MEMORY, SCRIPT
from benchmarks.child import run_json
from benchmarks.data import QUASI, people
from benchmarks.large import Drawn, drawn_from, write_large
from benchmarks.run_large import place, released
from benchmarks.show import MEMORY_PAGE, fill_part

PLACES: Mapping[str, Mapping[str, Any]] = {
    "held in memory": {"memory": None},
    f"--memory {MEMORY}": {"memory": MEMORY},
    "two processes": {"memory": MEMORY, "place": "processes"},
    "dask, two workers": {"memory": MEMORY, "place": "dask"},
}
WAYS: Mapping[str, Mapping[str, Any]] = {
    "mondrian, k = 10": {"k": 10, "block_rows": 2000},
    "mondrian, k = 10, l = 2": {"k": 10, "l": 2, "block_rows": 2000},
    "mondrian, k = 10, t = 0.3": {"k": 10, "t": 0.3, "block_rows": 2000},
    "full-domain, k = 10": {"k": 10, "partition": "full-domain", "suppression": 0.1},
    "datafly, k = 10": {"k": 10, "partition": "datafly", "suppression": 0.1},
    "local-recoding, k = 10": {"k": 10, "partition": "local-recoding"},
    "bucketize, k = 10, t = 0.3": {"k": 10, "t": 0.3, "publish": "bucketize", "block_rows": 2000},
    "slice, k = 10, t = 0.3": {"k": 10, "t": 0.3, "publish": "slice", "block_rows": 2000},
}


def main() -> None:
    """Read the sizes from the command line."""
    sizes = [int(given) for given in sys.argv[1:]] or [10_000_000]
    found: dict[tuple[int, str], dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = people()
        adult = folder / "adult.parquet"
        with duckdb.connect() as database:
            database.register("columns", source.select([*QUASI, "salary-class"]))
            database.execute(f"COPY (SELECT * FROM columns) TO '{adult}' (FORMAT parquet, ROW_GROUP_SIZE 4096)")
        drawn = Drawn(source.origin, source.columns, QUASI, "salary-class")
        for where, told in PLACES.items():
            with place(told.get("place")) as run:
                for way, asked in WAYS.items():
                    task = as_task(drawn, {**told, "asked": asked}, folder)
                    keep(found, source.n_rows, way, where, released(adult, task, run)["sha256"])
        drawn = drawn_from()
        for n_rows in sizes:
            write_large(n_rows, folder / "large.parquet", drawn)
            for way, given in WAYS.items():
                asked = {name: value for name, value in given.items() if name != "block_rows"}
                for where, told in PLACES.items():
                    task = as_task(drawn, {**told, "asked": asked}, folder)
                    script = [sys.executable, SCRIPT, folder / "large.parquet", json.dumps(task)]
                    keep(found, n_rows, way, where, run_json(script, timeout=7200)["sha256"])


def as_task(drawn: Drawn, told: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """What `run_large` takes, with no release in its way."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    return {**told, "quasi": list(drawn.quasi), "sensitive": drawn.sensitive, "out": str(folder / "out")}


def keep(found: dict[tuple[int, str], dict[str, str]], n_rows: int, way: str, where: str, digest: str) -> None:
    """Note a checksum, refuse one that differs from those of other places, and write what is known so far."""
    print(f"{n_rows:,} rows, {way}, {where}: {digest}", flush=True)
    others = found.setdefault((n_rows, way), {})
    others[where] = digest
    if len(set(others.values())) > 1:
        raise SystemExit(f"{way} of {n_rows:,} rows: other bytes are written {where}")
    rows = [
        f"| {n:,} | {way} | " + " | ".join(f"`{held[p][:12]}`" if p in held else "not run" for p in PLACES) + " |"
        for (n, way), held in found.items()
    ]
    head = ["| rows | release | " + " | ".join(PLACES) + " |", "| --- " * (2 + len(PLACES)) + "|"]
    fill_part(MEMORY_PAGE, "same bytes", "\n".join([*head, *rows]))


if __name__ == "__main__":
    main()
