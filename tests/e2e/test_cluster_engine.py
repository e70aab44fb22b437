"""Blocks on a real cluster of two worker processes, of which some die."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from shoal.engine import blocks as blocks_module
from shoal.engine import executors
from shoal.engine.blocks import run_blocks
from shoal.engine.executors import count_workers, open_executor
from shoal.engine.seeds import spawn_seeds
from shoal.errors import Infeasible, ShoalError
from tests.conftest import ROOT
from tests.e2e import cluster_jobs

distributed = pytest.importorskip("distributed")
PATIENCE = 600.0  # seconds, on the busiest machine


@dataclass
class Cluster:
    """A scheduler and its workers as processes of their own, without nannies, which would hide a loss."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]


def start(program: str, *options: str) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
    }
    command = [sys.executable, "-m", f"distributed.cli.{program}", "--host", "127.0.0.1", "--no-dashboard"]
    quiet = subprocess.DEVNULL
    return subprocess.Popen([*command, *options], env=environment, stdout=quiet, stderr=quiet)


@contextmanager
def local_cluster(n_workers: int) -> Iterator[Cluster]:
    with TemporaryDirectory() as folder:
        contact = Path(folder) / "contact.json"
        scheduler = start("dask_scheduler", "--port", "0", "--scheduler-file", str(contact))
        workers: list[subprocess.Popen[bytes]] = []
        try:
            wait_for(lambda: contact.exists() and contact.read_text().rstrip().endswith("}"))
            address = json.loads(contact.read_text())["address"]
            for i in range(n_workers):
                place = str(Path(folder) / str(i))
                workers.append(
                    start("dask_worker", address, "--no-nanny", "--nthreads", "1", "--local-directory", place)
                )
            with distributed.Client(address, timeout=PATIENCE, set_as_default=False) as client:
                wait_for(lambda: len(client.nthreads()) == n_workers)
            yield Cluster(address, scheduler, workers)
        finally:
            for process in [*workers, scheduler]:
                process.kill()
                process.wait()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with local_cluster(2) as running:
        yield running


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_results_and_errors_are_those_of_a_plain_loop(cluster: Cluster, tmp_path: Path) -> None:
    parts = [np.arange(n, dtype=float) for n in (3, 1, 4, 1, 5, 9, 200_000, 3_000_000)]
    blocks = list(zip(parts, spawn_seeds(7, len(parts)), strict=True))
    with open_executor(cluster=cluster.address) as executor:
        assert executor is not None
        assert count_workers(executor) == 2
        results = run_blocks(cluster_jobs.draw, blocks, executor)
        with pytest.raises(Infeasible, match=r"^block 1 cannot be done$"):
            run_blocks(cluster_jobs.refuse, [(1,), (2,), (3,)], executor)
        squares = run_blocks(cluster_jobs.tell_process, [(i, str(tmp_path), 0.0, 2) for i in range(6)], executor)
    for result, block in zip(results, blocks, strict=True):
        assert (result == cluster_jobs.draw(*block)).all()
    assert squares == [i * i for i in range(6)]
    assert str(os.getpid()) not in {p.name for p in tmp_path.iterdir()}
    assert len(list(tmp_path.iterdir())) == 2


def test_another_version_is_refused(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "__version__", "0.0.0")
    with (
        pytest.raises(ShoalError, match=r"has Shoal .*, this machine 0\.0\.0"),
        open_executor(cluster=cluster.address),
    ):
        pass


def test_a_cluster_without_workers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = executors._connect

    def connect_and_hurry(*arguments: Any) -> Any:
        client = connect(*arguments)
        monkeypatch.setattr(executors, "CONNECT_SECONDS", 0.2)
        return client

    monkeypatch.setattr(executors, "_connect", connect_and_hurry)
    with (
        local_cluster(0) as empty,
        pytest.raises(ShoalError, match="has no workers"),
        open_executor(cluster=empty.address),
    ):
        pass


def test_lost_workers_are_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kill one of two workers from outside, let a block kill the other, go on with none."""
    monkeypatch.setattr(executors, "LOST_SECONDS", 1.0)
    monkeypatch.setattr(blocks_module, "PATIENCE_SECONDS", 0.5)
    notes: list[str] = []

    def kill_one() -> None:
        wait_for(lambda: len(list(tmp_path.iterdir())) == 2)
        cluster.workers[0].kill()

    with local_cluster(2) as cluster, open_executor(cluster=cluster.address) as executor:
        killer = threading.Thread(target=kill_one)
        killer.start()
        blocks = [(i, str(tmp_path), 0.3, 2) for i in range(8)]
        results = run_blocks(cluster_jobs.tell_process, blocks, executor, note=notes.append)
        killer.join()
        assert results == [i * i for i in range(8)]
        assert cluster.workers[1].poll() is None

        notes.clear()
        fatal = [(os.getpid(), i) for i in range(4)]
        assert run_blocks(cluster_jobs.die_away_from, fatal, executor, note=notes.append) == [0, 1, 2, 3]
        assert cluster.workers[1].wait(PATIENCE) == 1
        assert len(notes) == 1

        assert run_blocks(cluster_jobs.die_away_from, fatal, executor, note=notes.append) == [0, 1, 2, 3]
        assert len(notes) == 2


def test_a_scheduler_that_vanishes_is_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "LOST_SECONDS", 1.0)
    monkeypatch.setattr(blocks_module, "PATIENCE_SECONDS", 0.5)
    notes: list[str] = []
    with local_cluster(1) as cluster, open_executor(cluster=cluster.address) as executor:

        def vanish() -> None:
            wait_for(lambda: bool(list(tmp_path.iterdir())))
            cluster.scheduler.kill()

        killer = threading.Thread(target=vanish)
        killer.start()
        blocks = [(i, str(tmp_path), 0.2) for i in range(6)]
        results = run_blocks(cluster_jobs.tell_process, blocks, executor, note=notes.append)
        killer.join()
    assert results == [i * i for i in range(6)]
    assert len(notes) == 1
