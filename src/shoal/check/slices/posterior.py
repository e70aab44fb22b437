"""What an attacker believes of a person's sensitive value after reading a sliced table.

The attacker knows all quasi-identifiers of the person, t, and that every slice was permuted inside its bucket, apart
from the others; where several slices carry the sensitive value, they are joined on it. With the rows n(B, s) of bucket
B that hold s, |B| rows in all, and of slice i the n_i(t, B, s) rows that cover t and hold s, or the n_i(t, B) that
cover t where it carries no sensitive value,

    W(t, B, s) = n(B, s) * prod over carrying i of n_i(t, B, s) / n(B, s) * prod over others of n_i(t, B) / |B|
    p(t, s)    = sum over B of W(t, B, s) / sum over B and s' of W(t, B, s')

W is the number of rows that would read (t, s) in B, on the average over all permutations: the belief of one to whom
all permutations are alike. With one carrying slice and one bucket it is the posterior of slicing.

The paper's own check (Fig. 2) leaves the join out: a bucket's weight is the product over all slices of the share of
rows that cover t, without the bucket's size, and the sensitive values are those of one slice. It is computed too, to
show the difference.

References
----------
S. Rakesh Subramanian, "Screening: preserving the sensitive information during data mining", section 5.3, Fig. 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.check.slices.matching import Matching, spread
from shoal.check.slices.sliced import Part, numbered
from shoal.data.tables.table import counted

_AT_ONCE = 1 << 22  # pairs of class and sensitive value that are held at a time


@dataclass(frozen=True)
class Shares:
    """Some distributions of sensitive values.

    Attributes
    ----------
    ids : int64 array (n_classes,)
        The class that each distribution is of.
    classes, values, shares : arrays (n_pairs,)
        Place in `ids` and value, ascending, and the probability, which is not 0.
    starts : int64 array (n_classes,)
        The first pair of each class.
    """

    ids: Ints
    classes: Ints
    values: Ints
    shares: Floats
    starts: Ints

    def largest(self) -> Floats:
        """The probability of the likeliest value of each."""
        return np.maximum.reduceat(self.shares, self.starts)

    def read_as(self, value_of: Ints, n_values: int) -> Shares:
        """The same distributions of what is read out of each value."""
        keys, group = np.unique(self.classes * n_values + value_of[self.values], return_inverse=True)
        classes, values = np.divmod(keys, n_values)
        shares = np.bincount(group, self.shares, minlength=len(keys)).astype(np.float64)
        return Shares(self.ids, classes, values, shares, np.searchsorted(classes, np.arange(len(self.ids))))


@dataclass(frozen=True)
class Posterior:
    """The belief about every tuple; tuples that leave the same trace in the table make a class.

    Attributes
    ----------
    matching : Matching
        Tuples and buckets.
    of_tuple : int64 array (n_tuples,)
        The class of each tuple; -1 where no bucket matches.
    sizes : int64 array (n_classes,)
        Records of each class.
    starts, counts, traces, weights : arrays
        The first of its traces, and how many there are, of each class; of each trace its number and its weight.
    example : int64 array (n_traces,)
        A pair of tuple and bucket that leaves the trace.
    carrying : tuple of Part
        The slices that the sensitive values are taken from.
    is_naive : bool
        Whether traces weigh alike before they are weighted, as in the paper's check.
    """

    matching: Matching
    of_tuple: Ints
    sizes: Ints
    starts: Ints
    counts: Ints
    traces: Ints
    weights: Floats
    example: Ints
    carrying: tuple[Part, ...]
    is_naive: bool

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.sizes)

    def buckets_of(self, index: int) -> Ints:
        """The published numbers of the buckets that match a class."""
        traces = self.traces[self.starts[index] : self.starts[index] + self.counts[index]]
        return self.matching.sliced.numbers[self.matching.buckets[self.example[traces]]]

    def distributions(self) -> Iterator[Shares]:
        """p(t, .) over the joint sensitive values, of all classes in portions; without those that no join finds."""
        tables = [_Held(part, self.matching.sliced.n_sensitive) for part in self.carrying]
        first = self.carrying[0].number
        hit_pair, hit_region = self.matching.hits[first]
        per_pair = np.bincount(hit_pair, tables[0].counts[hit_region], minlength=len(self.matching.tuples))
        owner, _ = spread(self.starts, self.counts)
        effort = np.cumsum(np.bincount(owner, per_pair[self.example[self.traces]] + 1, minlength=self.n_classes))
        begin = 0
        while begin < self.n_classes:
            done = effort[begin - 1] if begin else 0.0
            end = max(begin + 1, int(np.searchsorted(effort, done + _AT_ONCE, "right")))
            yield self._portion(begin, end, tables)
            begin = end

    def _portion(self, begin: int, end: int, tables: list[_Held]) -> Shares:
        n_sensitive = self.matching.sliced.n_sensitive
        owner, place = spread(self.starts[begin:end], self.counts[begin:end])
        traces, entry = np.unique(self.traces[place], return_inverse=True)
        trace, value, amount = self._weights(traces, tables)
        total = np.bincount(trace, amount, minlength=len(traces))
        if self.is_naive:
            amount = amount / total[trace]
        first = np.searchsorted(trace, np.arange(len(traces)))
        count = np.bincount(trace, minlength=len(traces))
        of_entry, at = spread(first[entry], count[entry])
        keys, group = np.unique(owner[of_entry] * n_sensitive + value[at], return_inverse=True)
        mass = np.bincount(group, self.weights[place][of_entry] * amount[at], minlength=len(keys))
        classes, values = np.divmod(keys, n_sensitive)
        whole = np.bincount(classes, mass, minlength=end - begin)
        there = np.flatnonzero(whole > 0)
        new = np.cumsum(whole > 0) - 1
        return Shares(
            begin + there, new[classes], values, mass / whole[classes], np.searchsorted(classes, there).astype(np.int64)
        )

    def _weights(self, traces: Ints, tables: list[_Held]) -> tuple[Ints, Ints, Floats]:
        """W(t, B, s) of some traces, but for the slices that carry no s: trace, s, W; ascending."""
        matching = self.matching
        n_sensitive = matching.sliced.n_sensitive
        pairs = self.example[traces]
        keys = np.zeros(0, dtype=np.int64)
        amount = np.zeros(0)
        for step, (part, held) in enumerate(zip(self.carrying, tables, strict=True)):
            hit_pair, hit_region = matching.hits[part.number]
            start = np.searchsorted(hit_pair, pairs, "left")
            owner, place = spread(start, np.searchsorted(hit_pair, pairs, "right") - start)
            region = hit_region[place]
            of_hit, at = spread(held.starts[region], held.counts[region])
            found, group = np.unique(owner[of_hit] * n_sensitive + held.values[at], return_inverse=True)
            rows = np.bincount(group, held.rows[at], minlength=len(found)).astype(np.float64)
            if step == 0:
                keys, amount = found, rows
                continue
            both = np.isin(keys, found, assume_unique=True)
            keys, amount = keys[both], amount[both]
            same = rows[np.searchsorted(found, keys)]
            amount = amount * (same / self._of_bucket(keys, pairs))
        trace, value = np.divmod(keys, n_sensitive)
        return trace, value, amount

    def _of_bucket(self, keys: Ints, pairs: Ints) -> Floats:
        """n(B, s) of each key of trace and sensitive value."""
        sliced = self.matching.sliced
        trace, value = np.divmod(keys, sliced.n_sensitive)
        wanted = self.matching.buckets[pairs[trace]] * sliced.n_sensitive + value
        found, rows = self._bucket_rows
        return np.asarray(rows[np.searchsorted(found, wanted)], dtype=np.float64)

    @cached_property
    def _bucket_rows(self) -> tuple[Ints, Ints]:
        first = self.carrying[0]
        return counted(first.within * self.matching.sliced.n_sensitive + first.sensitive, first.weights)


class _Held:
    """The sensitive values beside each region of a slice."""

    def __init__(self, part: Part, n_sensitive: int) -> None:
        keys, self.rows = counted(part.region * n_sensitive + part.sensitive, part.weights)
        region, self.values = np.divmod(keys, n_sensitive)
        self.counts = np.bincount(region, minlength=part.n_regions)
        self.starts = np.cumsum(self.counts) - self.counts


def posterior(matching: Matching) -> Posterior:
    """What is believed by whoever joins the slices."""
    sliced = matching.sliced
    weights = np.ones(len(matching.tuples))
    for part in sliced.parts:
        if not part.carries:
            weights = weights * (matching.rows_of(part.number) / sliced.sizes[matching.buckets])
    return _classed(matching, weights, sliced.carrying, is_naive=False)


def naive_posterior(matching: Matching) -> Posterior:
    """What the paper's check computes: no join, no bucket sizes, the sensitive values of the last slice with any."""
    sliced = matching.sliced
    weights = np.ones(len(matching.tuples))
    for part in sliced.parts:
        weights = weights * (matching.rows_of(part.number) / sliced.sizes[matching.buckets])
    return _classed(matching, weights, sliced.carrying[-1:], is_naive=True)


