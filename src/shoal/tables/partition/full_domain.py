"""Full-domain recoding: one level of its hierarchy for each attribute, the same for all records.

The levels make a lattice, from the values themselves to the roots. At a node, classes smaller than k are suppressed,
then those that violate a limit on sensitive values; where a limit compares with the whole table, what is left is
compared again until nothing fails. A node is allowed if this leaves out at most a given share of the records: so what
is allowed stays allowed when more may be suppressed.

Going up, classes only merge. A class of k, or of l different values, is never lost by that, so below a node at which
too many records stand in classes without, no node is allowed. Other limits may be met by a class and missed by its
union with a suppressed one; only where nothing may be suppressed is there no such union, and every model is monotone.
Elsewhere a node that fails by them tells nothing about those below it, and these are looked at one by one.

The search finds the allowed node of least loss, and proves it by bounds: the loss is split into a part that only grows
upwards and one that only grows downwards (of the records whose suppression below is certain), so a node tells about all
nodes above and below it.

**Guarantee** every published record shares its recoded quasi-identifiers with at least k - 1 others, every class meets
the limits, and at most the allowed share is suppressed. A result that says so is of least loss among the nodes that are
allowed in this sense; other choices of what to suppress, such as of parts of classes, are not searched.

**Not protected** sensitive values, unless there are limits on them: a class may have one and the same.

References
----------
P. Samarati, "Protecting respondents' identities in microdata release", IEEE TKDE 13(6), 2001 (lattice, suppression).
K. LeFevre, D. DeWitt, R. Ramakrishnan, "Incognito: Efficient Full-Domain K-Anonymity", SIGMOD 2005 (roll-up).
F. Kohlmayer, F. Prasser et al., "Flash: Efficient, Stable and Optimal K-Anonymity", PASSAT 2012 (binary search of
chains, predictive tagging). The bounds are ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints, Mask, Rows
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import count_codes
from shoal.errors import DataError, Infeasible, PolicyError, did_you_mean
from shoal.tables.encoding import Ranked
from shoal.tables.partition.base import PARTITIONS, PartitionMethod, always, refuse_infeasible

if TYPE_CHECKING:
    from shoal.tables.limits import Limit

LOSSES = ("gcp", "discernibility", "class size")
Loss = Literal["gcp", "discernibility", "class size"]
Missing = Literal["value", "any"]
Leaves = Sequence[Ints | None] | None
Levels = tuple[int, ...]


FINEST = 32  # intervals at level 1 of an attribute without a hierarchy
CLOSE = 1e-12  # losses nearer than this, relatively, are equal
LARGEST = 1_000_000  # nodes of a lattice of which bounds are kept
KEPT = 8_000_000  # classes that are kept to roll up from


@dataclass(frozen=True)
class Recoding:
    """A level of its hierarchy for each attribute.

    Attributes
    ----------
    levels : tuple of int
        For each attribute, 0 for its values to the height of its hierarchy for the root.
    labels : int32 array (n_rows,)
        The class of each record, 0 .. g - 1 by first appearance; -1 where it is suppressed.
    loss : float
        In the measure that was asked for.
    optimal : bool
        Whether it is proved that no allowed recoding loses less.
    n_evaluated : int
        For how many nodes of the lattice classes were made.
    n_nodes : int
        How many nodes the lattice has; bounds settled the others.
    """

    levels: Levels
    labels: Codes
    loss: float
    optimal: bool
    n_evaluated: int
    n_nodes: int

    @property
    def n_suppressed(self) -> int:
        """How many records are left out."""
        return int(np.count_nonzero(self.labels < 0))


def as_tree(attribute: Ranked) -> Ranked:
    """Give an attribute without a hierarchy one, from its ranks.

    Plain categories have the root above them. Numbers and ordered categories are in intervals of neighbouring values,
    at most 32 at level 1, of which each level joins two by two. A missing value meets the others at the root.
    """
    if attribute.kind == "tree":
        if attribute.ancestors is None:
            raise DataError(f"the taxonomy of {attribute.name!r} is missing; give its hierarchy or make it a category")
        return attribute
    n_present = attribute.n_values - attribute.has_missing
    node = np.arange(n_present)
    levels = [node]
    if attribute.kind != "category" and n_present > 2:
        width = max(2, -(-n_present // FINEST))
        node = node // width
        while node[-1] > 0:
            levels.append(node)
            node = node // 2
    levels.append(np.zeros(n_present, dtype=np.int64))
    ancestors = np.column_stack(levels).astype(np.int32)
    if attribute.has_missing:
        ancestors = np.vstack([ancestors, np.full(ancestors.shape[1], n_present, dtype=np.int32)])
        ancestors[:, -1] = 0
    return replace(attribute, kind="tree", ancestors=np.ascontiguousarray(ancestors))


def leaf_counts(attribute: Ranked, hierarchy: Hierarchy | None) -> Ints:
    """How many leaves stand below the node of each rank at each level, also those that no record has.

    Without a hierarchy, the values of the column are the leaves. A missing value is below the root only and is no leaf.
    """
    attribute = as_tree(attribute)
    assert attribute.ancestors is not None
    present = attribute.ancestors[: attribute.n_values - attribute.has_missing]
    whole = present if hierarchy is None else hierarchy.ancestors(hierarchy.leaves)
    counts = np.zeros(attribute.ancestors.shape, dtype=np.int64)
    for h in range(whole.shape[1]):
        counts[: len(present), h] = np.bincount(whole[:, h])[present[:, h]]
    if attribute.has_missing:
        counts[-1] = 1
        counts[-1, -1] = max(1, len(whole))
    return counts


@dataclass(frozen=True)
class Visit:
    """What is known of a node of the lattice, and through it of others."""

    levels: Levels
    is_allowed: bool
    """Whether few enough records are suppressed."""
    rules_out: bool
    """Whether it is certain that no node at or below this one is allowed."""
    loss: float
    """The loss of the node; infinite if it is not allowed."""
    rise: float
    """No allowed node at or above this one has a loss below it."""
    fall: float
    """The loss of an allowed node at or below this one is at least its own `rise` plus this."""


class Lattice:
    """The recodings of a table, and the classes that they make; parameters as of `full_domain_recoding`.

    Attributes
    ----------
    shape : tuple of int
        The number of levels of each attribute.
    sizes : list of int64 arrays
        How many nodes of each level of each attribute the records have.
    n_visits : int
        For how many nodes of the lattice classes were made.
    """

    def __init__(
        self,
        ranked: Sequence[Ranked],
        k: int,
        suppression: float = 0.0,
        loss: Loss = "gcp",
        leaves: Leaves = None,
        missing: Missing = "value",
        limits: Sequence[Limit] = (),
        weights: Codes | None = None,
    ) -> None:
        refuse_infeasible(ranked, k, weights)
        if not 0 <= suppression < 1:
            raise PolicyError(f"suppression must be a share of at least 0 and less than 1, not {suppression!r}")
        if loss not in LOSSES:
            raise PolicyError(f"there is no loss {loss!r}; {did_you_mean(loss, LOSSES)}")
        self.trees = [as_tree(r) for r in ranked]
        tables = [tree_nodes(t) for t in self.trees]
        self.shape = tuple(t.shape[1] for t in tables)
        self.sizes = [t.max(axis=0) + 1 for t in tables]
        self.n_visits = 0
        self.k = int(k)
        rows = np.arange(len(ranked[0].ranks), dtype=np.int32)
        stands_for = np.ones(len(rows), dtype=np.int64) if weights is None else weights.astype(np.int64)
        self.n_rows = int(stands_for.sum())
        self.budget = int(suppression * self.n_rows)
        self._loss = loss
        self._missing = missing
        self._limits = tuple(limits)
        self._fewest = tuple(f for f in (limit.fewest_values for limit in limits) if f is not None)
        self._penalties = [penalties_of(t, n) for t, n in zip(self.trees, leaves or [None] * len(tables), strict=True)]
        self._shares = [
            count_codes(t.ranks, weights, t.n_values) @ p / self.n_rows / len(tables)
            for t, p in zip(self.trees, self._penalties, strict=True)
        ]
        self._nodes = np.concatenate([t.T.ravel() for t in tables]).astype(np.int32)
        self._offsets = np.cumsum([0] + [t.size for t in tables])[:-1]
        self._cells = np.column_stack([t.ranks for t in self.trees]).astype(np.int32, order="C")
        from shoal.kernels.tables.lattice import roll_up

        bottom = (0,) * len(tables)
        self._of_record, rows, counts = roll_up(self._cells, rows, stands_for, self._nodes, *self._at(bottom))
        self._kept = [(rows, counts)]
        self._kept_levels = np.array([bottom])

    @property
    def n_nodes(self) -> int:
        """How many nodes the lattice has."""
        return math.prod(self.shape)

    @property
    def top(self) -> Levels:
        """The node of all roots."""
        return tuple(n - 1 for n in self.shape)

    def rises(self) -> Floats:
        """The bound `Visit.rise` of every node, as far as single attributes tell it."""
        if self._loss == "gcp":
            return _over_lattice(np.add, self._shares)
        most = np.minimum(_over_lattice(np.multiply, self.sizes), len(self._kept[0][0]))
        if self._loss == "discernibility":
            return np.asarray(self.n_rows * (self.n_rows / most))
        return np.asarray((self.n_rows - self.budget) / most / self.k)

    def visit(self, levels: Levels) -> Visit:
        """Make the classes of a node and say what they tell."""
        self.n_visits += 1
        _, rows, counts = self._roll_up(levels, keep=True)
        left_out, stays_out = self._left_out(levels, rows, counts)
        n_suppressed = int(counts[left_out].sum())
        is_allowed = n_suppressed <= self.budget
        rules_out = int(counts[stays_out].sum()) > self.budget or (not is_allowed and self.budget == 0)
        if self._loss == "class size":
            rise = (self.n_rows - self.budget) / len(counts) / self.k
            n_classes = len(counts) - np.count_nonzero(left_out)
            loss = (self.n_rows - n_suppressed) / n_classes / self.k if n_classes else np.inf
            return Visit(levels, is_allowed, rules_out, loss if is_allowed else np.inf, rise, 0.0)
        if self._loss == "gcp":
            rise = sum(float(s[h]) for s, h in zip(self._shares, levels, strict=True))
        else:
            rise = float(counts @ counts)
        fall = 0.0 if rules_out else self._fall(levels, rows, counts, stays_out)
        loss = rise + self._fall(levels, rows, counts, left_out) if is_allowed else np.inf
        return Visit(levels, is_allowed, rules_out, loss, rise, fall)

    def _fall(self, levels: Levels, rows: Codes, counts: Ints, left_out: Mask) -> float:
        """What the suppression of some classes adds to the loss."""
        sizes = counts[left_out]
        if self._loss == "discernibility":
            return float(sizes @ (self.n_rows - sizes))
        left = np.full(len(sizes), float(len(levels)))
        for a, h in enumerate(levels):
            left -= self._penalties[a][self._cells[rows[left_out], a], h]
        return float(left @ sizes) / self.n_rows / len(levels)

    def recoding(self, visit: Visit, *, optimal: bool) -> Recoding:
        """Give every record its class at an allowed node, or at the lowest one that has the same classes."""
        visit = self._lowest(visit)
        of_distinct, rows, counts = self._roll_up(visit.levels, keep=False)
        is_kept = ~self._left_out(visit.levels, rows, counts)[0]
        number = np.where(is_kept, np.cumsum(is_kept) - 1, -1).astype(np.int32)
        labels = number[of_distinct[self._of_record]]
        return Recoding(visit.levels, labels, visit.loss, optimal, self.n_visits, self.n_nodes)

    def refusal(self, *, is_proved: bool) -> Infeasible:
        """What to say where no allowed node was found."""
        tried = "no recoding for all" if is_proved else f"none of the {self.n_visits:,} recodings that were tried"
        return Infeasible(
            f"{tried} meets the diversity requirements when at most {self.budget:,} of {self.n_rows:,} records may be "
            "left out; allow more suppression or use another partition"
        )

    def _lowest(self, visit: Visit) -> Visit:
        """Step down where levels part no records: where all codes begin with 4810, `4810*` says more than `*`."""
        same = [s == s[h] for s, h in zip(self.sizes, visit.levels, strict=True)]
        levels = tuple(int(np.argmax(s)) for s in same)
        if levels == visit.levels:
            return visit
        lower = self.visit(levels)
        return lower if lower.is_allowed and lower.loss <= visit.loss else visit

    def _at(self, levels: Levels) -> tuple[Ints, Ints]:
        """Where the nodes of each attribute's level begin, and how many there are."""
        starts = [o + h * t.n_values for o, h, t in zip(self._offsets, levels, self.trees, strict=True)]
        sizes = [s[h] for s, h in zip(self.sizes, levels, strict=True)]
        return np.array(starts, dtype=np.int64), np.array(sizes, dtype=np.int64)

    def _nearest(self, levels: Levels) -> int:
        """The node below with the fewest classes, among those that were kept."""
        below = np.flatnonzero((self._kept_levels <= levels).all(axis=1))
        return min(map(int, below), key=lambda i: len(self._kept[i][0]))

    def _roll_up(self, levels: Levels, *, keep: bool) -> tuple[Codes, Codes, Ints]:
        from shoal.kernels.tables.lattice import roll_up

        finer = self._kept[self._nearest(levels) if keep else 0]
        of, rows, counts = roll_up(self._cells, *finer, self._nodes, *self._at(levels))
        # A node with hardly fewer classes than the one it came from would save nothing.
        if keep and 2 * len(rows) <= len(finer[0]) and sum(len(r) for r, _ in self._kept) + len(rows) <= KEPT:
            self._kept.append((rows, counts))
            self._kept_levels = np.vstack([self._kept_levels, levels])
        return of, rows, counts

    def _small(self, levels: Levels, rows: Codes, counts: Ints) -> Mask:
        """Classes that may not be published: smaller than k or, where missing may be any value, with a missing one."""
        small = counts < self.k
        if self._missing == "any":
            for a, tree in enumerate(self.trees):
                if tree.has_missing and levels[a] < self.shape[a] - 1:
                    small |= self._cells[rows, a] == tree.n_values - 1
        return small

    def _left_out(self, levels: Levels, rows: Codes, counts: Ints) -> tuple[Mask, Mask]:
        """Classes that are suppressed, and those of them whose records are so at every node below too.

        Where the latter alone are too many, the others are not looked for.
        """
        small = self._small(levels, rows, counts)
        if not self._limits or counts[small].sum() > self.budget:
            return small, small
        # Classes are numbered by first appearance, whichever finer ones they were made from.
        labels = self._roll_up(levels, keep=False)[0][self._of_record]
        stays_out = small | _failing(labels, small, self._fewest)
        left_out = stays_out
        while counts[left_out].sum() <= self.budget:
            failing = _failing(labels, left_out, self._limits)
            if not failing.any():
                break
            left_out = left_out | failing
        return left_out, stays_out


