"""k^m-anonymity by generalisation: items become nodes of a hierarchy, the same for all records.

As the Apriori-based algorithm (AA) does, combinations of one item are made frequent first, then those of two, and so on
up to m. At each step those nodes take the place of everything below them whose raising breaks up the most rare
combinations for what it costs: a twentieth of the nodes in question, and one at least. What was frequent stays so.

**Guarantee**: every combination of up to m items that occurs among the published records, of one class where classes
are published, is held by at least k of them. **Not protected**: everything about a person of whom more than m items are
known; what those k have in common; that a record is in the data.

We depart from the paper in how the nodes of a step are chosen: it looks for the best way to make one rare combination
frequent, one after the other; we recount after each step.

References
----------
M. Terrovitis, N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of set-valued data", VLDB 2008, section 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.data.sparse.records import Sparse, assemble
from shoal.data.tables.hierarchy import Hierarchy
from shoal.errors import DataError, Infeasible
from shoal.sparse.combinations import coded

_AT_ONCE = 20


@dataclass(frozen=True)
class ItemTree:
    """A hierarchy as numbers.

    Attributes
    ----------
    labels : tuple of str
        The nodes; the root is the last.
    parents : int64 array (n_nodes,)
        The node above each; the root is its own.
    shares : float64 array (n_nodes,)
        The share of all leaves that are below a node; 0 of a leaf.
    leaves : dict of str to int
        The node of each leaf.
    """

    labels: tuple[str, ...]
    parents: Ints
    shares: Floats
    leaves: dict[str, int]

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> ItemTree:
        """Number the nodes, those that are lower first."""
        heights: dict[str, int] = {}
        for row in hierarchy.rows:
            for height, label in enumerate(row):
                heights[label] = max(height, heights.get(label, 0))
        labels = sorted(heights, key=lambda label: (heights[label], label))
        place = {label: i for i, label in enumerate(labels)}
        parents, below = np.arange(len(labels)), np.zeros(len(labels))
        for row in hierarchy.rows:
            for label, above in pairwise(row):
                if label != above:
                    parents[place[label]] = place[above]
            for label in set(row):
                below[place[label]] += 1
        leaves = {row[0]: place[row[0]] for row in hierarchy.rows}
        shares = np.where(below > 1, below / max(len(hierarchy.rows), 1), 0.0)
        return cls(tuple(labels), parents, shares, leaves)

    def nodes_of(self, names: tuple[str, ...]) -> Ints:
        """The node of each item.

        Raises
        ------
        DataError
            If some have none.
        """
        n_missing = sum(name not in self.leaves for name in names)
        if n_missing:
            raise DataError(
                f"{n_missing:,} of {len(names):,} items have no row in the item hierarchy; add a row for each"
            )
        return np.array([self.leaves[name] for name in names], np.int64)


def generalise(records: Sparse, k: int, m: int, hierarchy: Hierarchy, *, owners: Ints | None = None) -> dict[str, str]:
    """What each item of a hierarchy is published as, so that k owners hold every combination of up to m labels.

    Raises
    ------
    Infeasible
        If fewer than k owners of a class hold any item: the root itself is rare there.
    DataError
        If some items are not in the hierarchy.
    """
    tree = ItemTree.of(hierarchy)
    cut = np.arange(len(tree.labels))
    nodes = tree.nodes_of(records.names)
    for size in range(1, m + 1):
        while True:
            made = coded(_raised(records, cut[nodes], tree.labels), 1, owners)
            _, _, rare = made.counted(size, k)
            if not rare.any():
                break
            shown = made.keys % len(tree.labels)
            burden = np.bincount(shown, rare, len(tree.labels)).astype(np.float64)
            supports = np.bincount(shown, made.supports(), len(tree.labels)).astype(np.float64)
            higher = _step(tree, cut, burden, supports, 1 if size == 1 else _AT_ONCE)
            if np.array_equal(higher, cut):
                raise Infeasible(f"fewer than k = {k} records hold any item; lower k or add records")
            cut = higher
    return {leaf: tree.labels[cut[node]] for leaf, node in tree.leaves.items()}


def _raised(records: Sparse, nodes: Ints, labels: tuple[str, ...]) -> Sparse:
    """Records of nodes, which are items whose numbers are those of the nodes."""
    width = len(labels)
    keys = np.unique(np.repeat(np.arange(len(records)), records.sizes) * width + nodes[records.items])
    rows, items = np.divmod(keys, width)
    starts = np.searchsorted(rows, np.arange(len(records) + 1)).astype(np.int64)
    return replace(
        records, starts=starts, items=items.astype(np.int32), weights=np.ones(len(items), np.int64), names=labels
    )


def _step(tree: ItemTree, cut: Ints, burden: Floats, supports: Floats, part: int) -> Ints:
    """The cut with some nodes more, that part of those in question; `burden` has the rare combinations of each node."""
    shown = np.unique(cut)
    shown = shown[shown != len(cut) - 1]  # the root has nothing above it
    gain, cost = np.zeros(len(cut)), np.zeros(len(cut))
    above = tree.parents[shown]
    np.add.at(gain, above, burden[shown])
    np.add.at(cost, above, supports[shown] * (tree.shares[above] - tree.shares[shown]))
    worth = np.where(gain > 0, gain / np.maximum(cost, 1e-12), 0.0)
    order = np.lexsort((np.arange(len(worth)), -worth))
    chosen = order[: max(1, int((worth > 0).sum()) // part)]
    is_chosen = np.zeros(len(cut), np.bool_)
    is_chosen[chosen] = True
    # Everything below a chosen node takes its place: from the root down, as parents have greater numbers.
    raised = np.arange(len(cut))
    for node in range(len(cut) - 2, -1, -1):
        over = tree.parents[node]
        if raised[over] != over or is_chosen[over]:
            raised[node] = raised[over]
    return np.asarray(raised[cut], np.int64)


def generalised(records: Sparse, published_as: dict[str, str]) -> Sparse:
    """Records with a label in the place of each item; an item without one is left out."""
    labels = sorted(set(published_as.values()))
    place = {label: i for i, label in enumerate(labels)}
    codes = np.array([place.get(published_as.get(name, ""), -1) for name in records.names], np.int64)[records.items]
    rows = np.repeat(np.arange(len(records)), records.sizes)[codes >= 0]
    starts = np.searchsorted(rows, np.arange(len(records) + 1)).astype(np.int64)
    made = assemble(starts, codes[codes >= 0], labels, source=records.source)
    return replace(made, labels=records.labels, classes=records.classes)


def specialised(records: Sparse, published_as: dict[str, str], rng: np.random.Generator) -> Sparse:
    """Records as they may have been: for each label one of its items, drawn at random."""
    below: dict[str, list[str]] = {}
    for item, label in published_as.items():
        below.setdefault(label, []).append(item)
    names = sorted(published_as)
    place = {name: i for i, name in enumerate(names)}
    listed = [[place[item] for item in below.get(label, [])] for label in records.names]
    counts = np.array([len(items) for items in listed], np.int64)
    flat = np.concatenate([np.zeros(0, np.int64), *(np.array(items, np.int64) for items in listed)])
    firsts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    is_known = counts[records.items] > 0
    shown = records.items[is_known]
    drawn = flat[firsts[shown] + (rng.random(len(shown)) * counts[shown]).astype(np.int64)]
    rows = np.repeat(np.arange(len(records)), records.sizes)[is_known]
    starts = np.searchsorted(rows, np.arange(len(records) + 1)).astype(np.int64)
    made = assemble(starts, drawn, names, source=records.source)
    return replace(made, labels=records.labels, classes=records.classes)
