"""Data through pipes: ``-`` as a file is standard input, and as an output folder standard output.

Readers look at a file several times, so what is piped in is kept in an owner-only file while the command runs. What
goes out is the data file of a release that was made, checked and written whole before its first byte is printed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, BinaryIO

import click

from shoal.cli import interrupts
from shoal.errors import DataError, ShoalError

STREAM = Path("-")
NAME = "standard-input"
_STDOUT = "shoal.stdout"
_PIECE = 1 << 20
_kept: list[Path] = []


def files_of(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """The same paths, with a file in the place of standard input."""
    if paths.count(STREAM) > 1:
        raise click.UsageError("standard input (-) can be read once; give the other data as a file")
    return tuple(_keep() if path == STREAM else path for path in paths)


def _keep() -> Path:
    import shutil

    from shoal.scratch import scratch_folder

    if sys.stdin.isatty():
        raise DataError("standard input is a terminal; pipe a file into it, or name one")
    folder = click.get_current_context().with_resource(scratch_folder())
    path = folder / NAME
    try:
        with open(path, "xb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file, _PIECE)
    except OSError as error:
        raise DataError(f"standard input cannot be kept while it is read ({error.strerror or error})") from None
    _kept[:] = [path]
    return path


def named(message: str) -> str:
    """A message in which what was piped in is called so."""
    for path in _kept:
        message = message.replace(str(path), "standard input")
    return message


def remember_output(context: click.Context) -> None:
    """Note where standard output is, before anything leads what is printed elsewhere."""
    context.meta[_STDOUT] = sys.stdout


def binary_output() -> BinaryIO:
    """Standard output for bytes, also where nothing else is to be printed."""
    output: BinaryIO = click.get_current_context().meta[_STDOUT].buffer
    return output


def hold_back(data: tuple[Path, ...], refused: Mapping[str, Any]) -> Path:
    """A folder for a release whose data goes to standard output; what is said of it goes to standard error from here.

    Parameters
    ----------
    data : tuple of Path
        What the release is of.
    refused : mapping
        Options by their spelling that mean nothing where no folder is left, and whether each is given.
    """
    from shoal.scratch import scratch_folder

    given = [flag for flag, value in refused.items() if value]
    if given:
        raise click.UsageError(f"{given[0]} does not go with -o -, which gives the data alone; name a folder")
    if len(data) > 1:
        raise click.UsageError("a release of several tables has several files; name a folder with -o")
    context = click.get_current_context()
    folder = context.with_resource(scratch_folder()) / "release"
    if sys.stdout is context.meta[_STDOUT]:  # else it is quiet
        context.with_resource(redirect_stdout(sys.stderr))
    return folder


def give_out(folder: Path) -> None:
    """Write the data file of a whole release to standard output."""
    import json
    import shutil

    interrupts.written.clear()  # that folder goes; what counts is what is printed
    publish = folder / "publish"
    path = publish / Path(json.loads((publish / "manifest.json").read_text(encoding="utf-8"))["data"]).name
    output = click.get_current_context().meta[_STDOUT]
    if output.isatty() and path.suffix not in (".csv", ".tsv", ".jsonl", ".txt"):
        raise ShoalError(f"{path.name} is not for a terminal; lead standard output into a file (> FILE)")
    output.flush()
    with open(path, "rb") as file:
        shutil.copyfileobj(file, output.buffer, _PIECE)
    output.buffer.flush()
