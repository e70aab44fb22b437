"""The models of diversity and closeness on beliefs: probabilities in place of the counts of a class.

The definitions are those of `l_diversity`, `t_closeness`, `alpha_k` and `beta_likeness`; each function gives one
number for every distribution of a `Shares`. Probabilities are sums and products of fractions and so not exact:
comparisons allow a relative error of 1e-12.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints, Mask
from shoal.check.guarantee import TOLERANCE
from shoal.check.slices.posterior import Shares
from shoal.check.slices.sliced import Part, Sliced, numbered
from shoal.check.tables.cells import as_leaves, comparable, in_order, published
from shoal.check.tables.classes import Missing
from shoal.check.tables.t_closeness import Distance
from shoal.check.tables.verify import default_distance
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import Column, spell
from shoal.errors import Infeasible, PolicyError
from shoal.models import Requirement
from shoal.models.alpha_k import AlphaK
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness


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
    ancestors: npt.NDArray[np.int32] | None = None

    @property
    def overall(self) -> Floats:
        """The share of each value in the whole table."""
        return np.asarray(self.totals / self.totals.sum())


def reading_of(
    sliced: Sliced,
    part: Part,
    name: str,
    attribute: Attribute | None,
    distance: Distance,
    missing: Missing,
    markers: tuple[str, ...],
) -> Reading:
    """One sensitive attribute as a distance reads it."""
    column = published(sliced.table[sliced.layout.slices[part.number].column_of(name)], markers)
    column = {"equal": comparable, "ordered": in_order, "hierarchical": as_leaves}[distance](column, attribute)
    n_known = len(column.values)
    held = np.minimum(column.codes, n_known).astype(np.int64)
    codes, ranks = np.unique(held, return_inverse=True)
    of_joint = np.zeros(sliced.n_sensitive, dtype=np.int64)
    of_joint[part.sensitive] = ranks
    hides = missing == "any" and bool(codes[-1] == n_known)
    ancestors = None
    if distance == "hierarchical":
        ancestors = _leaf_to_root(name, column, codes, attribute.hierarchy if attribute is not None else None)
    return Reading(name, of_joint, np.bincount(ranks), len(codes) - 1 if hides else -1, ancestors)


def joint_reading(readings: list[Reading], part: Part) -> Reading:
    """Several attributes as one; it may hide any value where one of them does."""
    ids, first = numbered([r.of_joint for r in readings])
    hidden = np.any([r.of_joint == r.hidden for r in readings], axis=0)
    if hidden.any():
        # All that hide something are one value, the last.
        ids, first = numbered([np.where(hidden, len(first), ids)])
    name = ", ".join(r.name for r in readings)
    totals = np.bincount(ids[part.sensitive], minlength=len(first))
    return Reading(name, ids, totals, len(first) - 1 if hidden.any() else -1)


def _leaf_to_root(name: str, column: Column, codes: Ints, hierarchy: Hierarchy | None) -> npt.NDArray[np.int32]:
    if hierarchy is None:
        raise PolicyError(f"the hierarchical distance of column {name!r} needs a hierarchy; give the column one")
    known = codes[codes < len(column.values)]
    texts = spell(column.values[known])
    hierarchy.require_all(texts, name)
    ancestors = hierarchy.ancestors(texts)
    if len(known) == len(codes):
        return ancestors
    alone = np.full((1, hierarchy.height + 1), ancestors.max(initial=0) + 1, dtype=np.int32)
    alone[0, -1] = 0  # a missing value hangs alone below the root
    return np.concatenate([ancestors, alone])


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


def distinct(belief: Shares, hidden: int = -1) -> Floats:
    """Values that are thought possible; a hidden one is none."""
    return np.add.reduceat((belief.values != hidden).astype(np.float64), belief.starts)


def largest(belief: Shares) -> Floats:
    """The probability of the likeliest value."""
    return np.maximum.reduceat(belief.shares, belief.starts)


def entropy(belief: Shares) -> Floats:
    """exp(H): as many equally likely values would leave as much doubt."""
    return np.exp(np.maximum(-np.add.reduceat(belief.shares * np.log(belief.shares), belief.starts), 0.0))


def recursive(belief: Shares, l: int) -> Floats:  # noqa: E741  the paper's name
    """r_1 / (r_l + ... + r_m); infinite with fewer than l values."""
    order = np.lexsort((-belief.shares, belief.classes))
    place = np.arange(len(order)) - belief.starts[belief.classes]
    tail = np.add.reduceat(np.where(place >= l - 1, belief.shares[order], 0.0), belief.starts)
    with np.errstate(divide="ignore"):
        return np.asarray(largest(belief) / tail)


def equal_distance(belief: Shares, overall: Floats) -> Floats:
    """What is thought likelier than in the whole table, summed."""
    return np.add.reduceat(np.maximum(belief.shares - overall[belief.values], 0.0), belief.starts)


def ordered_distance(belief: Shares, overall: Floats) -> Floats:
    """Sum of |P(v) - Q(v)| over m - 1, with cumulative P and Q; a stretch between two values of P at a time."""
    n_values = len(overall)
    if n_values < 2:
        return np.zeros(len(belief.ids))
    below = np.cumsum(overall)
    prefix = np.concatenate([[0.0], np.cumsum(below)])
    running = np.cumsum(belief.shares, dtype=np.longdouble)  # it runs over all classes, and must not lose digits
    before = running[belief.starts] - belief.shares[belief.starts]
    level = (running - before[belief.classes]).astype(np.float64)
    first = belief.values
    last = np.append(first[1:], n_values)
    last[np.append(belief.starts[1:], len(first)) - 1] = n_values
    split = np.clip(np.searchsorted(below, level), first, last)
    stretch = level * (2 * split - first - last) + prefix[first] + prefix[last] - 2 * prefix[split]
    return np.asarray((np.add.reduceat(stretch, belief.starts) + prefix[first[belief.starts]]) / (n_values - 1))


def hierarchical_distance(belief: Shares, overall: Floats, ancestors: npt.NDArray[np.int32]) -> Floats:
    """Sum over inner nodes of height / H * what must move between their children."""
    height = ancestors.shape[1] - 1
    classes, nodes, shares = belief.classes, belief.values, belief.shares
    gain = np.maximum(shares - overall[nodes], 0.0)
    cost = np.zeros(len(belief.ids))
    node_of = np.arange(len(overall))
    for level in range(1, height + 1):
        labels, above = np.unique(ancestors[:, level], return_inverse=True)
        parent = np.zeros(len(overall), dtype=np.int64)
        parent[node_of] = above
        keys, group = np.unique(classes * len(labels) + parent[nodes], return_inverse=True)
        classes, nodes = np.divmod(keys, len(labels))
        positive = np.bincount(group, gain, minlength=len(keys))
        shares = np.bincount(group, shares, minlength=len(keys)).astype(np.float64)
        extra = shares - np.bincount(above, overall, minlength=len(labels))[nodes]
        # Where no child has too much, nothing moves; so only nodes above a value that is thought possible count.
        moved = np.maximum(np.minimum(positive, positive - extra), 0.0)
        cost += level * np.bincount(classes, moved, minlength=len(cost))
        gain, node_of = np.maximum(extra, 0.0), above
    return np.asarray(cost / height)


def gains(belief: Shares, overall: Floats) -> Floats:
    """(p - q) / q of every pair of class and value."""
    return np.asarray(belief.shares / overall[belief.values] - 1.0)


def distance_of(required: Requirement, attribute: Attribute | None) -> Distance:
    """The distance by which a requirement compares values."""
    if isinstance(required, TCloseness):
        return required.distance or default_distance(attribute)
    return "equal"


def refuse_hidden(required: Requirement, reading: Reading) -> None:
    """t-closeness and beta-likeness have no worst case to take a missing value for."""
    if reading.hidden >= 0 and isinstance(required, TCloseness | BetaLikeness):
        raise Infeasible(
            f"{required.model} cannot be shown for column {reading.name!r}, where missing values may hide any value; "
            'fill them, leave the records out, or set missing = "value"'
        )


def measure(required: Requirement, belief: Shares, reading: Reading, distance: Distance) -> tuple[Floats, Mask]:
    """What each distribution reaches, in the unit of the requirement, and whether it fails."""
    more = 1 + TOLERANCE
    if isinstance(required, LDiversity):
        if required.kind == "distinct":
            reached = distinct(belief, reading.hidden)
            return reached, reached < required.l
        if required.kind == "probabilistic":
            most = largest(belief)
            return 1 / most, most > more / required.l
        if required.kind == "entropy":
            reached = entropy(belief)
            return reached, reached < required.l * (1 - TOLERANCE)
        reached = recursive(belief, int(required.l))
        return reached, ~(reached < required.c * (1 - TOLERANCE))
    if isinstance(required, TCloseness):
        if distance == "ordered":
            reached = ordered_distance(belief, reading.overall)
        elif distance == "hierarchical" and reading.ancestors is not None:
            reached = hierarchical_distance(belief, reading.overall, reading.ancestors)
        else:
            reached = equal_distance(belief, reading.overall)
        return reached, reached > required.t * more
    if isinstance(required, AlphaK):
        reached = largest(belief)
        return reached, reached > required.alpha * more
    assert not isinstance(required, KAnonymity), "k is a matter of rows"
    gain = gains(belief, reading.overall)
    too_much = gain > required.beta * more
    if required.kind == "enhanced":
        most = -np.log(reading.overall)
        too_much |= (gain > TOLERANCE) & (gain > most[belief.values] * more)
    return np.maximum(np.maximum.reduceat(gain, belief.starts), 0.0), np.logical_or.reduceat(too_much, belief.starts)