def _classed(matching: Matching, weights: Floats, carrying: tuple[Part, ...], *, is_naive: bool) -> Posterior:
    traced = [_list_ids(*matching.hits[part.number], len(matching.tuples)) for part in carrying]
    trace, example = numbered([matching.buckets, *traced])
    n_matching = matching.n_matching
    # The weight of a bucket that is the only one cancels out.
    weights = np.where(n_matching[matching.tuples] == 1, 1.0, weights)
    entries, _ = numbered([trace, np.unique(weights, return_inverse=True)[1]])
    matched = np.flatnonzero(n_matching)
    owner = np.searchsorted(matched, matching.tuples)
    ids, one = numbered([_list_ids(owner, entries, len(matched))]) if len(matched) else (owner, owner)
    of_tuple = np.full(matching.n_tuples, -1, dtype=np.int64)
    of_tuple[matched] = ids
    begins = np.searchsorted(owner, one)
    counts = n_matching[matched[one]]
    _, place = spread(begins, counts)
    sizes = np.bincount(ids, matching.sizes[matched], minlength=len(one)).astype(np.int64)
    starts = np.cumsum(counts) - counts
    return Posterior(
        matching, of_tuple, sizes, starts, counts, trace[place], weights[place], example, carrying, is_naive
    )


def _list_ids(owner: Ints, item: Ints, n_owners: int) -> Ints:
    """A number for the list of items of each owner (sorted by owner, none empty): equal where the lists are."""
    counts = np.bincount(owner, minlength=n_owners)
    starts = np.cumsum(counts) - counts
    ids = item[starts].astype(np.int64) if len(item) else np.zeros(n_owners, dtype=np.int64)
    fresh = int(item.max(initial=0)) + 1
    for place in range(1, int(counts.max(initial=0))):
        longer = np.flatnonzero(counts > place)
        new, first = numbered([ids[longer], item[starts[longer] + place]])
        ids[longer] = fresh + new
        fresh += len(first)
    return ids
