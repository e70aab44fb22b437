"""Uniqueness in a population: a published record that fits exactly one person of a known file is that person's.

The file names the whole population with some of the quasi-identifiers. For each distinct published record the people
whom all of its labels cover are counted (k-map asks for k at least); one alone is a success. Beside it: the share of
published records that no other published one equals, which is what is known where there is no such file.

References
----------
L. Sweeney, "k-Anonymity: a model for protecting privacy", IJUFKS 10(5), 2002 (k-map: Sweeney's thesis, 2001);
C. Skinner, M. Elliot, "A measure of disclosure risk for microdata", JRSS B 64(4), 2002.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.case import TABLE_ATTACKS, TableCase
from shoal.attack.tables.cells import columns_of, read_view
from shoal.attack.tables.predicates import EQUAL, Crowd, Predicates, about_people
from shoal.attack.tables.targets import by_person, draw, n_distinct

MANY = 1000


@dataclass(frozen=True)
class Uniqueness(Attack[TableCase]):
    """Count whom in the population each published record could be.

    Attributes
    ----------
    n_attacks : int, default 2000
        Published records that are looked up where rows stand for several; else all are.
    """

    n_attacks: int = 2000

    name = "uniqueness"
    place = 170
    title = "records that fit one row of a population"
    knows = "a file of the whole population with names and quasi-identifiers"
    stopped_by = "k-anonymity and k-map"
    remedy = "raise k, or coarsen the quasi-identifiers that the population file has too"
    reference = "Sweeney, IJUFKS 2002; Skinner and Elliot, JRSS B 2002"
    counts_by_weight = True

    def missing(self, case: TableCase) -> str | None:
        """Needs the file."""
        if case.population is None:
            return "There is no file of the population to look records up in."
        if case.layout is not None:
            return "A row of a table in slices stands for no record that could be looked up."
        if not self._names(case):
            return "The population file has no quasi-identifier of the release."
        return None

    def _names(self, case: TableCase) -> list[str]:
        assert case.population is not None
        return [n for n in columns_of(case, "quasi") if n in case.population.names]

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Look every distinct published record up."""
        view = read_view(case, self._names(case))
        assert view.population is not None
        assert case.population is not None
        box_of, first = view.boxes
        persons, history = case.published_persons, case.knows_history
        sizes = n_distinct(box_of, persons, len(first), view.weights)
        rows = np.arange(view.n_published)
        if view.weights is not None:  # which may stand for any number of records
            rows = draw(None, view.n_published, self.n_attacks, rng, weights=view.weights).rows
        boxes, at = np.unique(box_of[rows], return_inverse=True)
        labels = np.column_stack([read.codes[first[boxes]] for read in view.labels]).astype(np.int64)
        columns = np.broadcast_to(np.arange(labels.shape[1], dtype=np.int64), labels.shape).copy()
        asked = Predicates(columns, labels, np.full(labels.shape, EQUAL, dtype=np.int64))
        people = Crowd(view.population, weights=case.population.weights).count(about_people(asked, view), MANY)[at]
        found = by_person(people == 1, persons, history=history)
        main = Rate(float(np.sum(found)), len(found))
        if view.weights is None:
            alone = float(np.mean(by_person((sizes == 1)[box_of], persons, history=history)))
        else:
            alone = float(np.sum(sizes == 1) / sizes.sum())
        fitting = people[people > 0] if (people > 0).any() else np.zeros(1, dtype=np.int64)
        noun = "records" if persons is None else "persons"
        return self.result(
            main,
            f"{100 * main.value:.1f} % of the published {noun} fit exactly one row of the population; "
            f"{100 * alone:.1f} % are like no other that is published.",
            details={"unique_in_release": alone, "median_people_that_fit": float(np.median(fitting))},
        )


TABLE_ATTACKS.register(Uniqueness())
