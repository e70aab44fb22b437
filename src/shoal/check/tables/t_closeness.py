"""t-closeness: sensitive values are distributed in every class as in the whole table, up to a distance of t.

The distance is the earth mover's between the class and the whole table, for one of three ground distances
between values: equal (0 or 1), ordered (ranks apart over m - 1), hierarchical (height of the lowest common
ancestor over the height of the tree). The m values are those that occur in the published table.

All three run over the pairs (class, value) that occur, with sums in 64-bit integers in units of 1 / (class
size * table size), so that the three distances are exact up to one division.

**Guarantee.** Finding a record's class changes what is believed of the sensitive value by at most t.
**Not protected.** The identity of the records; with a large t a rare value may still be much likelier in a
class (beta-likeness bounds that).

References
----------
N. Li, T. Li, S. Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity", ICDE 2007.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask, Rows
from shoal.check.guarantee import TOLERANCE, Guarantee, Reached, number
from shoal.check.tables.classes import Classes
from shoal.check.tables.distribution import Distribution
from shoal.check.tables.models import Believed, Check, Held, checks, refuse_hidden
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import Column, spell
from shoal.errors import PolicyError
from shoal.models.t_closeness import TCloseness

if TYPE_CHECKING:
    from shoal.check.slices.belief import Reading
    from shoal.check.slices.belief_words import Outcome
    from shoal.check.slices.posterior import Shares

Distance = Literal["equal", "ordered", "hierarchical"]


def equal_distance(held: Distribution) -> Floats:
    """Half the sum of |p - q| over the values, of each class: what it has too much of, as p, q sum to 1."""
    extra = held.counts * held.total - held.totals[held.values] * held.pair_sums
    return np.asarray(held.sum(np.maximum(extra, 0)) / (held.sums * held.total))


def ordered_distance(held: Distribution) -> Floats:
    """Sum of |P(v) - Q(v)| over the values v, over m - 1, of each class, with cumulative shares P and Q.

    From one value of the class to its next, P stays and Q rises, so the sum over such a stretch is split
    where Q passes P: a binary search and three prefix sums of Q. Cost: the pairs that occur, times log m.
    """
    n_rows, n_values = held.total, len(held.totals)
    if n_values < 2:
        return np.zeros(len(held.sums))
    # Sums reach size * n_rows * m; beyond 64 bits they are floats, with errors far below the tolerance.
    exact = n_rows * n_rows * n_values < 2**62
    below = np.cumsum(held.totals)
    prefix = np.concatenate([[0], np.cumsum(below)])
    running = np.cumsum(held.counts)
    reached = running - (running - held.counts)[held.starts][held.classes]
    first = held.values
    last = np.append(first[1:], n_values)
    last[np.append(held.starts[1:], len(first)) - 1] = n_values
    split = np.clip(np.searchsorted(below, -(-reached * n_rows // held.pair_sums)), first, last)
    unit = np.int64 if exact else np.float64
    level = (reached * n_rows).astype(unit)
    stretch = level * (2 * split - first - last) + held.pair_sums.astype(unit) * (
        prefix[first] + prefix[last] - 2 * prefix[split]
    )
    before = held.sums.astype(unit) * prefix[first[held.starts]]
    area = np.add.reduceat(stretch, held.starts) + before
    return np.asarray(area / (held.sums * float(n_rows) * (n_values - 1)))


def hierarchical_distance(held: Distribution, ancestors: Codes) -> Floats:
    """Sum of height(N) / H * min(positive, negative extra of the children) over inner nodes N, of each class.

    `ancestors` holds a row for each value, from the leaf to the root. We depart from the paper's bottom-up
    pass in that only nodes above a value of the class are visited: elsewhere no child has a positive extra
    and the minimum is 0, and where the positive extras are known, the negative ones follow from the extra
    of N itself.
    """
    height = ancestors.shape[1] - 1
    classes, nodes, counts, totals = held.classes, held.values, held.counts, held.totals
    gain = np.zeros(len(nodes), dtype=np.int64)
    cost = np.zeros(len(held.sums), dtype=np.int64)
    node_of = np.arange(len(totals))
    for level in range(height + 1):
        labels, above = np.unique(ancestors[:, level], return_inverse=True)
        parent = np.empty(len(totals), dtype=np.int64)
        parent[node_of] = above
        keys, group = np.unique(classes * len(labels) + parent[nodes], return_inverse=True)
        classes, nodes = np.divmod(keys, len(labels))
        positive = _sum_by(group, gain, len(keys))
        counts = _sum_by(group, counts, len(keys))
        totals = _sum_by(parent, totals, len(labels))
        extra = counts * held.total - totals[nodes] * held.sums[classes]
        starts = np.flatnonzero(np.diff(classes, prepend=-1))
        cost += level * np.add.reduceat(np.minimum(positive, positive - extra), starts)
        gain, node_of = np.maximum(extra, 0), above
    return np.asarray(cost / (height * (held.sums * held.total)))


def _sum_by(group: Rows, amounts: Ints, n_groups: int) -> Ints:
    """Sum integers by group; `bincount` would go through floats and lose digits."""
    order = np.argsort(group, kind="stable")
    return np.add.reduceat(amounts[order], np.searchsorted(group[order], np.arange(n_groups)))


def leaf_to_root(column: Column, codes: Ints, hierarchy: Hierarchy | None) -> Codes:
    """The ancestors of each value that occurs; a missing one hangs alone below the root, far from all."""
    if hierarchy is None:
        raise PolicyError(f"the hierarchical distance of column {column.name!r} needs a hierarchy; give the column one")
    known = codes[codes < len(column.values)]
    texts = spell(column.values[known])
    hierarchy.require_all(texts, column.name)
    ancestors = hierarchy.ancestors(texts)
    if len(known) == len(codes):
        return ancestors
    alone = np.full((1, hierarchy.height + 1), ancestors.max(initial=0) + 1, dtype=np.int32)
    alone[0, -1] = 0
    return np.concatenate([ancestors, alone])


def default_distance(attribute: Attribute | None) -> Distance:
    """The distance that fits an attribute."""
    if attribute is None:
        return "equal"
    if attribute.hierarchy is not None:
        return "hierarchical"
    return "ordered" if attribute.type in ("continuous", "ordinal", "date") else "equal"


def equal_distance_believed(belief: Shares, overall: Floats) -> Floats:
    """What is thought likelier than in the whole table, summed."""
    return np.add.reduceat(np.maximum(belief.shares - overall[belief.values], 0.0), belief.starts)


def ordered_distance_believed(belief: Shares, overall: Floats) -> Floats:
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


def hierarchical_distance_believed(belief: Shares, overall: Floats, ancestors: Codes) -> Floats:
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


@checks("t-closeness")
class TClosenessCheck(Check[TCloseness]):
    """Of classes, and of beliefs: the same distances with probabilities in place of counts."""

    needs_known = True

    def distance(self, required: TCloseness, attribute: Attribute | None) -> Distance:
        """The one that is named, or fits."""
        return required.distance or default_distance(attribute)

    def reach_values(self, required: TCloseness, classes: Classes, held: Held) -> Reached:
        """The distance from the whole table.

        For the ordered distance, the dictionary of the sensitive column must be in order
        (`shoal.check.tables.cells.in_order`).
        """
        values = held.values
        if values.hides_any:
            raise refuse_hidden("t-closeness", values.name)
        if held.distance == "ordered":
            achieved = ordered_distance(values)
        elif held.distance == "hierarchical":
            hierarchy = held.attribute.hierarchy if held.attribute else None
            achieved = hierarchical_distance(values, leaf_to_root(values.column, values.codes, hierarchy))
        else:
            achieved = equal_distance(values)
        return Reached.of(classes, achieved, achieved > required.t * (1 + TOLERANCE), low_is_worse=False)

    def tell_values(self, required: TCloseness, reached: Reached, name: str, distance: Distance) -> Guarantee:
        """How far the farthest class is."""
        far = f"{number(reached.achieved)} ({distance} distance, between 0 and 1; allowed: {number(required.t)})"
        return reached.guarantee(
            "t-closeness",
            {"t": required.t},
            (
                f"In every group of records that look alike, the values of {name!r} are distributed as in "
                f"the whole table up to {far}.",
                f"t-closeness fails {reached.failing_groups}: the distribution of {name!r} in a group "
                f"differs from that of the whole table by {far}.",
            ),
            kind=distance,
            sensitive=name,
        )

    def of_beliefs(
        self, required: TCloseness, belief: Shares, reading: Reading, distance: Distance
    ) -> tuple[Floats, Mask]:
        """The distance from the whole table."""
        if distance == "ordered":
            reached = ordered_distance_believed(belief, reading.overall)
        elif distance == "hierarchical" and reading.ancestors is not None:
            reached = hierarchical_distance_believed(belief, reading.overall, reading.ancestors)
        else:
            reached = equal_distance_believed(belief, reading.overall)
        return reached, reached > required.t * (1 + TOLERANCE)

    def believed(self, required: TCloseness, outcome: Outcome, smallest: int, fails: bool) -> Believed:
        """How far a belief is from the whole table."""
        says = (
            f"believes of {outcome.name!r} what the whole table says, up to {number(outcome.worst)} "
            f"({outcome.distance} distance, between 0 and 1; allowed: {number(required.t)})"
        )
        return Believed("t-closeness", {"t": required.t}, says, outcome.distance)
