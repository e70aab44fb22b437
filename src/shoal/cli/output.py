"""What a person sees on a terminal: the progress line, the profile's table, what became of a release."""

from __future__ import annotations

import sys
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
        table.add_column(plain(heading), justify="right" if heading in grid.right else "left", overflow="fold")
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
