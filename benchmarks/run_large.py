"""One release, check, profile, attack or sweep of a large file, in a process of its own; prints what it took, as JSON.

Of a release, with the checksum of its bytes; one of a few rows goes before, so that nothing is compiled or imported
within the time. CPU and memory are those of the process and of all that it starts: the workers of a pool, and a cluster
of two workers where one is asked for.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import shoal

sys.path.insert(0, str(Path(__file__).parent))
from memory import TreePeak, tree_cpu_seconds

FEW = 20_000  # rows of the release that goes before: of 10,000 or fewer, loops may be interpreted and not compiled


@contextmanager
def place(where: str | None) -> Iterator[dict[str, Any]]:
    """What `shoal.anonymize` is told about where blocks run."""
    if where == "dask":
        from distributed import LocalCluster

        with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
            yield {"cluster": cluster.scheduler_address}
    else:
        yield {"workers": 2, "pool": where} if where else {}


def policy_of(task: dict[str, Any]) -> shoal.Policy:
    """What is asked for, without the bound on memory."""
    sensitive = [task["sensitive"]] if task["sensitive"] else []
    return shoal.Policy.of(quasi=task["quasi"], sensitive=sensitive, **task["asked"])


def released(path: Path, task: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Make a release and save it; what it took, and the checksum of what is published."""
    policy = policy_of(task)
    with TreePeak() as peak:
        begun, work = perf_counter(), tree_cpu_seconds()
        release = shoal.anonymize(path, policy.changed(memory=task["memory"]), seed=1, **told)
        release.save(Path(task["out"]), report=task.get("report", False))
        found: dict[str, Any] = {"seconds": perf_counter() - begun, "cpu_seconds": tree_cpu_seconds() - work}
    if task.get("report"):
        lost = next(loss.value for loss in release.utility.losses if loss.name == "SSE/SST")
        found["numbers"] = {"SSE/SST %": round(100 * lost, 4)}
    digest = hashlib.sha256()
    for file in sorted((Path(task["out"]) / "publish").iterdir()):
        digest.update(file.read_bytes())
    return {**found, "peak_mb": peak.mb, "sha256": digest.hexdigest()}


def profiled(path: Path, memory: str) -> dict[str, Any]:
    """Profile a file, with methods tried on a sample; what it took, and how many columns it takes for quasi."""
    with TreePeak() as peak:
        begun, work = perf_counter(), tree_cpu_seconds()
        profile = shoal.profile(path, shoal.Policy(memory=memory))
        found: dict[str, Any] = {"seconds": perf_counter() - begun, "cpu_seconds": tree_cpu_seconds() - work}
    n_quasi = sum(column.attribute.role == "quasi" for column in profile.columns)
    return {**found, "peak_mb": peak.mb, "numbers": {"records": profile.n_rows, "quasi-identifiers": n_quasi}}


def checked(path: Path, task: dict[str, Any]) -> dict[str, Any]:
    """Check a release, alone or beside its original; what it took, and what it found."""
    with TreePeak() as peak:
        begun, work = perf_counter(), tree_cpu_seconds()
        told = shoal.check(Path(task["out"]) / "publish", path if task["beside"] else None, memory=task["memory"])
        found: dict[str, Any] = {"seconds": perf_counter() - begun, "cpu_seconds": tree_cpu_seconds() - work}
    numbers = {"findings": len(told.findings), "not compared": len(told.not_compared) + (not told.compared)}
    return {**found, "peak_mb": peak.mb, "numbers": numbers}


def attacked(path: Path, task: dict[str, Any]) -> dict[str, Any]:
    """Attack a release beside its original; what it took, and how many were attacked of how many."""
    with TreePeak() as peak:
        begun, work = perf_counter(), tree_cpu_seconds()
        told = shoal.attack(Path(task["out"]) / "publish", path, memory=task["memory"])
        found: dict[str, Any] = {"seconds": perf_counter() - begun, "cpu_seconds": tree_cpu_seconds() - work}
    sample = {"drawn": 0, "of": 0} if told.sample is None else told.sample.to_dict()
    return {**found, "peak_mb": peak.mb, "numbers": {"attacks": len(told.results), **sample}}


def swept(path: Path, task: dict[str, Any]) -> dict[str, Any]:
    """Try methods on a file; what it took, and how many releases hold."""
    policy = shoal.Policy.of(quasi=task["quasi"], sensitive=[task["sensitive"]], **task["asked"])
    with TreePeak() as peak:
        begun, work = perf_counter(), tree_cpu_seconds()
        told = shoal.sweep(path, policy.changed(memory=task["memory"]), **task["tried"])
        found: dict[str, Any] = {"seconds": perf_counter() - begun, "cpu_seconds": tree_cpu_seconds() - work}
    held = sum(cell.holds for cell in told.cells)
    return {**found, "peak_mb": peak.mb, "numbers": {"releases": len(told.cells), "that hold": held}}


VERBS = {"check": checked, "attack": attacked, "sweep": swept}


def main() -> None:
    """Read the task from the command line."""
    path, task = Path(sys.argv[1]), json.loads(sys.argv[2])
    if task.get("verb") == "profile":
        print(json.dumps(profiled(path, task["memory"])))
        return
    if (verb := task.get("verb")) in VERBS:
        print(json.dumps(VERBS[verb](path, task)))
        return
    if task.get("few") == "of the file":
        import duckdb

        few = duckdb.sql(f"SELECT * FROM '{path}' LIMIT {FEW}").fetchnumpy()
    else:
        few = {name: [f"{i % 7}" for i in range(FEW)] for name in (*task["quasi"], task["sensitive"])}
    if "person" in task["asked"]:
        few[task["asked"]["person"]] = [f"{i // 2}" for i in range(FEW)]
    shoal.anonymize(few, policy_of(task))
    with place(task.get("place")) as told:
        found = released(path, task, told)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
