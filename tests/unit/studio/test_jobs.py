"""Work outlives whoever began it, is told of in files, and can be stopped."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shoal.errors import ShoalError
from shoal.studio import jobs
from shoal.studio.jobs import Job, begin, last_job
from shoal.studio.session import Session


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "people.csv").write_text("age\n1\n", encoding="utf-8")
    return Session.begin(tmp_path / "s", [tmp_path / "people.csv"])


def sleeping(session: Session, job: Job) -> None:
    """Begin a process that holds the lock as a worker does, and does nothing."""
    import fcntl

    handle = os.open(job.folder / "lock", os.O_RDWR)
    fcntl.flock(handle, fcntl.LOCK_EX)
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", "import time; time.sleep(600)"], pass_fds=(handle,), start_new_session=True
    )
    os.close(handle)
    jobs._started[job.folder] = process
    job.write("pid", process.pid)


def test_the_seed_of_work_that_was_killed_at_once_is_not_kept(session: Session) -> None:
    job = begin(session, "make", {"seed": 4711, "hold_out": 0.5}, sleeping)
    job.stop()
    assert job.read("ask.json")["how"] == {"hold_out": 0.5}
    job = begin(session, "make", {"seed": 4711}, lambda *_: None)  # whose process died
    begin(session, "look", {}, lambda *_: None)
    assert job.read("ask.json")["how"] == {}


def test_who_looks_is_not_taken_for_who_works(session: Session) -> None:
    import fcntl

    job = begin(session, "look", {}, lambda *_: None)
    with (job.folder / "lock").open() as another:
        fcntl.flock(another, fcntl.LOCK_SH)
        assert job.state == "stopped"


def test_a_job_is_told_of_from_its_files(session: Session) -> None:
    job = begin(session, "look", {}, lambda *_: None)
    assert job.verb == "look"
    assert job.state == "stopped"
    assert "ended early" in job.told["sentence"]
    job.write("progress.json", ["reading", 1, 3])
    job.end("failed", "a sentence")
    assert job.told == {
        "number": 1,
        "verb": "look",
        "state": "failed",
        "what": "reading",
        "done": 1,
        "total": 3,
        "sentence": "a sentence",
    }
    assert last_job(session) == job
    assert last_job(session, "make") is None


def test_work_goes_on_without_its_server_and_can_be_stopped_by_another(session: Session) -> None:
    job = begin(session, "make", {}, sleeping)
    process = jobs._started.pop(job.folder)  # as if the server had gone
    try:
        again = last_job(Session(session.folder))
        assert again is not None
        assert again.state == "running"
        with pytest.raises(ShoalError, match="under way"):
            begin(session, "make", {}, sleeping)
        again.stop()
        assert again.state == "stopped"
        assert "It was stopped" in again.told["sentence"]
        assert process.wait(60) != 0
        again.stop()  # once more does nothing
        assert begin(session, "look", {}, lambda *_: None).number == 2
    finally:
        process.kill()


def test_a_server_that_ends_stops_what_it_began(session: Session) -> None:
    job = begin(session, "make", {}, sleeping)
    process = jobs._started[job.folder]
    jobs.stop_all()
    assert process.poll() is not None
    assert job.state == "stopped"
    assert jobs._started == {}


def test_processes_that_ended_are_let_go(session: Session) -> None:
    job = begin(session, "make", {}, sleeping)
    process = jobs._started[job.folder]
    process.kill()
    process.wait(60)
    jobs.gather()
    assert job.folder not in jobs._started


@pytest.mark.slow
def test_a_worker_of_its_own_does_the_work(session: Session) -> None:
    job = begin(session, "look", {}, jobs.start_process)
    while job.state == "running":
        time.sleep(0.1)
    assert job.state == "done", job.told
    assert session.kept("looked.json")["n_records"] == 1
