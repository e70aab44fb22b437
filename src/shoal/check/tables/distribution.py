"""How a sensitive attribute is distributed over the equivalence classes, as counts of the pairs that occur.

Where persons count, each counts once for each of its values in a class, however many of its records show it: the share
of a value is the share of the persons of the class who have it, and a person with two values counts for both. What
compares whole distributions (the entropy, t-closeness) takes them of all these pairs of person and value. Different
values are those that can be given to different persons, each to one who has it.

At most one pair (class, value) a record: memory and time stay near-linear in the records, however many
classes and values there are; a dense array of classes x values is never made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.check.tables.classes import Classes, Missing
from shoal.data.tables.table import Column, count_codes, counted


@dataclass(frozen=True)
class Distribution:
    """Counts of the sensitive values in each class.

    Attributes
    ----------
    column : Column
        The sensitive attribute; its dictionary holds the values.
    sizes : int64 array of n_classes
        Records in each class; persons, where these count.
    sums : int64 array of n_classes
        What the counts of a class sum to: its size, but where a person has several values.
    n_members : int
        Records of the table, or persons.
    classes, values, counts : int64 arrays of n_pairs
        Each pair of class and value that occurs, ascending, and its records. A value is its rank among
        those that occur in the table, in the order of the dictionary; a missing value comes last. Where a
        missing cell may hide any value, its records are counted with the most frequent value of their
        class, and its own count is 0.
    starts : int64 array of n_classes
        The first pair of each class.
    distinct : int64 array of n_classes
        Different values in each class (without the missing one where it may hide any value).
    totals : int64 array of n_values
        Records of the whole table with each value, as published.
    codes : int64 array of n_values
        The code of each value in the dictionary; one beyond its end for the missing value.
    hides_any : bool
        Whether there are missing cells and each may hide any value.
    """

    column: Column
    sizes: Ints
    sums: Ints
    n_members: int
    classes: Ints
    values: Ints
    counts: Ints
    starts: Ints
    distinct: Ints
    totals: Ints
    codes: Ints
    hides_any: bool

    @property
    def name(self) -> str:
        """The sensitive attribute."""
        return self.column.name

    @property
    def total(self) -> int:
        """What the counts of all values sum to in the whole table."""
        return int(self.totals.sum())

    @property
    def pair_sums(self) -> Ints:
        """What the counts of the class of each pair sum to."""
        return self.sums[self.classes]

    def sum(self, pairs: Ints) -> Ints:
        """Sum over the pairs of each class."""
        return np.add.reduceat(pairs, self.starts)

    def most_frequent(self) -> Ints:
        """Records with the most frequent value of each class."""
        return np.maximum.reduceat(self.counts, self.starts)


@dataclass(frozen=True)
class Whole:
    """How a sensitive attribute is distributed over a whole table, of which classes are a part.

    Attributes
    ----------
    codes, totals : int64 arrays of n_values
        As those of a `Distribution`, of the whole.
    """

    codes: Ints
    totals: Ints

    @property
    def n_members(self) -> int:
        """Records of the whole."""
        return int(self.totals.sum())


def distribution(
    classes: Classes, column: Column, *, missing: Missing = "value", whole: Whole | None = None
) -> Distribution:
    """Count the values of a sensitive column (as `cells.published` gives it) in each class, with one sort.

    Where the classes are those of a part of a table, with the dictionaries of all, `whole` says what all of it has; no
    person then has two records.
    """
    n_known = len(column.values)
    held = np.minimum(column.codes, n_known).astype(np.int64)
    if whole is None:
        codes, ranks = np.unique(held, return_inverse=True)
        totals = count_codes(ranks, classes.weights)
    else:
        codes, totals, ranks = whole.codes, whole.totals, np.searchsorted(whole.codes, held)
    pairs = classes.ids * len(codes) + ranks
    if classes.persons is None or classes.is_one_each:
        keys, counts = counted(pairs, classes.weights)
    else:
        n_persons = int(classes.persons.max(initial=0)) + 1
        totals = np.bincount(np.unique(ranks * n_persons + classes.persons) // n_persons).astype(np.int64)
        keys, pair = np.unique(pairs, return_inverse=True)
        holders = np.unique(pair * n_persons + classes.persons)
        counts = np.bincount(holders // n_persons)
    pair_classes, pair_values = np.divmod(keys, len(codes))
    starts = np.searchsorted(pair_classes, np.arange(classes.n_classes)).astype(np.int64)
    has_missing = bool(codes[-1] == n_known)
    hides_any = missing == "any" and has_missing
    known = codes[pair_values] < n_known if hides_any else np.ones(len(keys), dtype=bool)
    counts = counts.astype(np.int64)
    sums = np.add.reduceat(counts, starts)
    if classes.persons is None or classes.is_one_each:
        distinct = np.add.reduceat(known.astype(np.int64), starts)
    else:
        pair, person = np.divmod(holders, n_persons)
        distinct = _held_apart(pair_classes[pair[known[pair]]], pair[known[pair]], person[known[pair]], len(starts))
    if hides_any:
        counts = _fold(pair_classes, counts, known, starts)
    return Distribution(
        column,
        classes.sizes,
        sums,
        classes.n_members if whole is None else whole.n_members,
        pair_classes,
        pair_values,
        counts,
        starts,
        distinct,
        totals,
        codes.astype(np.int64),
        hides_any,
    )


def _held_apart(classes: Ints, values: Ints, persons: Ints, n_classes: int) -> Ints:
    """How many values of each class can be given to different persons: the largest matching of values with holders.

    `values` are numbered through all classes, and each is of one class. A value that somebody holds who holds no other
    in the class is settled; where all of a class are, nothing is left to match.
    """
    n_persons = int(persons.max(initial=0)) + 1
    _, owner = np.unique(classes * n_persons + persons, return_inverse=True)
    only = np.bincount(owner)[owner] == 1
    value, first = np.unique(values, return_index=True)
    home = classes[first]
    found = np.bincount(home, minlength=n_classes)
    n_sure = np.bincount(
        classes[np.flatnonzero(only)[np.unique(values[only], return_index=True)[1]]], minlength=n_classes
    )
    open_ = np.flatnonzero((n_sure < found)[classes])
    if not len(open_):
        return found
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    holder, held = owner[open_].astype(np.int32), np.searchsorted(value, values[open_]).astype(np.int32)
    graph = coo_array((np.ones(len(open_), dtype=np.int8), (holder, held)))  # the oldest scipy takes 32 bits alone
    taken = maximum_bipartite_matching(graph.tocsr(), perm_type="row") >= 0
    by_class = np.bincount(home[: len(taken)][taken], minlength=n_classes)
    return np.where(n_sure < found, by_class, found)


def _fold(pair_classes: Ints, counts: Ints, known: npt.NDArray[np.bool_], starts: Ints) -> Ints:
    """Count the missing values of each class with its most frequent known one: the worst they could hide."""
    best = np.maximum.reduceat(np.where(known, counts, 0), starts)
    top = np.flatnonzero(known & (counts == best[pair_classes]))
    top = top[np.unique(pair_classes[top], return_index=True)[1]]
    with_known = np.zeros(len(starts), dtype=bool)
    with_known[pair_classes[top]] = True
    folded: Ints = counts.copy()
    moved = np.flatnonzero(~known & with_known[pair_classes])
    hidden = np.zeros(len(starts), dtype=np.int64)
    hidden[pair_classes[moved]] = counts[moved]
    folded[moved] = 0
    folded[top] += hidden[pair_classes[top]]
    return folded
