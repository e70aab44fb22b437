"""Mondrian's first cuts of rows that lie in a file, from histograms: one scan a level for all nodes at once.

Which attribute a node is cut in, and where, depends on nothing but how many of its records have each value and, with
limits, each value together with each sensitive one. So every scan counts these for all nodes that are still too large,
and the cuts are the very ones that `shoal.kernels.tables.mondrian` makes of the rows: it is asked here too, with the
values of one attribute as rows and their records as weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Codes, Ints, Mask
from shoal.data.tables.spill import RowFile, Rows2D, SpillFolder
from shoal.tables.encoding import Ranked
from shoal.tables.limits import Limit
from shoal.tables.partition.mondrian import block_arguments

MOST_CELLS = 1 << 21
"""Cells of a histogram that is held whole; of larger ones only those are held that are not empty."""

MOST_NODES = 1 << 15


@dataclass(frozen=True)
class CodedAttribute:
    """A quasi-identifier of rows in a file: its column there, and the rank of each code.

    The ranks of `ranked` are of no rows; what else it holds is that of the whole table.
    """

    column: int
    rank_of_code: Codes
    ranked: Ranked

    def ranks(self, rows: Rows2D) -> Codes:
        """Of some rows."""
        return self.rank_of_code[rows[:, self.column]]


@dataclass(frozen=True)
class CodedLimit:
    """A limit on rows in a file, likewise; a limit on no column has None."""

    column: int | None
    rank_of_code: Codes
    limit: Limit

    def of_rows(self, rows: Rows2D) -> Limit:
        """The limit of some rows, still measured against the whole table."""
        codes = np.zeros(len(rows), dtype=np.int32) if self.column is None else self.rank_of_code[rows[:, self.column]]
        return replace(self.limit, codes=codes, weights=np.ascontiguousarray(rows[:, -1]))


@dataclass
class _Node:
    """A node of the tree of cuts: one that was cut says by which attribute, and which of its ranks go left."""

    attribute: int = -1
    goes_left: Mask | None = None
    left: int = -1
    right: int = -1


class _Histogram:
    """How many records have each key, below a bound that is known."""

    def __init__(self, span: int) -> None:
        self._span, self._is_whole = span, span <= MOST_CELLS
        self._whole = np.zeros(span if self._is_whole else 0, dtype=np.int64)
        self._keys, self._counts = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]

    def add(self, keys: Ints, weights: Codes) -> None:
        if self._is_whole:
            self._whole += np.bincount(keys, weights, self._span).astype(np.int64)
            return
        distinct, place = np.unique(keys, return_inverse=True)
        self._keys.append(distinct)
        self._counts.append(np.bincount(place, weights).astype(np.int64))
        if sum(map(len, self._keys[1:])) > max(MOST_CELLS, len(self._keys[0])):
            self._join()

    def _join(self) -> None:
        distinct, place = np.unique(np.concatenate(self._keys), return_inverse=True)
        counts = np.bincount(place, np.concatenate(self._counts), len(distinct)).astype(np.int64)
        self._keys, self._counts = [distinct], [counts]

    def between(self, begin: int, end: int) -> tuple[Ints, Ints]:
        """The keys from `begin` on that some record has, less it, and their records."""
        if self._is_whole:
            keys = np.flatnonzero(self._whole[begin:end])
            return keys, self._whole[begin:end][keys]
        if len(self._keys) > 1:
            self._join()
        some = slice(*np.searchsorted(self._keys[0], [begin, end]).tolist())
        return self._keys[0][some] - begin, self._counts[0][some]


def first_cuts(
    file: RowFile,
    folder: SpillFolder,
    attributes: Sequence[CodedAttribute],
    limits: Sequence[CodedLimit],
    k: int,
    block_rows: int,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> list[RowFile]:
    """Cut rows as Mondrian does, strictly, until blocks have at most `block_rows` of them, or cannot be cut.

    Returns
    -------
    list of RowFile
        The rows of each block, blocks from left to right. Finishing each apart gives the groups of one run over all.
    """
    tree, open_nodes, sizes = [_Node()], [0], {0: file.n_rows}
    where = RowFile(folder.path / "nodes-0", 0)
    while any(sizes[node] > block_rows for node in open_nodes) and len(tree) < MOST_NODES:
        found, where, sizes = _counted(file, where, tree, open_nodes, attributes, limits, folder, progress)
        large = [(place, node) for place, node in enumerate(open_nodes) if sizes[node] > block_rows]
        open_nodes = []
        for place, node in large:
            cut = _best_cut(found, place, attributes, limits, k)
            if cut is None:
                continue
            tree[node] = _Node(*cut, len(tree), len(tree) + 1)
            open_nodes += [len(tree), len(tree) + 1]
            tree += [_Node(), _Node()]
        sizes |= dict.fromkeys(open_nodes, file.n_rows)
    leaves = _leaves(tree)
    place_of = np.zeros(len(tree), dtype=np.int32)
    place_of[leaves] = np.arange(len(leaves))
    blocks = [folder.new(file.n_columns) for _ in leaves]
    for begin, rows, nodes in _with_nodes(file, where):
        progress(begin, file.n_rows)
        of_row = place_of[_descended(rows, nodes, tree, attributes)]
        order = np.argsort(of_row, kind="stable")
        ends = np.cumsum(np.bincount(of_row, minlength=len(blocks)))
        for block, start, end in zip(blocks, [0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            if start < end:
                block.append(rows[order[start:end]])
    where.remove()
    return blocks


def _with_nodes(file: RowFile, where: RowFile) -> Iterator[tuple[int, Rows2D, Codes]]:
    """Runs of rows with the node in which each was last seen."""
    begin = 0
    for rows in file.runs():
        nodes = where.read(begin, begin + len(rows))[:, 0] if where.n_rows else np.zeros(len(rows), dtype=np.int32)
        yield begin, rows, nodes
        begin += len(rows)


def _descended(rows: Rows2D, nodes: Codes, tree: Sequence[_Node], attributes: Sequence[CodedAttribute]) -> Codes:
    """The leaf of the tree that each row lies in."""
    nodes = nodes.copy()
    waiting = np.unique(nodes).tolist()
    while waiting:
        node = waiting.pop()
        told = tree[node]
        if told.goes_left is None:
            continue
        here = np.flatnonzero(nodes == node)
        if len(here):
            ranks = attributes[told.attribute].rank_of_code[rows[here, attributes[told.attribute].column]]
            nodes[here] = np.where(told.goes_left[ranks], told.left, told.right)
            waiting += [told.left, told.right]
    return nodes


def _counted(
    file: RowFile,
    where: RowFile,
    tree: Sequence[_Node],
    open_nodes: Sequence[int],
    attributes: Sequence[CodedAttribute],
    limits: Sequence[CodedLimit],
    folder: SpillFolder,
    progress: Callable[[int, int], None],
) -> tuple[list[_Histogram], RowFile, dict[int, int]]:
    """The histograms of all open nodes in each attribute, where rows are now, and how many rows each node has."""
    width = _n_sensitive(limits)
    place_of = np.full(len(tree), -1, dtype=np.int64)
    place_of[list(open_nodes)] = np.arange(len(open_nodes))
    histograms = [_Histogram(len(open_nodes) * a.ranked.n_values * width) for a in attributes]
    now = RowFile(folder.path / f"nodes-{len(tree)}", 0)
    sizes = np.zeros(len(tree), dtype=np.int64)
    for begin, rows, seen in _with_nodes(file, where):
        progress(begin, file.n_rows)
        nodes = _descended(rows, seen, tree, attributes)
        now.append(nodes[:, None])
        sizes += np.bincount(nodes, minlength=len(tree))
        is_open = place_of[nodes] >= 0
        some = rows[is_open]
        places, weights, sensitive = place_of[nodes[is_open]], some[:, -1], _sensitive_keys(some, limits)
        for attribute, histogram in zip(attributes, histograms, strict=True):
            keys = places * attribute.ranked.n_values + attribute.ranks(some)
            histogram.add(keys if sensitive is None else keys * width + sensitive, weights)
    where.remove()
    return histograms, now, {node: int(sizes[node]) for node in open_nodes}


def _n_sensitive(limits: Sequence[CodedLimit]) -> int:
    width = 1
    for limit in limits:
        width *= limit.limit.n_values
    return width


def _sensitive_keys(rows: Rows2D, limits: Sequence[CodedLimit]) -> Ints | None:
    """One number for each combination of values that limits are about."""
    if _n_sensitive(limits) == 1:
        return None
    keys = np.zeros(len(rows), dtype=np.int64)
    for limit in limits:
        keys = keys * limit.limit.n_values + limit.of_rows(rows).codes
    return keys


def _limits_at(keys: Ints, limits: Sequence[CodedLimit], weights: Codes) -> list[Limit]:
    """Limits on rows of which one number says the values that they are about."""
    found: list[Limit] = []
    for limit in reversed(limits):
        keys, codes = np.divmod(keys, limit.limit.n_values)
        found.insert(0, replace(limit.limit, codes=codes.astype(np.int32), weights=weights))
    return found


def _best_cut(
    histograms: Sequence[_Histogram],
    place: int,
    attributes: Sequence[CodedAttribute],
    limits: Sequence[CodedLimit],
    k: int,
) -> tuple[int, Mask] | None:
    """The attribute that an open node is cut in, and which of its ranks go left; None if no cut is allowable."""
    from shoal.kernels.tables import mondrian as kernel

    width, nodes = _n_sensitive(limits), []
    for attribute, histogram in zip(attributes, histograms, strict=True):
        span = attribute.ranked.n_values * width
        keys, counts = histogram.between(place * span, (place + 1) * span)
        ranks, weights = (keys // width).astype(np.int32), counts.astype(np.int32)
        held = _limits_at(keys % width, limits, weights)
        space, arrays, _, _ = block_arguments([replace(attribute.ranked, ranks=ranks)], None, k, held, True, weights)
        rows = np.arange(len(ranks), dtype=np.int32)
        nodes.append((space, arrays, rows, kernel.scratch_for(space, arrays, len(rows))))
    widths = np.empty(len(attributes))
    for a, (space, _, rows, scratch) in enumerate(nodes):
        kernel.weigh_node(space, rows, np.int64(0), len(rows), scratch)
        widths[a] = kernel.node_width(space, 0, rows, np.int64(0), len(rows), scratch)
    while (a := kernel.take_widest(widths)) >= 0:
        space, arrays, rows, scratch = nodes[a]
        cut = kernel.best_cut(space, arrays, k, True, rows, np.int64(0), len(rows), np.empty(1), scratch)
        if cut >= 0:
            goes_left = np.zeros(attributes[a].ranked.n_values, dtype=bool)
            goes_left[space.ranks[0][scratch.values[: len(rows)] < cut]] = True
            return a, goes_left
    return None


def _leaves(tree: Sequence[_Node]) -> list[int]:
    """Nodes that were not cut, from left to right."""
    found, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        if tree[node].goes_left is None:
            found.append(node)
        else:
            waiting += [tree[node].right, tree[node].left]
    return found
