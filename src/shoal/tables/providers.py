"""Providers who look at a release with their own rows in hand: what is left of groups without these.

A coalition of m providers takes its own rows away from every group that it sees. m-privacy asks that what is required
holds of the rest, whichever up to m providers they are: of every group that rest has k records, and it meets the
limits on sensitive values, relative ones beside the rest of the whole table. A group of which a coalition holds every
row meets nothing.

The union of two groups that meet it meets it, for any model whose unions are never worse: without the rows of a
coalition it is the union of what is left of both.

References
----------
S. Goryczka, L. Xiong, B. C. M. Fung, "m-privacy for collaborative data publishing", CollaborateCom 2011; IEEE TKDE
26(10), 2014.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints, Mask, Rows
from shoal.errors import PolicyError
from shoal.kernels.tables import diversity
from shoal.kernels.tables.diversity import counts_violating
from shoal.tables.persons import PersonCounts

if TYPE_CHECKING:
    from shoal.tables.limits import Limit

MOST_COALITIONS = 20_000
"""Of the whole table: a model that compares with the whole is tried with each of them."""


@dataclass(frozen=True)
class ProviderRows:
    """From whom each row is, and the whole table to compare with.

    Attributes
    ----------
    codes : int32 array (n_rows,)
        The provider of each row.
    coalition : int
        How many may put their rows together.
    whole : int32 array (n_all,)
        The provider of each row of the whole table.
    values : int32 array (n_all,)
        Their sensitive values.
    persons : int64 array (n_all,), optional
        Whose they are, where persons count.
    """

    codes: Codes
    coalition: int
    whole: Codes
    values: Codes
    persons: Ints | None = None

    @classmethod
    def of(cls, limit: Limit, providers: Ints, coalition: int) -> ProviderRows:
        """For a limit on the whole table."""
        codes = np.unique(providers, return_inverse=True)[1].astype(np.int32)
        persons = None if limit.by_person is None else limit.by_person.persons
        return cls(codes, coalition, codes, limit.codes, persons)

    def of_rows(self, rows: npt.NDArray[np.integer]) -> ProviderRows:
        """Some of the rows, beside the same whole table."""
        return replace(self, codes=self.codes[rows])

    def among(self, rows: npt.NDArray[np.integer], values: Codes) -> ProviderRows:
        """Some of the rows as the whole table, with their values numbered anew."""
        persons = None if self.persons is None else self.persons[rows]
        return replace(self, codes=self.codes[rows], whole=self.codes[rows], values=values, persons=persons)


def broken_by_coalition(limit: Limit, labels: npt.NDArray[np.integer], n_groups: int) -> Mask:
    """Which groups fail a limit once some providers take their rows away; a negative label is no group.

    Groups that fail it as they are need not be told.
    """
    whose = limit.by_provider
    assert whose is not None
    rows = np.flatnonzero(labels >= 0)
    broken = np.zeros(n_groups, dtype=bool)
    if not len(rows):
        return broken
    groups, providers = labels[rows].astype(np.int64), whose.codes[rows].astype(np.int64)
    width = int(providers.max()) + 1
    pairs, place, counts = np.unique(groups * width + providers, return_inverse=True, return_counts=True)
    home = pairs // width
    n_providers = np.bincount(home, minlength=n_groups)
    broken[:] = (n_providers > 0) & (n_providers <= whose.coalition)
    is_open = (n_providers > 0) & ~broken
    plain = replace(limit, by_provider=None)
    if limit.is_relative:
        return broken | _broken_beside_rest(plain, whose, labels, is_open)
    if limit.model == diversity.DISTINCT and limit.by_person is None:
        is_settled, fails = _distinct_left(plain, whose.coalition, rows, groups, providers, n_groups)
        broken |= is_open & is_settled & fails
        is_open &= ~is_settled
    elif limit.own is None and limit.by_person is None and limit.unknown < 0:
        taken = sums_of_largest(home, counts, n_groups, whose.coalition)
        is_open &= _may_fail(plain, rows, groups, taken, n_groups)
    # The providers of each group, numbered in it.
    local = (np.arange(len(pairs)) - (np.cumsum(n_providers) - n_providers)[home])[place]
    some = is_open[groups]
    rows, groups, local = rows[some], groups[some], local[some]
    most = int(n_providers[is_open].max(initial=0))
    for members in coalitions(most, whose.coalition):
        there = (n_providers > members[-1])[groups] & ~broken[groups]
        left = there & ~np.isin(local, members)
        broken |= _violating(plain.of_rows(rows[left]), groups[left], n_groups)
    return broken


def coalitions(n_providers: int, most: int) -> Iterator[tuple[int, ...]]:
    """Every coalition of 1 to `most` of the providers, as their numbers, ascending.

    >>> list(coalitions(3, 2))
    [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    """
    for size in range(1, most + 1):
        yield from combinations(range(n_providers), size)


def sums_of_largest(groups: Ints, counts: Ints, n_groups: int, n: int) -> Ints:
    """The sum of the n largest counts of each group.

    >>> sums_of_largest(np.array([0, 0, 0, 2]), np.array([4, 1, 3, 5]), 3, 2).tolist()
    [7, 0, 5]
    """
    order = np.lexsort((-counts, groups))
    sizes = np.bincount(groups, minlength=n_groups)
    place = np.arange(len(order)) - (np.cumsum(sizes) - sizes)[groups[order]]
    top = order[place < n]
    return np.bincount(groups[top], counts[top], minlength=n_groups).astype(np.int64)


def _violating(limit: Limit, groups: Ints, n_groups: int) -> Mask:
    """Which of all groups fail, of which some rows are given."""
    from shoal.tables.limits import violations

    broken = np.zeros(n_groups, dtype=bool)
    if len(groups):
        there, dense = np.unique(groups, return_inverse=True)
        broken[there] = violations(dense.astype(np.int32), [limit])
    return broken


def _distinct_left(
    limit: Limit, coalition: int, rows: Rows, groups: Ints, providers: Ints, n_groups: int
) -> tuple[Mask, Mask]:
    """Which groups are settled by counting, and which of these hold too few values without some coalition.

    A value that more providers have than are in a coalition stays. Of the others a coalition takes at most as many as
    its members have; exactly so many where each is had by one provider.
    """
    width = int(providers.max()) + 1
    codes = limit.codes[rows].astype(np.int64)
    known = codes != limit.unknown
    triples = np.unique((groups[known] * limit.n_values + codes[known]) * width + providers[known])
    pairs, of_triple, n_holders = np.unique(triples // width, return_inverse=True, return_counts=True)
    distinct = np.bincount(pairs // limit.n_values, minlength=n_groups)
    can_go = n_holders[of_triple] <= coalition
    home = triples // width // limit.n_values
    held, counts = np.unique(home[can_go] * width + triples[can_go] % width, return_counts=True)
    left = distinct - sums_of_largest(held // width, counts, n_groups, coalition)
    is_shared = np.zeros(n_groups, dtype=bool)
    is_shared[home[can_go & (n_holders[of_triple] > 1)]] = True
    fails = left < limit.parameter
    return ~fails | ~is_shared, fails


def _may_fail(limit: Limit, rows: Rows, groups: Ints, taken: Ints, n_groups: int) -> Mask:
    """Which groups fail if as many records are taken away as a coalition has at most, those with the rarest values.

    No other way to take as many away leaves fewer values, or less even ones.
    """
    from shoal.tables.limits import arrays_of

    keys, counts = np.unique(groups * limit.n_values + limit.codes[rows], return_counts=True)
    home, values = np.divmod(keys, limit.n_values)
    n_values = np.bincount(home, minlength=n_groups)
    rarest = np.lexsort((counts, home))
    before = np.cumsum(counts[rarest]) - counts[rarest]
    start = before[np.minimum(np.cumsum(n_values) - n_values, len(before) - 1)]
    gone = np.clip(taken[home[rarest]] - (before - start[home[rarest]]), 0, counts[rarest])
    left = counts.copy()
    left[rarest] -= gone
    return counts_violating(
        arrays_of([limit], len(limit.codes)),
        values.astype(np.int32),
        left.astype(np.int32),
        np.cumsum(n_values).astype(np.int64),
        np.maximum(np.bincount(home, left, minlength=n_groups), 1).astype(np.int64),
    )


def _broken_beside_rest(limit: Limit, whose: ProviderRows, labels: npt.NDArray[np.integer], is_open: Mask) -> Mask:
    """The same of a model that compares groups with the whole table: of both, what the coalition has is gone."""
    n_all = int(whose.whole.max()) + 1
    n_coalitions = sum(comb(n_all, size) for size in range(1, whose.coalition + 1))
    if n_coalitions > MOST_COALITIONS:
        raise PolicyError(
            f"{limit.text} would have to be tried without each of {n_coalitions:,} coalitions of {n_all:,} providers; "
            "lower coalition, join small providers into one, or require l-diversity"
        )
    broken = np.zeros(len(is_open), dtype=bool)
    for members in coalitions(n_all, whose.coalition):
        is_member = np.zeros(n_all, dtype=bool)
        is_member[list(members)] = True
        rest = np.flatnonzero(~is_member[whose.whole])
        left = np.flatnonzero((labels >= 0) & ~is_member[whose.codes] & (is_open & ~broken)[labels])
        if not len(left):
            continue
        counts = np.bincount(whose.values[rest], minlength=limit.n_values)
        used = counts > 0
        place = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
        held = replace(
            limit,
            codes=place[limit.codes[left]],
            counts=counts[used],
            ancestors=None if limit.ancestors is None else np.ascontiguousarray(limit.ancestors[used]),
        )
        if limit.by_person is not None and whose.persons is not None:
            totals = PersonCounts.of(whose.persons[rest], place[whose.values[rest]], int(used.sum()))
            held = replace(held, by_person=replace(totals, persons=limit.by_person.persons[left]))
        broken |= _violating(held, labels[left].astype(np.int64), len(is_open))
    return broken
