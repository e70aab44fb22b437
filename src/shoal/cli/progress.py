"""How long work shows how far it is: a line that changes on a terminal, or a line a step."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from shoal.cli.output import plain

_SURE = 2.0
"""Seconds of a step after which it is said how long the rest of it takes."""


class Pace:
    """How long the rest of a step takes, if it goes on as it began.

    >>> now = [0.0]
    >>> pace = Pace(lambda: now[0])
    >>> pace.at("grouping records", 0, 40)
    >>> now[0] = 6.0
    >>> pace.at("grouping records", 10, 40)
    >>> pace.left
    18.0
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.begin("")

    def begin(self, what: str) -> None:
        """Another step."""
        self.what, self.total = what, 0.0
        self._begun, self._first, self._done, self._told = self._clock(), 0.0, 0.0, 0.0

    def at(self, what: str, done: float, total: float) -> None:
        """So many parts of a step are done; one that goes back, or has other parts, begins anew."""
        if what != self.what or total != self.total or done < self._done:
            self.begin(what)
            self.total, self._first = total, done
        self._done, self._told = done, self._clock()

    @property
    def left(self) -> float | None:
        """Seconds, from now on; None while nothing is known."""
        gone, done = self._told - self._begun, self._done - self._first
        if not self.total or done <= 0 or gone < _SURE:
            return None
        return max(gone / done * (self.total - self._done) - (self._clock() - self._told), 0.0)


def spell_left(seconds: float | None) -> str:
    """How long the rest of a step takes, in words; nothing where that is not known.

    >>> [spell_left(seconds) for seconds in (None, 0.2, 37.0, 200.0, 5000.0)]
    ['', 'this step: 5 s left', 'this step: 40 s left', 'this step: 4 min left', 'this step: 84 min left']
    """
    if seconds is None:
        return ""
    told = f"{5 * max(-(-seconds // 5), 1):.0f} s" if seconds <= 90 else f"{-(-seconds // 60):.0f} min"
    return f"this step: {told} left"


@contextmanager
def progress_line() -> Iterator[Callable[[str, int, int], None]]:
    """Show each step with a spinner, with a bar and what is left of it where that is known; it leaves nothing behind.

    A step that does not say how many parts it has shows how far the query is that it waits for.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TimeElapsedColumn
    from rich.table import Column
    from rich.text import Text

    from shoal.data.database import watched
    from shoal.kernels.compile_time import seconds_compiling

    pace = Pace()

    class StepColumn(ProgressColumn):
        """The step's name, and how much of its time went into compiling."""

        def render(self, task: Task) -> Text:
            return Text(plain(task.description) + _compiling(seconds_compiling() - compiled_before))

    class LeftColumn(ProgressColumn):
        """What is left of the step."""

        def render(self, task: Task) -> Text:
            return Text(spell_left(pace.left))

    one_line = Column(no_wrap=True, overflow="ellipsis")
    columns = (SpinnerColumn(), StepColumn(one_line), BarColumn(bar_width=16), TimeElapsedColumn(), LeftColumn())
    compiled_before, has_parts = seconds_compiling(), False
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bars:
        task = bars.add_task("reading", total=None)

        def show(what: str, done: int, total: int) -> None:
            nonlocal compiled_before, has_parts
            if what != bars.tasks[0].description:
                compiled_before = seconds_compiling()
            has_parts = total > 0
            pace.at(what, done, total)
            bars.update(task, description=what, completed=done, total=total or None)

        def show_share(share: float) -> None:
            if not has_parts:
                pace.at(bars.tasks[0].description, share, 1.0)
                bars.update(task, completed=share, total=1.0)

        with watched(show_share):
            yield show


def _compiling(seconds: float) -> str:
    """How many of a step's seconds went into compiling, unless it is not worth saying."""
    return f" (first run, compiling: {seconds:.0f} s)" if seconds >= 0.5 else ""


@contextmanager
def progress_lines() -> Iterator[Callable[[str, int, int], None]]:
    """Print each step once, with the seconds since the start, and after it how long compiling took."""
    from shoal.kernels.compile_time import seconds_compiling

    start, last, compiled_before = time.monotonic(), "", seconds_compiling()

    def end() -> None:
        nonlocal compiled_before
        compiled_before, before = seconds_compiling(), compiled_before
        note = _compiling(compiled_before - before)
        if note:
            click.echo(f"{time.monotonic() - start:7.1f} s {note}", err=True)

    def show(what: str, done: int, total: int) -> None:
        nonlocal last
        if what != last:
            end()
            click.echo(f"{time.monotonic() - start:7.1f} s  {plain(what)}", err=True)
            last = what

    show("reading", 0, 0)
    yield show
    end()
