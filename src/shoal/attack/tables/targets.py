"""Who is attacked: records, or persons where a policy says whose each record is.

Of a person that is attacked one record is known, drawn at random, or all of them (``person_knowledge = "history"``);
then the person is lost with whichever record tells most. A person counts once, however many records it has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask
from shoal.attack.tables.case import TableCase


@dataclass(frozen=True)
class TableTargets:
    """Some who are attacked.

    Attributes
    ----------
    rows : int64 array
        The records that are known, those of a target beside each other.
    starts : int64 array (n,)
        Where those of each target begin.
    """

    rows: Ints
    starts: Ints

    def __len__(self) -> int:
        return len(self.starts)

    def best(self, reached: Floats) -> Floats:
        """What is reached of each target, given what is by each known record."""
        return np.asarray(np.maximum.reduceat(reached, self.starts)) if len(self) else np.zeros(0)

    def first(self, n: int) -> TableTargets:
        """At most so many of them; they were drawn, so any are as good."""
        return self if len(self) <= n else TableTargets(self.rows[: self.starts[n]], self.starts[:n])

    def split(self, n_parts: int) -> list[TableTargets]:
        """The same in parts of about equally many targets."""
        ends = np.append(self.starts, len(self.rows))
        parts = [p for p in np.array_split(np.arange(len(self)), n_parts) if len(p)]
        return [TableTargets(self.rows[ends[p[0]] : ends[p[-1] + 1]], self.starts[p] - ends[p[0]]) for p in parts]


def draw(
    persons: Ints | None,
    n_rows: int,
    n: int,
    rng: np.random.Generator,
    *,
    history: bool = False,
    weights: Codes | None = None,
) -> TableTargets:
    """At most n targets, each as likely as another: records, or persons with one record of theirs or all.

    Where rows have weights, records are drawn, and the rows that stand for them are known.
    """
    if persons is None:
        ends = np.cumsum(weights, dtype=np.int64) if weights is not None else np.zeros(0, dtype=np.int64)
        n_records = n_rows if weights is None else int(ends[-1])
        rows = rng.choice(n_records, min(n, n_records), replace=False).astype(np.int64)
        if weights is not None:
            rows = np.searchsorted(ends, rows, "right").astype(np.int64)
        return TableTargets(rows, np.arange(len(rows)))
    order = np.argsort(persons, kind="stable")
    ends = np.searchsorted(persons[order], np.arange(int(persons.max(initial=-1)) + 2))
    chosen = rng.choice(len(ends) - 1, min(n, len(ends) - 1), replace=False)
    first, lengths = ends[chosen], np.diff(ends)[chosen]
    if not history:
        return TableTargets(order[first + (rng.random(len(chosen)) * lengths).astype(np.int64)], np.arange(len(chosen)))
    starts = np.cumsum(lengths) - lengths
    within = np.arange(int(lengths.sum())) - np.repeat(starts, lengths)
    return TableTargets(order[np.repeat(first, lengths) + within], starts)


def draw_targets(case: TableCase, n: int, rng: np.random.Generator) -> tuple[TableTargets, TableTargets | None]:
    """At most n targets of the original, and as many of the control where there is one."""
    weights = case.original.weights
    ours = draw(case.persons, case.original.n_rows, n, rng, history=case.knows_history, weights=weights)
    if case.control is None:
        return ours, None
    weights, whose = case.control.weights, case.control_persons
    return ours, draw(whose, case.control.n_rows, n, rng, history=case.knows_history, weights=weights)


def by_person(reached: Floats | Mask, persons: Ints | None, *, history: bool) -> Floats:
    """What is reached of each person, of whom one of the given records is known, or all; of each record if None."""
    if persons is None:
        return np.asarray(reached, dtype=np.float64)
    _, place, counts = np.unique(persons, return_inverse=True, return_counts=True)
    if not history:
        return np.asarray(np.bincount(place, reached, minlength=len(counts)) / counts)
    most = np.zeros(len(counts))
    np.maximum.at(most, place, reached)
    return most


def n_distinct(groups: Ints | Codes, persons: Ints | None, n_groups: int, weights: Codes | None = None) -> Ints:
    """How many persons each group has, or records if None, of which a row may stand for several."""
    if persons is not None:
        width = int(persons.max(initial=0)) + 1
        groups = np.unique(groups.astype(np.int64) * width + persons) // width
    if persons is None and weights is not None:
        return np.bincount(groups, weights, minlength=n_groups).astype(np.int64)
    return np.bincount(groups, minlength=n_groups).astype(np.int64)
