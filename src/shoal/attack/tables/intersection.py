"""Intersection: two releases of overlapping data, each with candidates of its own, leave fewer secrets together.

In each release the candidates of a person are the records whose labels cover the known quasi-identifiers (of plain
values the nearest ones). The person's secret is among those of the candidates of both; where one value alone is left,
it is known. Baseline: the same from the first release alone, or the second, whichever tells more.

References
----------
S. R. Ganta, S. P. Kasiviswanathan, A. Smith, "Composition attacks and auxiliary information in data privacy", KDD 2008,
section 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats
from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.candidates import Candidates
from shoal.attack.tables.case import TABLE_ATTACKS, TableCase
from shoal.attack.tables.cells import View, columns_of, read_view
from shoal.attack.tables.targets import TableTargets, draw_targets


@dataclass(frozen=True)
class Intersection(Attack[TableCase]):
    """Intersect the candidates' secrets of two releases."""

    n_attacks: int = 2000

    name = "intersection"
    place = 160
    title = "two releases of the same records"
    knows = "the true quasi-identifiers of a record, and two releases that it is in"
    stopped_by = "no guarantee that is checked on one release alone"
    remedy = "publish one release, or make the second from the first one's groups"
    reference = "Ganta, Kasiviswanathan and Smith, KDD 2008"

    def missing(self, case: TableCase) -> str | None:
        """Needs a second release with the same secret."""
        if case.other is None:
            return "There is no second release of the same data to intersect with."
        if case.layout is not None:
            return "A row of a table in slices stands for no record, so it has no candidates to intersect."
        if not _quasi(case, case.published) or not _quasi(case, case.other):
            return "One of the two releases has no quasi-identifier of the original."
        if not _secrets(case):
            return "The two releases have no sensitive attribute in common."
        return None

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Candidates of a sample of people, in both."""
        assert case.other is not None
        names = _secrets(case)
        n_attacks = -(-self.n_attacks // len(names))
        chosen, others = draw_targets(case, n_attacks, rng)
        both, first, second, held = 0.0, 0.0, 0.0, 0.0
        for name in names:
            views = [
                read_view(case, [*_quasi(case, case.published), name]),
                read_view(case, [*_quasi(case, case.other), name], case.other),
            ]
            own = [v.original[chosen.rows] for v in views]
            left, one, two = _left(views, own, chosen)
            both, first, second = both + left, first + one, second + two
            if others is not None:
                held += _left(views, [v.control[others.rows] for v in views if v.control is not None], others)[0]
        attempts = len(chosen) * len(names)
        main, alone = Rate(both, attempts), Rate(max(first, second), attempts)
        return self.result(
            main,
            f"Two releases together tell the secret of {100 * main.value:.1f} % of the {case.noun} for certain; one "
            f"alone {100 * alone.value:.1f} %.",
            control=None if others is None else Rate(held, len(others) * len(names)),
            baseline=alone,
            details={"first_alone": first / attempts, "second_alone": second / attempts},
        )


def _quasi(case: TableCase, table: object) -> list[str]:
    names = getattr(table, "names", [])
    return [n for n in case.quasi if n in names and n in case.original.names]


def _secrets(case: TableCase) -> list[str]:
    assert case.other is not None
    return [n for n in columns_of(case, "sensitive") if n in case.other.names]


def _left(views: list[View], people: list[Floats], targets: TableTargets) -> tuple[float, float, float]:
    """For how many the true secret alone is left: by both, by the first, by the second."""
    shown = [np.where(v.labels[-1].low <= v.labels[-1].high, v.labels[-1].low, np.nan) for v in views]
    cells = [s[v.labels[-1].codes] for s, v in zip(shown, views, strict=True)]
    values, inverse = np.unique(np.concatenate([*cells, people[0][:, -1]]), return_inverse=True)
    parts = np.split(inverse.astype(np.int64), np.cumsum([len(c) for c in cells]))
    truth = parts[2]
    asked = [Candidates(v.select(range(len(v.labels) - 1))) for v in views]
    portions = [
        c.counts(p[:, :-1], codes, len(values), cover_only=True)
        for c, p, codes in zip(asked, people, parts[:2], strict=True)
    ]
    found = np.zeros((3, len(truth)))
    for (part, _, one), (_, _, two) in zip(*portions, strict=True):
        for i, possible in enumerate(((one > 0) & (two > 0), one > 0, two > 0)):
            own = possible[np.arange(len(possible)), truth[part]]
            found[i, part] = own & (possible.sum(axis=1) == 1)
    both, first, second = (float(np.sum(targets.best(f))) for f in found)
    return both, first, second


TABLE_ATTACKS.register(Intersection())
