"""From the options of a command to the policy that they mean, of whatever kind the data is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from shoal.policy import Policy
    from shoal.string_policy import StringPolicy


def input_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How strings are read."""
    options = (
        click.option(
            "--kind",
            type=click.Choice(["table", "strings"]),
            help="What DATA holds.  [default: strings for FASTA and SPMF, else a table]",
        ),
        click.option("--format", help="Of strings: fasta, lines, tokens, spmf or column.  [default: told by the file]"),
        click.option("--label", metavar="REGEX", help="Of FASTA: finds the class in a description, in parentheses."),
        click.option("--column", help="Of a table of strings: the column that holds them."),
        click.option("--class-column", metavar="COLUMN", help="Of a table of strings: the column of their classes."),
        click.option("--alphabet", help="Of strings: protein, dna, rna, learned, or the symbols.  [default: guessed]"),
        click.option("--delimiter", help="Of strings: what stands between tokens.  [default: blanks]"),
    )
    for option in reversed(options):
        command = option(command)
    return command


def asked_policy(
    data: Path, policy_file: Path | None, kind: str | None, hierarchies: tuple[str, ...], asked: dict[str, Any]
) -> Policy | StringPolicy:
    """The policy of the kind that DATA is, with what the options say on top."""
    from shoal.policy import Policy
    from shoal.string_policy import StringInput, StringMethod, StringPolicy, alphabet_of, read_policy

    given = {name: value for name, value in asked.items() if value is not None}
    policy: Policy | StringPolicy | None = read_policy(policy_file) if policy_file else None
    if policy is not None and kind not in (None, policy.kind):
        raise click.UsageError(f"--kind {kind} does not go with {policy_file}, which is for {policy.kind}")
    if policy is None:
        from shoal.data.string_files import looks_like_strings

        is_strings = kind == "strings" or (kind is None and looks_like_strings(data) is not None)
        policy = StringPolicy() if is_strings else Policy()
    for_strings = {*StringInput.model_fields, *StringMethod.model_fields}
    if isinstance(policy, StringPolicy):
        strangers = [n for n in given if n not in for_strings and n != "k"] + ["hierarchy"] * bool(hierarchies)
        if strangers:
            raise click.UsageError(
                f"{_spelled(strangers[0])} is for tables, and {data} is read as strings; leave it out"
            )
        if "alphabet" in given:
            given["alphabet"] = alphabet_of(given["alphabet"])
        return policy.changed(**given)
    strangers = [n for n in given if n in for_strings]
    if strangers:
        raise click.UsageError(
            f"{_spelled(strangers[0])} is for strings, and {data} is read as a table; say --kind strings, or drop it"
        )
    files = dict(h.partition("=")[::2] for h in hierarchies)
    if not all(files.values()):
        raise click.UsageError("--hierarchy takes COLUMN=FILE, such as --hierarchy education=education.csv")
    return policy.changed(hierarchies=files, **given)


def _spelled(name: str) -> str:
    """An option as the user writes it."""
    spelled = {"partition": "method"}.get(name, name).replace("_", "-")
    return f"-{spelled}" if len(spelled) == 1 else f"--{spelled}"
