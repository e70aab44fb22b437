"""How a sensitive attribute is distributed over the equivalence classes, as counts of the pairs that occur.

At most one pair (class, value) a record: memory and time stay near-linear in the records, however many
classes and values there are; a dense array of classes x values is never made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.check.tables.classes import Classes, Missing
from shoal.data.tables.table import Column


@dataclass(frozen=True)
class Distribution:
    """Counts of the sensitive values in each class.

    Attributes
    ----------
    column : Column
        The sensitive attribute; its dictionary holds the values.
    sizes : int64 array of n_classes
        Records in each class.
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
    def n_rows(self) -> int:
        """Number of records."""
        return int(self.sizes.sum())

    @property
    def pair_sizes(self) -> Ints:
        """The size of the class of each pair."""
        return self.sizes[self.classes]

    def sum(self, pairs: Ints) -> Ints:
        """Sum over the pairs of each class."""
        return np.add.reduceat(pairs, self.starts)

    def most_frequent(self) -> Ints:
        """Records with the most frequent value of each class."""
        return np.maximum.reduceat(self.counts, self.starts)


def distribution(classes: Classes, column: Column, *, missing: Missing = "value") -> Distribution:
    """Count the values of a sensitive column (as `cells.published` gives it) in each class, with one sort."""
    n_known = len(column.values)
    held = np.minimum(column.codes, n_known).astype(np.int64)
    codes, ranks = np.unique(held, return_inverse=True)
    totals = np.bincount(ranks).astype(np.int64)
    keys, counts = np.unique(classes.ids * len(codes) + ranks, return_counts=True)
    pair_classes, pair_values = np.divmod(keys, len(codes))
    starts = np.searchsorted(pair_classes, np.arange(classes.n_classes)).astype(np.int64)
    has_missing = bool(codes[-1] == n_known)
    hides_any = missing == "any" and has_missing
    known = codes[pair_values] < n_known if hides_any else np.ones(len(keys), dtype=bool)
    distinct = np.add.reduceat(known.astype(np.int64), starts)
    counts = counts.astype(np.int64)
    if hides_any:
        counts = _fold(pair_classes, counts, known, starts)
    return Distribution(
        column,
        classes.sizes,
        pair_classes,
        pair_values,
        counts,
        starts,
        distinct,
        totals,
        codes.astype(np.int64),
        hides_any,
    )


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
