"""Rows of different lengths in one flat array, and a class for each: what strings, records and sketches share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints
from shoal.errors import DataError

ENTRIES_AT_ONCE = 1 << 20
"""Entries whose places are held at once: some MB, whatever the number of rows."""


def ragged_places(starts: Ints, rows: npt.NDArray[np.integer[Any]]) -> tuple[Ints, Ints]:
    """Where the entries of the chosen rows stand, one row after another, and where each row then begins."""
    sizes = np.diff(starts)[rows]
    new_starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    shift = np.repeat(starts[:-1][rows] - new_starts[:-1], sizes)
    return np.arange(new_starts[-1]) + shift, new_starts


def runs_of_rows(starts: Ints, n_entries: int | None = None) -> Iterator[tuple[int, int]]:
    """Rows from and to in runs of about so many entries, at least one row each."""
    n_entries = n_entries or ENTRIES_AT_ONCE
    total = int(starts[-1] - starts[0])
    cuts = np.searchsorted(starts, starts[0] + np.arange(1, -(-total // n_entries)) * n_entries)
    return pairwise(np.unique(np.concatenate([[0], cuts, [len(starts) - 1]])).tolist())


def take_ragged(
    starts: Ints, rows: npt.NDArray[np.integer[Any]], *values: npt.NDArray[Any]
) -> tuple[Ints, list[npt.NDArray[Any]]]:
    """Where the chosen rows then begin, and their entries in each of some arrays, run by run of the rows.

    An array that is one value all over (`np.broadcast_to`) stays one.
    """
    sizes = np.diff(starts)[rows]
    new_starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
    total = int(new_starts[-1])
    taken = [np.broadcast_to(v[:1], total) if v.strides == (0,) and total else np.empty(total, v.dtype) for v in values]
    for low, high in runs_of_rows(new_starts):
        first, last = int(new_starts[low]), int(new_starts[high])
        places = np.arange(first, last)
        places += np.repeat(starts[:-1][rows[low:high]] - new_starts[low:high], sizes[low:high])
        for whole, own in zip(values, taken, strict=True):
            if own.strides != (0,):
                own[first:last] = whole[places]
    return new_starts, taken


def distinct(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The distinct values, ascending, as `np.unique` has them, which takes far longer where nearly all differ."""
    ascending = np.sort(values)
    is_new = np.ones(len(values), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=is_new[1:])
    return ascending[is_new]


def count_codes(codes: npt.NDArray[np.integer[Any]], n_codes: int) -> Ints:
    """How often each code occurs; `np.bincount` would first make an array of wide numbers of all of them."""
    counts = np.zeros(n_codes, np.int64)
    for low in range(0, len(codes), ENTRIES_AT_ONCE):
        counts += np.bincount(codes[low : low + ENTRIES_AT_ONCE], minlength=n_codes)
    return counts


def encode_labels(labels: Sequence[str], n_rows: int, noun: str) -> tuple[Codes, tuple[str, ...]]:
    """The class of each row as a number, and the names of the classes in ascending order.

    Raises
    ------
    DataError
        If there is not one label for each of the rows, which the message calls `noun`, or one is not text.
    """
    if len(labels) != n_rows:
        raise DataError(f"there are {len(labels)} class labels for {n_rows} {noun}; give one for each")
    if any(not isinstance(label, str) for label in labels):
        raise DataError("a class label is not text; convert all labels to str")
    if n_rows == 0:
        return np.zeros(0, np.int32), ()
    names, codes = np.unique(np.array(labels, dtype=object), return_inverse=True)
    return codes.astype(np.int32), tuple(str(n) for n in names)
