"""Trials of data whose risk is told by attacks: a part of the records is held out, for attacks to be compared on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from shoal.attack.attack import run_attacks
from shoal.errors import DataError
from shoal.held_out import HeldOut, hold_out
from shoal.kind import Run, kind_of_policy
from shoal.sweep.cell import Cell, Figure
from shoal.sweep.trials import Trials, guaranteed

HELD_OUT, MOST_HELD_OUT = 0.2, 1 / 3  # shares of the records
WANTED = 60  # records held out
FEWEST = 120
SEED = 0  # of what is held out, attacked and drawn: the same for all cells, so that they can be compared
ADDED = Figure(
    "The most that an attack gets of records of the release beyond what it gets of records that were held out of it: "
    "0 is nothing, 1 everything. It is the largest of several estimates, each of which varies by chance.",
    head="risk, added",
    axis="most that an attack adds",
    in_words="an attack adds {} at most",
)
TOLD = Figure(
    "The chance that an attack takes a member for likelier to be in the data than a record that was held out, by the "
    "attack that does it best: a half is blind. It is the largest of several estimates, each of which varies by "
    "chance.",
    head="members told",
    axis="chance that a member is told from another",
    lowest=0.5,
    in_words="members told from others with a chance of {}",
)


@dataclass(frozen=True, kw_only=True)
class AttackedCell(Cell):
    """One way to make a release whose risk is told by attacks.

    Attributes
    ----------
    added_risk : float or None
        The most that an attack gets of members beyond what it gets of others.
    members_told : float or None
        The largest area under the curve of attacks that tell members from others; None where none could be run.
    strongest : str
        The attack that adds most.
    succeeding : tuple of str
        Attacks that succeed, as a report of the release would say.
    """

    added_risk: float | None = None
    members_told: float | None = None
    strongest: str = ""
    succeeding: tuple[str, ...] = ()

    def risks_in_words(self, shown: Callable[[float], str]) -> list[str]:
        """Both, the one that decides first, and whether attacks succeed."""
        found = [(self.risks[name], getattr(self, name)) for name in reversed(list(self.risks))]
        said = [figure.in_words.format(shown(value)) for figure, value in found if value is not None]
        n = len(self.succeeding)
        return [*said, "one attack succeeds" if n == 1 else f"{n or 'no'} attacks succeed"] if said else []


class AttackedTrials(Trials):
    """Releases of most of the records, attacked with the others beside."""

    cell: ClassVar[type[AttackedCell]]

    kept: Any
    held_out: HeldOut[Any]

    def take(self, data: Any) -> None:
        """Hold some out."""
        kind = kind_of_policy(self.policy)
        self.data, self.n_records, self.title = data, len(data), str(data.source.name)
        if len(data) < FEWEST:
            raise DataError(
                f"a sweep holds {self.noun} out to compare attacks on, and takes {FEWEST} or more; there are "
                f"{len(data):,}: make single releases, or give more"
            )
        share = min(MOST_HELD_OUT, max(HELD_OUT, WANTED / len(data)))
        self.kept, self.held_out = hold_out(data, share, SEED, kind.persons(data, self.policy))
        self.n_in = len(self.kept)
        n_out = len(self.held_out.records)
        self.note = (
            f"Each release was made from {self.n_in:,} of the {len(data):,} {self.noun}; the other {n_out:,} are what "
            "attacks were compared on. Each was drawn once: differences of a few hundredths may be chance."
        )

    def measured(self, policy: Any) -> dict[str, Any]:
        """Make one release, attack it as every release is, and measure it."""
        kind = kind_of_policy(policy)
        release: Any = kind.release(self.kept, policy, Run(seed=SEED), like=None, held_out=self.held_out)
        names = [a.name for a in kind.attacks if not a.leaked]
        results = run_attacks(kind.attacks, release.case, names, seed=SEED, in_release=True).results
        added = {r.title: r.risk.value for r in results if r.main.attempts}
        areas = [r.details["area_under_curve"] for r in results if "area_under_curve" in r.details]
        strongest = max(added, key=lambda title: added[title], default="")
        return {
            "status": "holds",
            "sentence": "",
            "n_out": release.records["out"],
            "guarantees": guaranteed(release.guarantees),
            "added_risk": added.get(strongest),
            "members_told": max(areas, default=None),
            "strongest": strongest,
            "succeeding": tuple(r.title for r in results if r.succeeds),
            "losses": self.losses(release),
            **self.learned(release),
        }

    @abstractmethod
    def losses(self, release: Any) -> dict[str, float | None]:
        """What the release costs, by the names of measures."""

    def learned(self, release: Any) -> Mapping[str, Any]:
        """`scores` and `scores_before`, where classes were to be told."""
        return {}
