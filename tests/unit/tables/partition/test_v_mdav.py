"""The tests of `tables/partition/v_mdav.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from shoal.errors import PolicyError
from shoal.tables.partition.v_mdav import VMDAV


@pytest.mark.parametrize("gamma", [-0.1, np.nan, np.inf, "1", None, True])
def test_a_gamma_that_is_no_number_of_0_or_more_is_refused(gamma: Any) -> None:
    with pytest.raises(PolicyError, match="gamma"):
        VMDAV(k=2, gamma=gamma).fit(np.zeros((9, 1)))


def test_v_mdav_keeps_clusters_whole() -> None:
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(30), rng.integers(4, 6, 30))
    X = rng.normal(size=(30, 3))[cluster] * 50 + rng.normal(size=(len(cluster), 3)) * 0.1

    def n_whole(gamma: float) -> int:
        labels = VMDAV(k=4, gamma=gamma).fit_predict(X)
        return sum(len(set(labels[cluster == c])) == 1 for c in range(30))

    assert n_whole(0.2) == 30
    assert n_whole(0) < 25
