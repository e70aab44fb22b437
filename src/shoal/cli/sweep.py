"""The options of `shoal sweep`, and what it prints."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shoal.cli.habits import PATH, path_option
from shoal.cli.option_types import Names, Numbers, Sizes
from shoal.cli.output import plain, print_json

if TYPE_CHECKING:
    from shoal.sweep.sweep import Sweep

_OPTIONS = (
    click.argument("data", type=PATH),
    path_option(
        "-o",
        "--out",
        "folder",
        default=Path("sweep"),
        show_default=True,
        help="Folder for the results, yours alone; the same command goes on with what is there.",
    ),
    path_option("-p", "--policy", "policy_file", help="Policy file (TOML)."),
    click.option(
        "-k", "--k", "k", type=Sizes(), help="Every k to try.  [default: 2,5,10,20; of others than tables 5,10,20,40]"
    ),
    click.option(
        "--method",
        "methods",
        type=Names(),
        help="Every method to try: for strings generators, for sparse records ways of publishing.  [default: "
        "mondrian,mdav, with --memory mondrian,full-domain; strings window,markov; sparse records the policy's]",
    ),
    click.option(
        "--publish",
        type=Names(),
        help="For tables and sparse records: ways of publishing to try.  [default: the policy's, or by method]",
    ),
    click.option("--effort", type=Names(), help="For tables: efforts to try: fast, balanced, best."),
    click.option("--suppression", type=Numbers(), help="For tables: shares of records that may be left out, to try."),
    click.option("-l", type=Numbers(), help="For tables: every l of distinct l-diversity to try."),
    click.option("-t", type=Numbers(), help="For tables: every t of t-closeness to try."),
    click.option("--generator", type=Names(), help="For strings: window, template, markov, to try."),
    click.option("--order", type=Sizes(), help="For strings: every order to try."),
    click.option("--support", type=Sizes(), help="For strings and pseudo-baskets: every support to try."),
    click.option("--delta", type=Numbers(), help="For sketches: every delta to try."),
    click.option("--target", metavar="COLUMN", help="For tables: also compare how well models predict this column."),
    click.option(
        "--measure",
        "measures",
        type=Names(),
        help="Losses to show; the first is drawn and decides: GCP, query-error, IL, accuracy, ...; for strings and "
        "sparse records pairs, triples, accuracy, ...  [default: several]",
    ),
    click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Releases tried at once."),
    click.option(
        "--pool",
        type=click.Choice(["threads", "processes"]),
        default="threads",
        show_default=True,
        help="Kind of workers.",
    ),
)
HOW_TO_SWEEP = (
    *("folder", "k", "methods", "publish", "effort", "suppression", "l", "t", "generator", "order", "support", "delta"),
    *("target", "measures", "workers", "pool"),
)
"""What of its options `shoal.sweep` takes as it is."""


def sweep_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `shoal sweep`."""
    for add in reversed(_OPTIONS):
        command = add(command)
    return command


def print_sweep(
    found: Sweep, data: Path, policy_file: Path | None, reading: Mapping[str, Any], out: Path, as_json: bool
) -> int:
    """Print what was tried, and the command that makes what is proposed; the exit code."""
    from shoal.report.sweep import as_text

    files = ["-p", str(policy_file)] if policy_file else []
    for name, value in reading.items():
        text = ",".join(value) if isinstance(value, tuple) else str(value)
        files += [f"--{name.replace('_', '-')}", text]
    line = shlex.join(["shoal", "anonymize", str(data), *files, *found.options, "-o", "out"])
    if as_json:
        print_json({"out": str(out), **found.to_dict(), "command": line if found.proposed else None})
    else:
        click.echo("\n".join(plain(text) for text in as_text(found)))
        click.echo(f"Keep  {out}  (open sweep.html)")
        if found.proposed:
            click.echo(f"\nTo make the proposed release:\n  {plain(line)}")
    return 0 if any(c.holds for c in found.cells) else 4
