"""The same algorithms on the originals: products of sparse matrices in blocks, never all pairs at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints, Rows, Singles
from shoal.data.sparse.records import Sparse
from shoal.sparse.mining.similarity import BLOCK_CELLS, Metric


def matrix_of(records: Sparse) -> Any:
    """The records as a scipy CSR matrix of float64."""
    from scipy.sparse import csr_matrix

    shape = (len(records), records.n_items)
    return csr_matrix((records.weights.astype(np.float64), records.items, records.starts), shape=shape)


def unit_rows(matrix: Any) -> Any:
    """The rows scaled to length 1; empty ones stay empty."""
    from scipy.sparse import diags

    lengths = np.sqrt(_squares(matrix))
    return diags(1 / np.where(lengths > 0, lengths, 1.0)) @ matrix


def product_blocks(tested: Any, known: Any) -> Iterator[tuple[slice, Singles]]:
    """Dot products of some rows of one matrix at a time with all rows of another."""
    across = known.T.tocsr()
    size = max(BLOCK_CELLS // max(known.shape[0], 1), 1)
    for begin in range(0, tested.shape[0], size):
        rows = slice(begin, begin + size)
        yield rows, (tested[rows] @ across).toarray().astype(np.float32)


def original_blocks(tested: Any, known: Any, metric: Metric) -> Iterator[tuple[slice, Singles]]:
    """Similarities as in `shoal.sparse.mining.similarity.similarity_blocks`, of originals: true ones."""
    if metric == "cosine":
        yield from product_blocks(unit_rows(tested), unit_rows(known))
        return
    squares, squares_tested = _squares(known), _squares(tested)
    unit = 2 * max(float(squares.mean()), 1e-300)
    for rows, block in product_blocks(tested, known):
        yield rows, ((2 * block - squares - squares_tested[rows, None]) / unit).astype(np.float32)


def pair_products(matrix: Any, pairs: npt.NDArray[np.integer[Any]]) -> Floats:
    """The dot products of some pairs of rows."""
    return np.asarray(matrix[pairs[:, 0]].multiply(matrix[pairs[:, 1]]).sum(axis=1), np.float64).ravel()


def nearest_originals(units: Any, rows: Ints, n_nearest: int) -> Ints:
    """The other rows of largest cosine, nearest first and equal ones by number: (n_rows, n_nearest)."""
    out = np.empty((len(rows), n_nearest), np.int64)
    for block_rows, block in product_blocks(units[rows], units):
        block[np.arange(len(block)), rows[block_rows]] = -np.inf
        # Ties at the last place are common: all that are as near, sorted, and then cut.
        limits = np.partition(block, -n_nearest, axis=1)[:, -n_nearest]
        owners, known = np.nonzero(block >= limits[:, None])
        order = np.lexsort((known, -block[owners, known], owners))
        firsts = np.searchsorted(owners, np.arange(len(block)))  # owners ascend, before and after sorting
        out[block_rows] = known[order][firsts[:, None] + np.arange(n_nearest)]
    return out


class OriginalPoints:
    """Originals, scaled to unit length, as `shoal.sparse.mining.k_means.spherical_k_means` takes them."""

    def __init__(self, matrix: Any) -> None:
        self._units = unit_rows(matrix).tocsr()

    @property
    def seeds(self) -> Rows:
        """All that are not empty."""
        return np.flatnonzero(np.diff(self._units.indptr))

    def rows(self, rows: Rows) -> Singles:
        """Some records, dense."""
        return np.asarray(self._units[rows].toarray(), np.float32)

    def cosines(self, centroids: Singles) -> Singles:
        """To each centroid."""
        lengths = np.linalg.norm(centroids.astype(np.float64), axis=1)
        return np.asarray(self._units @ (centroids / np.maximum(lengths, 1e-30)[:, None]).T, np.float32)

    def centroids(self, labels: Codes, n_clusters: int) -> Singles:
        """The mean of each cluster."""
        return cluster_means(self._units, labels, n_clusters).astype(np.float32)


def cluster_means(matrix: Any, labels: Codes, n_clusters: int) -> Floats:
    """The mean row of each cluster, zeros where it is empty: (n_clusters, n_items)."""
    from scipy.sparse import csr_matrix

    member = csr_matrix((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(n_clusters, len(labels)))
    sizes = np.maximum(np.bincount(labels, minlength=n_clusters), 1)
    return np.asarray((member @ matrix).toarray() / sizes[:, None], np.float64)


def _squares(matrix: Any) -> Floats:
    return np.asarray(matrix.multiply(matrix).sum(axis=1), np.float64).ravel()
