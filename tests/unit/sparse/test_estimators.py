"""The classes in scikit-learn's manner."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

import shoal.sparse
from shoal.data.sparse.records import Sparse
from shoal.errors import DataError, PolicyError
from shoal.sparse import DeltaSketch, KVarianceSketch, new_key

KEY = new_key(1)
BASKETS = [[f"{i:02d}" for i in np.random.default_rng(seed).choice(40, 8, replace=False)] for seed in range(50)]


@pytest.mark.parametrize("estimator", [DeltaSketch(delta=0.2, key=KEY), KVarianceSketch(k=4, key=KEY)])
def test_lists_matrices_and_sparse_give_the_same(estimator):
    records = Sparse.of(BASKETS)
    of_lists = estimator.fit_transform(BASKETS)
    assert len(of_lists) > 0
    assert estimator.fit_transform(records).components.tobytes() == of_lists.components.tobytes()
    assert (estimator.counts_ > 0).sum() == len(of_lists) == len(estimator.rows_) == 50 - estimator.n_suppressed_
    assert estimator.key_ == KEY
    matrix = csr_matrix((records.weights, records.items, records.starts), shape=(50, records.n_items))
    assert len(clone(estimator).fit_transform(matrix)) == len(of_lists)  # columns have numbers for names


def test_classes_come_with_the_sketches():
    labels = ["a", "b"] * 25
    estimator = DeltaSketch().fit(BASKETS, labels)
    sketches = estimator.sketches_
    assert [sketches.classes[c] for c in sketches.labels] == [labels[row] for row in estimator.rows_]


def test_parameters():
    estimator = KVarianceSketch(k=3)
    assert estimator.get_params()["k"] == 3
    assert estimator.set_params(k=5, delta=0.4).k == 5
    with pytest.raises(PolicyError, match="did you mean 'delta'"):
        estimator.set_params(delt=1)
    with pytest.raises(PolicyError):
        KVarianceSketch(k=0).fit(BASKETS)
    with pytest.raises(PolicyError):
        DeltaSketch(delta=-1).fit(BASKETS)
    with pytest.raises(PolicyError, match="not 32 bytes"):
        DeltaSketch(key=b"few").fit(BASKETS)
    with pytest.raises(DataError):
        DeltaSketch().fit("abc")
    assert not hasattr(estimator, "transform")


def test_a_new_key_for_every_fit_unless_given():
    estimator = DeltaSketch()
    keys = {estimator.fit(BASKETS).key_ for _ in range(3)}
    assert len(keys) == 3
    assert all(len(key) == 32 for key in keys)


def test_the_key_is_not_shown():
    assert "key" not in repr(DeltaSketch(key=KEY))


def test_public_names():
    for name in shoal.sparse.__all__:
        assert getattr(shoal.sparse, name).__name__ == name
    assert dir(shoal.sparse) == sorted(shoal.sparse.__all__)
    with pytest.raises(AttributeError):
        _ = shoal.sparse.sketchy