def _failing(labels: Codes, left_out: Mask, limits: Sequence[Limit]) -> Mask:
    """Which classes, of those that are not left out, violate a limit; measured against what is not left out."""
    from shoal.tables.limits import violations

    failing = np.zeros(len(left_out), dtype=bool)
    rows = np.flatnonzero(~left_out[labels])
    if limits and len(rows):
        held = [limit.among(rows) if limit.is_relative else limit.of_rows(rows) for limit in limits]
        found = violations(labels[rows], held)
        failing[: len(found)] = found
    return failing


def tree_nodes(tree: Ranked) -> Rows:
    """The nodes above each rank, those of a level numbered from 0, once it is sure that levels are nested."""
    ancestors = tree.ancestors
    assert ancestors is not None, "as_tree gives every attribute ancestors"
    for fine, coarse in pairwise(ancestors.T.astype(np.int64)):
        if len(np.unique(fine)) != len(np.unique(fine * (coarse.max() + 1) + coarse)):
            raise DataError(f"the levels of {tree.name!r} are not nested; give every node one parent")
    if len(np.unique(ancestors[:, 0])) < tree.n_values or len(np.unique(ancestors[:, -1])) > 1:
        raise DataError(f"the hierarchy of {tree.name!r} must begin with the values and end in one root; mend it")
    return np.column_stack([np.unique(level, return_inverse=True)[1] for level in ancestors.T])


