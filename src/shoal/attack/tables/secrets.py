"""What may be a person's secret, and which of several is told best.

A column that looks sensitive is a secret whatever its role: as a quasi-identifier its labels can still tell it to
whoever knows the others.

Rates of several secrets are never averaged, as one that is told would be lost among those that are not. Nor is the
largest of many rates taken as it is, which is large by chance: every secret is tried on some people, and the one that
is told best on others, who had no part in choosing it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.attack.result import AddedRisk, Rate
from shoal.attack.tables.case import TableCase
from shoal.attack.tables.cells import columns_of
from shoal.attack.tables.targets import TableTargets, draw_targets
from shoal.data.tables.guess import looks_sensitive


@dataclass(frozen=True)
class Told:
    """How often one secret was told: of members, of others if there are any, and by guessing."""

    main: Rate
    control: Rate | None
    baseline: Rate

    @property
    def risk(self) -> float:
        """What the release adds."""
        return AddedRisk.of(self.main, self.control or self.baseline).value


Try = Callable[[str, TableTargets, TableTargets | None], Told]


def secrets_of(case: TableCase) -> list[str]:
    """The sensitive attributes, and where there are labels the quasi-identifiers that look so, beside any other."""
    found, quasi = columns_of(case, "sensitive"), columns_of(case, "quasi")
    is_labelled = case.layout is None and len(quasi) > 1
    return [*found, *(n for n in quasi if is_labelled and looks_sensitive(n))]


def known_beside(case: TableCase, secret: str) -> list[str]:
    """The quasi-identifiers that are known of a person whose secret is not."""
    return [n for n in columns_of(case, "quasi") if n != secret]


def remedy_of(case: TableCase, secret: str) -> str:
    """What to do where labels told a secret; "" where it is a sensitive attribute, for which attacks say it."""
    if secret in case.sensitive:
        return ""
    return "give it the role sensitive and require l-diversity or t-closeness of it, drop it, or raise k"


def told_best(
    case: TableCase, names: Sequence[str], n_attacks: int, rng: np.random.Generator, attempt: Try
) -> tuple[str, Told, dict[str, Told]]:
    """The secret that is told best, how often, and how often each was where they were compared.

    Parameters
    ----------
    n_attacks : int
        How many people are tried at most: for the one secret, or for all that are compared, and as many others for the
        one that is told best.
    """
    if len(names) == 1:
        told = attempt(names[0], *draw_targets(case, n_attacks, rng))
        return names[0], told, {names[0]: told}
    ours, theirs = draw_targets(case, 2 * n_attacks, rng)
    some, rest = _halves(ours)
    some_others, rest_others = (None, None) if theirs is None else _halves(theirs)
    few = -(-n_attacks // len(names))
    others = None if some_others is None else some_others.first(few)
    compared = {name: attempt(name, some.first(few), others) for name in names}
    worst = max(names, key=lambda name: compared[name].risk)
    return worst, attempt(worst, rest, rest_others), compared


def _halves(targets: TableTargets) -> tuple[TableTargets, TableTargets]:
    """Two parts; twice the same one where there are fewer than two."""
    parts = targets.split(2)
    return (parts[0], parts[1]) if len(parts) > 1 else (targets, targets)
