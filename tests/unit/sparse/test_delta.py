"""The tests of `sparse/delta.py`."""

from __future__ import annotations

import pytest

from shoal.data.sparse.records import Sparse
from shoal.errors import PolicyError
from shoal.sparse.delta import delta_counts


def test_delta_rule_by_hand():
    records = Sparse.of([{"a": 1, "b": 1, "c": 1}, {"a": 5}, {}, {"a": 3, "b": -4, "c": 2}, {"b": 1, "c": 1}])
    # Largest squares 1, 25, -, 16, 1 of 3, 25, 0, 29, 2.
    assert delta_counts(records, 0.3).tolist() == [6, 0, 0, 43, 3]
    assert delta_counts(records, 3.9).tolist() == [0, 0, 0, 3, 0]


def test_a_tie_counts_as_too_many():
    records = Sparse.of([{"a": 1, "b": 1, "c": 1}])
    assert delta_counts(records, 0.5).tolist() == [3]
    assert delta_counts(records, 0.4999).tolist() == [4]


def test_delta_must_be_a_positive_number():
    for delta in (0, -1, float("nan"), float("inf"), True, "1"):
        with pytest.raises(PolicyError, match="delta"):
            delta_counts(Sparse.of([["a"]]), delta)
