"""What commands ask about several releases of the same persons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.cli.habits import F, path_option


def several_options(command: F) -> F:
    """Other releases to check together with one."""
    return path_option(
        "--with",
        "beside",
        multiple=True,
        help="For tables: the publish/ folder of another release of the same persons; once for each. The ledger in "
        "--private says who is who.",
    )(command)


def other_options(command: F) -> F:
    """Other releases to attack together with one, and what they were made from."""
    command = path_option(
        "--other-original",
        "other_originals",
        multiple=True,
        help="For tables: what each --other was made from, in their order, where quasi-identifiers or persons differ.",
    )(command)
    return path_option(
        "--other", multiple=True, help="For tables: another release of overlapping data; once for each."
    )(command)


def asked_for_several(asked: Mapping[str, Any], keep: Sequence[str] | None, after: Path | None) -> dict[str, Any]:
    """What is asked of a policy: who keeps a ledger, or goes on after another release, publishes several."""
    is_one_of_several = "ledger" in (keep or ()) or after is not None
    return {**asked, **({"releases": "several"} if is_one_of_several and not asked.get("releases") else {})}
