"""A folder of finished parts is its owner's alone, and holds nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.errors import ShoalError
from shoal.sweep.kept import KeptFolder


class Walks(KeptFolder):
    noun, parts, files = "walk", "stages", ("walk.json",)


def test_what_is_kept_is_the_owners_alone(tmp_path: Path) -> None:
    folder = Walks(tmp_path / "walk")
    folder.open()
    folder.store(folder.place("a"), "1")
    folder.write_file("walk.json", "2")
    assert folder.place("a").read_text() == "1"
    assert {p.stat().st_mode & 0o777 for p in folder.path.rglob("*.json")} == {0o600}
    assert {p.stat().st_mode & 0o777 for p in (folder.path, folder.path / "stages")} == {0o700}
    Walks(folder.path).open()
    assert folder.place("a").read_text() == "1"


def test_another_folder_or_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("")
    with pytest.raises(ShoalError, match="holds more than a walk"):
        Walks(tmp_path / "other")
    with pytest.raises(ShoalError, match="is not a folder"):
        Walks(tmp_path / "other" / "letter.txt")


def test_an_empty_folder_is_abandoned_and_a_full_one_is_not(tmp_path: Path) -> None:
    folder = Walks(tmp_path / "walk")
    folder.open()
    folder.abandon()
    assert not folder.path.exists()
    folder.open()
    folder.store(folder.place("a"), "1")
    folder.abandon()
    assert folder.place("a").exists()


def test_what_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ShoalError, match=r"the walk could not be written to .*; finished stages are kept"):
        Walks.store(tmp_path / "missing" / "a.json", "1")
