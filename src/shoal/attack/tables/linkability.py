"""Linkability: two parties who know different attributes of one person meet in the same published record.

Each party asks for the published records nearest to what it knows; if the two lists share one, the parties have linked
their files through the release. Ties fall at random, apart for the two. Where persons count, the lists are of the
nearest persons, each by the nearest of its records, and the parties meet in a person.

References
----------
M. Giomi, F. Boenisch, C. Wehmeyer, B. Tasnádi, "A unified framework for quantifying privacy risk in synthetic data",
PoPETs 2023(2), section 5.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, lgamma

import numpy as np

from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.candidates import Candidates
from shoal.attack.tables.case import TABLE_ATTACKS, TableCase
from shoal.attack.tables.cells import columns_of, read_view
from shoal.attack.tables.targets import draw_targets

N_SPLITS = 4


@dataclass(frozen=True)
class Linkability(Attack[TableCase]):
    """Nearest published records from two sides.

    Attributes
    ----------
    known : pair of sequences of str, optional
        What each party knows; else the quasi-identifiers are split at random, four times.
    n_nearest : int, default 5
        Length of each party's list.
    n_attacks : int, default 2000
        People attacked.
    """

    known: tuple[Sequence[str], Sequence[str]] | None = None
    n_nearest: int = 5
    n_attacks: int = 2000

    name = "linkability"
    place = 60
    title = "linking two files through the release"
    needs_others = True
    knows = "two parties, each a different half of a record's quasi-identifiers"
    stopped_by = "k-anonymity, as far as equal records make lists of candidates long"
    remedy = "raise k, or publish fewer quasi-identifiers"
    reference = "Giomi et al., PoPETs 2023(2)"

    def missing(self, case: TableCase) -> str | None:
        """Needs two attributes, and records."""
        if case.layout is not None:
            return "A row of a table in slices stands for no record in which two files could meet."
        if self.known is None and len(columns_of(case, "quasi")) < 2:
            return "There are fewer than two quasi-identifiers, so there are no two sides to link."
        return None

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Ask from both sides, for originals and for controls."""
        if self.known is not None:
            names = [*self.known[0], *self.known[1]]
            view = read_view(case, names)
            splits = [(list(range(len(self.known[0]))), list(range(len(self.known[0]), len(names))))]
        else:
            view = read_view(case, columns_of(case, "quasi"))
            splits = [_halves(len(view.labels), rng) for _ in range(N_SPLITS)]
        persons = case.published_persons
        ours, theirs = draw_targets(case, self.n_attacks, rng)
        people = [(view.original, ours.split(len(splits)))]
        if view.control is not None and theirs is not None:
            people.append((view.control, theirs.split(len(splits))))
        met = [0.0] * len(people)
        for i, sides in enumerate(splits):
            asked = [Candidates(view.select(side), persons) for side in sides]
            for who, (table, parts) in enumerate(people):
                if i >= len(parts):  # fewer targets than splits
                    continue
                lists = [
                    c.nearest(table[parts[i].rows, side], self.n_nearest, rng)
                    for c, side in zip(asked, sides, strict=True)
                ]
                if persons is not None:
                    lists = [persons[rows] for rows in lists]
                is_met = np.any(lists[0][:, :, None] == lists[1][:, None, :], axis=(1, 2))
                met[who] += float(np.sum(parts[i].best(is_met.astype(np.float64))))
        attempts = [sum(len(p) for p in parts) for _, parts in people]
        main = Rate(met[0], attempts[0])
        control = Rate(met[1], attempts[1]) if len(people) > 1 else None
        n_there = view.n_published if persons is None else len(np.unique(persons))
        n_nearest = min(self.n_nearest, n_there)
        chance = _chance(n_there, n_nearest)
        noun = "records" if persons is None else "persons"
        return self.result(
            main,
            f"Two parties who each look up the {n_nearest} nearest published {noun} find one in common for "
            f"{100 * main.value:.1f} % of the {case.noun} in the release"
            + ("." if control is None else f", and for {100 * control.value:.1f} % of others."),
            control=control,
            baseline=Rate(chance * attempts[0], attempts[0]),
            details={"n_nearest": float(n_nearest)},
        )


def _halves(n_columns: int, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    mixed = rng.permutation(n_columns).tolist()
    return sorted(mixed[: n_columns // 2]), sorted(mixed[n_columns // 2 :])


def _chance(n_records: int, n_nearest: int) -> float:
    """That two lists drawn at random share a record: ``1 - C(n - k, k) / C(n, k)``."""
    n, k = n_records, n_nearest
    if 2 * k > n:
        return 1.0
    return 1 - exp(2 * lgamma(n - k + 1) - lgamma(n - 2 * k + 1) - lgamma(n + 1))


TABLE_ATTACKS.register(Linkability())
