"""Mondrian over ranked attributes, and as an estimator."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from shoal.errors import DataError, Infeasible, PolicyError
from shoal.kinds.tables.policy import LDiversity, TCloseness
from shoal.tables.encoding import Ranked
from shoal.tables.limits import limits_of, violations
from shoal.tables.partition.mondrian import (
    Mondrian,
    block_arguments,
    finish_block,
    first_cuts,
    mondrian_labels,
)


def numbers(name, values):
    positions, ranks = np.unique(np.asarray(values, dtype=float), return_inverse=True)
    return Ranked(name, "number", ranks.astype(np.int32), positions, has_missing=bool(np.isnan(positions[-1])))


def categories(name, labels):
    values, ranks = np.unique(labels, return_inverse=True)
    return Ranked(name, "category", ranks.astype(np.int32), np.arange(float(len(values))))


def test_cuts_the_widest_at_the_median():
    x = numbers("x", [0, 1, 2, 3, 4, 5, 6, 100])
    y = numbers("y", [0, 9, 0, 9, 0, 9, 0, 10])
    # x is as wide as y and named first; then its left half is narrow, and y is cut.
    assert mondrian_labels([x, y], 2).tolist() == [0, 1, 0, 1, 2, 3, 2, 3]


def test_equal_values_stay_together_unless_relaxed():
    x = numbers("x", [1, 1, 1, 1, 1, 1, 2, 2])
    assert mondrian_labels([x], 2).tolist() == [0, 0, 0, 0, 0, 0, 1, 1]
    assert mondrian_labels([x], 2, strict=False).tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    assert mondrian_labels([x], 3).max() == 0


def test_of_two_boundaries_equally_near_the_median_the_lower():
    x = numbers("x", [1, 1, 1, 2, 2, 3, 3, 3])
    assert mondrian_labels([x], 3).tolist() == [0, 0, 0, 1, 1, 1, 1, 1]


def test_missing_is_cut_off_first():
    x = numbers("x", [1, 2, 3, 4, 5, 6, np.nan, np.nan])
    assert mondrian_labels([x], 2).tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert mondrian_labels([x], 3).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]  # too few of them: an ordinary cut


def test_frequent_categories_stand_alone():
    c = categories("c", list("ccccccccbbaad"))
    assert mondrian_labels([c], 2).tolist() == [0] * 8 + [2, 2, 1, 1, 2]


def test_tree_is_cut_between_children_of_the_common_node():
    # Leaves 0..3 under one node, 4 and 5 under the other: the first cut leaves 6 and 2 records.
    ancestors = np.array([[v, 10 if v < 4 else 11, 20] for v in range(6)], dtype=np.int32)
    ranks = np.array([0, 1, 2, 2, 3, 3, 4, 5], dtype=np.int32)
    tree = Ranked("t", "tree", ranks, np.arange(6.0), ancestors)
    assert mondrian_labels([tree], 2).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert mondrian_labels([tree], 3).max() == 0


def test_limits_move_the_cut():
    x = numbers("x", range(8))
    assert mondrian_labels([x], 2).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    apart = limits_of([LDiversity(l=2)], [categories("s", list("aaaaabbb"))])
    assert mondrian_labels([x], 2, apart).tolist() == [0] * 8
    mixed = limits_of([LDiversity(l=2)], [categories("s", list("aaaababb"))])
    assert mondrian_labels([x], 2, mixed).tolist() == [0, 0, 0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("strict", [True, False])
def test_blocks_give_the_same_groups(strict):
    rng = np.random.default_rng(0)
    n = 3000
    ranked = [
        categories("c", rng.choice(list("abcdef"), n, p=[0.5, 0.2, 0.1, 0.1, 0.05, 0.05])),
        numbers("x", rng.normal(size=n)),
        numbers("y", np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 30, n))),
    ]
    sensitive = [numbers("s", rng.integers(0, 20, n))]
    limits = limits_of([TCloseness(t=0.3), LDiversity(l=3, kind="entropy")], sensitive)
    for given in [(), limits]:
        whole = mondrian_labels(ranked, 5, given, strict)
        assert not violations(whole, given).any()
        for block_rows in (50, 700, 5000):
            assert (mondrian_labels(ranked, 5, given, strict, block_rows=block_rows) == whole).all()
        with ThreadPoolExecutor(2) as executor:
            assert (
                mondrian_labels(
                    ranked,
                    5,
                    given,
                    strict,
                    block_rows=500,
                    run=lambda job, jobs: executor.map(job, *zip(*jobs, strict=True)),
                )
                == whole
            ).all()


def test_a_block_travels_as_arrays():
    rng = np.random.default_rng(0)
    ranked = [numbers("x", rng.normal(size=400)), numbers("y", rng.normal(size=400))]
    limits = limits_of([TCloseness(t=0.4)], [numbers("s", rng.integers(0, 4, 400))])
    blocks = first_cuts(ranked, 4, limits, True, 100)
    assert len(blocks) > 1
    assert max(map(len, blocks)) <= 100
    assert sorted(np.concatenate(blocks)) == list(range(400))
    whole = mondrian_labels(ranked, 4, limits)
    n_groups = 0
    for rows in blocks:
        job = pickle.loads(pickle.dumps(block_arguments(ranked, rows, 4, limits, True)))
        labels = finish_block(*job)
        assert (labels + n_groups == whole[rows]).all()
        n_groups += labels.max() + 1


def test_what_cannot_be_met_is_refused():
    x = numbers("x", range(4))
    with pytest.raises(Infeasible, match="fewer than k = 5"):
        mondrian_labels([x], 5)
    with pytest.raises(Infeasible, match="distinct 3-diversity of 's'"):
        mondrian_labels([x], 2, limits_of([LDiversity(l=3)], [categories("s", list("aabb"))]))
    with pytest.raises(DataError, match="no quasi-identifier"):
        mondrian_labels([], 2)
    with pytest.raises(DataError, match="'y' has 3 records"):
        mondrian_labels([x, numbers("y", range(3))], 2)


@pytest.mark.parametrize("k", [1, 0, -3, 2.5, "5", True, None])
def test_k_must_be_a_whole_number(k):
    with pytest.raises(PolicyError, match="k must be"):
        Mondrian(k=k).fit(np.zeros((9, 2)))


def test_estimator():
    X = np.array([[1.0, np.nan], [2.0, np.nan], [3.0, 7.0], [4.0, 7.0], [5.0, 7.0]])
    model = Mondrian(k=2)
    assert model.fit(X) is model
    assert model.labels_.tolist() == [0, 0, 1, 1, 1]
    assert model.fit_predict(X[:, ::-1] * [[1, -1]]).tolist() == [1, 1, 0, 0, 0]
    assert model.fit_predict([numbers("x", [1, 2, 8, 9])]).tolist() == [0, 0, 1, 1]
    assert model.set_params(k=3, strict=False).get_params() == {"k": 3, "strict": False}
    assert repr(model) == "Mondrian(k=3, strict=False)"
    assert not hasattr(model, "transform")
    with pytest.raises(PolicyError, match="no parameter 'kk'"):
        model.set_params(kk=3)


@pytest.mark.parametrize(
    ("X", "what"),
    [
        (np.array([[1.0], [np.inf], [2.0]]), "infinite"),
        (np.zeros(5), "shape"),
        (np.zeros((5, 0)), "shape"),
        ([["a"], ["b"], ["c"]], "more than numbers"),
    ],
)
def test_estimator_refuses(X, what):
    with pytest.raises(DataError, match=what):
        Mondrian(k=2).fit(X)


@pytest.mark.filterwarnings("error")
def test_extreme_and_empty_columns():
    largest = np.finfo(float).max
    X = np.array([[-largest, 1.0], [-1.0, 1.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [largest, 1.0]])
    assert Mondrian(k=2).fit_predict(X).tolist() == [0, 0, 0, 1, 1, 1]
    assert Mondrian(k=2).fit_predict(np.full((5, 2), np.nan)).tolist() == [0] * 5
    assert Mondrian(k=2).fit_predict(X[:, 1:]).tolist() == [0] * 6
    # Widths too small for a float still allow a cut.
    tiny = np.array([[5e-324 * i] for i in range(4)] + [[1e300]] * 4)
    assert Mondrian(k=2).fit_predict(tiny).tolist() == [0, 0, 1, 1, 2, 2, 2, 2]


def test_a_block_takes_only_its_own_values_along():
    rng = np.random.default_rng(4)
    n = 600
    leaves = np.arange(n)
    ancestors = np.column_stack([leaves, leaves // 7, leaves // 90, 0 * leaves]).astype(np.int32)
    ordered = Ranked("o", "order", rng.permutation(n).astype(np.int32), np.arange(float(n)))
    tree = Ranked("t", "tree", rng.permutation(n).astype(np.int32), np.arange(float(n)), ancestors)
    gaps = numbers("x", np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)))
    plain = Ranked("c", "category", rng.permutation(n).astype(np.int32), np.arange(float(n)))
    ranked = [ordered, tree, gaps, plain]
    assert len(block_arguments(ranked, np.arange(20, dtype=np.int32), 3)[0].positions) <= 4 * 20
    whole = mondrian_labels(ranked, 3)
    for block_rows in (20, 100, 300):
        assert (mondrian_labels(ranked, 3, block_rows=block_rows) == whole).all()
