"""PDF: printed where a browser is, and a sentence where none is."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from shoal.errors import MissingExtra, ShoalError
from shoal.report.board import pdf


def test_without_a_browser_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf.shutil, "which", lambda _: None)
    with pytest.raises(MissingExtra, match="leave --pdf out"):
        pdf.find_browser()


def browser(monkeypatch: pytest.MonkeyPatch, code: int, content: bytes | None) -> None:
    def run(command: list[str], **_: Any) -> Any:
        out = next(word for word in command if word.startswith("--print-to-pdf=")).partition("=")[2]
        if content is not None:
            Path(out).write_bytes(content)
        return SimpleNamespace(returncode=code)

    monkeypatch.setattr(pdf, "find_browser", lambda: "chromium")
    monkeypatch.setattr(pdf.subprocess, "run", run)


def test_what_the_browser_prints_arrives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    browser(monkeypatch, 0, b"%PDF-1.4")
    (tmp_path / "page.html").write_text("<p>x</p>", "utf-8")
    pdf.print_pdf(tmp_path / "page.html", tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes() == b"%PDF-1.4"
    assert (tmp_path / "page.pdf").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(("code", "content"), [(1, b"%PDF"), (0, None)])
def test_a_browser_that_fails_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: int, content: bytes | None
) -> None:
    browser(monkeypatch, code, content)
    (tmp_path / "page.html").write_text("<p>x</p>", "utf-8")
    with pytest.raises(ShoalError, match="could not print"):
        pdf.print_pdf(tmp_path / "page.html", tmp_path / "page.pdf")
    assert not (tmp_path / "page.pdf").exists()
