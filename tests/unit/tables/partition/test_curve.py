"""The tests of `tables/partition/curve_order.py`."""

from __future__ import annotations

import numpy as np

from shoal.tables.partition.curve import CurveOrder


def test_curve_order_loses_less_than_mdav_on_scattered_numbers() -> None:
    from shoal.tables.partition.mdav import MDAV

    X = np.random.default_rng(0).normal(size=(4000, 4))
    losses = []
    for model in (CurveOrder(5), MDAV(5)):
        labels = model.fit_predict(X)
        means = np.column_stack([np.bincount(labels, x) for x in X.T]) / np.bincount(labels)[:, None]
        losses.append(((X - means[labels]) ** 2).sum())
    assert losses[0] < losses[1]
