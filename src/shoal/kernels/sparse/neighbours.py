"""Nearest neighbours of sparse records: heaps of the best, and one block of records against many queries by lists.

Records stand in an order of the caller's; a place is a position in that order, a block is a run of places. Records
with weights are compared here, sets of items in `shoal.kernels.sparse.bits`.

Scores: ``product ** 2 / square`` with the sign of the product (cosine; the query's own length changes no order), or
``2 * product - square`` (Euclidean). Products of whole numbers below 2 ** 26 are exact, and so are ties.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled

Places = npt.NDArray[np.uint16]


BLOCK = 2048  # records whose sums of products, 8 bytes each, are half of a first-level cache
CHUNK = 64
SLACK = 1e-12


@compiled
def offer(scores: Floats, rows: Codes, seat: int, score: float, row: int) -> bool:
    """Put a record into a heap of the best, in place of the worst, which is on top; of equals a larger row is worse."""
    if score < scores[seat, 0] or (score == scores[seat, 0] and row > rows[seat, 0]):
        return False
    k = scores.shape[1]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= k:
            break
        other = child + 1
        if other < k and (
            scores[seat, other] < scores[seat, child]
            or (scores[seat, other] == scores[seat, child] and rows[seat, other] > rows[seat, child])
        ):
            child = other
        if score < scores[seat, child] or (score == scores[seat, child] and row > rows[seat, child]):
            break
        scores[seat, at], rows[seat, at] = scores[seat, child], rows[seat, child]
        at = child
    scores[seat, at], rows[seat, at] = score, row
    return True


@compiled
def sort_heaps(scores: Floats, rows: Codes) -> None:
    """Turn the heap of each query into a list, best first."""
    for q in range(len(scores)):
        for i in range(1, scores.shape[1]):
            score, row, at = scores[q, i], rows[q, i], i
            while at > 0 and (scores[q, at - 1] < score or (scores[q, at - 1] == score and rows[q, at - 1] > row)):
                scores[q, at], rows[q, at] = scores[q, at - 1], rows[q, at - 1]
                at -= 1
            scores[q, at], rows[q, at] = score, row


@compiled
def fill_lists(
    starts: Ints,
    items: Codes,
    weights: Floats,
    first: int,
    stop: int,
    list_starts: Codes,
    listed: Places,
    values: Floats,
) -> None:
    """Index a block by lists alone: for each item its records and their weights."""
    list_starts[:] = 0
    for e in range(starts[first], starts[stop]):
        list_starts[items[e] + 2] += 1
    for i in range(2, len(list_starts)):
        list_starts[i] += list_starts[i - 1]
    for place in range(first, stop):
        for e in range(starts[place], starts[place + 1]):
            slot = items[e] + 1
            listed[list_starts[slot]] = place - first
            values[list_starts[slot]] = weights[e]
            list_starts[slot] += 1


@compiled
def scan_sums(
    starts: Ints,
    items: Codes,
    weights: Floats,
    squares: Floats,
    rows: Codes,
    queries: Ints,
    seats: Ints,
    first: int,
    stop: int,
    list_starts: Codes,
    listed: Places,
    values: Floats,
    is_cosine: bool,
    best_scores: Floats,
    best_rows: Codes,
) -> None:
    """Offer the records of one block to each query: any weights.

    Parameters
    ----------
    starts, items, weights, squares, rows : array
        The records by place; `squares` are those of all items (also of those that are left out of `items`, because no
        other record has them), `rows` is what is kept in the heaps and breaks ties.
    queries, seats : int64 array
        Their places, and which of the heaps is theirs.
    first, stop, list_starts, listed, values
        The block and its index by `fill_lists`.
    best_scores, best_rows : array (n_heaps, k)
        Heaps; an empty seat has the score -inf.

    Notes
    -----
    The products of a pair are added in the order of the items, whichever of the two is the query, so that equal
    records have equal scores to the last bit.
    """
    n_block = stop - first
    sums = np.empty(BLOCK)
    # Places without a record are those of one that is infinitely long.
    own_squares, inverses = np.full(BLOCK, np.inf), np.zeros(BLOCK)
    for i in range(n_block):
        own_squares[i], inverses[i] = squares[first + i], 1.0 / squares[first + i]
    for at_query in range(len(queries)):
        q = queries[at_query]
        sums[:] = 0.0
        for e in range(starts[q], starts[q + 1]):
            weight = weights[e]
            for at in range(list_starts[items[e]], list_starts[items[e] + 1]):
                sums[listed[at]] += weight * values[at]
        seat = seats[at_query]
        for begin in range(0, n_block, CHUNK):
            # A quick look at many at once, with room for the rounding of the inverse.
            highest = -np.inf
            some, with_square = sums[begin : begin + CHUNK], own_squares[begin : begin + CHUNK]
            if is_cosine:
                with_inverse = inverses[begin : begin + CHUNK]
                for i in range(CHUNK):
                    highest = max(highest, some[i] * abs(some[i]) * with_inverse[i])
            else:
                for i in range(CHUNK):
                    highest = max(highest, 2.0 * some[i] - with_square[i])
            if highest + abs(highest) * SLACK < best_scores[seat, 0]:
                continue
            for i in range(min(CHUNK, n_block - begin)):
                if first + begin + i != q:
                    score = some[i] * abs(some[i]) / with_square[i] if is_cosine else 2.0 * some[i] - with_square[i]
                    offer(best_scores, best_rows, seat, score, rows[first + begin + i])
