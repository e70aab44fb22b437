"""The tests of `utility/sparse/dot_products.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.sparse.mining.estimates import Estimate
from shoal.utility.sparse import Agreement, compare_dot_products, compare_squared_lengths
from tests.unit.utility.sparse.crowds import crowds, maker


def test_agreement_is_by_the_formulas() -> None:
    true = np.array([1.0, 2.0, 3.0, 9.0])
    found = Agreement.of(true, Estimate(np.array([1.5, 2.0, 1.0, np.nan]), np.array([0.5, 0.1, 1.0, np.inf])))
    assert found is not None
    assert found.root_mean_square_error == pytest.approx(np.sqrt((0.25 + 4) / 3))
    assert found.share_within == pytest.approx(2 / 3)
    assert found.correlation == pytest.approx(np.corrcoef([1, 2, 3], [1.5, 2, 1])[0, 1])
    assert len(found.true) == 3
    assert Agreement.of(true[:1], Estimate(np.array([np.nan]), np.array([np.inf]))) is None


def test_products_are_of_the_right_records() -> None:
    """With very many components estimates are the truth only if rows lead to the right originals."""
    records = crowds(50)
    sketches, rows = maker(3000, every=3)(records)
    pairs = np.column_stack(np.triu_indices(len(rows), 1))
    found = compare_dot_products(records, sketches, rows, pairs)
    assert found is not None
    assert found.correlation > 0.98
    assert found.share_within > 0.9
    doubled = replace(records, weights=np.repeat(np.arange(1, 51), records.sizes))
    sketches, rows = maker(2000)(doubled)
    lengths = compare_squared_lengths(doubled, sketches, rows, np.array([7, 3, 40]))
    assert lengths.true == tuple(doubled.squares[[42, 46, 9]].tolist())
    assert lengths.estimated == pytest.approx(lengths.true, rel=0.2)
