"""The tests of `stage.py`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import shoal
from shoal.data.tables.room import TooManyDistinct
from shoal.stage import checked_file, refuse_occupied, staged


def _half_written(out, error) -> None:
    with staged(out) as stage:
        (stage / "half").write_text("half")
        raise error


def test_a_stage_vanishes_with_its_failure_and_appears_with_its_success(tmp_path) -> None:
    with pytest.raises(ZeroDivisionError):
        _half_written(tmp_path / "out", ZeroDivisionError())
    with pytest.raises(shoal.ShoalError, match="No space left on device"):
        _half_written(tmp_path / "out", OSError(28, os.strerror(28)))
    assert list(tmp_path.iterdir()) == []
    with staged(tmp_path / "out") as stage:
        (stage / "whole").write_text("whole")
        assert not (tmp_path / "out").exists()
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["whole"]


def test_a_dead_run_is_cleared_away_and_a_living_one_is_not(tmp_path) -> None:
    pytest.importorskip("fcntl")
    dead = tmp_path / ".out.shoal-0123abcd"
    dead.mkdir()
    (dead / ".lock").touch()
    with staged(tmp_path / "out") as living:
        assert not dead.exists()
        with staged(tmp_path / "out"):
            assert living.exists()
        (tmp_path / "out").rmdir()
    assert (tmp_path / "out").is_dir()


def test_a_release_that_is_there_can_be_replaced_and_the_message_says_how(tmp_path) -> None:
    out = tmp_path / "out"
    (out / "publish").mkdir(parents=True)
    (out / "publish" / "manifest.json").write_text("{}")
    with pytest.raises(shoal.ShoalError, match=r"is not empty; .*, or replace the release in it \(--force\)$"):
        refuse_occupied(out)
    refuse_occupied(out, replace=True)
    (out / "mine.txt").write_text("mine")
    with pytest.raises(shoal.ShoalError, match=r"is not empty; choose another output folder, or remove it first$"):
        refuse_occupied(out)
    with pytest.raises(shoal.ShoalError, match=r"other things too, such as mine\.txt"):
        refuse_occupied(out, replace=True)


def test_what_is_wrong_with_a_written_file_does_not_name_a_folder_that_is_gone() -> None:
    def check(path: Path) -> None:
        raise TooManyDistinct(path, 5, 10**9)

    with pytest.raises(TooManyDistinct, match=r"^the written data\.csv: 5 rows are distinct"):
        checked_file("data.csv", Path.touch, check)
