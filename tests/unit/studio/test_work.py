"""What jobs do is what the verbs do."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.studio.jobs import Job, begin
from shoal.studio.session import LOOKED
from shoal.studio.work import ATTACKED, MADE, PUBLISHED, made_folder, run_job
from tests.unit.studio.client import PEOPLE, Client, at_once, opened


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_what_is_decided_before_the_first_reading_ends_is_kept(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    waiting: list[Job] = []
    client = Client(tmp_path, start=lambda session, job: waiting.append(job))
    client.post("/open", {"place": "people.csv"})
    client.post("/people-1/context", {"step": "1", "context/title": "A title"})
    client.post("/people-1/requirements", {"step": "2", "require/0:k-anonymity/k": "9"})
    run_job(client.session(), waiting[0])
    policy = client.session().policy
    assert (policy.context.title, policy.k, len(policy.columns)) == ("A title", 9, 4)


def test_a_release_is_made_attacked_written_and_checked(tmp_path: Path) -> None:
    client = opened(tmp_path)
    session = client.session()
    looked = session.kept(LOOKED)
    assert looked["n_records"] == 60
    names = [name for name, _ in looked["names"]]
    assert names == ["name", "age", "zip", "disease"]
    known = {n for n, c in session.policy.columns.items() if c.role == "quasi"}
    assert {name for name, adds in zip(names, looked["adds"], strict=True) if adds is not None} == known
    seed = 987654321012345678
    assert begin(session, "make", {"seed": seed}, at_once).state == "done"
    assert not [p for p in session.folder.rglob("*") if p.is_file() and str(seed).encode() in p.read_bytes()]
    made = session.kept(MADE)
    assert made["verdict"]["level"] in ("green", "amber", "red")
    (pair,) = made["pairs"]
    assert pair["is_paired"]
    assert len(pair["before"]["rows"]) == len(pair["after"]["rows"]) == 8
    assert made["seeded"] is True
    assert begin(session, "attack", {}, at_once).state == "done"
    assert session.kept(ATTACKED)["made"] == made["number"]
    job = begin(session, "publish", {"out": str(tmp_path / "out")}, at_once)
    assert job.state == "done", job.told
    assert session.kept(PUBLISHED)["holds"] is True
    assert files(tmp_path / "out") == files(made_folder(session)[0])
    assert (tmp_path / "out" / "private").stat().st_mode & 0o077 == 0
    again = begin(session, "publish", {"out": str(tmp_path / "out")}, at_once)
    assert again.state == "failed"
    assert "not empty" in again.told["sentence"]


def test_a_failure_is_the_sentence_of_the_command_line(tmp_path: Path) -> None:
    client = opened(tmp_path)
    session = client.session()
    session.change(session.text.replace("k = 5", "k = 500"), "k = 500")
    job = begin(session, "make", {}, at_once)
    assert job.state == "failed"
    assert "500" in job.told["sentence"]
    assert session.kept(MADE) is None
    publish = begin(session, "publish", {"out": str(tmp_path / "out")}, at_once)
    assert publish.told["sentence"] == "no release was made yet; make one first"


def test_a_defect_says_nothing_of_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = opened(tmp_path)

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("person 7 has the flu")

    monkeypatch.setitem(__import__("shoal.studio.work", fromlist=["VERBS"]).VERBS, "make", broken)
    monkeypatch.delenv("SHOAL_TRACEBACK", raising=False)
    job = begin(client.session(), "make", {}, at_once)
    assert job.told["sentence"] == "this is a defect of Shoal (RuntimeError); nothing was written. Please report it"
    assert all(b"flu" not in p.read_bytes() for p in job.folder.iterdir())


def test_what_was_said_when_the_work_was_begun_is_what_is_made(tmp_path: Path) -> None:
    client = opened(tmp_path)
    session = client.session()
    job = begin(session, "make", {"seed": 1}, lambda *_: None)
    session.change(session.text.replace("k = 5", "k = 9"), "k = 9")
    run_job(session, job)
    assert job.state == "done", job.told
    made = session.kept(MADE)
    assert "k = 5" in made["policy"]
    assert made["guarantees"][0]["required"] == {"k": 5}


def test_a_file_that_cannot_be_read_leaves_a_session_to_mend(tmp_path: Path) -> None:
    (tmp_path / "lists.dat").write_text("a b c\na\nb c d e\n" * 20, encoding="utf-8")
    client = Client(tmp_path)
    page = client.post("/open", {"place": "lists.dat"})
    assert page.status == 200
    assert "read them as sets of items" in page.words
    page = client.post("/lists-1/open", {"do": "read", "kind": "sparse"})
    assert client.session("lists-1").policy.kind == "sparse"
    assert "First rows" in page.words
