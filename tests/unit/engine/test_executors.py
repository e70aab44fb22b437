"""Executors: which one is opened, and what is refused."""

from __future__ import annotations

import sys

import pytest

from shoal.engine import executors
from shoal.engine.blocks import run_blocks
from shoal.engine.executors import count_workers, open_executor
from shoal.errors import MissingExtra, PolicyError, ShoalError
from tests.unit.engine import block_jobs


def test_one_worker_needs_no_executor() -> None:
    for pool in ("threads", "processes"):
        with open_executor(1, pool) as executor:
            assert executor is None


def test_threads_are_as_many_as_asked_and_end_with_the_block() -> None:
    with open_executor(3) as executor:
        assert executor is not None
        assert count_workers(executor) == 3
        names = run_blocks(block_jobs.name_thread, [(i,) for i in range(20)], executor)
    assert 1 <= len(set(names)) <= 3
    with pytest.raises(RuntimeError):
        executor.submit(block_jobs.square, 1)


@pytest.mark.parametrize(("workers", "pool"), [(0, "threads"), (-2, "processes"), (2, "gnomes")])
def test_senseless_pools_are_refused(workers: int, pool: str) -> None:
    with pytest.raises(PolicyError), open_executor(workers, pool):  # type: ignore[arg-type]
        pass


def test_a_missing_package_names_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r'pip install "shoal\[distributed\]"'):  # noqa: SIM117
        with open_executor(cluster="tcp://127.0.0.1:1"):
            pass


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x", "::::"])
def test_a_cluster_that_does_not_answer_is_one_sentence(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "CONNECT_SECONDS", 0.5)
    with pytest.raises(ShoalError, match="does not answer") as caught, open_executor(cluster=address):
        pass
    assert "\n" not in str(caught.value)
