"""Record linkage: the published record nearest to a known person is taken for that person's own.

By distance, with all quasi-identifiers known or a random half of them, and by rank: numbers and ordered categories are
replaced by their ranks, those of the person among the originals and those of the record among the published, so that a
shift or a change of scale hides nobody; where persons count, all records of a person count as one. Where m records are
equally near and the right one is among them, 1 / m of a success is counted. Where labels cover several values, the
records whose labels cover the known values come first.

Others than the originals have no record of their own, so there is no control; guessing hits one of n.

References
----------
D. Pagliuca, G. Seri, "Some results of individual ranking method on the system of enterprise accounts annual survey",
1999 (distance); K. Muralidhar, J. Domingo-Ferrer, "Rank-based record linkage for re-identification risk assessment",
PSD 2016; N. L. Spruill, "The confidentiality and analytic usefulness of masked business microdata", 1983.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.candidates import Candidates, candidates_of
from shoal.attack.tables.case import TABLE_ATTACKS, TableCase
from shoal.attack.tables.cells import CellLabels, People, View, columns_of, read_view
from shoal.attack.tables.targets import TableTargets, draw

N_HALVES = 4


@dataclass(frozen=True)
class Linkage(Attack[TableCase]):
    """By distance, all quasi-identifiers known."""

    n_attacks: int = 2000

    name = "linkage"
    place = 30
    title = "linking a known record to a published one"
    knows = "the true quasi-identifiers of a record, and that it is in the release"
    stopped_by = "k-anonymity: at most one link in k is right"
    remedy = "raise k; of pseudo-records, enlarge the groups that they are drawn from"
    reference = "Pagliuca and Seri 1999; Domingo-Ferrer and Torra 2001"
    counts_by_weight = True

    def missing(self, case: TableCase) -> str | None:
        """Needs records, and the owner's knowledge of whose they are."""
        if case.layout is not None:
            return "A row of a table in slices stands for no record, so none can be linked."
        if case.rows is None:
            return case.no_rows("links cannot be counted")
        if not columns_of(case, "quasi"):
            return "The release has no quasi-identifier of the original."
        return None

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Link a sample of the originals."""
        assert case.rows is not None
        own = np.full(case.original.n_rows, -1, dtype=np.int64)
        own[case.rows] = np.arange(case.published.n_rows)
        view = read_view(case, columns_of(case, "quasi"))
        asked = candidates_of(case, columns_of(case, "quasi"))
        persons = case.published_persons
        weights = case.original.weights
        targets = draw(
            case.persons, case.original.n_rows, self.n_attacks, rng, history=case.knows_history, weights=weights
        )
        n_attacks = len(targets)
        known = own if case.persons is None else case.persons
        reached, ties = self._link(view, asked, targets, known, rng)
        main = Rate(float(np.sum(reached)), n_attacks)
        n_there = case.published.n_records if persons is None else len(np.unique(persons))
        baseline = Rate(n_attacks / max(1, n_there), n_attacks)
        return self.result(
            main,
            f"Of {n_attacks:,} {case.noun}, {100 * main.value:.1f} % are linked correctly to the nearest published "
            f"record (by chance {100 * baseline.value:.2f} %); typically {np.median(ties):,.0f} {case.noun} are "
            "equally near.",
            baseline=baseline,
            details={"median_equally_near": float(np.median(ties))},
            columns=columns_of(case, "quasi"),
            admitted=0.0 if case.policy is None else 1 / case.policy.k,
        )

    def _link(
        self, view: View, asked: Candidates, targets: TableTargets, own: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Ints]:
        """How surely each target is linked right, and how many are equally near to each known record."""
        least = asked.least(view.original[targets.rows], own[targets.rows])
        return targets.best(least.is_own / least.ties), least.ties


class PartialLinkage(Linkage):
    """By distance, a random half of the quasi-identifiers known."""

    name = "linkage-partial"
    place = 40
    title = "linking a record of which half is known"
    knows = "a random half of a record's true quasi-identifiers, and that it is in the release"

    def _link(
        self, view: View, asked: Candidates, targets: TableTargets, own: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Ints]:
        reached, ties = [], []
        n_columns = len(view.labels)
        for part in targets.split(N_HALVES):
            half = view.select(np.sort(rng.permutation(n_columns)[: -(-n_columns // 2)]).tolist())
            found = super()._link(half, Candidates(half, asked.persons), part, own, rng)
            reached.append(found[0])
            ties.append(found[1])
        return np.concatenate(reached), np.concatenate(ties)


class RankLinkage(Linkage):
    """By rank: needs numbers or ordered categories that are published as single values."""

    name = "linkage-rank"
    place = 50
    title = "linking a known record by ranks"
    knows = "the true quasi-identifiers of all records in the release, and so every rank"
    stopped_by = "k-anonymity of the groups that values are averaged over or drawn from"
    reference = "Muralidhar and Domingo-Ferrer, PSD 2016"
    counts_by_weight = False

    def missing(self, case: TableCase) -> str | None:
        """Needs plain numbers too."""
        why = super().missing(case)
        if why is not None:
            return why
        view = read_view(case, columns_of(case, "quasi"))
        if not any(_is_ranked(c) for c in view.labels):
            return "No quasi-identifier is published as a number, so there are no ranks to link by."
        return None

    def _link(
        self, view: View, asked: Candidates, targets: TableTargets, own: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Ints]:
        ranked = _in_ranks(view, None if asked.persons is None else own, asked.persons)
        return super()._link(ranked, Candidates(ranked, asked.persons), targets, own, rng)


def _is_ranked(read: CellLabels) -> bool:
    return read.is_number and read.is_plain and bool(np.isfinite(read.low).any())


def _in_ranks(view: View, persons: Ints | None, published_persons: Ints | None) -> View:
    """Plain numbers replaced by the share of records below, half of the equal ones among them.

    Where it is known whose each original and each published record is, all records of a person count as one.
    """
    labels = []
    ours, theirs = _weights(persons), _weights(published_persons)
    values, codes = list(view.original.values), view.original.codes
    for place, read in enumerate(view.labels):
        if _is_ranked(read):
            values[place] = _mid_ranks(values[place], values[place][codes[place]], ours)
            cells = read.low[read.codes]
            ranks = _mid_ranks(read.low, np.where(np.isfinite(cells), cells, np.nan), theirs)
            there = read.low <= read.high
            read = replace(read, low=np.where(there, ranks, np.inf), high=np.where(there, ranks, -np.inf))
        labels.append(read)
    return View(tuple(labels), People(tuple(values), codes), None, None)


def _weights(persons: Ints | None) -> Floats | None:
    """What each record counts, so that every person counts one."""
    return None if persons is None else np.asarray(1 / np.bincount(persons)[persons])


def _mid_ranks(values: Floats, among: Floats, weights: Floats | None = None) -> Floats:
    there = np.flatnonzero(~np.isnan(among))
    order = there[np.argsort(among[there], kind="stable")]
    known = among[order]
    below = np.append(0.0, np.cumsum(np.ones(len(known)) if weights is None else weights[order]))
    middle = (below[np.searchsorted(known, values, "left")] + below[np.searchsorted(known, values, "right")]) / 2
    return np.where(np.isnan(values), np.nan, middle / max(1.0 if weights is None else 1e-300, below[-1]))


TABLE_ATTACKS.register(Linkage())
TABLE_ATTACKS.register(PartialLinkage())
TABLE_ATTACKS.register(RankLinkage())
