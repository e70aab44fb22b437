"""Progress says how much of a step's time went into compiling, and how much of it is left."""

from __future__ import annotations

import io
import sys

import pytest

from shoal.cli.progress import Pace, progress_line, progress_lines
from shoal.data import database
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


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def screen_of(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return shown


def test_the_line_counts_the_compiling_of_its_own_step(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    screen = screen_of(monkeypatch)
    with progress_line() as show:
        show("grouping", 0, 0)
        clock[0] += 12.0
    assert "grouping (first run, compiling: 12 s)" in screen.getvalue()
    assert "reading (first" not in screen.getvalue()


def test_what_is_left_is_of_the_step_and_of_the_query_that_runs() -> None:
    now = [100.0]
    pace = Pace(lambda: now[0])
    pace.at("reading", 0.2, 1.0)
    now[0] += 1.0
    pace.at("reading", 0.4, 1.0)
    assert pace.left is None, "too early to tell"
    now[0] += 3.0
    pace.at("reading", 0.7, 1.0)
    assert pace.left == pytest.approx(4.0 / 0.5 * 0.3)
    now[0] += 1.0
    assert pace.left == pytest.approx(4.0 / 0.5 * 0.3 - 1.0)
    now[0] += 60.0
    assert pace.left == 0.0, "it never grows below nothing"
    pace.at("reading", 0.1, 1.0)
    assert pace.left is None, "the next query of the step"
    pace.at("grouping", 3, 10)
    assert pace.left is None
    now[0] += 6.0
    pace.at("grouping", 6, 10)
    assert pace.left == pytest.approx(6.0 / 3 * 4)


def test_a_step_without_parts_shows_the_query_that_it_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = screen_of(monkeypatch)
    monkeypatch.setattr("shoal.cli.progress._SURE", 0.0)
    with progress_line() as show:
        tell = database._watcher.get()
        assert tell is not None
        show("grouping", 1, 4)
        tell(0.5)
    assert "left" not in screen.getvalue(), "its own parts count, of which one alone was told"
    with progress_line() as show:
        tell = database._watcher.get()
        assert tell is not None
        show("checking", 0, 0)
        tell(0.5)
        tell(1.0)
    assert "this step: 5 s left" in screen.getvalue()
    assert database._watcher.get() is None
