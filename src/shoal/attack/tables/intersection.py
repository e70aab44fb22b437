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

from typing import ClassVar

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.candidates import Candidates
from shoal.attack.tables.case import TableCase
from shoal.attack.tables.cells import View, columns_of, read_view

N_ATTACKS = 2000


class Intersection:
    """Intersect the candidates' secrets of two releases."""

    name: ClassVar[str] = "intersection"
    title: ClassVar[str] = "two releases of the same records"
    knows: ClassVar[str] = "the true quasi-identifiers of a record, and two releases that it is in"
    stopped_by: ClassVar[str] = "no guarantee that is checked on one release alone"
    remedy: ClassVar[str] = "publish one release, or make the second from the first one's groups"
    reference: ClassVar[str] = "Ganta, Kasiviswanathan and Smith, KDD 2008"

    def __init__(self, n_attacks: int = N_ATTACKS) -> None:
        self.n_attacks = n_attacks

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
        chosen = rng.choice(case.original.n_rows, min(n_attacks, case.original.n_rows), replace=False)
        others: Ints | None = None
        if case.control is not None:
            others = rng.choice(case.control.n_rows, min(n_attacks, case.control.n_rows), replace=False)
        both, first, second, held = 0.0, 0.0, 0.0, 0.0
        for name in names:
            views = [
                read_view(case, [*_quasi(case, case.published), name]),
                read_view(case, [*_quasi(case, case.other), name], case.other),
            ]
            own = [v.original[chosen] for v in views]
            left, one, two = _left(views, own)
            both, first, second = both + left, first + one, second + two
            if others is not None:
                held += _left(views, [v.control[others] for v in views if v.control is not None])[0]
        attempts = len(chosen) * len(names)
        main, alone = Rate(both, attempts), Rate(max(first, second), attempts)
        return AttackResult(
            self.name,
            self.title,
            self.knows,
            main,
            None if others is None else Rate(held, len(others) * len(names)),
            alone,
            f"Two releases together tell the secret of {100 * main.value:.1f} % of the records for certain; one alone "
            f"{100 * alone.value:.1f} %.",
            {"first_alone": first / attempts, "second_alone": second / attempts},
        )


def _quasi(case: TableCase, table: object) -> list[str]:
    names = getattr(table, "names", [])
    return [n for n in case.quasi if n in names and n in case.original.names]


def _secrets(case: TableCase) -> list[str]:
    assert case.other is not None
    return [n for n in columns_of(case, "sensitive") if n in case.other.names]


def _left(views: list[View], people: list[Floats]) -> tuple[float, float, float]:
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
    total = np.zeros(3)
    for (part, _, one), (_, _, two) in zip(*portions, strict=True):
        for i, possible in enumerate(((one > 0) & (two > 0), one > 0, two > 0)):
            own = possible[np.arange(len(possible)), truth[part]]
            total[i] += float(np.sum(own & (possible.sum(axis=1) == 1)))
    return float(total[0]), float(total[1]), float(total[2])
