"""Estimated attributes of all records, for any other algorithm; needs the key of the release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from shoal.arrays import Singles
from shoal.data.sparse.sketches import Sketches
from shoal.data.strings.strings import symbol_keys
from shoal.errors import DataError
from shoal.sparse.mining.similarity import component_matrix
from shoal.sparse.signs import sign_table

BLOCK_CELLS = 1 << 24


def reconstruct(
    sketches: Sketches, names: Sequence[str], key: bytes, *, rows_at_once: int | None = None
) -> Iterator[Singles]:
    """Estimate the named attributes of all records, some records at a time.

    The estimate of an attribute is unbiased, with a variance of ``(|x|^2 - x_k^2) / m``: with as few components as a
    release has, noise far above 1 on every attribute, zero ones included. All records share the signs, so
    these errors do not cancel in sums over many records; comparisons of records are better made on sketches.

    Parameters
    ----------
    sketches : Sketches
    names : sequence of str
        The attributes to estimate, spelled as in the original.
    key : bytes
        The key of the release, from its private folder.
    rows_at_once : int, optional
        Records a block; else as many as make 64 MB.

    Yields
    ------
    float32 array (n_rows, n_names)
        A record without components is all zeros.

    References
    ----------
    C. C. Aggarwal, P. S. Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007, Eq.
    (2.2) and section 3.3, "Reconstruction Based Algorithms".
    """
    if rows_at_once is not None and rows_at_once < 1:
        raise DataError("a block of less than one record is asked for; give 1 or more rows at once")
    signs = sign_table(symbol_keys(names), key, int(sketches.counts.max(initial=0)))
    return _blocks(sketches, signs.T.astype(np.float32), rows_at_once or max(BLOCK_CELLS // max(len(names), 1), 1))


def _blocks(sketches: Sketches, signs: Singles, size: int) -> Iterator[Singles]:
    for begin in range(0, len(sketches), size):
        part = sketches.take(np.arange(begin, min(begin + size, len(sketches))))
        divisors = np.maximum(part.counts, 1).astype(np.float32)[:, None]
        yield component_matrix(part, len(signs)) @ signs / divisors
