"""Blocks: the same results, errors and order on every executor; lost workers; nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from shoal.engine.blocks import WorkerTraceback, run_blocks
from shoal.engine.executors import Crew, open_executor
from shoal.engine.seeds import spawn_seeds
from shoal.errors import Infeasible, ShoalError
from tests.conftest import ROOT
from tests.unit.engine import block_jobs


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor | None]:
    with open_executor(3, "threads") as executor:
        yield executor


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor | None]:
    with open_executor(2, "processes") as executor:
        yield executor


@pytest.fixture(params=["here", "threads", "processes"])
def executor(request: pytest.FixtureRequest) -> Executor | None:
    return None if request.param == "here" else request.getfixturevalue(request.param)


def test_random_results_are_the_same_everywhere(executor: Executor | None) -> None:
    parts = [np.arange(n, dtype=float) for n in (3, 1, 4, 1, 5, 9, 2)]
    blocks = list(zip(parts, spawn_seeds(7, len(parts)), strict=True))
    expected = [block_jobs.draw(*block) for block in blocks]
    results = run_blocks(block_jobs.draw, blocks, executor)
    assert all((a == b).all() for a, b in zip(results, expected, strict=True))


def test_results_keep_the_order_of_blocks(executor: Executor | None) -> None:
    pauses = [0.1, 0.0, 0.05, 0.0, 0.02, 0.0]
    assert run_blocks(block_jobs.square, list(enumerate(pauses)), executor) == [0, 1, 4, 9, 16, 25]


def test_no_blocks_give_no_results(executor: Executor | None) -> None:
    assert run_blocks(block_jobs.square, [], executor) == []


def test_the_first_failing_block_tells_its_error_unchanged(executor: Executor | None) -> None:
    blocks = [(0,), (3, 0.1), (1,), (4,), (5,)]  # the second fails after the fourth
    with pytest.raises(Infeasible, match=r"^block 3 cannot be done$"):
        run_blocks(block_jobs.refuse, blocks, executor)


def test_an_error_from_another_process_says_where_it_arose(processes: Executor) -> None:
    with pytest.raises(Infeasible) as caught:
        run_blocks(block_jobs.refuse, [(3,)], processes)
    assert isinstance(caught.value.__cause__, WorkerTraceback)
    assert "in refuse" in str(caught.value.__cause__)


def test_an_error_that_cannot_travel_arises_here_instead() -> None:
    # The pool breaks when it fails to load the error, so it is not the shared one.
    notes: list[str] = []
    with open_executor(2, "processes") as own, pytest.raises(block_jobs.Unpicklable):
        run_blocks(block_jobs.raise_unpicklable, [()], own, note=notes.append)
    assert len(notes) == 1


def test_progress_counts_up_to_the_total(executor: Executor | None) -> None:
    calls: list[tuple[int, int]] = []
    run_blocks(block_jobs.square, [(i,) for i in range(5)], executor, progress=lambda *c: calls.append(c))
    assert calls == [(i, 5) for i in range(1, 6)]
    calls.clear()
    run_blocks(block_jobs.square, ((i,) for i in range(5)), executor, progress=lambda *c: calls.append(c))
    assert calls[-1] == (5, 5)
    assert all(done <= total for done, total in calls)


@pytest.mark.parametrize("limit", [1, 4])
def test_never_more_blocks_in_flight_than_allowed(threads: Executor, limit: int) -> None:
    taken = done = most = 0
    lock = threading.Lock()

    def blocks() -> Iterator[tuple[int]]:
        nonlocal taken, most
        for i in range(40):
            with lock:
                taken += 1
                most = max(most, taken - done)
            yield (i,)

    def job(value: int) -> int:
        nonlocal done
        time.sleep(0.002)
        with lock:
            done += 1
        return value

    assert run_blocks(job, blocks(), threads, in_flight=limit) == list(range(40))
    assert most <= limit


def test_default_limit_is_two_blocks_a_worker() -> None:
    taken = taken_at_rest = 0
    gate = threading.Event()

    def open_gate() -> None:
        nonlocal taken_at_rest
        taken_at_rest = taken
        gate.set()

    def blocks() -> Iterator[tuple[int]]:
        nonlocal taken
        for i in range(20):
            taken = i + 1
            if taken == 6:
                threading.Timer(0.2, open_gate).start()
            yield (i,)

    def job(value: int) -> int:
        assert gate.wait(600)
        return value

    with ThreadPoolExecutor(3) as pool:
        assert run_blocks(job, blocks(), Crew(pool, 3)) == list(range(20))
    assert taken_at_rest == 6


@pytest.mark.parametrize("how", ["exit", "kill"])
def test_a_worker_that_dies_is_survived(tmp_path: Path, how: str) -> None:
    blocks = [(i, str(tmp_path / "marker"), how) for i in range(12)]
    calls: list[tuple[int, int]] = []
    with open_executor(2, "processes") as executor, pytest.warns(RuntimeWarning, match="run here") as caught:
        results = run_blocks(block_jobs.die_once, blocks, executor, progress=lambda *c: calls.append(c))
    assert results == [i * i for i in range(12)]
    assert calls[-1] == (12, 12)
    assert len(caught) == 1


def test_workers_that_all_die_and_no_memory_here_end_in_one_sentence() -> None:
    notes: list[str] = []
    home = os.getpid()
    with open_executor(2, "processes") as executor:
        assert run_blocks(block_jobs.die_away_from, [(home, False)] * 5, executor, note=notes.append) == [1] * 5
        with pytest.raises(ShoalError, match="memory here") as caught:
            run_blocks(block_jobs.die_away_from, [(home, True)] * 5, executor, note=notes.append)
    assert "\n" not in str(caught.value)
    assert len(notes) == 2


def test_memory_that_runs_out_without_a_lost_worker_is_the_jobs_own_error() -> None:
    with pytest.raises(MemoryError):
        run_blocks(block_jobs.die_away_from, [(os.getpid(), True)])


def test_an_executor_that_refuses_or_goes_silent_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.engine.blocks.PATIENCE_SECONDS", 0.05)

    class Refusing(Executor):
        def submit(self, *args: object, **kwargs: object) -> Future[object]:  # type: ignore[override]
            raise BrokenExecutor

    class Silent(Executor):
        def submit(self, *args: object, **kwargs: object) -> Future[object]:  # type: ignore[override]
            return Future()

    for deaf in (Refusing(), Crew(Silent(), 2, is_lost=lambda: True)):
        notes: list[str] = []
        assert run_blocks(block_jobs.square, [(i,) for i in range(6)], deaf, note=notes.append) == [
            0, 1, 4, 9, 16, 25
        ]  # fmt: skip
        assert len(notes) == 1


def test_an_interrupt_cancels_what_has_not_begun(threads: Executor) -> None:
    begun: list[int] = []
    gate = threading.Event()

    def job(value: int) -> int:
        begun.append(value)
        assert value == 0 or gate.wait(600)
        return value

    def interrupt_at_the_first(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_blocks(job, [(i,) for i in range(100)], threads, progress=interrupt_at_the_first, in_flight=50)
    gate.set()
    assert run_blocks(job, [(100,)] * 3, threads) == [100] * 3
    assert len([value for value in begun if value < 100]) <= 4  # the first, and one that each thread was at


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see processes")
def test_ctrl_c_leaves_no_process_behind(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import signal
        from tests.unit.engine import block_jobs
        from shoal.engine.blocks import run_blocks
        from shoal.engine.executors import open_executor
        if __name__ == "__main__":
            signal.signal(signal.SIGINT, signal.default_int_handler)  # which what started the tests may ignore
            with open_executor(2, "processes") as executor:
                run_blocks(block_jobs.linger, [({str(tmp_path / "pids")!r},)] * 8, executor)
        """)
    )
    (tmp_path / "pids").mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    parent = subprocess.Popen(
        [sys.executable, str(script)],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        until = time.monotonic() + 600
        while len(list((tmp_path / "pids").iterdir())) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        workers = [int(p.name) for p in (tmp_path / "pids").iterdir()]
        assert len(workers) == 2
        os.killpg(parent.pid, signal.SIGINT)
        _, errors = parent.communicate(timeout=600)
    finally:
        parent.kill()
    assert "KeyboardInterrupt" in errors
    assert errors.count("Traceback") == 1
    assert not any(is_running(pid) for pid in workers)
