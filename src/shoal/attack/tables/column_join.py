"""The column join: slices that all carry the secret are joined on it, inside each bucket.

The belief in a person's secret is the checker's posterior over everything that the slices say together
(`shoal.check.slices.posterior`); a success is a belief of 1 in the truth. Beside it stands what the printed check of
screening computes, which takes the secrets of one slice and does not join.

References
----------
S. Rakesh Subramanian, "Screening: preserving the sensitive information during data mining", section 5.3, Fig. 2: the
table printed there is open to the join.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats
from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.case import TABLE_ATTACKS, TableCase
from shoal.attack.tables.cells import CellLabels, columns_of, read_view
from shoal.attack.tables.slice_beliefs import SliceBeliefs
from shoal.attack.tables.targets import TableTargets, draw_targets

CERTAIN = 1 - 1e-9


@dataclass(frozen=True)
class ColumnJoin(Attack[TableCase]):
    """Join the slices of every bucket on the secret."""

    n_attacks: int = 5000

    name = "column-join"
    place = 130
    title = "joining the slices on the secret"
    knows = "the true quasi-identifiers of a record, and how tables in slices are made"
    stopped_by = "l-diversity, checked on the belief of one who joins the slices"
    remedy = "require l-diversity with a larger l; the check then widens regions until the join fails"
    reference = "Screening, section 5.3, with the check made right"

    def missing(self, case: TableCase) -> str | None:
        """Needs slices that carry the secret."""
        if case.layout is None:
            return "The table is not in slices, so there are no columns to join."
        if not columns_of(case, "quasi"):
            return "The release has no quasi-identifier of the original."
        secrets = set(columns_of(case, "sensitive"))
        if not secrets or not any(secrets <= set(one.attributes) for one in case.layout.slices):
            return "No slice carries all sensitive attributes, so there is nothing to join on."
        return None

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Count the people whose secret is certain."""
        beliefs = SliceBeliefs(case)
        names = columns_of(case, "sensitive")
        chosen, others = draw_targets(case, self.n_attacks, rng)
        matching = beliefs.match(chosen.rows)
        joined, apart = beliefs.believe(matching), beliefs.believe(matching, naive=True)
        sure, naive, most, held = 0.0, 0.0, 0.0, 0.0
        for name in names:
            view = read_view(case, [name])
            hidden = view.labels[0]
            truth = view.original[chosen.rows, 0]
            chances = beliefs.distributions(hidden, joined)
            most = max(most, float(chances.max(initial=0.0)))
            sure += _certain(hidden, chances, truth, chosen)
            naive += _certain(hidden, beliefs.distributions(hidden, apart), truth, chosen)
            if others is not None and view.control is not None:
                known = beliefs.believe(beliefs.match(case.original.n_rows + others.rows))
                held += _certain(hidden, beliefs.distributions(hidden, known), view.control[others.rows, 0], others)
        attempts = len(chosen) * len(names)
        main = Rate(sure, attempts)
        return self.result(
            main,
            f"Joined, the slices tell the secret of {100 * main.value:.1f} % of the {case.noun} for certain; the check "
            f"as printed, which does not join, finds {100 * naive / attempts:.1f} %.",
            control=None if others is None else Rate(held, len(others) * len(names)),
            details={"without_join": naive / attempts, "largest_belief": most},
        )


def _certain(hidden: CellLabels, chances: Floats, truth: Floats, targets: TableTargets) -> float:
    best = np.argmax(chances, axis=1)
    sure = chances[np.arange(len(best)), best] >= CERTAIN
    return float(np.sum(targets.best((sure & hidden.covers(best, truth)).astype(np.float64))))


TABLE_ATTACKS.register(ColumnJoin())
