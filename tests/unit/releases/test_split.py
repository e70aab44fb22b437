"""Buckets cut into groups in which every value is as frequent as the others."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.compile import interpreted
from shoal.kernels.tables.width_tree import WidthPoints
from shoal.releases.split import split_buckets


@pytest.mark.parametrize("seed", range(4))
def test_groups_are_balanced_and_of_k_persons(seed):
    rng = np.random.default_rng(seed)
    buckets, values = np.repeat([0, 1], [36, 8]), np.concatenate([np.arange(36) % 3, np.arange(8) % 2])
    is_person = rng.random(44) < 0.85
    points = WidthPoints(rng.random((44, 2)), np.ones(2))
    with interpreted(True):
        labels = split_buckets(points, buckets, values, is_person, 5)
    for group in set(labels.tolist()) - {-1}:
        some = np.flatnonzero(labels == group)
        assert len(set(buckets[some].tolist())) == 1
        assert len(set(np.unique(values[some], return_counts=True)[1].tolist())) == 1
        assert is_person[some].sum() >= 5
    assert (labels[:36] >= 0).all()


def test_a_bucket_of_few_persons_is_left_out():
    points = WidthPoints(np.zeros((4, 1)), np.ones(1))
    is_person = np.array([True, False, False, False])
    with interpreted(True):
        assert split_buckets(points, np.zeros(4, dtype=np.int64), np.arange(4) % 2, is_person, 2).tolist() == [-1] * 4
