"""Dot products and squared lengths: the true ones against those that sketches tell."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.sparse.mining.estimates import Estimate, dot_products, squared_lengths
from shoal.utility.measured import Z_95
from shoal.utility.sparse.originals import matrix_of, pair_products


@dataclass(frozen=True)
class Agreement:
    """True values against estimates.

    Attributes
    ----------
    true, estimated, standard_errors : tuple of float
        One entry each for a pair or a record, in random order; which one is not told.
    correlation : float or None
        Of true and estimated values; None where either does not vary.
    root_mean_square_error : float
    share_within : float
        The share of estimates whose 95 % band, from their standard errors, holds the true value.
    """

    true: tuple[float, ...] = field(repr=False)
    estimated: tuple[float, ...] = field(repr=False)
    standard_errors: tuple[float, ...] = field(repr=False)
    correlation: float | None
    root_mean_square_error: float
    share_within: float

    @classmethod
    def of(cls, true: Floats, estimate: Estimate) -> Agreement | None:
        """Compare; what could not be estimated is left out, and None is for nothing left."""
        known = np.isfinite(estimate.values)
        if not known.any():
            return None
        true, values, errors = true[known], estimate.values[known], estimate.standard_errors[known]
        off = values - true
        varies = min(true.std(), values.std()) > 0
        return cls(
            tuple(true.tolist()),
            tuple(values.tolist()),
            tuple(errors.tolist()),
            float(np.corrcoef(true, values)[0, 1]) if varies else None,
            float(np.sqrt((off**2).mean())),
            float((np.abs(off) <= Z_95 * errors).mean()),
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without the single values."""
        return {n: v for n, v in asdict(self).items() if n not in ("true", "estimated", "standard_errors")}


def compare_dot_products(original: Sparse, published: Sketches, rows: Ints, pairs: Ints) -> Agreement | None:
    """Compare the products of some pairs.

    Parameters
    ----------
    original, published, rows
        As for `shoal.utility.sparse.measure.measure_sketches`.
    pairs : int64 array (n_pairs, 2)
        Of sketches.
    """
    return Agreement.of(pair_products(matrix_of(original), rows[pairs]), dot_products(published, published, pairs))


def compare_squared_lengths(original: Sparse, published: Sketches, rows: Ints, chosen: Ints) -> Agreement | None:
    """Compare the squared lengths of some sketches; arguments as in `compare_dot_products`."""
    return Agreement.of(original.squares[rows[chosen]], squared_lengths(published.take(chosen)))
