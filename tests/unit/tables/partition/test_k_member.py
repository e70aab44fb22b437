"""The tests of `tables/partition/k_member.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.tables.partition.k_member import KMember


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 2.0**900])
def test_the_unit_of_a_number_does_not_matter_to_k_member(scale: float) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    assert KMember(k=3).fit_predict(X * [1.0, scale]).tolist() == KMember(k=3).fit_predict(X).tolist()
