"""Work in progress on disk: whose it is, that it appears whole, and that only what was abandoned is cleared away."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from pathlib import Path

import pytest

from shoal.errors import ShoalError
from shoal.scratch import clear_abandoned, scratch_folder, temporary_folder, write_owned


@pytest.fixture
def open_umask() -> object:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("open_umask")
def test_a_file_is_the_owners_from_its_first_byte_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    sync = os.fsync

    def look(handle: int) -> None:
        seen.extend(mode(p) for p in tmp_path.iterdir())
        sync(handle)

    monkeypatch.setattr(os, "fsync", look)
    monkeypatch.setattr(os, "chmod", lambda *_: pytest.fail("it was open to others before"))
    write_owned(tmp_path / "new.json", "{}\n")
    write_owned(tmp_path / "new.json", "[]\n", overwrite=True)
    assert set(seen) == {0o600}
    assert (tmp_path / "new.json").read_text() == "[]\n"
    assert [p.name for p in tmp_path.iterdir()] == ["new.json"]


def test_what_has_the_name_is_not_overwritten_by_chance(tmp_path: Path) -> None:
    (tmp_path / "there.json").write_text("old")
    with pytest.raises(FileExistsError):
        write_owned(tmp_path / "there.json", "new")
    assert (tmp_path / "there.json").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["there.json"]


def test_a_file_that_cannot_be_written_whole_does_not_appear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "there.json").write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    for name in ("there.json", "new.json"):
        with pytest.raises(OSError, match="No space left"):
            write_owned(tmp_path / name, "new", overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["there.json"]
    assert (tmp_path / "there.json").read_text() == "old"


def test_only_what_nobody_holds_is_cleared_away(tmp_path: Path) -> None:
    left, held = tmp_path / ".out.shoal-00000001", tmp_path / ".out.shoal-00000002"
    for folder in (left, held):
        folder.mkdir()
        (folder / "data.csv").write_text("age\n")
    half = tmp_path / ".results.json.shoal-0000000a"
    half.write_text("{")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("x")
    for name in (".out.shoal-mine", "out.shoal-00000001", ".out.shoal-000000012"):
        (tmp_path / name).write_text("of somebody else")
    (tmp_path / ".link.shoal-00000003").symlink_to(elsewhere)
    handle = os.open(held, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        clear_abandoned(tmp_path)
    finally:
        os.close(handle)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        [
            held.name,
            "elsewhere",
            ".link.shoal-00000003",
            ".out.shoal-mine",
            "out.shoal-00000001",
            ".out.shoal-000000012",
        ]
    )
    assert (elsewhere / "kept").exists()
    clear_abandoned(tmp_path)
    assert not held.exists()


@pytest.mark.usefixtures("open_umask")
def test_a_scratch_folder_is_the_owners_and_goes_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "shoal-run-0000abcd"
    left.mkdir()
    with scratch_folder() as first:
        assert mode(first) == 0o700
        assert not left.exists()
        with scratch_folder() as second:
            assert first.is_dir(), "one that is in use stays, though another begins"
            assert first != second
        with pytest.raises(KeyError), scratch_folder() as third:
            raise KeyError
        assert not third.exists()
        assert [p.name for p in tmp_path.iterdir()] == [first.name]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("instead", ["system", "here", "TMP"])
def test_no_other_folder_is_taken_than_the_one_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, instead: str
) -> None:
    """Rows of the original may be meant for one disk alone."""
    taken = {"system": "/tmp", "here": str(Path.cwd()), "TMP": str(tmp_path)}[instead]
    monkeypatch.setenv("TMPDIR", str(tmp_path / "absent"))
    monkeypatch.setenv("TMP", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", taken)  # as Python does
    with pytest.raises(ShoalError, match=r"absent: nothing can be written to the temporary folder that TMPDIR names"):
        temporary_folder()
    with pytest.raises(ShoalError, match="TMPDIR"), scratch_folder():
        pytest.fail("it was made elsewhere")


def test_the_folder_that_is_named_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with scratch_folder() as folder:
        assert folder.parent == temporary_folder() == tmp_path
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "of a program"))  # which says so itself
    assert temporary_folder() == tmp_path / "of a program"
    monkeypatch.delenv("TMPDIR")
    assert temporary_folder() == tmp_path / "of a program"
