"""Cells of published columns never hold fewer than k records."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import encode_cells
from shoal.report.tables.domain import OTHER, domain_of

NUMBER = Attribute("x", "continuous", "quasi")
WORD = Attribute("x", "nominal", "quasi")


def words(*cells: str | None) -> np.ndarray:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


@settings(max_examples=80, deadline=None)
@example([17.0, -5e-324], 1)
@given(
    st.lists(st.floats(-1e6, 1e6) | st.integers(-5, 5).map(float), min_size=1, max_size=40),
    st.integers(1, 12),
)
def test_cells_of_numbers_hold_k_records_and_all_values(values: list[float], k: int) -> None:
    found = domain_of(encode_cells("x", np.array(values)), NUMBER, k)
    if len(values) < k:
        assert found.shares == ()
        return
    counts = np.histogram(np.clip(values, found.edges[0], found.edges[-1]), found.edges)[0]  # see `round_edges`
    assert counts.sum() == len(values)
    assert counts.min() >= k
    assert found.shares == pytest.approx(tuple(counts / len(values)))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(0, 15), min_size=1, max_size=60), st.integers(1, 12))
def test_cells_of_categories_hold_k_records(values: list[int], k: int) -> None:
    found = domain_of(encode_cells("x", words(*(f"v{v}" for v in values))), WORD, k)
    if not found.shares:
        assert len(values) < k
        return
    counts = np.array(found.shares) * len(values)
    assert counts.sum() == pytest.approx(len(values))
    assert counts.min() >= k - 1e-9
    for label, count in zip(found.labels, counts, strict=True):
        if label != OTHER:
            assert values.count(int(label[1:])) == pytest.approx(count)


def test_edges_are_round_numbers_not_extremes() -> None:
    found = domain_of(encode_cells("x", np.linspace(17.3, 89.9, 200)), NUMBER, 5)
    assert found.edges[0] == 15.0
    assert found.edges[-1] == 90.0


def test_a_small_last_cell_joins_the_one_before() -> None:
    found = domain_of(encode_cells("x", np.array([1.0] * 5 + [50.0] * 5 + [99.0])), NUMBER, 3)
    assert found.shares == pytest.approx((5 / 11, 6 / 11))
    assert found.edges[-1] == 100.0


def test_few_missing_values_are_not_counted_out() -> None:
    assert domain_of(encode_cells("x", words("a", "a", None)), WORD, 2).missing == "fewer than 2 records"
    assert domain_of(encode_cells("x", words("a", None, None)), WORD, 2).missing == "2 records"
    assert domain_of(encode_cells("x", words("a", "a")), WORD, 2).missing == "none"


def test_numbers_far_from_zero() -> None:
    found = domain_of(encode_cells("x", np.array([1e18, 1e18, 1e18 + 4096])), NUMBER, 1)
    assert sum(found.shares) == pytest.approx(1.0)


@pytest.mark.parametrize(("cells", "meant"), [(np.arange(30) % 7 / 2, NUMBER), (words(*"abcaaab" * 4, None), WORD)])
def test_rows_that_stand_for_several_records_are_counted_as_these(cells: np.ndarray, meant: Attribute) -> None:
    weights = (1 + np.arange(len(cells)) % 3).astype(np.int32)
    many = encode_cells("x", np.repeat(cells, weights))
    assert domain_of(encode_cells("x", cells), meant, 4, weights) == domain_of(many, meant, 4)
