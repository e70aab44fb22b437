"""Local recoding: groups whose lowest common labels lose as little as possible.

Records are cut top-down into blocks, each time in the attribute in which the least is lost for the number of parts;
inside a block, groups grow by least loss, as in greedy k-member clustering; then records are exchanged between near
groups, of which those that are large enough are parted and all exchange once more. The loss is that of
`shoal.tables.partition.full_domain`, the share of other leaves that a label cannot be told from, so a group is
published at its own level in each attribute, where full-domain recoding has one for all.

Records that are equal in all quasi-identifiers are never parted, so that the work is on distinct ones, each with the
number of its copies.

**Guarantee** every group has at least k records.

**Not protected** sensitive values: groups are made from the quasi-identifiers alone, and one may have a single value.

References
----------
J. Xu, W. Wang, J. Pei, X. Wang, B. Shi, A. Fu, "Utility-based anonymization using local recoding", KDD 2006 (the loss
NCP, and top-down and bottom-up greedy grouping by it). B. Fung, K. Wang, P. Yu, "Top-down specialization for
information and privacy preservation", ICDE 2005 (specialisation by score). The score, and the exchange, are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Rows
from shoal.data.tables.table import count_codes
from shoal.tables.encoding import Ranked
from shoal.tables.partition.base import (
    PARTITIONS,
    GroupingTask,
    Partition,
    PartitionMethod,
    always,
    refuse_infeasible,
)
from shoal.tables.partition.full_domain import Leaves, as_tree, penalties_of, tree_nodes
from shoal.tables.partition.k_member import number_records

if TYPE_CHECKING:
    from shoal.kernels.tables.cells import Cells

BLOCK = 20  # groups of k to a block: smaller ones leave more leftovers, larger ones lose what the cuts see
POWER = 0.25  # of the entropy of a cut: 0 prefers many small parts, 1 few large ones
LARGEST = 1_000  # distinct records of a block, as growing groups is quadratic in them
WINDOW = 32  # groups among which records are exchanged
AGAIN = 24  # groups of a window of the second exchange, so that its windows end elsewhere
PASSES = 4
MISSING = 2.0


def local_recoding_labels(
    ranked: Sequence[Ranked], k: int, *, leaves: Leaves = None, weights: Codes | None = None
) -> Codes:
    """Put records into groups of at least k whose common labels lose little.

    The loss of a cell is, with a hierarchy, ``(leaves under the lowest common label - 1) / (leaves - 1)``; of numbers
    and ordered categories the range of the group over that of the table; of plain categories 1 if the group has two.

    Parameters
    ----------
    ranked : sequence of Ranked
        The quasi-identifiers.
    k : int
    leaves : sequence of (int64 array or None), optional
        For each attribute what `leaf_counts` tells of its hierarchy; else the values of the column are the leaves.
    weights : int32 array (n_rows,), optional
        How many records each row stands for.

    Returns
    -------
    int32 array (n_rows,)
        Groups 0 .. g - 1. Which records stand together depends on their content alone, and equal ones always do.

    Raises
    ------
    PolicyError, Infeasible, DataError
        If k is no integer of 2 or more, there are fewer than k records, or a hierarchy is no tree.
    """
    from shoal.kernels.tables.local_recoding import cut_blocks, grow_groups
    from shoal.kernels.tables.record_exchange import exchange
    from shoal.tables.collapse import collapse  # the checker reads the names of methods, and nothing that groups

    refuse_infeasible(ranked, k, weights)
    k = int(k)
    alike = collapse(ranked, weights=weights)
    _, first, place = np.unique(number_records(alike.ranked(ranked)), return_index=True, return_inverse=True)
    counts = count_codes(place, alike.weights)
    cells = cells_of(ranked, leaves, alike.rows[first], counts)
    rows, ends = cut_blocks(cells, k, BLOCK * k, POWER, int(cells.nodes.max()) + 1)
    ends = _chop(ends, max(LARGEST, 2 * k))
    labels = np.repeat(np.arange(len(ends), dtype=np.int32), np.diff(ends, prepend=0))[np.argsort(rows)]
    everyone = np.arange(len(counts))
    for width in (WINDOW, AGAIN):
        rows = np.lexsort((-counts, labels))  # of a block, or of a group that may be parted
        ends = np.cumsum(np.bincount(labels))
        n_groups = grow_groups(cells, rows, ends, k, labels)
        exchange(cells, everyone, counts, labels, n_groups, k, width, PASSES)
    return labels[place][alike.of_record]


def cells_of(ranked: Sequence[Ranked], leaves: Leaves, first: Rows, counts: Ints) -> Cells:
    """Lay out distinct records, each given by its first row, with the trees of all attributes end to end."""
    from shoal.kernels.tables.cells import Cells

    trees = [as_tree(r) for r in ranked]
    nodes = [tree_nodes(t) for t in trees]
    penalties = [penalties_of(t, n) for t, n in zip(trees, leaves or [None] * len(trees), strict=True)]
    lines, positions = [], [np.zeros(0)]
    for j, attribute in enumerate(ranked):
        lines.append(-1)
        if attribute.kind in ("number", "order"):
            lines[j] = sum(map(len, positions))
            positions.append(_unit(attribute))
            penalties[j] = _lengths(positions[-1], nodes[j])
    return Cells(
        ranks=np.column_stack([r.ranks[first] for r in ranked]).astype(np.int32, order="C"),
        counts=counts.astype(np.int64),
        widths=np.array([n.shape[1] for n in nodes], dtype=np.int64),
        starts=np.cumsum([0] + [n.size for n in nodes])[:-1].astype(np.int64),
        nodes=np.concatenate([n.ravel() for n in nodes]).astype(np.int32),
        penalties=np.concatenate([p.ravel() for p in penalties]),
        lines=np.array(lines, dtype=np.int64),
        positions=np.concatenate(positions),
    )


def _unit(attribute: Ranked) -> Floats:
    """The place of each rank between the least, 0, and the greatest, 1."""
    n_present = attribute.n_values - attribute.has_missing
    values = attribute.positions if attribute.kind == "number" else np.arange(attribute.n_values, dtype=np.float64)
    unit = np.full(attribute.n_values, MISSING)
    if n_present:
        quarter = values[:n_present] / 4  # the range of the largest numbers does not overflow
        unit[:n_present] = (quarter - quarter[0]) / ((quarter[-1] - quarter[0]) or 1.0)
    return unit


def _lengths(unit: Floats, nodes: Rows) -> Floats:
    """The length of the node above each rank at each level."""
    lengths = np.zeros(nodes.shape)
    for h, node in enumerate(nodes.T):
        low, high = np.full(node.max() + 1, np.inf), np.full(node.max() + 1, -np.inf)
        np.minimum.at(low, node, unit)
        np.maximum.at(high, node, unit)
        lengths[:, h] = np.minimum(high - low, 1.0)[node]
    return lengths


def _chop(ends: Ints, most: int) -> Ints:
    """Cut blocks with too many distinct records, which no attribute parts, into runs."""
    pieces = [np.zeros(0, dtype=np.int64)]
    start = 0
    for end in ends:
        pieces.append(start + (np.arange(1, (n := max(1, (end - start) // most)) + 1) * (end - start)) // n)
        start = end
    return np.concatenate(pieces)


class LocalRecoding(Partition):
    """Groups whose common labels lose little; see `local_recoding_labels`, and the module for its references.

    Notes
    -----
    **Guarantee**: every group has at least k records. **Not protected**: a group may share one sensitive value.

    Examples
    --------
    >>> LocalRecoding(k=2).fit([[1.0], [2.0], [8.0], [9.0], [9.5]]).labels_
    array([0, 0, 1, 1, 1], dtype=int32)
    """

    grouping = staticmethod(local_recoding_labels)


def _labels(task: GroupingTask) -> Codes:
    return local_recoding_labels(task.ranked, task.k, weights=task.weights)


PARTITIONS.register(
    PartitionMethod(
        name="local-recoding",
        help="local recoding: groups of records that meet low in the hierarchies, with records exchanged",
        reference="Xu, Wang, Pei, Wang, Shi, Fu, KDD 2006",
        labels=_labels,
        takes_weights=always,
        proposed_for="others",
        most_records=2_000_000,
        place=4,
    )
)
