"""Sensitive attributes read out of beliefs, for the models: probabilities in place of the counts of a class.

The formulas are the models' own, in `shoal.check.tables`. Probabilities are sums and products of fractions and so not
exact: comparisons allow a relative error of 1e-12.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.check.slices.posterior import Shares
from shoal.check.slices.sliced import CheckedSlices, Part, numbered
from shoal.check.tables.cells import as_leaves, comparable, in_order, published
from shoal.check.tables.classes import Missing
from shoal.check.tables.t_closeness import Distance, leaf_to_root
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import count_codes


@dataclass(frozen=True)
class Reading:
    """How a sensitive attribute, or several jointly, are read out of the joint sensitive values.

    Attributes
    ----------
    name : str
        The attribute, or all of them.
    of_joint : int64 array (n_sensitive,)
        The value of each joint value, as a rank among those that occur; a missing one is last.
    totals : int64 array (n_values,)
        Published rows with each value.
    hidden : int
        The rank of the missing value where it may hide any, else -1.
    ancestors : int array (n_values, height + 1), optional
        For the hierarchical distance.
    """

    name: str
    of_joint: Ints
    totals: Ints
    hidden: int
    ancestors: Codes | None = None

    @property
    def overall(self) -> Floats:
        """The share of each value in the whole table."""
        return np.asarray(self.totals / self.totals.sum())


def reading_of(
    sliced: CheckedSlices,
    part: Part,
    name: str,
    attribute: Attribute | None,
    distance: Distance,
    missing: Missing,
    markers: tuple[str, ...],
) -> Reading:
    """One sensitive attribute as a distance reads it."""
    column = published(sliced.tables[part.number][sliced.layout.slices[part.number].column_of(name)], markers)
    column = {"equal": comparable, "ordered": in_order, "hierarchical": as_leaves}[distance](column, attribute)
    n_known = len(column.values)
    held = np.minimum(column.codes, n_known).astype(np.int64)
    codes, ranks = np.unique(held, return_inverse=True)
    of_joint = np.zeros(sliced.n_sensitive, dtype=np.int64)
    of_joint[part.sensitive] = ranks
    hides = missing == "any" and bool(codes[-1] == n_known)
    ancestors = None
    if distance == "hierarchical":
        ancestors = leaf_to_root(column, codes, attribute.hierarchy if attribute is not None else None)
    return Reading(name, of_joint, count_codes(ranks, part.weights), len(codes) - 1 if hides else -1, ancestors)


def joint_reading(readings: list[Reading], part: Part) -> Reading:
    """Several attributes as one; it may hide any value where one of them does."""
    ids, first = numbered([r.of_joint for r in readings])
    hidden = np.any([r.of_joint == r.hidden for r in readings], axis=0)
    if hidden.any():
        # All that hide something are one value, the last.
        ids, first = numbered([np.where(hidden, len(first), ids)])
    name = ", ".join(r.name for r in readings)
    totals = count_codes(ids[part.sensitive], part.weights, len(first))
    return Reading(name, ids, totals, len(first) - 1 if hidden.any() else -1)


def settled(belief: Shares, reading: Reading) -> Shares:
    """Read an attribute out; a missing value that may hide any is taken for the likeliest other one."""
    read = belief.read_as(reading.of_joint, len(reading.totals))
    hidden = read.values == reading.hidden
    if reading.hidden < 0 or not hidden.any():
        return read
    known = np.where(hidden, 0.0, read.shares)
    best = np.maximum.reduceat(known, read.starts)
    has_known = best > 0
    top = np.flatnonzero(~hidden & (read.shares == best[read.classes]))
    top = top[np.unique(read.classes[top], return_index=True)[1]]
    unseen = np.bincount(read.classes[hidden], read.shares[hidden], minlength=len(read.ids))
    shares = read.shares.copy()
    shares[top] += unseen[read.classes[top]]
    keep = ~(hidden & has_known[read.classes])
    classes = read.classes[keep]
    return Shares(
        read.ids, classes, read.values[keep], shares[keep], np.searchsorted(classes, np.arange(len(read.ids)))
    )
