"""Sketches of sparse records: component j of a record is the sum of its weights, each times its item's j-th sign.

Only the components that a record is allowed are computed, the first ones of one family common to all records, so that
two records compare on the first min(m_q, m_l). Sums of whole numbers are exact; those of real numbers are rounded to
the grid of `shoal.sparse.rounding`.

**Guarantee**: none by itself; how many components a record may have is decided by `shoal.sparse.delta`,
`shoal.sparse.recovery_cap` and `shoal.sparse.k_variance`. **Not protected**: components of whole numbers have the
parity of the sum of the record's weights, and their mean square estimates its squared length.

References
----------
C. C. Aggarwal, P. S. Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007, Eq. (2.1).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from math import frexp
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints, Signs, Words
from shoal.data.sparse.records import Sparse, Weights
from shoal.data.sparse.sketches import Sketches
from shoal.data.strings.strings import symbol_keys
from shoal.engine.threads import Threads
from shoal.errors import DataError, PolicyError
from shoal.kernels.sparse.sketch import TILE, sketch_counts, sketch_reals, sketch_sets
from shoal.sparse.rounding import step_of
from shoal.sparse.signs import SignFamily, refuse_key, sign_table

Components = Ints | Floats

# Records of many components over a large vocabulary are sketched some components at a time.
TABLE_BYTES = 1 << 28
_BLOCK_ENTRIES = 1 << 18
_LARGEST_FACTOR = 46_340  # a product of two such components has 31 bits


def sketch_records(
    records: Sparse, counts: npt.NDArray[np.integer[Any]], key: bytes, step: float | None = None
) -> Sketches:
    """Sketch each record by its own number of components, in the order of the records.

    Parameters
    ----------
    records : Sparse
    counts : integer array (n_records,)
        How many components each gets; 0 gives an empty sketch.
    key : bytes
        32 secret bytes: `shoal.sparse.new_key`.
    step : float, optional
        The grid of real components, a power of two; else `step_of` these records. Not used for whole numbers.

    Returns
    -------
    Sketches
        With the records' labels.

    Examples
    --------
    >>> from shoal.sparse.signs import new_key
    >>> records = Sparse(np.array([0, 2, 3]), np.array([0, 1, 1], np.int32), np.ones(3, np.int64), ("beer", "nuts"))
    >>> sketches = sketch_records(records, np.array([8, 2]), new_key())
    >>> sketches.counts, set(sketches.components[:8].tolist()) <= {-2, 0, 2}
    (array([8, 2]), True)
    """
    refuse_key(key)
    wanted: Ints = np.ascontiguousarray(counts, np.int64)
    if wanted.shape != (len(records),) or (wanted < 0).any():
        raise DataError(f"give {len(records)} numbers of components from 0 on, one for each record")
    step = 1.0 if records.is_integral else _checked_step(step_of(records) if step is None else step)
    weights = None if records.is_binary else records.weights
    if weights is not None:
        _refuse_overflow(weights, int(records.sizes.max(initial=0)))
    out_starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(wanted)])
    out: Any = np.empty(out_starts[-1], _dtype(records))
    most = int(wanted.max(initial=0))
    items, item_keys = _occurring(records)
    n_columns = max(TILE, TABLE_BYTES // max(1, len(item_keys)) // TILE * TILE)
    blocks = _blocks_of(records.starts)
    with Threads(os.cpu_count() or 1, thread_name_prefix="shoal") as threads:
        for first in range(0, most, n_columns):
            table = sign_table(item_keys, key, _whole_tiles(min(n_columns, most - first)), first)
            fill = partial(_fill, records.starts, items, weights, table, wanted, out_starts, first, step, out)
            for job in [threads.submit(fill, begin, end) for begin, end in pairwise(blocks)]:
                job.result()
    return Sketches(out_starts, out, step, records.labels, records.classes)


class Sketcher:
    """Sketches records one at a time, where they arise: no other records and no list of items are needed.

    Equal to what `sketch_records` gives for the same record, key and step.

    Parameters
    ----------
    key : bytes
        32 secret bytes: `shoal.sparse.new_key`.
    n_components : int
        The length of all sketches; a shorter sketch is the beginning of a longer one.
    step : float, default 1
        The grid of real components, a power of two. Not used for whole numbers.

    Examples
    --------
    >>> from shoal.sparse.signs import new_key
    >>> sketcher = Sketcher(new_key(), 8)
    >>> both = sketcher.sketch(["beer", "nuts"])
    >>> bool((both == sketcher.sketch(["beer"]) + sketcher.sketch(["nuts"])).all())
    True
    """

    def __init__(self, key: bytes, n_components: int, step: float = 1.0) -> None:
        if isinstance(n_components, bool) or not isinstance(n_components, int | np.integer) or n_components < 1:
            raise PolicyError("the number of components is not a whole number from 1 on; give one, such as 64")
        self.n_components = int(n_components)
        self.step = _checked_step(step)
        self._signs = SignFamily.of(key, _whole_tiles(self.n_components))

    def __repr__(self) -> str:
        return f"Sketcher(n_components={self.n_components}, step={self.step})"

    def sketch(self, items: Iterable[str], weights: Sequence[float] | None = None) -> Components:
        """Sketch one record.

        Parameters
        ----------
        items : iterable of str
            The names of its attributes. Without weights they are a set.
        weights : sequence of numbers, optional
            One for each item; whole numbers give whole components. Items are then named once.

        Returns
        -------
        int64 or float64 array (n_components,)
        """
        names = list(items)
        if isinstance(items, str) or any(not isinstance(name, str) for name in names):
            raise DataError("an item is not text; give the items of a record as a list of str")
        values = _checked_weights(names, weights)
        order = sorted(range(len(names)), key=names.__getitem__) if weights is not None else range(len(values))
        keys = symbol_keys([names[i] for i in order] if weights is not None else sorted(set(names)))
        table = np.empty((len(keys), self._signs.n), np.int8)
        self._signs.fill(keys, table)
        out: Any = np.zeros(self.n_components, values.dtype)
        rows, numbers = np.array([0, len(keys)]), np.arange(len(keys), dtype=np.int32)
        counts = np.array([self.n_components])
        _fill(rows, numbers, values[list(order)], table, counts, np.zeros(1, np.int64), 0, self.step, out, 0, 1)
        return np.asarray(out)


def _dtype(records: Sparse) -> type[np.generic]:
    """Half as wide where it is safe: most of the time goes into writing the components."""
    if records.is_binary and int(records.sizes.max(initial=0)) <= _LARGEST_FACTOR:
        return np.int32
    return np.int64 if records.is_integral else np.float64


def _occurring(records: Sparse) -> tuple[Codes, Words]:
    """The records' items as numbers among those that occur, and their keys; all items where they are few anyway."""
    if records.n_items * 4 <= len(records.items):
        return records.items, records.item_keys()
    occurs = np.zeros(records.n_items, np.bool_)
    occurs[records.items] = True
    numbers = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    return numbers[records.items], symbol_keys([records.names[i] for i in np.flatnonzero(occurs)])


