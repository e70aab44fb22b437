"""Microaggregation of large tables: what each way loses and takes, and one and ten million rows from file to folder.

``python -m benchmarks.tables.bench_large`` measures and writes the tables of ``docs/how-to/large.md``.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks import show, store
from benchmarks.child import ROOT, ChildFailed, run_json
from benchmarks.data import NUMERIC, People, people, write_csv
from benchmarks.harness import Case, Contestant, Outcome, Setting, run_case, timed
from benchmarks.losses import of_averaging
from shoal.arrays import Codes
from shoal.kernels.tables.mdav import MixedPoints, label_mdav
from shoal.tables.microaggregation.near_linear import curve_blocks, near_linear_labels
from shoal.tables.partition.base import number_through, rank_array
from shoal.tables.partition.curve import curve_order_labels
from shoal.tables.partition.mdav import mixed_points

K = 5
NOISE = 0.1  # standard deviations of each column
N_BLOCKS = 10
SECONDS, PEAK_MB = 60, 2000  # what a million rows may take
TIMES, MANY_SECONDS, MANY_PEAK_MB = 10, 480, 4000  # so many times as many, and what they may take
SCRIPT = ROOT / "benchmarks" / "run_command.py"
PAGE = ROOT / "docs" / "how-to" / "large.md"
EXACT = "exact MDAV"
COMMAND = f"shoal anonymize big.csv -k {K} --method mdav --quasi ... --keep groups"
Matrix = npt.NDArray[np.float64]


def noised(data: People, n_rows: int, seed: int = 1) -> Matrix:
    """Rows drawn with replacement, normal noise in every number, rounded; sorted, as a release sorts them."""
    rng = np.random.default_rng(seed)
    X = data.matrix()
    drawn = X[rng.integers(0, len(X), n_rows)]
    drawn = np.rint(drawn + NOISE * X.std(axis=0) * rng.normal(size=drawn.shape))
    return np.ascontiguousarray(drawn[np.lexsort(drawn.T)])


def cases(setting: Setting) -> Iterator[Case]:
    """The ways beside each other at growing sizes, then the whole job on the largest."""
    data = people(setting.quick)
    sizes = [300, 600] if setting.quick else [30_000, 100_000, 300_000, 1_000_000]
    for n_rows in sizes:
        yield ways(data, n_rows)
    yield file_to_folder(data, sizes[-1])
    yield of_many(data, TIMES * sizes[-1])


def ways(data: People, n_rows: int) -> Case:
    """The ways on one table; the exact one is the first, and the loss of the others is told as a share of its."""
    X = noised(data, n_rows)
    ranked = rank_array(X)
    points = mixed_points(ranked)
    few = points._replace(points=points.points[:300].copy(), codes=points.codes[:300])
    found: dict[str, float] = {}

    def quality(name: str) -> Callable[[Codes], dict[str, float]]:
        def of(labels: Codes) -> dict[str, float]:
            losses = of_averaging(X, labels)
            found[name] = losses["SSE/SST %"]
            return losses if name == EXACT else losses | {"SSE to exact": round(found[name] / found[EXACT], 3)}

        return of

    def in_blocks(data: MixedPoints) -> Codes:
        blocks = curve_blocks(data, K, -(-len(data.points) // N_BLOCKS))
        parts = [data._replace(points=data.points[rows], codes=data.codes[rows]) for rows in blocks]
        return number_through(blocks, [label_mdav(part, K) for part in parts])

    def way(name: str, label: Callable[[MixedPoints], Codes]) -> Contestant:
        return timed(name, lambda: label(points), numbers=quality(name), warm_up=lambda: label(few))

    few_ranked = [r.take(np.arange(300)) for r in ranked]
    return Case(
        f"large, {n_rows:,} rows",
        f"groups of {K} or more by the least sum of squares, groups alone",
        f"{data.origin}, resampled with noise, {X.shape[1]} numbers",
        [
            way(EXACT, lambda data: label_mdav(data, K)),
            way(f"exact MDAV within {N_BLOCKS} blocks of near records", in_blocks),
            timed(
                "path and best cut (curve)",
                lambda: curve_order_labels(ranked, K),
                numbers=quality("curve"),
                warm_up=lambda: curve_order_labels(few_ranked, K),
            ),
            way("path, best cut, moves and swaps (chosen)", lambda data: near_linear_labels(data, K)),
        ],
    )


def file_to_folder(data: People, n_rows: int) -> Case:
    """The command on a file of noised rows, and exact MDAV on the same rows."""
    X = noised(data, n_rows)

    def summary(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
        ours, exact = (outcomes[name].numbers.get("SSE/SST %") for name in (COMMAND, EXACT))
        return {} if ours is None or not exact else {"SSE to exact MDAV on the same rows": round(ours / exact, 3)}

    points = mixed_points(rank_array(X))
    few_points = points._replace(points=points.points[:300].copy(), codes=points.codes[:300])
    return Case(
        "large, file to folder",
        f"read, group, publish, check and report; wanted below {SECONDS} s, {PEAK_MB:,} MB and the SSE of exact MDAV",
        f"{data.origin}, resampled with noise, {n_rows:,} rows x {X.shape[1]} numbers",
        [
            Contestant(COMMAND, released(X), at_most=SECONDS),
            timed(
                EXACT,
                lambda: label_mdav(points, K),
                numbers=lambda labels: of_averaging(X, labels),
                warm_up=lambda: label_mdav(few_points, K),
            ),
        ],
        summary,
    )


def of_many(data: People, n_rows: int) -> Case:
    """The command on a file of which exact MDAV would take hours."""
    X = noised(data, n_rows)
    return Case(
        "large, ten times as many from file to folder",
        f"read, group, publish, check and report; wanted below {MANY_SECONDS} s and {MANY_PEAK_MB:,} MB",
        f"{data.origin}, resampled with noise, {n_rows:,} rows x {X.shape[1]} numbers",
        [Contestant(COMMAND, released(X), at_most=MANY_SECONDS)],
    )


def released(X: Matrix) -> Callable[[Setting], Outcome]:
    """What the command takes for a file of some rows, and what it loses."""

    def run(setting: Setting) -> Outcome:
        path = setting.folder / "big.csv"
        write_csv(dict(zip(NUMERIC, X.astype(np.int64).T, strict=True)), path)
        out, few, policy = (setting.folder / name for name in ("big-out", "few.csv", "few.toml"))
        with path.open(encoding="utf-8") as lines:
            few.write_text("".join(islice(lines, 1502)), encoding="utf-8")
        policy.write_text("[method]\nblock_rows = 1000\n", encoding="utf-8")
        asked = ["-k", str(K), "--method", "mdav", "--quasi", ",".join(NUMERIC), "--keep", "groups"]
        try:
            if not setting.quick:  # compiles what the run on the file needs
                few_out = setting.folder / "few-out"
                run_json([sys.executable, SCRIPT, "anonymize", few, "-p", policy, *asked, "-o", few_out])
                shutil.rmtree(few_out)
            spent = run_json([sys.executable, SCRIPT, "anonymize", path, *asked, "-o", out])
        except ChildFailed as error:
            return Outcome(None, failure=str(error))
        kept = np.loadtxt(out / "private" / "groups.csv", delimiter=",", skiprows=1, dtype=np.int64)
        shutil.rmtree(out)
        groups = kept[np.argsort(kept[:, 0]), 1]
        return Outcome(
            seconds=spent["seconds"],
            cpu_seconds=spent["cpu_seconds"],
            repeats=1,
            peak_mb=spent["peak_mb"],
            numbers=of_averaging(X, groups),
        )

    return run


def main() -> None:
    """Measure, store the run as ``results/large.json``, and write it into the page."""
    load_before = store.load()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = str(Path(folder) / "compiled")
        setting = Setting(Path(folder))
        results = [run_case(case, setting, lambda text: print(text, file=sys.stderr)) for case in cases(setting)]
    run = store.as_run(results, load_before, False)
    store.write(run, "large")
    show.print_run(run)
    show.fill_page(run, PAGE)


if __name__ == "__main__":
    main()
