"""`shoal studio` from the command line, up to the moment at which it would serve."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from shoal.cli.studio import demo_samples
from tests.e2e.command import call_here


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []

    def serve(workspace: Any, port: int, ready: Any, first: Any) -> None:
        found[:] = [workspace, port, first]
        ready("http://127.0.0.1:1/?token=t", "http://127.0.0.1:1/?token=once")

    monkeypatch.setattr("shoal.studio.server.serve", serve)
    monkeypatch.setenv("BROWSER", "")
    return found


def test_the_address_is_printed_and_the_file_opened(served: list[Any], tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age\n1\n", encoding="utf-8")
    ended = call_here("studio", tmp_path / "people.csv", "--no-browser", "--port", "8765")
    assert (ended.code, ended.stderr) == (0, "")
    assert "http://127.0.0.1:1/?token=t" in ended.stdout
    workspace, port, first = served
    assert (workspace.top, port, first.name) == (tmp_path.resolve(), 8765, "people-1")
    assert workspace.home == tmp_path.resolve() / ".shoal-studio"


def test_the_key_for_ever_is_no_word_of_the_command_that_starts_a_browser(
    served: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched: list[str] = []
    monkeypatch.setenv("BROWSER", "one")
    monkeypatch.setattr("click.launch", lambda address: launched.append(address) or 1)
    ended = call_here("studio", "--folder", tmp_path)
    assert launched == ["http://127.0.0.1:1/?token=once"]
    assert "open http://127.0.0.1:1/?token=t yourself" in ended.stderr


def test_for_machines_and_with_sessions_elsewhere(served: list[Any], tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    ended = call_here(
        "studio", "--folder", tmp_path / "data", "--sessions", tmp_path / "kept", "--json", "--no-browser"
    )
    assert json.loads(ended.stdout)["sessions"] == str(tmp_path / "kept")
    assert served[2] is None
    assert list((tmp_path / "data").iterdir()) == []


def test_what_cannot_be_opened_is_said(served: list[Any], tmp_path: Path) -> None:
    ended = call_here("studio", tmp_path / "none.csv")
    assert ended.code == 1
    assert "there is no file" in ended.stderr
    (tmp_path / "people.csv").write_text("age\n1\n", encoding="utf-8")
    (tmp_path / "data").mkdir()
    ended = call_here("studio", tmp_path / "people.csv", "--folder", tmp_path / "data")
    assert "give a folder that holds it" in ended.stderr


def test_without_the_extra_the_line_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shoal.studio.server", None)
    ended = call_here("studio")
    assert ended.code == 6
    assert "pip install 'shoal[studio]'" in ended.stderr


def test_invented_data_is_that_of_the_demonstration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("N_PATIENTS", "N_PROTEINS", "N_BASKETS", "N_TRAVELLERS"):
        monkeypatch.setattr(f"shoal.cli.demo.{name}", 60)
    for name, sample in demo_samples().items():
        folder = tmp_path / name
        folder.mkdir()
        sample.write(folder)
        assert (folder / sample.file).stat().st_size > 100