def _fill(
    starts: Ints,
    items: Codes,
    weights: Any,  # None where they are all 1
    table: Signs,
    counts: Ints,
    out_starts: Ints,
    first: int,
    step: float,
    out: Any,
    begin: int,
    end: int,
) -> None:
    """Fill in the components of rows `begin` to `end`, by the kernel for their kind of weights."""
    if weights is None:
        sketch_sets(starts, items, table, counts, out_starts, first, begin, end, out)
    elif weights.dtype.kind == "i":
        sketch_counts(starts, items, weights, table, counts, out_starts, first, begin, end, out)
    else:
        sketch_reals(starts, items, weights, table, counts, out_starts, first, begin, end, step, out)


def _whole_tiles(n: int) -> int:
    return -(-n // TILE) * TILE


def _blocks_of(starts: Ints) -> list[int]:
    """Where blocks of records with about as many entries each begin; ends with the number of records."""
    n_blocks = int(starts[-1]) // _BLOCK_ENTRIES + 1
    cuts = np.searchsorted(starts, np.linspace(0, starts[-1], n_blocks + 1)[1:-1])
    return [0, *np.unique(cuts[(cuts > 0) & (cuts < len(starts) - 1)]).tolist(), len(starts) - 1]


def _checked_step(step: float) -> float:
    if isinstance(step, bool) or not isinstance(step, int | float | np.number) or not 0 < step < np.inf:
        raise PolicyError("the step of real components is not a positive number; leave it out, or give a power of two")
    if frexp(step)[0] != 0.5:
        raise PolicyError(
            f"the step {step} is not a power of two, so multiples of it are not exact; give a power of two"
        )
    return float(step)


def _checked_weights(names: Sequence[str], weights: Sequence[float] | None) -> Weights:
    if weights is None:
        return np.ones(len(set(names)), np.int64)
    values = np.asarray(weights)
    if values.shape != (len(names),) or values.dtype.kind not in "iuf" or len(set(names)) < len(names):
        raise DataError("the weights are not one number for each of distinct items; add up the weights of equal items")
    kept: Weights = values.astype(np.float64) if values.dtype.kind == "f" else values.astype(np.int64)
    _refuse_overflow(kept, len(kept))
    return kept


def _refuse_overflow(weights: Weights, largest_record: int) -> None:
    """Raise where a component could leave the numbers of 64 bits."""
    largest = max(float(weights.max(initial=0)), -float(weights.min(initial=0))) * largest_record
    if not largest < (2.0**62 if weights.dtype.kind == "i" else 1e300):
        raise DataError("the weights of the records are too large to add up, or not finite; scale them down")
