"""The largest table that ARX is said to hold, in a tenth of its memory; and every peer that installs, beside us.

``python -m benchmarks.bench_scale_peers`` measures both in one run and writes tables of ``docs/benchmarks-memory.md``.
The large table has 31 million rows and 25 columns: Adult's 15, drawn with replacement, and ten derived from them and
from the number of the row. Each peer gets the first 10,000, 30,000 and 100,000 of its rows, as long as it is done
within two minutes; beside the largest number of rows that it managed stands our release of the same rows, from file to
checked folder, where the peer's time is that of its one call on a frame in memory. With ``--folder`` the drawn files
stay there, and are not drawn again; ``--rows`` draws fewer.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from benchmarks import show, store
from benchmarks.bench_scale_memory import SCRIPT
from benchmarks.child import ChildFailed, run_json
from benchmarks.data import NUMERIC, QUASI, hierarchy_files, people
from benchmarks.harness import Case, Contestant, Outcome, Setting, run_case
from benchmarks.large import NEW_SHARE, Drawn, write_large
from benchmarks.peers import ANJANA, ANONYPY, ANONYPYX, PYCANON, Peer

N_ROWS = 31_000_000
ARX_MB = 3_500  # of so many rows of 25 columns, as its authors say
K = 10
SENSITIVE = "salary-class"
MEMORY = "500MB"
SIZES = (10_000, 30_000, 100_000)
MOST_SECONDS = 120.0
N_FEW = 3_000  # more than are interpreted
KEPT = ("wave", "mode")
ACCEPTED = {"singled_out": "invented data"}  # with cells drawn anew, wave and mode single more records out
DERIVED = {
    "person": "number",
    "name": "'Person ' || number",
    "email": "'p' || number || '@example.org'",
    "phone": "(number * 7919 + 12345) % 10000000000",
    "birth date": "DATE '1994-06-30' - CAST(age * 365 + number * 31 % 365 AS INTEGER)",
    "street": "'Street ' || (number * 104729 % 50021)",
    "net gain": '"capital-gain" - "capital-loss"',
    "weekly": "CASE WHEN \"hours-per-week\" < 35 THEN 'part' WHEN \"hours-per-week\" > 45 THEN 'over' ELSE 'full' END",
    "wave": "1 + number % 4",
    "mode": "CASE number * 7919 % 3 WHEN 0 THEN 'phone' WHEN 1 THEN 'visit' ELSE 'web' END",
}
PEERS: Mapping[str, tuple[Peer, str, Mapping[str, Any], Mapping[str, Any]]] = {
    "mondrian": (ANONYPY, "Mondrian", {}, {"partition": "mondrian"}),
    "recoding": (ANJANA, "one recoding for all", {"suppression": 0.02}, {"partition": "full-domain"}),
    "averages": (ANONYPYX, "MDAV of six numbers", {}, {"partition": "mdav", "publish": "aggregate"}),
    "check": (PYCANON, "the check of t-closeness", {"check": "t_closeness"}, {}),
}


def wide(new_share: float, *, quick: bool = False) -> Drawn:
    """All 15 columns of Adult and ten derived ones; eight are quasi-identifiers."""
    data = people(quick)
    return Drawn(data.origin, data.columns, QUASI, SENSITIVE, DERIVED, new_share)


def drawn(folder: Path, n_rows: int, new_share: float, *, quick: bool = False) -> Path:
    """The file of so many rows."""
    path = folder / f"wide-{new_share:g}-{n_rows}.parquet"
    if not path.exists():
        write_large(n_rows, path, wide(new_share, quick=quick))
    return path


def cases(setting: Setting, n_rows: int = N_ROWS, folder: Path | None = None) -> Iterator[Case]:
    """The large table, then each peer."""
    n_rows = setting.rows(n_rows)
    yield large(setting, n_rows, folder or setting.folder)
    if setting.with_peers:
        path = drawn(folder or setting.folder, n_rows, 0.0, quick=setting.quick)
        sizes = [n_rows] if setting.quick else SIZES
        for name in PEERS:
            yield beside(name, setting, path, sizes)


def large(setting: Setting, n_rows: int, folder: Path) -> Case:
    """The whole table with a bound on memory."""

    def of(way: str, new_share: float) -> Contestant:
        def measure(setting: Setting) -> Outcome:
            asked = {"k": K, "partition": way, "insensitive": KEPT, "others": "identifying", "accept": ACCEPTED}
            roles = {"quasi": QUASI, "sensitive": SENSITIVE}
            task = {"memory": MEMORY, "asked": asked, "few": "of the file", **roles}
            return released(drawn(folder, n_rows, new_share, quick=setting.quick), task, setting, n_rows, ARX_MB)

        told = f", {new_share:.0%} of the cells drawn anew" if new_share else ""
        return Contestant(f"{way}{told}, --memory {MEMORY}", measure)

    data = people(setting.quick)
    return Case(
        "scale, the largest table that ARX is said to hold",
        f"shoal.anonymize and save without a report: k = {K}, 8 quasi-identifiers, 1 sensitive column, 2 kept and 14 "
        "dropped, Parquet in and out, checked from the written file; peak memory of all processes, beside the "
        f"{ARX_MB:,} MB that ARX's authors state for 31 million rows of 25 columns",
        f"{data.origin}, drawn with replacement, {n_rows:,} rows x {len(data.columns) + len(DERIVED)} columns",
        [of("full-domain", 0.0), of("mondrian", 0.0), of("mondrian", NEW_SHARE)],
    )


def released(path: Path, task: Mapping[str, Any], setting: Setting, n_rows: int, beside_mb: float = 0.0) -> Outcome:
    """Our release of a file, in a process of its own; one of fewer rows goes before, which compiles what is needed."""
    out, few = setting.folder / "out", setting.folder / "few.parquet"
    try:
        duckdb.sql(f"COPY (SELECT * FROM '{path}' LIMIT {N_FEW}) TO '{few}' (FORMAT parquet)")
        run_json([sys.executable, SCRIPT, few, json.dumps({**task, "out": str(out)})])
        shutil.rmtree(out)
        found = run_json([sys.executable, SCRIPT, path, json.dumps({**task, "out": str(out)})], timeout=3600)
    except ChildFailed as failed:
        return Outcome(None, failure=str(failed))
    finally:
        shutil.rmtree(out, ignore_errors=True)
    return told(found, n_rows, {"peak, of ARX's": round(found["peak_mb"] / beside_mb, 3)} if beside_mb else {})


def told(found: Mapping[str, Any], n_rows: int, more: Mapping[str, float] | None = None) -> Outcome:
    """What a process said that it took."""
    numbers = {"rows a CPU second": float(round(n_rows / found["cpu_seconds"])), **(more or {})}
    return Outcome(
        found["seconds"], cpu_seconds=found["cpu_seconds"], repeats=1, peak_mb=found["peak_mb"], numbers=numbers
    )


def beside(name: str, setting: Setting, path: Path, sizes: Sequence[int]) -> Case:
    """A peer on as many rows as it finishes, and we on the same; the peer is run first, as that says how many."""
    peer, task, asked, ours = PEERS[name]
    quasi = NUMERIC if name == "averages" else QUASI
    columns = quasi if name in ("averages", "recoding") else (*quasi, SENSITIVE)
    asked = {**asked, "quasi": quasi, "sensitive": SENSITIVE, "k": K}
    if name == "recoding":
        asked["hierarchies"] = {n: str(p) for n, p in hierarchy_files(people(setting.quick), setting.folder).items()}
    theirs, n_rows = Outcome(None, failure="does not finish the fewest"), sizes[0]
    for n in sizes:
        try:
            found = peer.run(first_rows(path, n, columns, setting, "csv"), timeout=MOST_SECONDS, **asked)
        except ChildFailed as failed:
            if n == sizes[0]:
                theirs = Outcome(None, failure=str(failed))
            break
        theirs, n_rows = told(found, n), n
    file = first_rows(path, n_rows, columns, setting, "csv" if name == "check" else "parquet")
    if name == "check":
        mine = checked(file, asked, n_rows)
    else:
        policy: dict[str, Any] = {"k": K, **ours}
        if name == "recoding":
            policy |= {"hierarchies": asked["hierarchies"], "suppression": asked["suppression"]}
        sensitive = SENSITIVE if SENSITIVE in columns else None
        roles = {"quasi": quasi, "sensitive": sensitive}
        mine = released(file, {"memory": None, "asked": policy, "few": "of the file", **roles}, setting, n_rows)
    ratios = {}
    if theirs.cpu_seconds and mine.cpu_seconds and theirs.peak_mb and mine.peak_mb:
        ratios = {"their CPU to ours": theirs.cpu_seconds / mine.cpu_seconds, "memory": theirs.peak_mb / mine.peak_mb}
    return Case(
        f"scale, {peer.name}",
        f"{task}, k = {K}, {len(quasi)} columns; ours from file to checked folder, the peer's one call on a frame",
        f"the first {n_rows:,} rows of the same table",
        [
            Contestant("shoal", lambda _: mine),
            Contestant(peer.requirement, lambda _: theirs, is_rival=True, is_peer=True),
        ],
        lambda _: {name: round(ratio, 2) for name, ratio in ratios.items()},
    )


def checked(path: Path, asked: Mapping[str, Any], n_rows: int) -> Outcome:
    """Our check of the same table."""
    script = Path(__file__).parent / "run_check.py"
    try:
        return told(run_json([sys.executable, script, path, json.dumps(asked)]), n_rows)
    except ChildFailed as failed:
        return Outcome(None, failure=str(failed))


def first_rows(path: Path, n_rows: int, columns: Sequence[str], setting: Setting, form: str) -> Path:
    """Some columns of the first rows, as a file of their own."""
    out = setting.folder / f"first-{n_rows}-{len(columns)}.{form}"
    names = ", ".join(f'"{name}"' for name in columns)
    options = "HEADER" if form == "csv" else "FORMAT parquet"
    duckdb.sql(f"COPY (SELECT {names} FROM '{path}' LIMIT {n_rows}) TO '{out}' ({options})")
    return out


def main() -> None:
    """Measure, store the run, and write it into the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=N_ROWS, help="of the large table")
    parser.add_argument("--folder", type=Path, help="where drawn files stay; by default they are removed")
    asked = parser.parse_args()
    load_before = store.load()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        setting = Setting(Path(folder))
        made = cases(setting, asked.rows, asked.folder or Path(folder))
        results = [run_case(case, setting, lambda text: print(text, file=sys.stderr)) for case in made]
    run = store.as_run(results, load_before, False)
    show.print_run(run)
    if asked.rows == N_ROWS:
        store.write(run, "scale-peers")
        show.fill_page(run, show.MEMORY_PAGE, block="peers")


if __name__ == "__main__":
    main()
