"""What must hold of k-member, nearest neighbours, curve order, univariate and V-MDAV partitions alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.arrays import Codes
from shoal.errors import DataError, Infeasible, PolicyError
from shoal.tables.encoding import Kind, Ranked
from shoal.tables.partition.base import Partition
from shoal.tables.partition.curve import CurveOrder, curve_order_labels
from shoal.tables.partition.k_member import KMember, k_member_labels
from shoal.tables.partition.nearest_neighbours import NearestNeighbours, nearest_neighbours_labels
from shoal.tables.partition.univariate import Univariate, univariate_labels
from shoal.tables.partition.v_mdav import VMDAV, v_mdav_labels

Labelling = Callable[[list[Ranked], int], Codes]

TREE = np.array([[0, 10, 20], [1, 10, 20], [2, 10, 20], [3, 11, 20], [4, 11, 20], [5, 12, 20]], dtype=np.int32)
LABELLINGS: list[Labelling] = [
    k_member_labels,
    nearest_neighbours_labels,
    curve_order_labels,
    univariate_labels,
    v_mdav_labels,
    lambda ranked, k: v_mdav_labels(ranked, k, gamma=1.1),
]
MODELS: list[type[Partition]] = [KMember, NearestNeighbours, CurveOrder, Univariate, VMDAV]
AT_MOST_2K = {curve_order_labels, univariate_labels}


def attribute(kind: Kind, ranks: npt.ArrayLike, has_missing: bool = False, name: str = "a") -> Ranked:
    positions = np.arange(6, dtype=np.float64)
    if kind == "number":
        positions = np.array([-3.0, 0.5, 1.0, 4.0, 4.5, 100.0])
    if has_missing:
        positions[-1] = np.nan
    return Ranked(
        name, kind, np.asarray(ranks, dtype=np.int32), positions, TREE if kind == "tree" else None, has_missing
    )


@st.composite
def tables(draw: Any, kinds: tuple[str, ...] = ("number", "order", "category", "tree"), most: int = 4) -> list[Ranked]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    drawn = draw(st.lists(st.tuples(st.sampled_from(kinds), st.booleans()), min_size=1, max_size=most))
    n_rows, n_ranks = draw(st.integers(7, 90)), draw(st.integers(1, 6))
    return [attribute(k, 6 - 1 - rng.integers(0, n_ranks, n_rows), m, f"q{j}") for j, (k, m) in enumerate(drawn)]


def table_for(data: st.DataObject, labelling: Labelling) -> list[Ranked]:
    one = labelling is univariate_labels
    table: list[Ranked] = data.draw(tables(("number", "order"), 1) if one else tables())
    return table


@pytest.mark.parametrize("labelling", LABELLINGS)
@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(2, 7), st.integers(0, 2**32))
def test_groups_are_large_and_ignore_the_order_of_columns(
    labelling: Labelling, data: st.DataObject, k: int, seed: int
) -> None:
    table = table_for(data, labelling)
    labels = labelling(table, k)
    sizes = np.bincount(labels)
    assert labels.dtype == np.int32
    assert len(labels) == len(table[0].ranks)
    assert labels.min() == 0
    assert sizes.min() >= k
    if labelling in AT_MOST_2K:
        assert sizes.max() <= 2 * k - 1
    shuffled = [table[j] for j in np.random.default_rng(seed).permutation(len(table))]
    assert labelling(shuffled, k).tolist() == labels.tolist()


def canonical(table: list[Ranked]) -> list[Ranked]:
    order = np.lexsort([r.ranks for r in reversed(table)])
    return [r.take(order) for r in table]


@pytest.mark.parametrize("labelling", LABELLINGS)
@settings(max_examples=20, deadline=None)
@given(st.data(), st.integers(2, 7), st.integers(0, 2**32))
def test_in_canonical_order_groups_ignore_the_order_of_rows(
    labelling: Labelling, data: st.DataObject, k: int, seed: int
) -> None:
    table = table_for(data, labelling)
    rows = np.random.default_rng(seed).permutation(len(table[0].ranks))
    shuffled = [r.take(rows) for r in table]
    assert labelling(canonical(shuffled), k).tolist() == labelling(canonical(table), k).tolist()


@pytest.mark.parametrize("labelling", LABELLINGS)
def test_equal_records_make_groups_of_k(labelling: Labelling) -> None:
    labels = labelling([attribute("number", [2] * 3000)], 3)
    assert (np.bincount(labels) == 3).all()
    labels = labelling([attribute("number", [5] * 3000, has_missing=True)], 3)
    assert (np.bincount(labels) == 3).all()


@pytest.mark.parametrize("labelling", LABELLINGS)
def test_near_records_stand_together_in_every_kind(labelling: Labelling) -> None:
    kinds: list[Kind] = ["number", "order", "category", "tree"]
    for kind in kinds[:2] if labelling is univariate_labels else kinds:
        labels = labelling([attribute(kind, [0, 4, 0, 4, 0, 4])], 3)
        assert labels[0] == labels[2] == labels[4] != labels[1] == labels[3] == labels[5]


@pytest.mark.parametrize("labelling", LABELLINGS)
def test_missing_values_stand_together(labelling: Labelling) -> None:
    labels = labelling([attribute("number", [0, 5, 4] * 3, has_missing=True)], 3).reshape(3, 3)
    assert (labels == labels[0]).all()
    assert len(set(labels[0])) == 3


@pytest.mark.parametrize("model", MODELS)
def test_manner_of_scikit_learn(model: type[Partition]) -> None:
    fitted = model(k=3).fit(np.arange(20.0)[:, None])
    assert (fitted.labels_ == model(k=3).fit_predict(np.arange(20.0)[:, None])).all()
    assert fitted.n_features_in_ == 1
    assert fitted.set_params(k=4).get_params()["k"] == 4
    assert repr(fitted).startswith(f"{model.__name__}(k=4")
    assert not hasattr(fitted, "transform")


@pytest.mark.parametrize("model", MODELS)
def test_bad_input_is_refused(model: type[Partition]) -> None:
    for k in (1, 2.5, True, None):
        with pytest.raises(PolicyError, match="whole number"):
            model(k=k).fit(np.zeros((9, 1)))
    with pytest.raises(Infeasible, match="4 records, fewer than k = 5"):
        model(k=5).fit(np.zeros((4, 1)))
    with pytest.raises(DataError, match="infinite"):
        model(k=2).fit(np.array([[0.0], [np.inf], [1.0]]))
