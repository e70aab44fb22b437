"""The options of `shoal harden`, and what it prints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shoal.cli.output import plain, print_shown
from shoal.harden import MOST_STEPS, RISK

if TYPE_CHECKING:
    from shoal.harden.result import Hardened

HOW_TO_HARDEN = ("risk", "hold_out", "seed", "steps", "seconds", "folder")
"""What of its options `shoal.harden` takes as it is."""

_PATH = click.Path(path_type=Path)
_OPTIONS = (
    click.argument("data", type=_PATH),
    click.option("-p", "--policy", "policy_file", type=_PATH, help="Policy file (TOML) to harden."),
    click.option(
        "--risk", type=float, default=RISK, show_default=True, help="Most that an attack may add at its upper bound."
    ),
    click.option(
        "-o",
        "--out",
        type=_PATH,
        default=Path("hardened.toml"),
        show_default=True,
        help="Where to write the hardened policy.",
    ),
    click.option("--best", is_flag=True, help="Write what came nearest, even if it does not reach the risk."),
    click.option(
        "--folder",
        type=_PATH,
        default=Path("harden"),
        show_default=True,
        help="Folder for finished steps, yours alone; the same command goes on with what is there.",
    ),
    click.option(
        "--hold-out",
        type=float,
        metavar="SHARE",
        help="Share of the records to compare attacks on.  [default: as the risk needs, a tenth to a third]",
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Which records are held out and attacked."),
    click.option(
        "--steps", type=click.IntRange(min=1), default=MOST_STEPS, show_default=True, help="Policies to try at most."
    ),
    click.option("--seconds", type=float, help="Begin no new policy after so many seconds; not repeatable then."),
)


def harden_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `shoal harden`."""
    for add in reversed(_OPTIONS):
        command = add(command)
    return command


def print_hardened(found: Hardened, data: Path, out: Path, best: bool) -> None:
    """Print what was tried, what was decided, and where the policy is."""
    print_shown(found)
    if found.reached or best:
        click.echo(f"\nWrote {out}. To make the release:\n  shoal anonymize {plain(str(data))} -p {out} -o out/")
    else:
        click.echo("\nNo policy was written; the same command with --best writes the one that came nearest.")