def penalties_of(tree: Ranked, leaves: Ints | None) -> Floats:
    """Share of the other leaves that a rank cannot be told from at each level."""
    if leaves is None:
        leaves = leaf_counts(tree, None)
    penalties = (leaves - 1) / max(1, int(leaves[0, -1]) - 1)
    if tree.has_missing and tree.n_values > 1:
        penalties[:, -1] = 1.0
    return np.asarray(penalties, dtype=np.float64)


def _over_lattice(combine: np.ufunc, by_level: Sequence[npt.NDArray[Any]]) -> Floats:
    total = by_level[0].astype(np.float64)
    for levels in by_level[1:]:
        total = combine.outer(total, levels)
    return total


def full_domain_recoding(ranked: Sequence[Ranked], k: int, *, max_nodes: int = 10_000, **asked: Any) -> Recoding:
    """Find the levels of least loss at which at most a share of the records must be suppressed.

    Suppressed are classes of fewer than k records, and those that violate a limit.

    Parameters
    ----------
    ranked : sequence of Ranked
        The quasi-identifiers, those without a hierarchy in intervals or below one root (`as_tree`).
    k : int
    suppression : float
        The share of records that may be left out.
    loss : {"gcp", "discernibility", "class size"}
        - gcp: mean over cells of ``(leaves under the label - 1) / (leaves - 1)``, a suppressed record 1 in each
          (Ghinita et al., VLDB 2007);
        - discernibility: ``sum of squared class sizes + suppressed records * all records`` (Bayardo and Agrawal, ICDE
          2005);
        - class size: ``(published records / classes) / k`` (LeFevre et al., ICDE 2006).
    leaves : sequence of (int64 array or None), optional
        For each attribute what `leaf_counts` tells of its hierarchy; else the values of the column are the leaves.
    missing : {"value", "any"}
        A missing value is a value of its own; or it may be any value, then records with one are suppressed at every
        level below the root.
    limits : sequence of Limit
        What every published class has to meet besides being of k records; those that do not are suppressed.
    weights : int32 array (n_rows,), optional
        How many records each row stands for.
    max_nodes : int
        Give up the proof, and perhaps the least loss, when classes were made for so many nodes of the lattice.

    Returns
    -------
    Recoding

    Raises
    ------
    PolicyError, Infeasible, DataError
        Where k, suppression or loss have no meaning, there are fewer than k records, a hierarchy is no tree, or no node
        is allowed. With no more than `max_nodes` nodes, or where the whole table as one class meets the limits, one is
        found if there is one; so a problem that was solved is solved too when more may be suppressed.
    """
    lattice = Lattice(ranked, k, **asked)
    if lattice.n_nodes > LARGEST:
        best, is_proved = _walk(lattice, max_nodes), False
    else:
        best, is_proved = _search(lattice, max_nodes)
    if not best.is_allowed:
        raise lattice.refusal(is_proved=is_proved)
    return lattice.recoding(best, optimal=is_proved)


