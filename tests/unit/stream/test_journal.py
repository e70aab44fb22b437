"""A journal that is cut off at every step of a commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.errors import DataError, ShoalError
from shoal.stream import journal as home
from shoal.stream.journal import Journal, alone_with


class Killed(Exception):
    pass


def commits(out: Path) -> list[bytes]:
    """Go on with a stream of five commits until it ends; the bytes of each."""
    journal = Journal(out, "asked")
    done = 0 if journal.remembered is None else journal.remembered["done"]
    pieces = [f"piece {i}\n".encode() * (i + 1) for i in range(5)]
    for i in range(done, 5):
        journal.commit(pieces[i], bytes([i]) * 4, "data.csv", {"done": i + 1})
    return pieces


@pytest.mark.parametrize("step", range(25))
def test_a_kill_at_any_step_loses_nothing_and_writes_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    left = [step]

    def killed_at(name: str) -> None:
        real = getattr(home, name)

        def call(path: Path, data: object, **more: object) -> None:
            left[0] -= 1
            if left[0] == -1:
                if name == "_append":  # half of it is there
                    real(path, bytes(data)[: len(bytes(data)) // 2])  # type: ignore[call-overload]
                raise Killed
            real(path, data, **more)

        monkeypatch.setattr(home, name, call)

    for name in ("_write", "write_owned", "_append"):
        killed_at(name)
    try:
        commits(tmp_path / "out")
    except Killed:
        pass
    else:
        assert step >= 20
    monkeypatch.undo()
    pieces = commits(tmp_path / "out")
    assert (tmp_path / "out/publish/data.csv").read_bytes() == b"".join(pieces)
    assert (tmp_path / "out/private/persons.bin").read_bytes() == b"".join(bytes([i]) * 4 for i in range(5))


def test_who_reads_along_sees_nothing_that_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "out", "asked")
    journal.commit(b"one\n", b"", "data.csv", {})
    monkeypatch.setattr(home, "write_owned", lambda *_, **__: (_ for _ in ()).throw(Killed()))
    with pytest.raises(Killed):
        journal.commit(b"two\n", b"", "data.csv", {})
    assert (tmp_path / "out/publish/data.csv").read_bytes() == b"one\n"


def test_another_question_is_refused(tmp_path: Path) -> None:
    Journal(tmp_path / "out", "asked").commit(b"one\n", b"", "data.csv", {})
    with pytest.raises(ShoalError, match="another policy"):
        Journal(tmp_path / "out", "else")


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    Journal(tmp_path / "out", "asked").commit(b"one\n", b"", "data.csv", {})
    with (tmp_path / "out/publish/data.csv").open("ab") as file:
        file.write(b"two\n")
    with pytest.raises(DataError, match="not as long"):
        Journal(tmp_path / "out", "asked")
    (tmp_path / "out/private/journal.json").write_text("{}")
    with pytest.raises(DataError, match="cannot be read as a journal"):
        Journal(tmp_path / "out", "asked")


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(ShoalError, match="is not empty"):
        Journal(tmp_path, "asked")
    (tmp_path / "out/publish").mkdir(parents=True)
    (tmp_path / "out/publish/manifest.json").write_text("{}")
    with pytest.raises(ShoalError, match="that ended"):
        Journal(tmp_path / "out", "asked")


def test_nothing_is_kept_of_a_stream_that_ended(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "out", "asked")
    journal.commit(b"one\n", b"1234", "data.csv", {})
    journal.forget()
    assert sorted(p.name for p in (tmp_path / "out/private").iterdir()) == ["persons.bin"]


def test_what_a_killed_run_was_writing_is_cleared_away(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with alone_with(out, "asked") as journal:
        journal.commit(b"one\n", b"", "data.csv", {})
    (out / "private/.journal.json.shoal-0123abcd").write_text("half")
    with alone_with(out, "asked") as journal:
        assert {p.name for p in journal.private.iterdir()} == {"journal.json", "next.bin"}
        journal.end("{}")
    assert sorted(p.name for p in (out / "publish").iterdir()) == ["data.csv", "manifest.json"]
    assert not any((out / "private").iterdir())
    (out / "private/journal.json").write_text("{}")  # killed after its last word
    with pytest.raises(ShoalError, match="that ended"), alone_with(out, "asked"):
        pass
    assert not any((out / "private").iterdir())
