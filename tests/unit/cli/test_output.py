"""Progress says how much of a step's time went into compiling."""

from __future__ import annotations

import io
import sys

import pytest

from shoal.cli.output import progress_line, progress_lines
from shoal.kernels import compile_time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    seconds = [3.0]  # of something before
    monkeypatch.setattr(compile_time, "seconds_compiling", lambda: seconds[0])
    return seconds


def test_lines_end_with_what_compiling_took(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with progress_lines() as show:
        show("grouping", 0, 2)
        clock[0] += 12.0
        show("grouping", 1, 2)
        show("checking", 0, 0)
        clock[0] += 0.1
    said = [line.split(" s  ")[1] for line in capsys.readouterr().err.splitlines()]
    assert said == ["reading", "grouping", "(first run, compiling: 12 s)", "checking"]


def test_the_line_counts_the_compiling_of_its_own_step(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    with progress_line() as show:
        show("grouping", 0, 0)
        clock[0] += 12.0
    assert "grouping (first run, compiling: 12 s)" in screen.getvalue()
    assert "reading (first" not in screen.getvalue()
