"""Which boxes cover which points? By bits: a word for 64 boxes.

A box is a condition on every column, true of some runs of cells; a cell is a value, or several that no box tells apart.
Each cell has a row of bits, one a box, that says which boxes cover it. A point is covered by the boxes whose bits are
set in the rows of all its cells, so that 64 boxes are asked by one instruction a column.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import Codes, Ints, Words
from shoal.kernels.compile import compiled, compiled_beside

POINTS_AT_ONCE = 1024


class Runs(NamedTuple):
    """The cells that conditions of one column are true of.

    Attributes
    ----------
    of_box : int64 array (n_boxes,)
        The condition of each box.
    starts : int64 array (n_conditions + 1,)
        Where the runs of each condition begin.
    first, last : int64 arrays
        The first cell of each run, and the one after its last; runs of a condition do not overlap.
    """

    of_box: Ints
    starts: Ints
    first: Ints
    last: Ints


def places_of_bits(words: Words, n_boxes: int) -> Any:
    """The bits of words in the order of the boxes, a byte each; the last axis is that of the words."""
    return np.unpackbits(words.astype("<u8").view(np.uint8), axis=-1, count=n_boxes, bitorder="little")


def _fill_bits(runs: Runs, bits: Words) -> None:
    sizes = np.diff(runs.starts)[runs.of_box]
    box = np.repeat(np.arange(len(runs.of_box)), sizes)
    run = np.arange(len(box)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + runs.starts[runs.of_box][box]
    holds = runs.first[run] < runs.last[run]
    for cell in (runs.first[run], runs.last[run]):
        there = holds & (cell < len(bits))
        bit = np.uint64(1) << (box[there] & 63).astype(np.uint64)
        np.bitwise_xor.at(bits, (cell[there], box[there] >> 6), bit)
    np.bitwise_xor.accumulate(bits, axis=0, out=bits)


def _count_covered(bits: Words, cells: Codes, owners: Ints, weights: Ints, most: int, counts: Ints) -> None:
    for low in range(0, len(cells), POINTS_AT_ONCE) if not len(owners) else (0,):
        some = cells[low:] if len(owners) else cells[low : low + POINTS_AT_ONCE]
        covers = places_of_bits(np.bitwise_and.reduce(bits[some], axis=1), len(counts))
        if len(owners) and len(some):
            covers = np.maximum.reduceat(covers, np.flatnonzero(np.diff(owners, prepend=owners[0] - 1)), axis=0)
        if len(weights):
            counts += weights[low : low + POINTS_AT_ONCE] @ covers.astype(np.int64)
        else:
            counts += covers.sum(axis=0, dtype=np.int64)
    np.minimum(counts, most, out=counts)


def _list_covering(bits: Words, cells: Codes, point: int, boxes: Ints) -> int:
    words = np.bitwise_and.reduce(bits[cells[point]], axis=0)
    found = np.flatnonzero(places_of_bits(words, 64 * len(words)))
    boxes[: len(found)] = found
    return len(found)


@compiled_beside(_fill_bits)
def fill_bits(runs: Runs, bits: Words) -> None:
    """Set the bits of the cells of one column (n_cells, n_words), which are 0."""
    one = np.uint64(1)
    for box in range(len(runs.of_box)):
        condition = runs.of_box[box]
        word, bit = box >> 6, one << np.uint64(box & 63)
        for run in range(runs.starts[condition], runs.starts[condition + 1]):
            # Where a run begins and where it has ended, bits change; the sums below then say which are set.
            if runs.first[run] < runs.last[run]:
                bits[runs.first[run], word] ^= bit
                if runs.last[run] < len(bits):
                    bits[runs.last[run], word] ^= bit
    for cell in range(1, len(bits)):
        for word in range(bits.shape[1]):
            bits[cell, word] ^= bits[cell - 1, word]


@compiled
def lowest_bit(word: Any) -> Any:
    """The place of the lowest bit that is set, of a uint64: how many are set below it."""
    x = np.uint64((word & (~word + np.uint64(1))) - np.uint64(1))
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled_beside(_count_covered)
def count_covered(bits: Words, cells: Codes, owners: Ints, weights: Ints, most: int, counts: Ints) -> None:
    """How many points each box covers, up to `most`; fastest where those of one cell of the first column are close.

    Parameters
    ----------
    bits : uint64 array (n_cells, n_words)
        Of all columns, below each other.
    cells : int32 array (n_points, n_columns)
        Rows of `bits`.
    owners : int64 array (n_points,)
        Whose each point is, ascending, where those of one owner count once; else none.
    weights : int64 array (n_points,)
        How often each point counts, where there are no owners; none: once.
    counts : int64 array (n_boxes,)
        Filled; zero before.
    """
    n_words = bits.shape[1]
    left = np.zeros(n_words, np.uint64)
    for box in range(len(counts)):
        left[box >> 6] |= np.uint64(1) << np.uint64(box & 63)
    seen = np.full(len(counts) if len(owners) > 0 else 0, -1)
    first, last = np.zeros(len(bits), np.int64), np.zeros(len(bits), np.int64)
    for cell in range(len(bits)):
        for word in range(n_words):
            if bits[cell, word] != 0:
                if last[cell] == 0:
                    first[cell] = word
                last[cell] = word + 1
    for point in range(len(cells)):
        for word in range(first[cells[point, 0]], last[cells[point, 0]]):
            found = left[word]
            for column in range(cells.shape[1]):
                found &= bits[cells[point, column], word]
                if found == 0:
                    break
            while found != 0:
                place = lowest_bit(found)
                box = (word << 6) + place
                found &= found - np.uint64(1)
                if len(owners) > 0:
                    if seen[box] == owners[point]:
                        continue
                    seen[box] = owners[point]
                counts[box] = min(most, counts[box] + (weights[point] if len(weights) > 0 else 1))
                if counts[box] >= most:
                    left[word] &= ~(np.uint64(1) << np.uint64(place))


@compiled_beside(_list_covering)
def list_covering(bits: Words, cells: Codes, point: int, boxes: Ints) -> int:
    """List the boxes that cover a point, ascending, and return how many."""
    found = 0
    for word in range(bits.shape[1]):
        left = bits[cells[point, 0], word]
        for column in range(1, cells.shape[1]):
            left &= bits[cells[point, column], word]
            if left == 0:
                break
        while left != 0:
            boxes[found] = (word << 6) + lowest_bit(left)
            found += 1
            left &= left - np.uint64(1)
    return found
