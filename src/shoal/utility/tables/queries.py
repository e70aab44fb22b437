"""Count queries: how well a release answers "how many records have ...".

A query is a conjunction of predicates over some quasi-identifiers: a range of numbers, dates, ordered categories or
neighbouring leaves of a taxonomy, a set of plain categories. Its true answer is a count over the original. A reader of
the release takes every value that a label covers for equally likely (`reading`), so the estimate is the sum over all
groups of their size times the product of the shares of their labels that satisfy the predicates. Missing cells satisfy
no predicate.

- **Relative error**: ``|estimate - true| / max(true, bound)``, where the sanity bound is a small share of all records.
- **Imprecision**: the records of all groups whose labels overlap the query, less those that satisfy it, over all.

References
----------
X. Xiao, Y. Tao, "Anatomy: simple and effective privacy preservation", VLDB 2006 (random count queries of a given
selectivity, estimates under uniformity); K. LeFevre, D. DeWitt, R. Ramakrishnan, "Workload-aware anonymization
techniques for large-scale datasets", ACM TODS 33(3), 2008 (imprecision); the bound is that of J. Vitter, M. Wang,
"Approximate computation of multidimensional aggregates of sparse data using wavelets", SIGMOD 1999.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints, Mask, Rows
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table
from shoal.errors import PolicyError
from shoal.utility.measured import Z_95
from shoal.utility.tables.grouping import Grouping
from shoal.utility.tables.reading import Categories, Labels, Ranges, Reading, ReadNumbers, Sets, read_published
from shoal.utility.tables.scale import Scale, scale_of

BLOCK_CELLS = 2**22
AFFORDABLE_CELLS = 2**23  # about a third of a second
FEWEST_QUERIES, MOST_QUERIES = 100, 500
DENSE = 2**16  # so many combinations of states are counted without sorting
MOST_COMPARED = 62  # values whose sets fit into the bits of an integer
SORTING = 8  # a random set sorts the values of its attribute


@dataclass(frozen=True)
class QueryError:
    """Errors of count queries on a release.

    Attributes
    ----------
    n_queries, n_attributes : int
        Queries asked, predicates in each.
    selectivity : float
        Median share of all records that satisfies a query.
    median_error : float
        Median relative error: 0 the best.
    median_low, median_high : float
        95 % confidence interval of that median over random queries.
    mean_error, worst_tenth : float
        Mean relative error; the error that one query in ten exceeds.
    imprecision : float
        Mean share of records that a reader cannot exclude although they do not satisfy the query.
    sanity_bound : float
        Share of all records below which a true count does not make an error larger.
    """

    n_queries: int
    n_attributes: int
    selectivity: float
    median_error: float
    median_low: float
    median_high: float
    mean_error: float
    worst_tenth: float
    imprecision: float
    sanity_bound: float

    def to_dict(self) -> dict[str, float | int]:
        """JSON-ready."""
        return asdict(self)


@dataclass(frozen=True)
class Queries:
    """Conjunctions over attributes, in arrays of one row a query.

    Attributes
    ----------
    asked : bool array (n_queries, n_scales)
        Which attributes a query speaks of.
    low, high : float64 arrays (n_queries, n_scales)
        Ends of ranges, both inside: positions of numbers, ranks of other ordered values.
    sets : tuple of (bool array (n_queries, n_values) or None)
        Values that satisfy a query, for plain categories.
    """

    asked: Mask
    low: Floats
    high: Floats
    sets: tuple[Mask | None, ...]

    def __len__(self) -> int:
        return len(self.asked)

    def part(self, first: int, last: int) -> Queries:
        """Some of the queries."""
        at = slice(first, last)
        sets = tuple(None if s is None else s[at] for s in self.sets)
        return replace(self, asked=self.asked[at], low=self.low[at], high=self.high[at], sets=sets)


def query_error(
    original: Table,
    published: Table,
    rows: Rows,
    groups: Codes,
    attributes: Mapping[str, Attribute],
    *,
    n_queries: int = 1000,
    n_attributes: int = 2,
    selectivity: float = 0.05,
    sanity_bound: float = 0.001,
    seed: int | np.random.SeedSequence = 0,
) -> QueryError:
    """Ask random count queries of the original and of the release.

    Parameters
    ----------
    original, published, rows, groups, attributes
        As in `measure`; queries are about quasi-identifiers.
    n_queries : int
        How many.
    n_attributes : int
        Predicates in each; at most as many as there are quasi-identifiers.
    selectivity : float
        Share of the records that would satisfy a query if attributes were independent.
    sanity_bound : float
        Least true count that errors are relative to, as a share of the records.
    seed : int or SeedSequence
        The same seed asks the same queries.
    """
    if n_queries < 1 or n_attributes < 1 or not 0 < selectivity <= 1 or not 0 < sanity_bound <= 1:
        raise PolicyError(
            "random queries need at least one query, at least one attribute, and a selectivity and a bound in (0, 1]"
        )
    grouping, kept = Grouping.of(original.n_rows, rows, groups)
    names = [n for n, a in attributes.items() if a.role == "quasi" and n in original.columns and n in published.columns]
    if not names or not original.n_rows:
        raise PolicyError("there is no quasi-identifier or no record to ask about; give at least one of each")
    scales = [scale_of(original[n], attributes[n]) for n in names]
    readings = [read_published(s, published[s.name], kept, grouping) for s in scales]
    return ask(
        scales,
        readings,
        grouping,
        n_queries,
        n_attributes=n_attributes,
        selectivity=selectivity,
        sanity_bound=sanity_bound,
        seed=seed,
    )


def ask(
    scales: Sequence[Scale],
    readings: Sequence[Reading],
    grouping: Grouping,
    n_queries: int,
    *,
    n_attributes: int = 2,
    selectivity: float = 0.05,
    sanity_bound: float = 0.001,
    seed: int | np.random.SeedSequence = 0,
) -> QueryError:
    """The same for attributes that were read already."""
    n_attributes = min(n_attributes, len(scales))
    queries = random_queries(scales, n_queries, n_attributes, selectivity, seed)
    true = true_counts(scales, queries)
    estimate, overlap = estimated_counts(scales, readings, grouping, queries)
    return summarise(true, estimate, overlap, grouping.n_rows, n_attributes, sanity_bound)


def enough_queries(scales: Sequence[Scale]) -> int:
    """How many queries every report can afford: 500, and fewer, at least 100, where records or values are many."""
    cost = len(scales[0].codes) + SORTING * max((s.n_values for s in scales if _line(s) is None), default=0)
    return max(FEWEST_QUERIES, min(MOST_QUERIES, AFFORDABLE_CELLS // max(cost, 1)))


def summarise(
    true: Ints, estimate: Floats, overlap: Floats, n_rows: int, n_attributes: int, sanity_bound: float
) -> QueryError:
    """Errors from true, estimated and overlapping counts."""
    error = np.sort(np.abs(estimate - true) / np.maximum(true, sanity_bound * n_rows))
    n = len(error)
    # Ranks of the sorted errors between which the median lies, from the binomial distribution.
    reach = Z_95 * np.sqrt(n) / 2
    low, high = max(0, int(np.floor(n / 2 - reach))), min(n - 1, int(np.ceil(n / 2 + reach)))
    return QueryError(
        n_queries=n,
        n_attributes=n_attributes,
        selectivity=float(np.median(true)) / n_rows,
        median_error=float(np.median(error)),
        median_low=float(error[low]),
        median_high=float(error[high]),
        mean_error=float(error.mean()),
        worst_tenth=float(np.quantile(error, 0.9)),
        # Of a release that moved values, fewer records may overlap than satisfy the query: then nothing is left over.
        imprecision=float(np.maximum(overlap - true, 0).mean()) / n_rows,
        sanity_bound=sanity_bound,
    )


def random_queries(
    scales: Sequence[Scale], n_queries: int, n_attributes: int, selectivity: float, seed: int | np.random.SeedSequence
) -> Queries:
    """Queries whose predicates hold ``selectivity ** (1 / n_attributes)`` of the records each.

    A range starts at a random quantile of the attribute's present cells and ends that share later; a set takes values
    in random order, at least one, while that brings it nearer to the share. Frequent values make both larger than
    asked.
    """
    rng = np.random.default_rng(seed)
    share = selectivity ** (1 / n_attributes)
    order = rng.random((n_queries, len(scales))).argsort(axis=1, kind="stable")
    asked = order < n_attributes
    low, high = np.zeros(asked.shape), np.zeros(asked.shape)
    sets: list[Mask | None] = []
    for j, scale in enumerate(scales):
        counts = scale.counts[:-1]
        line = _line(scale)
        if line is None:
            sets.append(_random_sets(counts, n_queries, share, rng))
            continue
        sets.append(None)
        by_line = np.argsort(line, kind="stable")
        ends = np.cumsum(counts[by_line])
        total = int(ends[-1]) if len(ends) else 0
        start = np.floor(rng.random(n_queries) * max((1 - share) * total, 1.0))
        last = np.minimum(start + max(share * total, 1.0) - 1, max(total - 1, 0))
        if total:
            low[:, j] = line[by_line[np.searchsorted(ends, start, side="right")]]
            high[:, j] = line[by_line[np.searchsorted(ends, last, side="right")]]
    return Queries(asked, low, high, tuple(sets))


def _line(scale: Scale) -> Floats | None:
    """Where the values lie on a line: numbers, ranks, leaves from left to right; None for plain categories."""
    if scale.positions is not None:
        return scale.positions
    return None if scale.ancestors is None else scale.ancestors[:, 0].astype(np.float64)


def _random_sets(counts: Ints, n_queries: int, share: float, rng: np.random.Generator) -> Mask:
    chosen = np.zeros((n_queries, len(counts)), dtype=bool)
    block = max(1, BLOCK_CELLS // max(len(counts), 1))
    for first in range(0, n_queries, block):
        part = chosen[first : first + block]
        order = rng.random(part.shape).argsort(axis=1, kind="stable")
        middle = np.cumsum(counts[order], axis=1) - counts[order] / 2
        fits = middle <= share * counts.sum()
        fits[:, :1] = True
        np.put_along_axis(part, order, np.logical_and.accumulate(fits, axis=1), axis=1)
    return chosen


def true_counts(scales: Sequence[Scale], queries: Queries) -> Ints:
    """How many original records satisfy each query."""

    def satisfied(j: int, at: Rows) -> tuple[Mask, ...]:
        return (_satisfied(scales[j], queries, j, at),)

    states = [_States(scale.codes, scale.n_values + 1) for scale in scales]
    weights = scales[0].weights
    return np.rint(
        _sums(queries, states, satisfied, None if weights is None else weights.astype(np.float64))[0]
    ).astype(np.int64)


@dataclass(frozen=True)
class _States:
    """What distinguishes units in one attribute: the state of each unit, below `n_states`."""

    of_unit: npt.NDArray[np.integer[Any]]
    n_states: int


def _sums(
    queries: Queries,
    states: Sequence[_States],
    shares: Callable[[int, Rows], tuple[npt.NDArray[Any], ...]],
    weights: Floats | None = None,
) -> tuple[Floats, ...]:
    """Over all units, the sum of weight, or 1, times the product of shares, of each query.

    Queries that ask about the same attributes are answered together, from how often the states of these attributes
    meet: units are many, and states that meet are few.

    Parameters
    ----------
    shares : callable
        Of an attribute and some queries that ask about it: one or more arrays (n_queries, n_states).
    """
    results: list[Floats] = []
    which, kind = np.unique(queries.asked, axis=0, return_inverse=True)
    for i, asked in enumerate(which):
        at, attributes = np.flatnonzero(kind.ravel() == i), np.flatnonzero(asked).tolist()
        places, counts = _meetings([states[j] for j in attributes], len(states[0].of_unit), weights)
        block = max(1, BLOCK_CELLS // max(len(counts), *(states[j].n_states for j in attributes), 1))
        for first in range(0, len(at), block):
            part = at[first : first + block]
            products: list[Floats] = []
            for j, place in zip(attributes, places, strict=True):
                found = [side[:, place].astype(np.float64) for side in shares(j, part)]
                products = found if not products else [p * f for p, f in zip(products, found, strict=True)]
            if not results:
                results = [np.zeros(len(queries)) for _ in products]
            for result, product in zip(results, products, strict=True):
                result[part] = product @ counts
    return tuple(results)


def _meetings(states: Sequence[_States], n_units: int, weights: Floats | None) -> tuple[list[Rows], Floats]:
    """The combinations of states that occur, one array an attribute, and the weight of the units that have each."""
    key, span = np.zeros(n_units, dtype=np.int64), 1
    for state in states:
        if span > 2**62 // max(state.n_states, 1):
            break
        key = key * state.n_states + state.of_unit
        span *= state.n_states
    else:
        if span <= max(4 * n_units, DENSE):
            keys = np.flatnonzero(np.bincount(key, minlength=1))
            counts = np.bincount(key, weights, minlength=1)[keys].astype(np.float64)
        elif weights is None:
            keys, n_each = np.unique(key, return_counts=True)
            counts = n_each.astype(np.float64)
        else:
            keys, inverse = np.unique(key, return_inverse=True)
            counts = np.bincount(inverse, weights, minlength=len(keys)).astype(np.float64)
        places = []
        for state in reversed(states):
            keys, place = np.divmod(keys, state.n_states)
            places.append(place)
        return places[::-1], counts
    places = [np.asarray(state.of_unit, dtype=np.intp) for state in states]
    return places, np.ones(n_units) if weights is None else weights


def _satisfied(scale: Scale, queries: Queries, j: int, at: Rows) -> Mask:
    """Which values satisfy some of the queries; the last column, of missing cells, never does."""
    result = np.zeros((len(at), scale.n_values + 1), dtype=bool)
    line, chosen = _line(scale), queries.sets[j]
    if chosen is not None:
        result[:, :-1] = chosen[at]
    elif line is not None:
        result[:, :-1] = (line >= queries.low[at, j, None]) & (line <= queries.high[at, j, None])
    return result


def estimated_counts(
    scales: Sequence[Scale], readings: Sequence[Reading], grouping: Grouping, queries: Queries
) -> tuple[Floats, Floats]:
    """Expected records of the release that satisfy each query, and records of groups that overlap it.

    Groups are the units of the sum, or records where a column shows single values that may differ inside a group.
    """
    by_record = any(isinstance(r, ReadNumbers | Categories) for r in readings)
    of_units = grouping.weights if by_record else grouping.sizes
    weights = None if of_units is None else of_units.astype(np.float64)
    shown = [_shown(scale, reading, grouping) for scale, reading in zip(scales, readings, strict=True)]
    states = [
        _States(state[grouping.labels], n)
        if by_record and not isinstance(reading, ReadNumbers | Categories)
        else _States(state, n)
        for reading, (state, n, _) in zip(readings, shown, strict=True)
    ]
    estimate, overlap = _sums(queries, states, lambda j, at: shown[j][2](queries, j, at), weights)
    return estimate, overlap


_Shares = Callable[[Queries, int, "Rows"], tuple[Floats, Mask]]


def _shown(scale: Scale, reading: Reading, grouping: Grouping) -> tuple[npt.NDArray[np.integer[Any]], int, _Shares]:
    """What a column can show: the state of each record or group, how many there are, and what satisfies some queries.

    Of each state that is the share that satisfies a query, and whether any of it could.
    """
    if isinstance(reading, ReadNumbers):
        values, place = np.unique(reading.values, return_inverse=True)

        def of_numbers(queries: Queries, j: int, at: Rows) -> tuple[Floats, Mask]:
            inside = (values >= queries.low[at, j, None]) & (values <= queries.high[at, j, None])
            return inside.astype(np.float64), inside

        return place, len(values), of_numbers
    if isinstance(reading, Categories):

        def of_categories(queries: Queries, j: int, at: Rows) -> tuple[Floats, Mask]:
            inside = _satisfied(scale, queries, j, at)
            return inside.astype(np.float64), inside

        return reading.codes, scale.n_values + 1, of_categories
    if isinstance(reading, Ranges):
        present = reading.weights / np.maximum(grouping.sizes, 1)
        first, state = _distinct(reading.low, reading.high, present)
        some = replace(reading, low=reading.low[first], high=reading.high[first], weights=reading.weights[first])

        def of_ranges(queries: Queries, j: int, at: Rows) -> tuple[Floats, Mask]:
            return _range_shares(some, present[first], queries.low[at, j, None], queries.high[at, j, None])

        return state, len(first), of_ranges
    if isinstance(reading, Sets):
        first, state = _distinct_sets(reading, grouping.n_groups)
        chosen = np.zeros(grouping.n_groups, dtype=bool)
        chosen[first] = True
        kept = chosen[reading.group]
        owner = np.cumsum(chosen)[reading.group[kept]] - 1
        code, weight = reading.code[kept], reading.share[kept]

        def of_sets(queries: Queries, j: int, at: Rows) -> tuple[Floats, Mask]:
            share = _summed(_satisfied(scale, queries, j, at), owner, code, weight, len(first))
            return share, share > 0

        return state, len(first), of_sets
    assert isinstance(reading, Labels)
    label, value, part = reading.table
    first, state = _distinct(reading.label, reading.missing)

    def of_labels(queries: Queries, j: int, at: Rows) -> tuple[Floats, Mask]:
        by_label = _summed(_satisfied(scale, queries, j, at), label, value, part, reading.n_labels)
        share = by_label[:, reading.label[first]] * (1 - reading.missing[first])
        return share, share > 0

    return state, len(first), of_labels


def _distinct(*columns: npt.NDArray[Any]) -> tuple[Rows, Rows]:
    """The first place of each distinct row of some columns, and the number of the row of each place."""
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        values, place = np.unique(column, return_inverse=True)
        key = np.unique(key * len(values) + place, return_inverse=True)[1]
    _, first, state = np.unique(key, return_index=True, return_inverse=True)
    return first, state


def _distinct_sets(reading: Sets, n_groups: int) -> tuple[Rows, Rows]:
    """The same of the sets of values of groups, in their order; of very many values each group counts as its own."""
    if reading.n_values >= MOST_COMPARED or not n_groups:
        return np.arange(n_groups), np.arange(n_groups)
    starts = np.flatnonzero(np.diff(reading.group, prepend=-1))
    _, first, state = np.unique(
        np.add.reduceat(np.left_shift(np.int64(1), reading.code), starts), return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    return first[order], np.argsort(order)[state]


def _summed(satisfied: Mask, owner: Ints, code: Ints, weight: Floats, n_owners: int) -> Floats:
    """Sum the weights of satisfying values over each owner; pairs come sorted by owner."""
    result = np.zeros((len(satisfied), n_owners))
    used, starts = np.unique(owner, return_index=True)
    block = max(1, BLOCK_CELLS // max(len(code), 1))
    for first in range(0, len(satisfied), block):
        part = satisfied[first : first + block, code] * weight
        if part.shape[1]:
            result[first : first + block, used] = np.add.reduceat(part, starts, axis=1)
    return result


def _range_shares(reading: Ranges, present: Floats, low: Any, high: Any) -> tuple[Floats, Mask]:
    reach = 0.5 if reading.is_whole else 0.0
    first, last = reading.low - reach, reading.high + reach
    touches = (reading.low <= high) & (reading.high >= low) & (reading.weights > 0)
    width = last - first
    length = np.minimum(last, high + reach) - np.maximum(first, low - reach)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = np.where(width > 0, length / width, 1.0)
    return np.where(touches, np.clip(np.nan_to_num(share), 0.0, 1.0) * present, 0.0), touches
