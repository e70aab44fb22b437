"""Sparse records from Python lists and mappings and from sparse matrices, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix

from shoal.data.sparse.records import Sparse, assemble
from shoal.errors import DataError


def dicts(records: Sparse) -> list[dict[str, float]]:
    """The slow, obvious view of records."""
    found = []
    for i in range(len(records)):
        at = slice(records.starts[i], records.starts[i + 1])
        items = records.items[at].tolist()
        assert items == sorted(set(items))
        found.append({records.names[j]: w for j, w in zip(items, records.weights[at].tolist(), strict=True)})
    return found


def test_lists_of_texts_and_integers_are_sets() -> None:
    records = Sparse.of([["milk", "bread", "milk"], [], (7, "7"), {"x"}, np.array([10, 7])])
    assert dicts(records) == [{"milk": 1, "bread": 1}, {}, {"7": 1}, {"x": 1}, {"10": 1, "7": 1}]
    assert records.names == ("10", "7", "bread", "milk", "x")
    assert records.is_binary
    assert records.items.dtype == np.int32
    assert records.starts.dtype == np.int64
    assert records.labels is None


def test_mappings_have_weights_and_zeros_are_dropped() -> None:
    records = Sparse.of([{"a": 2, "b": 0, "c": -0.0}, {"a": -3.0}, {}])
    assert dicts(records) == [{"a": 2}, {"a": -3}, {}]
    assert records.weights.dtype == np.int64
    assert records.n_items == 3
    assert records.n_occurring == 1
    assert records.supports.tolist() == [2, 0, 0]
    real = Sparse.of([{"a": 2, "b": 0.5}, {"a": np.float32(0.25)}])
    assert dicts(real) == [{"a": 2, "b": 0.5}, {"a": 0.25}]
    assert real.weights.dtype == np.float64


def test_labels_and_nothing() -> None:
    records = Sparse.of([["a"], ["b"]], ["yes", "no"])
    assert records.classes == ("no", "yes")
    assert records.labels is not None
    assert records.labels.tolist() == [1, 0]
    assert len(Sparse.of([])) == 0
    with pytest.raises(DataError, match="1 class labels for 2 records"):
        Sparse.of([["a"], ["b"]], ["yes"])


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (["ab", "c"], "not of one kind"),
        ("ab", "not of one kind"),
        ([["a"], {"a": 1}], "not of one kind"),
        ([{"a": 1}, ["a"]], "not of one kind"),
        ([["a"], None], "not of one kind"),
        ([["a", 1.5]], "neither text nor an integer"),
        ([["a", None]], "neither text nor an integer"),
        ([["a", ["b"]]], "neither text nor an integer"),
        ([[True]], "neither text nor an integer"),
        ([{"a": "1"}], "not a number"),
        ([{"a": None}], "not a number"),
        ([{"a": 1}, {"a": float("nan")}], "record 2: a weight is no finite"),
        ([{"a": float("inf")}], "record 1: a weight is no finite"),
        ([{"a": 1}, {}, {"a": 1, "b": 2.0**31 + 1}], "record 3: a weight is no finite"),
        ([{"a": -(2**40)}], "no finite number"),
        ([{"a": 10**400}], "no finite number"),
        ([{"a": 1e-200}], "no finite number"),
    ],
)
def test_what_is_no_record_is_refused(records: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Sparse.of(records)


def test_the_largest_weight_is_taken() -> None:
    assert Sparse.of([{"a": 2**31, "b": -(2**31)}]).weights.tolist() == [2**31, -(2**31)]


def test_matrices_come_back() -> None:
    dense = np.array([[0, 2, 0, -1], [0, 0, 0, 0], [3, 0, 0, 1]])
    for matrix in (csr_array(dense), csr_matrix(dense.astype(np.float32)), coo_array(dense), csr_array(dense).tocsc()):
        records = Sparse.from_csr(matrix, ["a", "b", "a"])
        assert dicts(records) == [{"1": 2, "3": -1}, {}, {"0": 3, "3": 1}]
        assert records.is_integral
        assert records.source.format == "csr"
        assert records.classes == ("a", "b")
        assert (records.to_csr().toarray() == dense).all()
    records = Sparse.from_csr(csr_array(dense), names=["d", "c", "b", "a"])
    assert records.names == ("a", "b", "c", "d")
    assert (records.to_csr().toarray() == dense[:, ::-1]).all()


def test_matrices_with_odd_entries() -> None:
    doubled = csr_array((np.array([1.0, 2.0, 0.0, 5.0]), np.array([2, 2, 0, 1]), np.array([0, 3, 4])), shape=(2, 3))
    assert dicts(Sparse.from_csr(doubled)) == [{"2": 3}, {"1": 5}]
    assert dicts(Sparse.from_csr(csr_array(np.array([[True, False]])))) == [{"0": 1}]
    cancelled = csr_array((np.array([1.0, -1.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    assert dicts(Sparse.from_csr(cancelled)) == [{}]


@pytest.mark.parametrize(
    ("matrix", "names", "message"),
    [
        (np.eye(2), None, "not a sparse one"),
        (csr_array(np.eye(2) * 1j), None, "real numbers"),
        (csr_array(np.eye(2)), ["a"], "1 names for 2 columns"),
        (csr_array(np.eye(2)), ["a", "a"], "distinct"),
        (csr_array(np.eye(2)), [1, 2], "distinct texts"),
        (csr_array(np.array([[1, np.nan]])), None, "record 1: a weight"),
        (csr_array((np.array([2.0**31, 2.0**31]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1)), None, "record 1"),
    ],
)
def test_what_is_no_matrix_is_refused(matrix: Any, names: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Sparse.from_csr(matrix, names=names)


def test_entries_in_any_order_are_joined_as_a_slow_loop_would() -> None:
    rng = np.random.default_rng(1)
    sizes = rng.integers(0, 9, 40)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    codes = rng.integers(0, 6, starts[-1])
    weights = rng.integers(-3, 4, starts[-1]).astype(float)
    names = ["f", "b", "a", "c", "e", "d"]
    expected: list[dict[str, float]] = []
    counts: list[dict[str, int]] = []
    for i in range(40):
        record: dict[str, float] = {}
        counted: dict[str, int] = {}
        for at in range(starts[i], starts[i + 1]):
            name = names[codes[at]]
            record[name] = record.get(name, 0) + weights[at]
            counted[name] = counted.get(name, 0) + 1
        expected.append({n: w for n, w in record.items() if w != 0})
        counts.append(counted)
    assert dicts(assemble(starts, codes, names, weights)) == expected
    assert dicts(assemble(starts, codes, names, repeats="sum")) == counts
    assert dicts(assemble(starts, codes, names)) == [dict.fromkeys(c, 1) for c in counts]
