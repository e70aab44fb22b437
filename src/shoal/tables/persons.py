"""Persons in the place of records: what a group's limits count where a person may have several records.

In each group a person counts once for each of its values, however many records show it. With P persons in a group, of
whom p_v have the value v, the share of v is p_v / P; a person with two values counts for both, so that shares may sum
to more than 1. Where a model compares whole distributions (the entropy, t-closeness) they are of the sum of all p_v
instead. Distinct values are those that can each be given to a person of its own who has it.

References
----------
K. Wang, B. C. M. Fung, "Anonymizing sequential releases", KDD 2006: (X, Y)-anonymity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints, Mask, Rows
from shoal.kernels.tables import diversity
from shoal.kernels.tables.diversity import counts_violating
from shoal.models.base import Counts

if TYPE_CHECKING:
    from shoal.tables.encoding import Ranked
    from shoal.tables.limits import Limit

BLOCK_GROUPS, FEWEST_BLOCK_GROUPS = 160, 40
"""Groups of k persons to a block in which groups grow: the work grows with the block, the loss shrinks with it.

Chosen on RandHIE, k = 5, where twice as many lose as much, at twice the work. With all of its columns
a quarter as many lose 3 % more, and of Diabetes 130 less: large tables get as few, at a quarter of the work."""
MOST_CELLS = 1_600_000
"""Cells, and `OF_A_RECORD` more a record, of a table with the largest blocks; what is larger has smaller ones."""
OF_A_RECORD = 10

OF_PERSONS = (diversity.PROBABILISTIC, diversity.ALPHA, diversity.BASIC, diversity.ENHANCED)
"""The models whose shares are of persons; the others compare distributions, which sum to 1."""


@dataclass(frozen=True)
class PersonCounts:
    """Whose each record is, and the whole table by persons.

    Attributes
    ----------
    persons : int64 array (n_rows,)
    totals : int64 array (n_values,)
        Persons of the whole table with each value.
    n_persons : int
        Persons of the whole table.
    """

    persons: Ints
    totals: Ints
    n_persons: int

    @classmethod
    def of(cls, persons: Ints, codes: Codes, n_values: int) -> PersonCounts:
        """Count the persons with each value."""
        dense = np.unique(persons, return_inverse=True)[1]
        pairs = np.unique(dense * n_values + codes)
        return cls(persons, np.bincount(pairs % n_values, minlength=n_values), int(dense.max(initial=-1)) + 1)

    def of_rows(self, rows: npt.NDArray[np.integer]) -> PersonCounts:
        """Some of the records, beside the same whole table."""
        return replace(self, persons=self.persons[rows])


def broken_by_person(limit: Limit, labels: npt.NDArray[np.integer], n_groups: int) -> Mask:
    """Which groups fail a limit on sensitive values, counting persons; a negative label is no group."""
    from shoal.tables.limits import arrays_of

    whole = limit.by_person
    assert whole is not None
    there = np.flatnonzero(labels >= 0)
    group, value, person = labels[there].astype(np.int64), limit.codes[there], whole.persons[there]
    owners, owner = np.unique(_joined(group, person), return_inverse=True)
    n_persons = np.bincount(owners // (int(person.max(initial=0)) + 1), minlength=n_groups)
    keys, pair = np.unique(group * limit.n_values + value, return_inverse=True)
    held = np.unique(_joined(pair, owner))
    held_pair, held_owner = np.divmod(held, int(owner.max(initial=0)) + 1)
    counts = np.bincount(held_pair, minlength=len(keys))
    groups, values = np.divmod(keys, limit.n_values)
    sizes = np.bincount(groups, minlength=n_groups)
    if limit.own is not None:
        there, starts, dense = np.unique(groups, return_index=True, return_inverse=True)
        broken = np.zeros(n_groups, dtype=bool)
        broken[there] = limit.own.fails(Counts(dense, values, counts, starts, n_persons[there], whole.totals))
        return broken
    if limit.model == diversity.DISTINCT:
        known = values[held_pair] != limit.unknown
        n_distinct = np.bincount(groups[matched(held_pair[known], held_owner[known])], minlength=n_groups)
        return np.asarray((n_distinct < limit.parameter) & (sizes > 0))
    sums = np.bincount(groups, counts, minlength=n_groups).astype(np.int64)
    is_share = limit.model in OF_PERSONS
    arrays = arrays_of([replace(limit, counts=whole.totals, by_person=None)], len(labels))
    if is_share:
        arrays = arrays._replace(totals=np.array([whole.n_persons], dtype=np.int64))
    return counts_violating(
        arrays,
        values.astype(np.int32),
        counts.astype(np.int32),
        np.cumsum(sizes).astype(np.int64),
        (n_persons if is_share else sums).astype(np.int64),
    )


def by_appearance(persons: Ints) -> Ints:
    """Number persons in the order in which their records come, which a secret decides, and not that of their keys."""
    _, first, numbers = np.unique(persons, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first, kind="stable")] = np.arange(len(first))
    return place[numbers]


def repeat(persons: Ints | None) -> bool:
    """Whether persons count, and one has several records."""
    return persons is not None and int(persons.max(initial=0)) + 1 < len(persons)


def block_groups(n_rows: int, n_columns: int) -> int:
    """Groups of k persons to a block of a table.

    >>> block_groups(20_000, 6), block_groups(100_000, 46), block_groups(100_000, 10)
    (160, 45, 128)
    """
    fitting = BLOCK_GROUPS * MOST_CELLS // (max(1, n_rows) * (n_columns + OF_A_RECORD))
    return min(BLOCK_GROUPS, max(FEWEST_BLOCK_GROUPS, fitting))


def person_labels(ranked: Sequence[Ranked], persons: Ints, k: int, blocks: npt.NDArray[np.integer[Any]]) -> Codes:
    """Grow groups of records of k different persons inside blocks of near records; see the kernel.

    Groups by a partition of records alone would mostly be of the records of one or two persons, which lie nearest to
    each other, and merging those until they are of k would lose what the partition gained.
    """
    from shoal.kernels.tables.person_groups import grow_person_groups
    from shoal.tables.information_loss import width_points

    points = width_points(ranked)
    rows = np.argsort(blocks, kind="stable").astype(np.int64)
    ends = np.cumsum(np.bincount(blocks)).astype(np.int64)
    labels = np.empty(len(persons), dtype=np.int32)
    codes = np.unique(persons, return_inverse=True)[1].astype(np.int32)
    grow_person_groups(points.points, points.weights, codes, rows, ends[np.diff(ends, prepend=0) > 0], k, labels)
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def matched(pairs: npt.NDArray[np.integer], owners: npt.NDArray[np.integer]) -> Rows:
    """The pairs of group and value that have a person of their own, in a matching of the largest size."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    if not len(pairs):
        return np.zeros(0, dtype=np.intp)
    shape = (int(pairs.max()) + 1, int(owners.max()) + 1)
    ends = (pairs.astype(np.int32), owners.astype(np.int32))  # of 64 bits the oldest scipy makes no matching
    graph = csr_array((np.ones(len(pairs), dtype=np.int8), ends), shape=shape)
    return np.flatnonzero(maximum_bipartite_matching(graph, perm_type="column") >= 0)


def whole_persons(persons: Ints, rows: Rows) -> Rows:
    """Those of the rows whose persons have all of their rows among them: of a person all rows are published or none."""
    n_all, n_left = np.bincount(persons), np.bincount(persons[rows], minlength=int(persons.max()) + 1)
    return np.asarray(rows[(n_all == n_left)[persons[rows]]])


def _joined(first: npt.NDArray[np.integer], second: npt.NDArray[np.integer]) -> Ints:
    return np.asarray(first.astype(np.int64) * (int(second.max(initial=0)) + 1) + second)
