"""Run the attacks on a case of whatever kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.attack.attack import Attacked, run_attacks
from shoal.errors import PolicyError, did_you_mean
from shoal.kind import kind_named
from shoal.progress import Progress


def attack_case(
    kind: str,
    case: Any,
    names: Sequence[str] | None = None,
    *,
    seed: int | None = 0,
    seconds: float | None = None,
    progress: Progress | None = None,
    has_others: bool = True,
    in_release: bool = False,
) -> Attacked[Any]:
    """Run the attacks on a case, or those that are named; see `run_attacks`."""
    attacks = kind_named(kind).attacks
    known = [a.name for a in attacks]
    for name in names or ():
        if name not in known:
            raise PolicyError(f"there is no attack {name!r} on this kind of data; {did_you_mean(name, known)}")
    return run_attacks(
        attacks,
        case,
        names,
        seed=seed,
        seconds=seconds,
        progress=progress,
        has_others=has_others,
        in_release=in_release,
    )
