"""The command that hardens a policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shoal.cli.habits import PATH, habits, path_option
from shoal.cli.habits import progress as progress_of
from shoal.cli.interrupts import Paused
from shoal.cli.options import PolicyCommand, asked_policy, how_to_read
from shoal.cli.output import plain, print_json, print_shown, write_own
from shoal.errors import ShoalError
from shoal.harden import MOST_STEPS, RISK

if TYPE_CHECKING:
    from shoal.harden.result import Hardened

_HOW = ("risk", "hold_out", "seed", "steps", "seconds", "folder")
"""What of its options `shoal.harden` takes as it is."""

_OPTIONS = (
    click.argument("data", type=PATH),
    path_option("-p", "--policy", "policy_file", help="Policy file (TOML) to harden."),
    click.option(
        "--risk", type=float, default=RISK, show_default=True, help="Most risk that an attack may add (upper bound)."
    ),
    path_option(
        "-o",
        "--out",
        default=Path("hardened.toml"),
        show_default=True,
        help="Where to write the hardened policy.",
    ),
    click.option("--best", is_flag=True, help="Write what came nearest, even if it does not reach the risk."),
    path_option(
        "--folder",
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
    click.option("--seconds", type=float, help="Start no new policy after this many seconds; not repeatable."),
)


def _harden_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `shoal harden`."""
    for add in reversed(_OPTIONS):
        command = add(command)
    return command


def _print_hardened(found: Hardened, data: Path, out: Path, best: bool) -> None:
    """Print what was tried, what was decided, and where the policy is."""
    print_shown(found)
    if found.reached or best:
        click.echo(f"\nWrote {out}. To make the release:\n  shoal anonymize {plain(str(data))} -p {out} -o out/")
    else:
        click.echo("\nNo policy was written; the same command with --best writes the one that came nearest.")


@click.command(cls=PolicyCommand, asks=how_to_read)
@_harden_options
@habits
def harden(data: Path, policy_file: Path | None, out: Path, best: bool, as_json: bool, **asked: Any) -> int:
    """Change a policy until no attack adds more than a given risk; write the one that loses least.

    Releases are made in memory, attacked and discarded: nothing is published. Exit code 4 if no policy was found.

    \b
    Examples:
      shoal harden people.csv -p policy.toml --risk 0.09 -o hardened.toml
      shoal harden human.fasta --risk 0.05
    """
    from shoal.harden.harden import harden as harden_source

    if out.exists():
        raise ShoalError(f"{out} exists; choose another name for the policy, or remove it first")
    how = {name: asked.pop(name) for name in _HOW}
    policy = asked_policy(data, policy_file, asked.pop("kind"), asked)
    with progress_of(not as_json) as progress:
        try:
            found = harden_source(data, policy, progress=progress, **how)
        except KeyboardInterrupt:
            raise Paused(f"interrupted; the same command goes on from {how['folder']}") from None
    if found.reached or best:
        write_own(out, found.to_toml(out.absolute().parent), "the policy")
    if as_json:
        print_json({"out": str(out) if found.reached or best else None, **found.to_dict()})
    else:
        _print_hardened(found, data, out, best)
    return 0 if found.reached else 4
