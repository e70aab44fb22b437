"""Sketches of records block by block, so that a file larger than memory can be sketched.

For rules that look at one record at a time, as the delta rule does. k-variance anonymity needs all records at once.

**Guarantee**: that of the counts. **Not protected**: sketches come out in the order of the records; whoever publishes
them sorts them first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.data.sketches import Sketches
from shoal.data.sparse import Sparse
from shoal.errors import PolicyError
from shoal.sparse.sketch import sketch_records


def sketch_blocks(
    blocks: Iterable[Sparse],
    counts_of: Callable[[Sparse], npt.NDArray[np.integer[Any]]],
    key: bytes,
    step: float | None = None,
) -> Iterator[Sketches]:
    """Sketch blocks of records, one at a time; each equals what all records at once would give.

    Parameters
    ----------
    blocks : iterable of Sparse
        Each with items of its own: signs depend on their names, not on their numbers.
    counts_of : callable
        How many components each record of a block gets: such as ``lambda block: delta_counts(block, 0.5)``.
    key : bytes
        32 secret bytes: `shoal.sparse.new_key`.
    step : float, optional
        The grid of real components. It has to be one for all blocks, so real records need it.

    Examples
    --------
    >>> from shoal.sparse.delta import delta_counts
    >>> from shoal.sparse.signs import new_key
    >>> block = Sparse(np.array([0, 3]), np.arange(3, dtype=np.int32), np.ones(3, np.int64), ("a", "b", "c"))
    >>> [len(s.components) for s in sketch_blocks([block, block], lambda b: delta_counts(b, 0.3), new_key())]
    [6, 6]
    """
    for block in blocks:
        if step is None and not block.is_integral:
            raise PolicyError("records with real weights need one step for all blocks; give it, a power of two")
        yield sketch_records(block, counts_of(block), key, step)
