"""What a person sees on a terminal: the progress line, the profile's table, what became of a release."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from shoal.check.guarantee import Guarantee
    from shoal.release import Release
    from shoal.report.verdict import ReleaseVerdict
    from shoal.shown import Grid, Shown


def plain(text: str) -> str:
    """Text that cannot steer a terminal.

    >>> plain("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


@contextmanager
def progress_line() -> Iterator[Callable[[str, int, int], None]]:
    """Show each step with a spinner, and a bar where the number of blocks is known; it leaves nothing behind."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TimeElapsedColumn
    from rich.table import Column
    from rich.text import Text

    from shoal.kernels.compile_time import seconds_compiling

    class StepColumn(ProgressColumn):
        """The step's name, and how much of its time went into compiling."""

        def render(self, task: Task) -> Text:
            return Text(plain(task.description) + _compiling(seconds_compiling() - compiled_before))

    one_line = Column(no_wrap=True, overflow="ellipsis")
    columns = (SpinnerColumn(), StepColumn(one_line), BarColumn(bar_width=16), TimeElapsedColumn())
    compiled_before = seconds_compiling()
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bars:
        task = bars.add_task("reading", total=None)

        def show(what: str, done: int, total: int) -> None:
            nonlocal compiled_before
            if what != bars.tasks[0].description:
                compiled_before = seconds_compiling()
            bars.update(task, description=what, completed=done, total=total or None)

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


def print_shown(what: Shown) -> None:
    """Print the lines and tables of something."""
    for shown in what.shown():
        if isinstance(shown, str):
            click.echo("\n".join(plain(line) for line in shown.split("\n")))
        else:
            print_grid(shown)


def print_grid(grid: Grid) -> None:
    """Print a table, as wide as the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in grid.headings:
        table.add_column(heading, justify="right" if heading in grid.right else "left", overflow="fold")
    for row in grid.rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    Console(highlight=False, width=None if sys.stdout.isatty() else 110).print(table)


def print_guarantees(guarantees: tuple[Guarantee, ...]) -> None:
    """Print each guarantee with whether it holds."""
    for guarantee in guarantees:
        click.echo(f"  {'holds' if guarantee.holds else 'FAILS'}  {plain(guarantee.sentence)}")


def print_release(release: Release[Any], out: Path | None, *, report: bool = True) -> None:
    """Print what became of the data, and where it is; without a report nothing that would have to be measured."""
    from shoal.kind import kind_named

    before, after = kind_named(release.kind).shown(release, report=report)
    for line in before:
        click.echo(plain(line))
    print_guarantees(release.guarantees)
    for line in (*(f"  note: {note}" for note in release.notes), *after):
        click.echo(plain(line))
    if out is not None:
        click.echo(f"Publish    {out / 'publish'}  (start with datasheet.html)")
        click.echo(f"Keep       {out / 'private'}{'  (open report.html)' if report else ''}")
    print_verdict(release.judged(report=report))


def print_verdict(verdict: ReleaseVerdict) -> None:
    """Print the three things to know of a release, in the colour of the whole."""
    colour = {"green": "green", "amber": "yellow", "red": "red"}[verdict.level]
    for heading, text in verdict.lines:
        click.echo(f"{click.style(f'{heading:9}', fg=colour, bold=True)}  {plain(text)}")


def summary(release: Release[Any], out: Path, *, report: bool = True) -> dict[str, Any]:
    """The same for machines."""
    return {"out": str(out), **release.summary(report=report)}


def print_json(content: Any) -> None:
    """Print for machines."""
    import json

    click.echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


def write_own(path: Path, text: str, what: str) -> None:
    """Write a file that is the user's alone, whole or not at all."""
    from shoal.cli import interrupts
    from shoal.errors import ShoalError
    from shoal.scratch import clear_abandoned, write_owned

    try:
        clear_abandoned(path.parent)
        write_owned(path, text)
    except OSError as error:
        raise ShoalError(f"{what} cannot be written to {path}: {error.strerror or error}") from None
    interrupts.all_is_written(path)
