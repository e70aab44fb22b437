"""Rows of different lengths in one flat array, and a class for each: what strings, records and sketches share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints
from shoal.errors import DataError


def ragged_places(starts: Ints, rows: npt.NDArray[np.integer[Any]]) -> tuple[Ints, Ints]:
    """Where the entries of the chosen rows stand, one row after another, and where each row then begins."""
    sizes = np.diff(starts)[rows]
    new_starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    shift = np.repeat(starts[:-1][rows] - new_starts[:-1], sizes)
    return np.arange(new_starts[-1]) + shift, new_starts


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
