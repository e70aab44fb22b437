"""The tests of `tables/slicing/regions.py`."""

from __future__ import annotations

import numpy as np

from shoal.tables.encoding import Ranked
from shoal.tables.partition.mondrian import mondrian_labels
from shoal.tables.publish.slices.regions import region_labels


def ranked_of(name, values, kind="number"):
    distinct, ranks = np.unique(values, return_inverse=True)
    return Ranked(name, kind, ranks.astype(np.int32), distinct.astype(float))


def drawn(rng, n):
    x, y = rng.integers(0, 12, (2, n))
    s = rng.integers(0, 5, n)
    return ranked_of("x", x), ranked_of("y", y, "category"), ranked_of("s", s, "category")


def test_regions_are_as_fine_as_mondrian_without_limits() -> None:
    x, y, s = drawn(np.random.default_rng(0), 200)
    buckets = np.zeros(200, np.int32)
    regions = region_labels([x, y], [[0], [1]], buckets, s.ranks, (), 4)
    for i, attribute in enumerate((x, y)):
        apart = mondrian_labels([attribute], 4)
        same = {(int(a), int(b)) for a, b in zip(regions[i], apart, strict=True)}
        assert len(same) == apart.max() + 1 == regions[i].max() + 1
