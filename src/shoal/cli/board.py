"""The command that draws pages for a board."""

from __future__ import annotations

from pathlib import Path

import click

from shoal.cli import interrupts
from shoal.cli.group import Command
from shoal.cli.habits import PATH, habits, path_option
from shoal.errors import ShoalError

FRAMEWORKS = ("iso27559", "ema", "hipaa", "gdpr")
"""Those of `shoal.report.board.chapters`, which the help need not read."""


@click.command(cls=Command)
@click.argument("folder", type=PATH)
@click.option(
    "--for",
    "framework",
    type=click.Choice(FRAMEWORKS),
    required=True,
    help="The framework that the board uses.",
)
@path_option("-o", "--out", help="Where to write the page.  [default: in private/, by the name of the framework]")
@click.option("--pdf", is_flag=True, help="Also print it to a PDF next to it; needs Chromium.")
@click.option("--force", is_flag=True, help="Replace the page, and its PDF, if they are there.")
@habits
def report(folder: Path, framework: str, out: Path | None, pdf: bool, force: bool, as_json: bool) -> None:
    """Draw a page for a board from what private/ keeps about a release: a sign-off, then the chapters of a framework.

    It supports an assessment but is not one. It holds no records, but it is private all the same.

    \b
    Examples:
      shoal report out/ --for iso27559
      shoal report out/ --for gdpr -o gdpr.html --pdf
    """
    from shoal.cli.output import print_json
    from shoal.report.board.page import board_page, private_folder
    from shoal.report.board.pdf import find_browser, print_pdf
    from shoal.scratch import write_owned

    asked = [] if out is None else [out, out.with_suffix(".pdf")] if pdf else [out]
    for there in asked:
        if there.exists() and not force:
            raise ShoalError(f"{there} exists; choose another name for the page, or replace it (--force)")
    if pdf:
        find_browser()
    page = board_page(folder, framework)
    path = out or private_folder(folder) / f"{framework}.html"
    try:
        write_owned(path, page, overwrite=out is None or force)
    except OSError as error:
        raise ShoalError(f"the page cannot be written to {path}: {error.strerror or error}") from None
    written = [path]
    if pdf:
        written.append(path.with_suffix(".pdf"))
        print_pdf(path, written[-1])
    interrupts.all_is_written(path)
    if as_json:
        print_json({"framework": framework, "written": [str(p) for p in written]})
    else:
        click.echo(f"Wrote {' and '.join(map(str, written))}. Keep it with the original: it is not for publication.")
