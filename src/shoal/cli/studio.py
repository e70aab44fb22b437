"""`shoal studio`: serve the pages, open the browser, and end with Ctrl-C."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shoal.cli import interrupts
from shoal.cli.group import Command
from shoal.cli.habits import PATH, habits, path_option, show_in_browser
from shoal.errors import MissingExtra, ShoalError


@click.command(cls=Command)
@click.argument("data", type=PATH, nargs=-1)
@path_option(
    "--folder",
    help="The folder whose files can be opened, and into which releases are written.  [default: that of DATA, or this]",
)
@path_option("--sessions", help="Where sessions are kept, yours alone.  [default: .shoal-studio in the folder]")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port on this machine.  [default: any free one]")
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
@habits
def studio(
    data: tuple[Path, ...], folder: Path | None, sessions: Path | None, port: int, no_browser: bool, as_json: bool
) -> None:
    """Do the same in a browser, with pages served on this machine only; Ctrl-C stops it.

    \b
    Examples:
      shoal studio people.csv
      shoal studio
      shoal studio --folder data/ --port 8765 --no-browser
    """
    try:
        from shoal.studio.server import serve
    except ImportError:
        raise MissingExtra("the studio needs the extra studio: pip install 'shoal[studio]'") from None
    from shoal.cli.output import print_json
    from shoal.studio.workspace import Workspace

    paths = [path.absolute() for path in data]
    for path in paths:
        if not path.exists():
            raise ShoalError(f"there is no file {path}; check its name and folder")
    top = folder or (paths[0].parent if paths else Path.cwd())
    workspace = Workspace.at(top, sessions, demo_samples())
    outside = [path for path in paths if not path.resolve().is_relative_to(workspace.top)]
    if outside:
        raise ShoalError(f"{outside[0]} is not in {workspace.top}; give a folder that holds it (--folder)")
    first = None
    if paths:
        first = workspace.open([str(path.resolve().relative_to(workspace.top)) for path in paths])

    def ready(address: str, once: str) -> None:
        if as_json:
            print_json({"address": address, "folder": str(workspace.top), "sessions": str(workspace.home)})
        else:
            click.echo(f"Studio of {workspace.top}, on this machine alone:\n  {address}\nCtrl-C ends it.")
        if not no_browser:
            show_in_browser(once, instead=address)

    interrupts.unwatch()
    serve(workspace, port, ready, first)


def demo_samples() -> dict[str, Any]:
    """Invented data to begin with: that of the demonstration."""
    from shoal.cli.demo import samples
    from shoal.studio.workspace import Sample

    return {name: Sample(*told) for name, told in samples().items()}
