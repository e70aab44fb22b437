"""The command that publishes records while they come in."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from shoal.cli import interrupts, standard_streams
from shoal.cli.group import Command
from shoal.cli.habits import habits, is_quiet, path_option, progress
from shoal.errors import DataError, ShoalError

DELAY = 1000
"""That of `shoal.stream`, which the help need not load."""
_PIPE = Path("-")


class _Stopped(ShoalError):
    """Interrupted, with something to go on from."""

    exit_code = 130


@click.command(cls=Command)
@path_option("-p", "--policy", "policy_file", required=True, help="Policy file (TOML).")
@click.option(
    "--delay",
    type=click.IntRange(min=2),
    default=DELAY,
    show_default=True,
    help="A record is published before more than this many have come in.",
)
@click.option("--delay-seconds", "seconds", type=float, help="And at most this many seconds after it came in.")
@path_option(
    "--in",
    "source",
    default=_PIPE,
    show_default=True,
    help="Lines of CSV or JSON: a file, a folder that is watched, or - for standard input.",
)
@path_option(
    "-o",
    "--out",
    default=_PIPE,
    show_default=True,
    help="New folder, or one that a killed run left, to continue; - for standard output.",
)
@click.option("--once", is_flag=True, help="For a folder: stop after the files that are there.")
@click.option("--skip-bad", is_flag=True, help="Skip records that cannot be read, and count them.")
@click.option("--seed", type=click.IntRange(min=0), help="Make the stream repeatable; keep it secret.")
@habits
def stream(
    policy_file: Path,
    delay: int,
    seconds: float | None,
    source: Path,
    out: Path,
    once: bool,
    skip_bad: bool,
    seed: int | None,
    as_json: bool,
) -> None:
    """Publish records while they come in, each after at most a delay, in a class of at least k persons.

    With a folder, a journal is kept: after a kill the same command continues, with nothing lost and nothing published
    twice. At the end all that was published is checked, and a manifest is written.

    \b
    Examples:
      shoal stream -p policy.toml --in visits/ --out out/
      tail -n +1 -f visits.csv | shoal stream -p policy.toml --delay 1000
    """
    from shoal.cli.output import print_json, print_shown
    from shoal.stream.stream import stream as open_stream

    if source == _PIPE and sys.stdin.isatty():
        raise DataError("standard input is a terminal; pipe records into it, or name a file or folder with --in")
    if as_json and out == _PIPE:
        raise click.UsageError("--json prints the result where the records go; name a folder with --out")
    given = sys.stdin.buffer if source == _PIPE else source
    asked = open_stream(given, policy_file, delay=delay, seconds=seconds, seed=seed, once=once, skip_bad=skip_bad)
    try:
        with progress(out != _PIPE and not as_json) as step:
            if out == _PIPE:
                made = asked.write(standard_streams.binary_output(), step)
            else:
                made = asked.save(out, step)
                interrupts.all_is_written(out)
    except KeyboardInterrupt:
        if out == _PIPE:
            raise _Stopped("interrupted; records of the last window were not published") from None
        raise _Stopped(f"interrupted; the same command goes on in {out}, with nothing lost") from None
    if out == _PIPE:
        if not is_quiet(click.get_current_context()):
            click.echo("\n".join(map(str, made.shown())), err=True)
        return
    if as_json:
        print_json({"out": str(out), **made.to_dict()})
    else:
        print_shown(made)
        click.echo(f"\nPublish  {out / 'publish'}\nKeep     {out / 'private'}")
