"""What people expect of every command: quiet, verbose, JSON, completion of words; and progress while it works."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from shoal.cli import interrupts

F = TypeVar("F", bound=Callable[..., Any])

COMPLETION = "_SHOAL_COMPLETE"
"""The variable by which a shell asks for the words that may come next."""
SHELLS = ("bash", "zsh", "fish")
PATH = click.Path(path_type=Path)
_QUIET, _VERBOSE = "shoal.quiet", "shoal.verbose"


def _note(name: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    def note(context: click.Context, _: click.Parameter, given: bool) -> None:
        context.meta[name] = given

    return note


def path_option(*names: str, help: str, **more: Any) -> Callable[[F], F]:
    """An option that takes the path of a file or a folder."""
    return click.option(*names, type=PATH, help=help, **more)


def habits(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that all have."""
    for add in (
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, for machines."),
        click.option(
            "-v",
            "--verbose",
            is_flag=True,
            expose_value=False,
            callback=_note(_VERBOSE),
            help="Print each step on a line of its own, with the seconds since the start.",
        ),
        click.option(
            "-q",
            "--quiet",
            is_flag=True,
            expose_value=False,
            callback=_note(_QUIET),
            help="Print nothing but errors.",
        ),
    ):
        command = add(command)
    return command


def is_quiet(context: click.Context) -> bool:
    """Whether a command prints nothing but errors, and JSON where that is asked for."""
    return bool(context.meta.get(_QUIET)) and not context.params.get("as_json")


@contextmanager
def progress(wanted: bool) -> Iterator[Callable[[str, int, int], None]]:
    """What is being done, on standard error: a line that changes on a terminal, with -v lines; else nothing.

    Each step first heeds an interrupt.
    """
    asked = click.get_current_context().meta
    if asked.get(_QUIET) or not (asked.get(_VERBOSE) or (wanted and sys.stderr.isatty())):
        yield interrupts.heed
        return
    from shoal.cli.progress import progress_line, progress_lines

    with (progress_lines if asked.get(_VERBOSE) else progress_line)() as show:

        def step(what: str, done: int, total: int) -> None:
            interrupts.heed()
            show(what, done, total)

        yield step


def show_in_browser(path: Any, *, instead: Any = None) -> None:
    """Open a page, or say that nothing here can; `instead` is what the user may open, where that is another."""
    if os.environ.get("BROWSER") == "" or click.launch(str(path)) != 0:
        click.echo(f"No browser could be started here; open {instead or path} yourself.", err=True)


def completion_script(command: click.Command, shell: str) -> str:
    """What a shell has to be told once, so that it completes the words of a command."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    return found(command, {}, "shoal", COMPLETION).source()
