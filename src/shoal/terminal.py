"""What a person sees on a terminal: the progress line and the profile's table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shoal.cli import plain

if TYPE_CHECKING:
    from shoal.check.profile import Profile


@contextmanager
def progress_line() -> Iterator[Callable[[str, int, int], None]]:
    """Show each step with a spinner, and a bar where the number of blocks is known; it leaves nothing behind."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=24), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bars:
        task = bars.add_task("reading", total=None)

        def show(what: str, done: int, total: int) -> None:
            bars.update(task, description=what, completed=done, total=total or None)

        yield show


def print_profile(profile: Profile) -> None:
    """Print the guesses, their reasons and the risk."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("column", "role", "type", "distinct", "missing", "why"):
        table.add_column(heading, justify="right" if heading in ("distinct", "missing") else "left", overflow="fold")
    for column in profile.columns:
        a = column.attribute
        cells = (a.name, a.role, a.type, f"{column.n_distinct:,}", f"{column.n_missing:,}", a.why)
        table.add_row(*(Text(plain(c)) for c in cells))
    console.print(Text(f"{profile.n_rows:,} rows, {len(profile.columns)} columns\n"))
    console.print(table)
    for note in profile.notes:
        console.print(Text(f"note: {plain(note)}"))
    if profile.risk is None:
        console.print(Text("\nNo column looks quasi-identifying; say in the policy which ones others may know."))
        return
    quasi = ", ".join(c.attribute.name for c in profile.columns if c.attribute.role == "quasi")
    console.print(Text(f"\nRisk as it stands, for someone who knows {plain(quasi)}:"))
    for sentence in profile.risk.sentences:
        console.print(Text(f"  {plain(sentence)}"))
