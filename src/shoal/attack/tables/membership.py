"""Membership: is a person whose attributes are known among the originals?

The score of a person is minus the distance to the nearest published record (`candidates`); of a table in slices the
expected number of rows that read as the person does, ``sum over B of |B| prod over i of n_i(t, B) / |B|`` over its
matching buckets. Held-out controls give the rate of false alarms; the success is the share of originals found at 1 % of
them, and the details hold the same at 0.1 % and the area under the curve. Scores that are equal are taken in part, as
if ordered at random.

References
----------
R. Shokri et al., "Membership inference attacks against machine learning models", IEEE S&P 2017; N. Carlini et al.,
"Membership inference attacks from first principles", IEEE S&P 2022 (rates at few false alarms); D. Chen et al.,
"GAN-Leaks", CCS 2020 (distance to the nearest record).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult
from shoal.attack.roc import Roc
from shoal.attack.tables.candidates import Candidates
from shoal.attack.tables.case import TABLE_ATTACKS, TableCase
from shoal.attack.tables.cells import columns_of, read_view
from shoal.attack.tables.slice_beliefs import SliceBeliefs
from shoal.attack.tables.targets import draw_targets

FEWEST_CONTROLS = 20


@dataclass(frozen=True)
class TableMembership(Attack[TableCase]):
    """By the nearest published record, against held-out controls."""

    n_attacks: int = 2000

    name = "membership"
    place = 90
    title = "telling who is in the release"
    knows = "all published attributes of a record"
    stopped_by = "no guarantee of groups promises to; differential privacy and delta-presence do"
    remedy = "raise k, publish pseudo-records, or coarsen columns that are published as they are"
    reference = "Shokri et al., S&P 2017; Carlini et al., S&P 2022; Chen et al., CCS 2020"
    counts_by_weight = True

    def missing(self, case: TableCase) -> str | None:
        """Needs people who are not in the release."""
        if case.control is None or case.control.n_records < FEWEST_CONTROLS:
            return f"At least {FEWEST_CONTROLS} control records are needed to know how often it gives a false alarm."
        if not columns_of(case, "quasi", *(() if case.layout is not None else ("sensitive", "other"))):
            return "The release and the original have no column in common to know records by."
        return None

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Score originals and controls."""
        inside, outside = draw_targets(case, self.n_attacks, rng)
        assert outside is not None
        if case.layout is not None:
            beliefs = SliceBeliefs(case)
            ours = _expected_rows(beliefs, inside.rows)
            theirs = _expected_rows(beliefs, case.original.n_rows + outside.rows)
        else:
            view = read_view(case, columns_of(case, "quasi", "sensitive", "other"))
            assert view.control is not None
            asked = Candidates(view)
            ours = -asked.least(view.original[inside.rows]).distances
            theirs = -asked.least(view.control[outside.rows]).distances
        ours, theirs = inside.best(ours), outside.best(theirs)
        roc = Roc.of(ours, theirs)
        return self.membership_result(
            roc,
            f"At one false alarm in a hundred, {{main:.1f}} % of the {case.noun} in the release are recognised as "
            "members; a member scores above a random other with a probability of {area:.2f} (0.5 is chance).",
            baseline=roc.by_guessing,
        )


def _expected_rows(beliefs: SliceBeliefs, rows: Ints) -> Floats:
    matching = beliefs.match(rows)
    size = beliefs.sliced.sizes[matching.buckets].astype(np.float64)
    amount = size.copy()
    for part in beliefs.sliced.parts:
        if part.quasi:
            amount *= matching.rows_of(part.number) / size
    of_tuple = np.bincount(matching.tuples, amount, minlength=matching.n_tuples)
    return np.asarray(of_tuple[matching.of_record], dtype=np.float64)


TABLE_ATTACKS.register(TableMembership())