def _search(lattice: Lattice, max_nodes: int) -> tuple[Visit, bool]:
    """Visit nodes until the bounds exclude all others: the best, and whether that was reached."""
    rise = lattice.rises()
    fall = np.zeros(lattice.shape)
    best = lattice.visit(lattice.top)
    rise[best.levels] = np.inf
    while True:
        bound = rise + fall
        is_open = bound < best.loss * (1 - CLOSE)
        if not is_open.any():
            return best, True
        chain = _chain(bound, is_open)
        low, high = 0, len(chain)
        while (
            low < high
        ):  # where going up never forbids, nodes below `low` are not allowed and those from `high` on are
            if lattice.n_visits >= max_nodes:
                return best, False
            middle = (low + high) // 2
            visit = lattice.visit(chain[middle])
            below = tuple(slice(0, h + 1) for h in visit.levels)
            above = tuple(slice(h, None) for h in visit.levels)
            np.maximum(rise[above], visit.rise, out=rise[above])
            if visit.rules_out:
                rise[below] = np.inf
            else:
                np.maximum(fall[below], visit.fall, out=fall[below])
            if visit.is_allowed:
                high = middle
                if visit.loss < best.loss:
                    best = visit
            else:
                low = middle + 1
            rise[visit.levels] = np.inf


