"""Nothing outside of the folder that the studio was started with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shoal.errors import ShoalError
from shoal.studio.workspace import Sample, Workspace, safe_name
from tests.unit.studio.client import PEOPLE


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    top = tmp_path / "data"
    (top / "inner").mkdir(parents=True)
    (top / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (tmp_path / "secret.csv").write_text(PEOPLE, encoding="utf-8")
    (top / "link.csv").symlink_to(tmp_path / "secret.csv")
    (top / "up").symlink_to(tmp_path)
    return Workspace.at(top, None, {"s": Sample("S", "people.csv", None, lambda f: _copy(f))})


def _copy(folder: Path) -> None:
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")


@pytest.mark.parametrize(
    "place",
    [
        "../secret.csv",
        "inner/../../secret.csv",
        "link.csv",
        "up/secret.csv",
        "/etc/passwd",
        ".shoal-studio",
        "people.csv\0.txt",
        "x" * 5000,
    ],
)
def test_places_outside_are_refused(workspace: Workspace, place: str) -> None:
    with pytest.raises(ShoalError, match="folder that the studio was started with"):
        workspace.inside(place)
    with pytest.raises(ShoalError):
        workspace.open([place])


def test_names_that_no_page_can_show_are_not_listed(workspace: Workspace) -> None:
    try:
        (workspace.top / os.fsdecode(b"bad\xff.csv")).touch()
    except OSError:
        pytest.skip("this file system has no such names")
    assert [f.name for f in workspace.files()] == ["inner", "people.csv"]
    with pytest.raises(ShoalError, match="not the name of a file"):
        workspace.open([os.fsdecode(b"bad\xff.csv")])
    with pytest.raises(ShoalError, match="there is no file"):
        workspace.open(["x" * 300])


def test_a_place_that_another_session_took_in_this_moment(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = workspace.open(["people.csv"])
    places = iter([first.folder, workspace.home / "people-2"])
    monkeypatch.setattr(Workspace, "new_place", lambda *_: next(places))
    assert workspace.open(["people.csv"]).name == "people-2"


def test_what_leads_outside_is_not_listed(workspace: Workspace) -> None:
    assert [(f.name, f.n_bytes is None) for f in workspace.files()] == [("inner", True), ("people.csv", False)]
    assert workspace.files("inner") == []
    with pytest.raises(ShoalError, match="cannot be looked at"):
        workspace.files("none")


def test_sessions_are_kept_and_found_again(workspace: Workspace) -> None:
    first, second = workspace.open(["people.csv"]), workspace.open(["people.csv"])
    assert (first.name, second.name) == ("people-1", "people-2")
    assert {s.name for s in Workspace.at(workspace.top).sessions()} == {"people-1", "people-2"}
    assert workspace.home.stat().st_mode & 0o077 == 0
    found = workspace.session("people-1")
    assert found is not None
    assert found.paths == [workspace.top / "people.csv"]
    for name in ("nobody", "../data", ".", "", "a/b", "PEOPLE-1"):
        assert workspace.session(name) is None
    (workspace.home / "half").mkdir()
    assert workspace.session("half") is None


def test_invented_data_lies_with_its_session(workspace: Workspace) -> None:
    session = workspace.open_sample("s")
    assert session.paths == [session.folder / "input" / "people.csv"]
    assert [p.name for p in workspace.home.iterdir()] == ["people-1"]
    with pytest.raises(ShoalError, match="no such sample"):
        workspace.open_sample("t")


def test_what_is_not_there_is_said(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(ShoalError, match=r"no file none\.csv"):
        workspace.open(["none.csv"])
    with pytest.raises(ShoalError, match="no file was chosen"):
        workspace.open([])
    with pytest.raises(ShoalError, match="cannot be looked at"):
        Workspace.at(tmp_path / "none")
    with pytest.raises(ShoalError, match="not a folder"):
        Workspace.at(tmp_path / "secret.csv")
    with pytest.raises(ShoalError, match="sessions cannot be kept"):
        Workspace.at(tmp_path, tmp_path / "secret.csv")


@pytest.mark.parametrize(
    "name", ["../../x.csv", "a\\b\\x.csv", "x\0.csv", ".hidden", "-rf", "é" * 300, "", "..", "a" * 400]
)
def test_names_of_uploads_are_made_safe(name: str) -> None:
    made = safe_name(name)
    assert made
    assert len(made) <= 80
    assert made[0] not in ".-"
    assert not set(made) & set("/\\\0 ")
