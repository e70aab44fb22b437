"""Threads, processes and a cluster write the same bytes as one thread, also when a worker is killed."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import Ended, call_here, leftovers, run_command, start_command, write

PATIENCE = 600.0  # seconds, on the busiest machine
POLICY = """
[columns]
disease = { role = "sensitive" }
"*" = { role = "quasi" }
[[require]]
model = "k-anonymity"
k = 5
[[require]]
model = "l-diversity"
l = 2
[method]
"""


def table(n_rows: int, n_scores: int) -> str:
    """Scores take MDAV time."""
    draw = random.Random(11)
    rows = (
        f"{draw.randint(17, 90)},{draw.choice('ABCDEF')},{draw.choice(['flu', 'cold', 'gout'])},"
        + ",".join(f"{draw.gauss(0, 1):.3f}" for _ in range(n_scores))
        for _ in range(n_rows)
    )
    return "\n".join(["age,city,disease," + ",".join(f"score{i}" for i in range(n_scores)), *rows, ""])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("engines")
    write(folder / "people.csv", table(3000, 2))
    write(folder / "many.csv", table(60_000, 8))
    for method in ("mondrian", "mdav"):
        write(folder / f"{method}.toml", POLICY + f'partition = "{method}"\nblock_rows = 1000\n')
        write(folder / f"{method}-large.toml", POLICY + f'partition = "{method}"\nblock_rows = 40000\n')
    return folder


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=":0", silence_logs=50
    ) as running:
        yield running


def files_of(out: Path) -> dict[str, bytes]:
    """All files, but for the command that the report tells, which is another one."""
    found = {str(p.relative_to(out)): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()}
    told = json.loads(found["private/report.json"])
    command = json.dumps(told["report"]["provenance"]["command"])[1:-1].encode()
    assert command.startswith(b"shoal anonymize")
    return {name: content.replace(command, b"") for name, content in found.items()}


def anonymize(folder: Path, method: str, out: str, *options: str) -> dict[str, bytes]:
    arguments = ("people.csv", "-p", f"{method}.toml", "--keep", "groups,mapping", "--seed", "1", "-o", out, *options)
    run = call_here if set(options).isdisjoint(["processes", "--cluster"]) else run_command
    ended = run("anonymize", *arguments, cwd=folder)
    assert ended.code == 0, ended.stderr
    return files_of(folder / out)


@pytest.fixture(scope="module")
def alone(folder: Path) -> Callable[[str], dict[str, bytes]]:
    """What one thread writes, made once a method."""
    made: dict[str, dict[str, bytes]] = {}

    def release(method: str) -> dict[str, bytes]:
        if method not in made:
            made[method] = anonymize(folder, method, f"{method}-alone")
        return made[method]

    return release


METHODS = pytest.mark.parametrize("method", ["mondrian", "mdav"])


@METHODS
@pytest.mark.parametrize(
    "options", [("--workers", "2"), ("--workers", "2", "--pool", "processes")], ids=["threads", "processes"]
)
def test_two_workers_write_what_one_writes(
    folder: Path, alone: Callable[[str], dict[str, bytes]], method: str, options: tuple[str, ...]
) -> None:
    files = anonymize(folder, method, f"{method}-{len(options)}", *options)
    assert {"private/attacks.json", "private/groups.csv", "private/mapping-1.csv", "private/mapping-2.csv"} <= set(
        files
    )
    assert files == alone(method)


@METHODS
def test_there_are_several_blocks(alone: Callable[[str], dict[str, bytes]], method: str, folder: Path) -> None:
    """Else all of this would show nothing: MDAV in blocks groups otherwise than MDAV in one."""
    one_block = anonymize(folder, f"{method}-large", f"{method}-one-block")
    same = one_block["publish/data.csv"] == alone(method)["publish/data.csv"]
    assert same == (method == "mondrian")


@pytest.mark.slow
@METHODS
def test_a_cluster_writes_what_one_thread_writes(
    folder: Path, cluster: Any, alone: Callable[[str], dict[str, bytes]], method: str
) -> None:
    files = anonymize(folder, method, f"{method}-cluster", "--cluster", cluster.scheduler_address)
    assert files == alone(method)


def published_from_distinct_rows(folder: Path, out: str, *options: str) -> dict[str, bytes]:
    """What is published where the table is not held."""
    arguments = ("people.csv", "-p", "mondrian.toml", "--memory", "1GB", "--seed", "1", "-o", out, *options)
    ended = (run_command if options else call_here)("anonymize", *arguments, cwd=folder)
    assert ended.code == 0, ended.stderr
    return {f"publish/{path.name}": path.read_bytes() for path in (folder / out / "publish").iterdir()}


def test_a_table_that_is_not_held_gives_the_same_bytes(folder: Path, alone: Callable[[str], dict[str, bytes]]) -> None:
    held = {name: content for name, content in alone("mondrian").items() if name.startswith("publish/")}
    assert published_from_distinct_rows(folder, "distinct") == held


@pytest.mark.slow
def test_a_table_that_is_not_held_gives_the_same_bytes_on_processes_and_on_a_cluster(
    folder: Path, cluster: Any, alone: Callable[[str], dict[str, bytes]]
) -> None:
    held = {name: content for name, content in alone("mondrian").items() if name.startswith("publish/")}
    processes = ("--workers", "2", "--pool", "processes")
    assert published_from_distinct_rows(folder, "distinct-processes", *processes) == held
    at = ("--cluster", cluster.scheduler_address)
    assert published_from_distinct_rows(folder, "distinct-cluster", *at) == held


def busy_child(process: Any, seconds: float) -> Any:
    """A worker below this process that has worked for that long, or None if the process ended before."""
    psutil = pytest.importorskip("psutil")
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            workers = [c for c in process.children(recursive=True) if "resource_tracker" not in " ".join(c.cmdline())]
            for worker in workers:
                if worker.cpu_times().user > seconds:
                    return worker
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
        except psutil.Error:
            pass
        time.sleep(0.02)
    raise AssertionError("no worker was busy")


def assert_survived(ended: Ended, folder: Path, out: str, expected: dict[str, bytes]) -> None:
    """The same published bytes, or a sentence and nothing."""
    assert "Traceback" not in ended.stderr
    if ended.code:
        assert ended.code == 1
        assert ended.stderr.startswith("shoal: ")
        assert not (folder / out).exists()
    else:
        files = files_of(folder / out)
        assert files["publish/data.csv"] == expected["publish/data.csv"]
        assert files["private/groups.csv"] == expected["private/groups.csv"]
        assert call_here("check", f"{out}/publish", "--original", "many.csv", cwd=folder).code == 0
    assert leftovers(folder) == []


@pytest.fixture(scope="module")
def many_alone(folder: Path) -> dict[str, bytes]:
    arguments = (
        "many.csv",
        "-p",
        "mdav-large.toml",
        "--keep",
        "groups",
        "--seed",
        "1",
        "-o",
        "many-alone",
        "--workers",
        "2",
    )
    assert call_here("anonymize", *arguments, cwd=folder).code == 0
    return files_of(folder / "many-alone")


@pytest.mark.slow
def test_a_killed_process_is_survived(folder: Path, many_alone: dict[str, bytes]) -> None:
    psutil = pytest.importorskip("psutil")
    arguments = ("many.csv", "-p", "mdav-large.toml", "--keep", "groups", "--seed", "1", "-o", "many-pool")
    process = start_command("anonymize", *arguments, "--workers", "2", "--pool", "processes", cwd=folder)
    worker = busy_child(psutil.Process(process.pid), 0.5)
    assert worker is not None, "the run ended before a worker was killed"
    os.kill(worker.pid, signal.SIGKILL)
    out, err = process.communicate(timeout=PATIENCE)
    assert_survived(Ended(process.returncode, out, err), folder, "many-pool", many_alone)
    assert process.returncode != 0 or "a worker gave no result" in out


@pytest.mark.slow
def test_a_killed_worker_of_a_cluster_is_survived(folder: Path, many_alone: dict[str, bytes]) -> None:
    distributed = pytest.importorskip("distributed")
    psutil = pytest.importorskip("psutil")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=":0", silence_logs=50
    ) as running:
        address = running.scheduler_address
        idle = {c.pid: c.cpu_times().user for c in psutil.Process().children(recursive=True)}
        arguments = ("many.csv", "-p", "mdav-large.toml", "--keep", "groups", "--seed", "1", "-o", "many-cluster")
        process = start_command("anonymize", *arguments, "--cluster", address, cwd=folder)
        worker = working(psutil, idle, process)
        assert worker is not None, "the run ended before a worker was killed"
        os.kill(worker, signal.SIGKILL)
        out, err = process.communicate(timeout=PATIENCE)
        assert_survived(Ended(process.returncode, out, err), folder, "many-cluster", many_alone)


def working(psutil: Any, idle: dict[int, float], process: Any) -> int | None:
    """A worker of the cluster that has worked for this command for a while."""
    while process.poll() is None:
        for pid, before in idle.items():
            try:
                if psutil.Process(pid).cpu_times().user > before + 0.5:
                    return pid
            except psutil.Error:
                continue
        time.sleep(0.02)
    return None