def _chain(bound: Floats, is_open: Mask) -> list[Levels]:
    """From the open node of least bound upwards, each time to the open node of least bound right above."""
    at = tuple(int(i) for i in np.unravel_index(int(np.argmin(np.where(is_open, bound, np.inf))), bound.shape))
    chain = [at]
    while True:
        above = [at[:a] + (at[a] + 1,) + at[a + 1 :] for a in range(len(at)) if at[a] + 1 < bound.shape[a]]
        above = [node for node in above if is_open[node]]
        if not above:
            return chain
        at = min(above, key=lambda node: float(bound[node]))
        chain.append(at)


def _walk(lattice: Lattice, max_nodes: int) -> Visit:
    """For lattices too large to keep bounds of: descend from the top; then raise one attribute and descend in others.

    Each descent goes to the node right below that loses least, while that is better; the second part is repeated until
    no attribute helps.
    """
    best = _descend(lattice, lattice.visit(lattice.top), None, max_nodes)
    raised = 0
    while raised < len(lattice.shape) and lattice.n_visits < max_nodes:
        if best.levels[raised] < lattice.top[raised]:
            above = lattice.visit(tuple(h + (a == raised) for a, h in enumerate(best.levels)))
            found = _descend(lattice, above, raised, max_nodes)
            if found.loss < best.loss * (1 - CLOSE):
                best, raised = found, -1
        raised += 1
    return best


def _descend(lattice: Lattice, start: Visit, fixed: int | None, max_nodes: int) -> Visit:
    best = start
    while True:
        here = best
        for down, h in enumerate(here.levels):
            if h > 0 and down != fixed and lattice.n_visits < max_nodes:
                below = lattice.visit(tuple(h - (a == down) for a, h in enumerate(here.levels)))
                best = below if below.loss < best.loss else best
        if best is here:
            return best


PARTITIONS.register(
    PartitionMethod(
        name="full-domain",
        help="full-domain recoding: one level of each hierarchy for all records, searched for the least loss",
        reference="Samarati, IEEE TKDE 13(6), 2001; Kohlmayer, Prasser et al., PASSAT 2012",
        recoding=full_domain_recoding,
        takes_weights=always,
        is_searched=True,
        few_records=10_000,
        place=9,
    )
)
