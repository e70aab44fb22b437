"""Blocks as tasks of Ray: on real workers where Ray is installed, and what is said where it is not, or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.engine import on_ray
from shoal.engine.blocks import run_blocks
from shoal.engine.executors import Crew, count_workers, open_executor, own_version
from shoal.engine.seeds import spawn_seeds
from shoal.errors import Infeasible, MissingExtra, ShoalError
from tests.e2e import cluster_jobs


class OneThread:
    """As much of Ray as is called, with the work done here: what it answers can be chosen."""

    def __init__(self, version: str = shoal.__version__, is_there: bool = True, listens: str = "127.0.0.1") -> None:
        self.version, self.is_there, self.listens, self.n_ended = version, is_there, listens, 0
        self.is_connected = False

    def init(self, **_: Any) -> None:
        if not self.is_there:
            raise ConnectionError("nobody is there")

    def is_initialized(self) -> bool:
        return self.is_connected

    def shutdown(self) -> None:
        self.n_ended += 1

    def remote(self, **_: Any) -> Any:
        def called(fn: Any, args: Any, kwargs: Any) -> Any:
            future: Future[Any] = Future()
            try:
                future.set_result(self.version if fn is own_version else fn(*args, **kwargs))
            except Exception as error:
                future.set_exception(error)
            return SimpleNamespace(future=lambda: future)

        return lambda _: SimpleNamespace(remote=called)

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 3.0}

    def nodes(self) -> list[dict[str, Any]]:
        if not self.is_there:
            raise ConnectionError("nobody is there")
        return [{"Alive": True, "NodeManagerAddress": self.listens}]


def pretend(monkeypatch: pytest.MonkeyPatch, ray: Any) -> None:
    monkeypatch.setattr(on_ray, "import_module", lambda _: ray)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> None:
        raise ImportError

    monkeypatch.setattr(on_ray, "import_module", missing)
    with pytest.raises(MissingExtra, match=r"shoal\[ray\]"), open_executor(cluster="ray:local"):
        pass


def test_nobody_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, OneThread())
    with pytest.raises(ShoalError, match=r"127\.0\.0\.1:1 does not answer"), open_executor(cluster="ray:127.0.0.1:1"):
        pass


def test_a_cluster_that_refuses_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = OneThread(is_there=False)
    pretend(monkeypatch, ray)
    with pytest.raises(ShoalError, match="auto does not answer"), open_executor(cluster="ray:auto"):
        pass
    assert ray.n_ended == 1


def test_a_connection_of_somebody_else_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = OneThread()
    ray.is_connected = True
    pretend(monkeypatch, ray)
    with pytest.raises(ShoalError, match="connected to a Ray cluster already"), open_executor(cluster="ray:auto"):
        pass
    assert ray.n_ended == 0


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = OneThread(version="0.0.1")
    pretend(monkeypatch, ray)
    with pytest.raises(ShoalError, match=r"has Shoal 0\.0\.1"), open_executor(cluster="ray:auto"):
        pass
    assert ray.n_ended == 1


def test_blocks_are_run_and_nothing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED", raising=False)
    ray = OneThread()
    pretend(monkeypatch, ray)
    with open_executor(cluster="ray:local") as crew:
        assert isinstance(crew, Crew)
        assert count_workers(crew) == 3
        assert run_blocks(pow, [(2, 3), (3, 2)], crew) == [8, 9]
        assert not crew.is_lost()
        ray.is_there = False
        assert crew.is_lost()
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
    assert ray.n_ended == 1


def test_workers_of_this_machine_that_others_could_reach_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = OneThread(listens="10.0.0.5")
    pretend(monkeypatch, ray)
    with pytest.raises(ShoalError, match="listen to other machines"), open_executor(cluster="ray:local"):
        pass
    assert ray.n_ended == 1


@pytest.fixture
def crew() -> Iterator[Executor]:
    pytest.importorskip("ray")
    with open_executor(cluster="ray:local") as opened:
        assert opened is not None
        yield opened


@pytest.mark.slow
def test_results_and_errors_are_those_of_a_plain_loop(crew: Executor) -> None:
    blocks = [(np.arange(5.0) + i, seed) for i, seed in enumerate(spawn_seeds(7, 8))]
    ours, theirs = run_blocks(cluster_jobs.draw, blocks), run_blocks(cluster_jobs.draw, blocks, crew)
    assert all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))
    with pytest.raises(Infeasible, match="block 3 "):
        run_blocks(cluster_jobs.refuse, [(3,), (4,)], crew)


@pytest.mark.slow
def test_a_lost_worker_is_survived(crew: Executor) -> None:
    notes: list[str] = []
    found = run_blocks(cluster_jobs.die_away_from, [(os.getpid(), i) for i in range(4)], crew, note=notes.append)
    assert found == [0, 1, 2, 3]
    assert len(notes) == 1
    assert "a worker gave no result" in notes[0]


@pytest.mark.slow
@pytest.mark.unattacked
def test_a_release_has_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    rng = np.random.default_rng(3)
    table = {"age": rng.integers(18, 90, 3000), "hours": rng.integers(0, 80, 3000), "pay": rng.integers(0, 20, 3000)}
    policy = shoal.Policy.of(quasi=["age", "hours"], sensitive=["pay"], k=5, block_rows=1000)
    written = []
    for name, cluster in {"here": None, "there": "ray:local"}.items():
        shoal.anonymize(table, policy, seed=5, cluster=cluster).save(tmp_path / name, report=False)
        written.append({p.name: p.read_bytes() for p in (tmp_path / name / "publish").iterdir()})
    assert written[0] == written[1]
