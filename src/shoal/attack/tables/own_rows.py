"""Own rows: providers take their own rows out of a class, and look for a record of another provider in the rest.

Who has provided rows knows them, and finds them in the release by their quasi-identifiers and sensitive values. For a
record of another provider, the coalition is taken that has most rows of its class; what is left of the class could be
the record. Where c records are left, 1 / c of a success is counted: c is at least k, if m-privacy holds. Where persons
count, c is of persons, and one with rows from several providers is left out with each of them, so that fewer are
counted than are left.

Guessing hits one of all records that the coalition does not know.

References
----------
S. Goryczka, L. Xiong, B. C. M. Fung, "m-privacy for collaborative data publishing", IEEE TKDE 26(10), 2014, section 2.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Ints
from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.case import TABLE_ATTACKS, TableCase
from shoal.attack.tables.cells import columns_of
from shoal.data.tables.table import row_keys


class OwnRows(Attack[TableCase]):
    """A coalition of providers looks at what is left of each class without its own rows."""

    name = "own-rows"
    place = 900
    title = "providers who subtract their own rows"
    knows = "all rows of as many providers as may work together, and the class of a record of another"
    stopped_by = "m-privacy: provider and coalition in the policy"
    remedy = "name the provider (--provider), raise coalition, or raise k"
    reference = "Goryczka, Xiong and Fung, TKDE 2014"

    def missing(self, case: TableCase) -> str | None:
        """Needs classes, several providers, and the owner's knowledge of which record is from whom."""
        if not case.coalition:
            return "The records are not said to be from several providers."
        if case.providers is None or (case.persons is not None and case.rows is None):
            return "It is not known from whom each published record is; give what the owner kept (--private)."
        return None if columns_of(case, "quasi") else "The release has no quasi-identifier of the original."

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Count what is left for every published record, by the worst coalition of other providers."""
        assert case.providers is not None
        classes = row_keys([case.published[n] for n in columns_of(case, "quasi")])
        left, n_rest = candidates_left(classes, case.providers, case.published_persons, case.coalition)
        main = Rate(float((1 / left).sum()), len(left))
        baseline = Rate(float((1 / n_rest).sum()), len(left))
        few = f"{case.coalition} providers" if case.coalition > 1 else "one provider"
        return self.result(
            main,
            f"When {few} with most rows of a class take these away, at least {int(left.min()):,} {case.noun} are left "
            f"that could be the one looked for, typically {np.median(left):,.0f}: {100 * main.value:.1f} % are found.",
            baseline=baseline,
            details={"fewest_left": float(left.min()), "median_left": float(np.median(left))},
            columns=columns_of(case, "quasi"),
            admitted=0.0 if case.policy is None else 1 / case.policy.k,
        )


def candidates_left(classes: Ints, providers: Ints, persons: Ints | None, coalition: int) -> tuple[Ints, Ints]:
    """What is left for each row, of its class and of the whole table, without the largest providers but its own."""
    whole = np.zeros(len(classes), dtype=np.int64)
    return _left(classes, providers, persons, coalition), _left(whole, providers, persons, coalition)


def _left(classes: Ints, providers: Ints, persons: Ints | None, coalition: int) -> Ints:
    whose = np.arange(len(classes)) if persons is None else persons
    n_providers, n_persons = int(providers.max()) + 1, int(whose.max()) + 1
    n_there = np.bincount(np.unique(classes * n_persons + whose) // n_persons)
    own = classes * n_providers + providers
    pairs, place = np.unique(own, return_inverse=True)
    counts = np.bincount(np.unique(place * n_persons + whose) // n_persons)
    home = pairs // n_providers
    order = np.lexsort((-counts, home))
    starts = np.searchsorted(home, np.arange(len(n_there)))
    rank = np.empty(len(pairs), dtype=np.int64)
    rank[order] = np.arange(len(pairs)) - starts[home[order]]
    by_most = np.bincount(home[rank < coalition], counts[rank < coalition], minlength=len(n_there))
    by_more = np.bincount(home[rank <= coalition], counts[rank <= coalition], minlength=len(n_there))
    taken = np.where(rank < coalition, by_more[home] - counts, by_most[home])
    return np.asarray(np.maximum(n_there[home] - taken, 1).astype(np.int64)[place])


TABLE_ATTACKS.register(OwnRows())
