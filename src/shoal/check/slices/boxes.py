"""Which boxes does a point or a box meet? A tree of bounding boxes, loaded at once and asked for many at once.

A box is an interval of whole numbers in every dimension, and in it a mask of 64 bits: the intervals are cut into 64
bins, and bits tell which bins the box has something in. So a set of a few values is told from the interval around it.
Meeting here is necessary, not sufficient: the mask may be coarse.

A node of boxes is cut in two where the fewest questions would have to look at both sides: over all dimensions, and
all places that leave a quarter on either side. A partition by cuts of whole nodes, as Mondrian makes it, is so found
again. All questions walk down together, a level at a time, so that the work is that of a few array operations a level;
where the boxes hardly overlap, the cost of q questions to b boxes is near q log b.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints, Words

LEAF = 4  # boxes that are not cut any further
BINS = 64
AT_ONCE = 1 << 18  # pairs of question and node that are held at a time
ALL = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class Boxes:
    """Closed boxes.

    Attributes
    ----------
    low, high : int32 arrays (n_dims, n_boxes)
        The corners; ``low > high`` in a dimension is a box that nothing meets.
    masks : uint64 arrays (n_dims, n_boxes)
        The bins that it has something in.
    """

    low: Codes
    high: Codes
    masks: Words

    def take(self, places: Ints) -> Boxes:
        """Some of them."""
        # `take`, unlike an index, leaves each dimension in one stretch of memory.
        low, high = (np.take(corner, places, axis=1) for corner in (self.low, self.high))
        return Boxes(low, high, np.take(self.masks, places, axis=1))

    def joined(self, starts: Ints) -> Boxes:
        """One around each run of neighbours."""
        return Boxes(
            np.minimum.reduceat(self.low, starts, axis=1),
            np.maximum.reduceat(self.high, starts, axis=1),
            np.bitwise_or.reduceat(self.masks, starts, axis=1),
        )

    def beside(self, other: Boxes) -> Boxes:
        """The same boxes with more dimensions."""
        return Boxes(*(np.vstack([getattr(self, n), getattr(other, n)]) for n in ("low", "high", "masks")))


def bin_of(ranks: Ints, n_values: int) -> Words:
    """The bin of each rank 0 .. n_values: one for each if there are few."""
    n_ranks = n_values + 1
    return (ranks if n_ranks <= BINS else ranks * BINS // n_ranks).astype(np.uint64)


def span_masks(low: Ints, high: Ints, n_values: int) -> Words:
    """All bins from one rank to another; none where low > high."""
    first, last = bin_of(low, n_values), bin_of(high, n_values)
    upto = ALL >> (np.uint64(BINS - 1) - last)
    return np.asarray(np.where(low <= high, upto & (ALL << first), np.uint64(0)), dtype=np.uint64)


@dataclass(frozen=True)
class _Level:
    """The nodes of one depth: the box around each, the place of its first child in the next level, its boxes."""

    boxes: Boxes
    dims: list[tuple[int, bool]]
    child: Ints  # -1: a leaf
    start: Ints
    stop: Ints


class CheckedBoxes:
    """An index of boxes, made for the questions that are likely.

    Parameters
    ----------
    boxes, likely : Boxes
        The boxes, and what is likely to be asked; both of at least one dimension.
    """

    def __init__(self, boxes: Boxes, likely: Boxes) -> None:
        self.order, self.levels = _cut(boxes, likely)
        self.boxes = boxes.take(self.order)
        self.dims = _telling(self.boxes)

    def meets(self, asked: Boxes) -> Iterator[tuple[Ints, Ints]]:
        """Pairs of question and box that meet, in portions."""
        n_asked = asked.low.shape[1]
        step = AT_ONCE // 2
        for begin in range(0, n_asked, step):
            questions = np.arange(begin, min(begin + step, n_asked))
            stack = [(questions, np.zeros(len(questions), dtype=np.int64), 0)]
            while stack:
                question, node, depth = stack.pop()
                level = self.levels[depth]
                question, node = _meeting(level.boxes, level.dims, asked, question, node)
                at_leaf = level.child[node] < 0
                if at_leaf.any():
                    ends = node[at_leaf]
                    counts = level.stop[ends] - level.start[ends]
                    owner = np.repeat(np.arange(len(ends)), counts)
                    place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
                    found = _meeting(
                        self.boxes, self.dims, asked, question[at_leaf][owner], level.start[ends][owner] + place
                    )
                    if len(found[0]):
                        yield found[0], self.order[found[1]]
                    question, node = question[~at_leaf], node[~at_leaf]
                for part in range(0, len(question), step):
                    q, n = question[part : part + step], level.child[node[part : part + step]]
                    stack.append((np.repeat(q, 2), np.column_stack([n, n + 1]).ravel(), depth + 1))


def _meeting(boxes: Boxes, dims: list[tuple[int, bool]], asked: Boxes, question: Ints, node: Ints) -> tuple[Ints, Ints]:
    for dim, by_mask in dims:
        if not len(question):
            break
        if by_mask:
            keep = (boxes.masks[dim][node] & asked.masks[dim][question]) != 0
        else:
            keep = (boxes.low[dim][node] <= asked.high[dim][question]) & (
                asked.low[dim][question] <= boxes.high[dim][node]
            )
        if not keep.all():
            question, node = question[keep], node[keep]
    return question, node


def _telling(boxes: Boxes) -> list[tuple[int, bool]]:
    """The dimensions, by interval and by mask, the most telling first; those that tell nothing are left out."""
    if not boxes.low.shape[1]:
        return []
    found = []
    low, high = boxes.low.min(axis=1), boxes.high.max(axis=1)
    whole = np.bitwise_or.reduce(boxes.masks, axis=1)
    for dim in range(len(low)):
        width = np.maximum(boxes.high[dim].astype(np.float64) - boxes.low[dim] + 1, 0).mean()
        found.append((width / max(1.0, float(high[dim]) - low[dim] + 1), dim, False))
        if whole[dim] != ALL or (boxes.masks[dim] != ALL).any():
            found.append((_bits(boxes.masks[dim]).mean() / max(1, int(_bits(whole[dim : dim + 1])[0])), dim, True))
    return [(dim, by_mask) for _, dim, by_mask in sorted(found)]


def _bits(masks: Words) -> Ints:
    return np.asarray(np.unpackbits(masks.view(np.uint8).reshape(len(masks), 8), axis=1).sum(axis=1, dtype=np.int64))


def _cut(boxes: Boxes, asked: Boxes) -> tuple[Ints, list[_Level]]:
    """Cut nodes in two, all of one depth together; gives the order of the boxes, and the levels."""
    n_dims, n_boxes = boxes.low.shape
    # Corners as places among the questions: a stretch is as long as the questions that fall into it.
    values = [np.sort(asked.low[d]) for d in range(n_dims)]
    # Of as few bytes as will do: boxes may be a million.
    low = [np.searchsorted(v, boxes.low[d], "left").astype(np.int32) for d, v in enumerate(values)]
    high = [np.searchsorted(v, boxes.high[d], "right").astype(np.int32) for d, v in enumerate(values)]
    order = np.arange(n_boxes)
    sorted_by = [np.lexsort((high[d], low[d])).astype(np.int32) for d in range(n_dims)]
    start, stop = np.array([0]), np.array([n_boxes])
    levels: list[_Level] = []
    while True:
        size = stop - start
        inner = size > LEAF
        around = _around(boxes, order, start, stop)
        child = np.where(inner, 2 * (np.cumsum(inner) - 1), -1)
        levels.append(_Level(around, _telling(around), child, start, stop))
        if not inner.any():
            return order, levels
        first, size = start[inner], size[inner]
        # From here on, only the boxes of nodes that are cut: one node after the other.
        node = np.repeat(np.arange(len(size)), size)
        begins = np.cumsum(size) - size
        inside = np.arange(len(node)) - begins[node]
        node_of_box = np.full(n_boxes, -1, dtype=np.int64)
        node_of_box[order[first[node] + inside]] = node
        least = np.full(len(size), np.inf)
        chosen = np.empty(len(node), dtype=np.int64)
        cut = np.zeros(len(size), dtype=np.int64)
        for dim in range(n_dims):
            listed = sorted_by[dim]
            listed = listed[node_of_box[listed] >= 0]
            listed = listed[np.argsort(_narrow(node_of_box[listed], len(size)), kind="stable")]
            sorted_by[dim] = listed
            cost = _cost(low[dim][listed], high[dim][listed], node, begins, size, inside)
            best = np.minimum.reduceat(cost, begins)
            at = np.flatnonzero(cost == best[node])
            at = at[np.unique(node[at], return_index=True)[1]]
            better = best < least
            least = np.where(better, best, least)
            cut = np.where(better, inside[at] + 1, cut)
            chosen = np.where(better[node], listed, chosen)
        order[first[node] + inside] = chosen
        start = np.column_stack([first, first + cut]).ravel()
        stop = np.column_stack([first + cut, first + size]).ravel()


def _cost(low: Codes, high: Codes, node: Ints, begins: Ints, size: Ints, inside: Ints) -> Floats:
    """For a cut behind each box: the share of the node's questions that both sides would get, and how uneven it is."""
    far = int(max(high.max(initial=0), low.max(initial=0))) + 1
    reach = np.maximum.accumulate(high + node * far) - node * far
    ahead = np.minimum.accumulate((low + node * far)[::-1])[::-1] - node * far
    span = np.maximum(np.maximum.reduceat(high, begins) - np.minimum.reduceat(low, begins), 1)
    both = np.maximum(reach[:-1] - ahead[1:], 0) / span[node[:-1]]
    share = (inside + 1) / size[node]
    cost = np.append(both, 0.0) + 0.2 * np.abs(share - 0.5)
    cost[(share < 0.25) | (share > 0.75)] = 10.0
    cost[begins + size - 1] = 20.0
    return np.asarray(cost)


def _narrow(node: Ints, n_nodes: int) -> npt.NDArray[np.integer[Any]]:
    """Small integers sort stably in linear time."""
    return node.astype(np.uint16) if n_nodes <= 2**16 else node


def _around(boxes: Boxes, order: Ints, start: Ints, stop: Ints) -> Boxes:
    """A box around each node; the nodes ascend and do not overlap."""
    ends = np.column_stack([start, stop]).ravel()
    ends = ends[:-1] if ends[-1] == len(order) else ends
    joined = (
        np.stack([of_all.reduceat(corner[order], ends)[::2] for corner in corners])
        for of_all, corners in ((np.minimum, boxes.low), (np.maximum, boxes.high), (np.bitwise_or, boxes.masks))
    )
    return Boxes(*joined)
