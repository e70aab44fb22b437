"""Sketches of records block by block, so that a file larger than memory can be sketched.

For rules that look at one record at a time, as the delta rule does. k-variance anonymity needs all records at once.

**Guarantee**: that of the counts. **Not protected**: sketches come out in the order of the records, so `join_sketches`
sorts them. Nothing is checked here, as it is in a release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError, PolicyError
from shoal.sparse.content_order import published_order
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


def join_sketches(blocks: Iterable[Sketches]) -> Sketches:
    """Put blocks of sketches together as they are published: without empty ones, and sorted by their content.

    Sketches take much less room than records, so those of a file larger than memory may fit.

    Examples
    --------
    >>> parts = [Sketches(np.array([0, 2, 2]), np.array([3, 1])), Sketches(np.array([0, 1]), np.array([-1]))]
    >>> joined = join_sketches(parts)
    >>> joined.counts, joined.components
    (array([1, 2]), array([-1,  3,  1]))
    """
    kept = [block.take(np.flatnonzero(block.counts)) for block in blocks]
    kept = [block for block in kept if len(block)]
    if not kept:
        raise DataError("no record has a component, so there is nothing to publish; lower delta or give more data")
    if len({(block.step, block.is_integral, block.labels is None) for block in kept}) > 1:
        raise DataError("the blocks do not agree in their step or in having classes; sketch them in the same way")
    classes = sorted({name for block in kept for name in block.classes})
    number = {name: i for i, name in enumerate(classes)}
    labels = None
    if kept[0].labels is not None:
        codes = [np.array([number[name] for name in block.classes], np.int32) for block in kept]
        labels = np.concatenate([code[block.labels] for code, block in zip(codes, kept, strict=True)])
    counts = np.concatenate([block.counts for block in kept])
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    whole = Sketches(starts, np.concatenate([block.components for block in kept]), kept[0].step, labels, tuple(classes))
    return whole.take(published_order(whole))
