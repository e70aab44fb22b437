"""`shoal report`: where the page goes, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import shoal
from shoal.cli.app import shoal as command_line
from shoal.cli.board import FRAMEWORKS
from shoal.errors import ShoalError
from shoal.report.board import chapters

PEOPLE = {"age": [31, 32, 33, 47, 48, 49], "disease": ["flu", "cold", "flu", "flu", "cold", "ulcer"]}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    policy = shoal.Policy.of(quasi=["age"], sensitive=["disease"], k=3, l=2)
    return shoal.anonymize(PEOPLE, policy, seed=1).save(tmp_path_factory.mktemp("board") / "out")


def run(*words: object) -> Result:
    return CliRunner().invoke(command_line, ["report", *map(str, words)])


def test_the_help_names_all_frameworks() -> None:
    assert tuple(chapters.FRAMEWORKS) == FRAMEWORKS


def test_the_page_stands_in_private_and_is_drawn_anew(out: Path) -> None:
    for _ in range(2):
        assert run(out, "--for", "ema").exit_code == 0
    path = out / "private" / "ema.html"
    assert path.read_text("utf-8") == shoal.board_page(out, "ema")
    assert path.stat().st_mode & 0o077 == 0
    assert sorted(p.name for p in (out / "publish").iterdir()) == ["data.csv", "datasheet.html", "manifest.json"]


def test_another_place_is_overwritten_on_request_alone(out: Path, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    told = run(out, "--for", "gdpr", "-o", path, "--json")
    assert json.loads(told.output) == {"framework": "gdpr", "written": [str(path)]}
    ended = run(out, "--for", "gdpr", "-o", path)
    assert isinstance(ended.exception, ShoalError)
    assert "exists" in str(ended.exception)
    path.write_text("before", "utf-8")
    assert run(out, "--for", "gdpr", "-o", path, "--force").exit_code == 0
    assert path.read_text("utf-8") == shoal.board_page(out, "gdpr")


def test_a_pdf_that_is_there_is_not_overwritten_either(out: Path, tmp_path: Path) -> None:
    (tmp_path / "page.pdf").write_text("before", "utf-8")
    ended = run(out, "--for", "gdpr", "-o", tmp_path / "page.html", "--pdf")
    assert isinstance(ended.exception, ShoalError)
    assert "page.pdf exists" in str(ended.exception)
    assert not (tmp_path / "page.html").exists()


def test_without_a_browser_nothing_is_written(out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ended = run(out, "--for", "gdpr", "-o", tmp_path / "page.html", "--pdf")
    assert isinstance(ended.exception, ShoalError)
    assert ended.exception.exit_code == 6
    assert not (tmp_path / "page.html").exists()
