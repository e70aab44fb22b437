"""MDAV on tables: distances as defined, sizes as promised, bad input refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.plain_mdav import plain_mdav
from shoal.errors import DataError, Infeasible, PolicyError
from shoal.tables.encoding import Kind, Ranked
from shoal.tables.partition.mdav import MDAV, mdav_labels, mixed_points

# A root over two nodes, one over three leaves and one over two; the missing value meets the others at the
# root.
TREE = np.array([[0, 10, 20], [1, 10, 20], [2, 10, 20], [3, 11, 20], [4, 11, 20], [5, 12, 20]], dtype=np.int32)


def attribute(kind: Kind, ranks: npt.ArrayLike, has_missing: bool, name: str = "a") -> Ranked:
    codes = np.asarray(ranks, dtype=np.int32)
    positions = np.arange(6, dtype=np.float64)
    if kind == "number":
        positions = np.array([-3.0, 0.5, 1.0, 4.0, 4.5, 100.0])
    if has_missing:
        positions[-1] = np.nan
    return Ranked(name, kind, codes, positions, TREE if kind == "tree" else None, has_missing)


def defined_distance(attribute: Ranked, a: int, b: int) -> float:
    """Squared distance of two ranks, from the words of the specification."""
    if attribute.kind == "category":
        return float(a != b)
    if attribute.kind == "tree":
        assert attribute.ancestors is not None
        height = next(h for h in range(3) if attribute.ancestors[a, h] == attribute.ancestors[b, h])
        return (height / 2) ** 2
    present = attribute.ranks[attribute.ranks < 5] if attribute.has_missing else attribute.ranks
    if len(present) == 0:
        return 0.0
    apart = float(attribute.has_missing and (a == 5) != (b == 5))
    if attribute.kind == "number":
        values = attribute.positions[present]
        x, y = (values.mean() if attribute.has_missing and r == 5 else attribute.positions[r] for r in (a, b))
        return apart + ((x - y) / values.std()) ** 2 if values.std() > 0 else apart
    counts = np.bincount(present, minlength=6)
    median = next(r for r in range(6) if 2 * counts[: r + 1].sum() >= len(present))
    x, y = (median if attribute.has_missing and r == 5 else r for r in (a, b))
    return apart + ((x - y) / (5 if attribute.has_missing else 6)) ** 2


tables = st.tuples(
    st.lists(
        st.tuples(st.sampled_from(["number", "order", "category", "tree"]), st.booleans()),
        min_size=1,
        max_size=5,
    ),
    st.integers(2, 7),
    st.integers(0, 60),
    st.integers(0, 2**32),
)


def table_of(kinds: list[tuple[Kind, bool]], n_rows: int, seed: int) -> list[Ranked]:
    rng = np.random.default_rng(seed)
    return [attribute(kind, rng.integers(0, 6, n_rows), missing, str(j)) for j, (kind, missing) in enumerate(kinds)]


@settings(max_examples=60, deadline=None)
@given(tables)
def test_points_have_the_defined_distances(given_table: tuple[Any, int, int, int]) -> None:
    kinds, k, extra, seed = given_table
    table = table_of(kinds, k + extra, seed)
    data = mixed_points(table)
    for row in range(min(5, k)):
        weighted = (data.points != data.points[row])[:, data.n_metric :] @ data.weights[data.n_metric :]
        squared = ((data.points - data.points[row])[:, : data.n_metric] ** 2).sum(axis=1) + weighted
        expected = [sum(defined_distance(a, a.ranks[row], a.ranks[other]) for a in table) for other in range(k + extra)]
        np.testing.assert_allclose(squared, expected, rtol=1e-6, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(tables)
def test_every_group_has_k_to_2k_minus_1_records_whatever_the_order_of_columns(
    given_table: tuple[Any, int, int, int],
) -> None:
    kinds, k, extra, seed = given_table
    table = table_of(kinds, k + extra, seed)
    labels = mdav_labels(table, k)
    sizes = np.bincount(labels)
    assert labels.dtype == np.int32
    assert labels.min() == 0
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
    shuffled = [table[j] for j in np.random.default_rng(seed).permutation(len(table))]
    assert mdav_labels(shuffled, k).tolist() == labels.tolist()


def test_near_records_stand_together_in_every_kind() -> None:
    ranks = [0, 4, 0, 4, 0, 4]
    for kind in ("number", "order", "category", "tree"):
        labels = mdav_labels([attribute(kind, ranks, False)], 3)
        assert labels[0] == labels[2] == labels[4] != labels[1] == labels[3] == labels[5]


def test_missing_numbers_stand_together() -> None:
    X = np.array([1.0, np.nan, 9.0] * 3)[:, None]
    labels = MDAV(k=3).fit_predict(X).reshape(3, 3)
    assert (labels == labels[0]).all()
    assert len(set(labels[0])) == 3


def test_array_and_ranked_columns_agree() -> None:
    rng = np.random.default_rng(5)
    X = rng.integers(0, 9, size=(90, 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    ranked = []
    for j, column in enumerate(X.T):
        positions, ranks = np.unique(column, return_inverse=True)
        ranked.append(Ranked(str(j), "number", ranks.astype(np.int32), positions, None, bool(np.isnan(positions[-1]))))
    model = MDAV(k=4).fit(ranked)
    assert model.labels_.tolist() == MDAV(k=4).fit_predict(X).tolist()
    assert model.n_features_in_ == 3


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 2.0**900])
def test_the_unit_of_a_number_does_not_matter(scale: float) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    assert MDAV(k=3).fit_predict(X * [1.0, scale]).tolist() == MDAV(k=3).fit_predict(X).tolist()


@pytest.mark.parametrize("X", [np.full((9, 2), 7.0), np.full((9, 2), np.nan), np.full((9, 1), 0.1)])
def test_constant_columns_leave_rows_in_order(X: npt.NDArray[np.float64]) -> None:
    assert MDAV(k=3).fit_predict(X).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("k", [1, 0, -3, 2.0, "5", None, True])
def test_a_k_that_is_no_whole_number_of_2_or_more_is_refused(k: Any) -> None:
    with pytest.raises(PolicyError, match="whole number"):
        MDAV(k=k).fit(np.zeros((9, 1)))


def test_a_numpy_integer_is_a_whole_number() -> None:
    k: Any = np.int64(3)
    assert MDAV(k=k).fit_predict(np.zeros((9, 1))).max() == 2


def test_too_few_records_are_refused() -> None:
    with pytest.raises(Infeasible, match="4 records, fewer than k = 5"):
        MDAV(k=5).fit(np.zeros((4, 2)))
    assert MDAV(k=5).fit_predict(np.zeros((5, 2))).tolist() == [0] * 5


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([[0.0, np.inf]] * 9), "column 'x1' holds an infinite value"),
        (np.zeros(9), "shape"),
        ([["a"], ["b"]], "more than numbers"),
        (np.zeros((9, 0)), "shape"),
        ([], "shape"),
        ([attribute("order", [0] * 9, False), attribute("order", [0] * 8, False)], "give all the same number"),
    ],
)
def test_bad_data_is_refused(X: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        MDAV(k=2).fit(X)


def test_parameters_in_the_manner_of_scikit_learn() -> None:
    model = MDAV()
    assert repr(model.set_params(k=7)) == "MDAV(k=7)"
    assert MDAV(**model.get_params()).k == 7
    assert not hasattr(model, "transform")
    with pytest.raises(PolicyError, match="no parameter 'kk'"):
        model.set_params(kk=3)


def test_labels_are_those_of_the_plain_scan(shared_data: Path) -> None:
    rng = np.random.default_rng(2)
    for X in (
        np.loadtxt(shared_data / "census" / "census.csv", delimiter=",", skiprows=1),
        np.loadtxt(shared_data / "tarragona" / "tarragona.csv", delimiter=",", skiprows=1),
        rng.integers(0, 4, size=(3000, 3)).astype(float),
        rng.normal(size=(2000, 6)),
    ):
        for k in (2, 3, 10):
            assert (MDAV(k).fit_predict(X) == plain_mdav(X, k)).all()
