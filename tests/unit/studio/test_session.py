"""The policy file is the state, and nothing that was decided is lost."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest

from shoal.errors import PolicyError
from shoal.studio import session as module
from shoal.studio.session import FOUND, POLICY, Session


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "people.csv").write_text("age,zip\n1,2\n", encoding="utf-8")
    return Session.begin(tmp_path / "s", [tmp_path / "people.csv"])


def asked(k: int) -> str:
    return f'kind = "table"\n\n[[require]]\nmodel = "k-anonymity"\nk = {k}\n'


def test_a_new_session_is_the_owners_alone_and_has_one_step(session: Session) -> None:
    assert session.folder.stat().st_mode & 0o077 == 0
    assert (session.folder / POLICY).stat().st_mode & 0o077 == 0
    assert [(s.number, s.what, s.before) for s in session.steps()] == [(1, "opened", 0)]
    assert session.policy.kind == "table"


def test_every_change_is_a_step_and_the_same_text_is_none(session: Session) -> None:
    assert session.change(asked(3), "k = 3") == 2
    assert session.change(asked(3), "again") == 2
    assert session.change(asked(4), "k = 4") == 3
    assert [s.what for s in session.steps()] == ["opened", "k = 3", "k = 4"]
    assert session.policy.k == 4
    assert ("+", "k = 4") in session.difference(3)
    assert ("-", "k = 3") in session.difference(3)


def test_undo_walks_back_and_is_itself_a_step(session: Session) -> None:
    for k in (3, 4):
        session.change(asked(k), f"k = {k}")
    assert session.undo() == 4
    assert session.policy.k == 3
    session.undo()
    assert session.policy.k == 5
    with pytest.raises(PolicyError, match="no step before"):
        session.undo()
    session.go_back(3)
    assert session.policy.k == 4
    assert [s.what for s in session.steps()][3:] == ["back to step 2", "back to step 1", "back to step 3"]
    with pytest.raises(PolicyError, match="no step 99"):
        session.go_back(99)


def test_a_file_that_was_edited_by_hand_becomes_a_step(session: Session) -> None:
    (session.folder / POLICY).write_text(asked(9), encoding="utf-8")
    assert session.last == 2
    assert session.steps()[-1].what == FOUND
    session.undo()
    assert session.policy.k == 5


def test_a_spoiled_file_is_said_to_be_one_and_can_be_undone(session: Session) -> None:
    (session.folder / POLICY).write_text("k = ", encoding="utf-8")
    with pytest.raises(PolicyError, match="not valid TOML"):
        _ = session.policy
    session.undo()
    assert session.policy.k == 5
    (session.folder / POLICY).write_bytes(b"\xff\xfe")
    with pytest.raises(PolicyError, match="UTF-8"):
        _ = session.text
    assert session.last >= 1


class Killed(BaseException):
    """The process ended here."""


def test_200_kills_at_random_moments_lose_no_decision(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write is all or nothing; a process may die before any of them, and another one goes on from the files."""
    draws = random.Random(20261116)
    real = module.write_owned
    left = [0]

    def write(path: Path, text: str, *, overwrite: bool = False) -> None:
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        real(path, text, overwrite=overwrite)

    monkeypatch.setattr(module, "write_owned", write)
    decided = [session.text]
    for i in range(200):
        again = Session(session.folder)
        left[0], text = draws.randrange(4), asked(2 + i)
        with suppress(Killed):
            again.change(text, f"k = {2 + i}")
        left[0] = 100
        if Session(session.folder).text == text:
            decided.append(text)
        again = Session(session.folder)
        assert again.step(again.last).text == again.text == decided[-1]
    assert [s.text for s in Session(session.folder).steps()] == decided
    assert 100 < len(decided) < 200


def test_what_is_kept_is_whole_or_not_there(session: Session) -> None:
    session.keep("thing.json", {"a": 1})
    assert session.kept("thing.json") == {"a": 1}
    (session.folder / "thing.json").write_text('{"a"', encoding="utf-8")
    assert session.kept("thing.json") is None
    assert session.kept("other.json") is None


def test_reasons_stand_beside_columns(session: Session) -> None:
    session.keep("looked.json", {"reasons": {"columns.age": "looks like an age", "columns.zip": ""}})
    policy = session.policy.changed(quasi=["age"])
    assert "# looks like an age" in session.written(policy)
    assert session.policy_of(session.written(policy)) == policy
