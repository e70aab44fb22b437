"""A person's sketch is found by some items where there are many components."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shoal.attack.sparse import neighbour_linkage
from shoal.attack.sparse.neighbour_linkage import NeighbourLinkage, likelihood_ratios, part_of


def test_a_weak_release_is_linked(weak):
    result = NeighbourLinkage(n_records=100).run(weak, np.random.default_rng(0))
    assert result.main.value > 0.8
    assert result.control.value < 0.1
    assert result.baseline.value == pytest.approx(1 / 300)
    assert result.details["found_for_sure"] > 0.3
    assert result.succeeds


def test_a_strong_release_is_not(case_of):
    result = NeighbourLinkage(n_records=200).run(case_of(600, 1), np.random.default_rng(0))
    assert result.main.value < 0.03
    assert result.details["found_for_sure"] == 0
    assert not result.succeeds


def test_more_knowledge_links_more(case_of):
    case = case_of(300, 15)
    quarter, whole = (NeighbourLinkage(known=share).run(case, np.random.default_rng(0)) for share in (0.25, 1.0))
    assert whole.main.value > 0.9 > quarter.main.value


def test_blocks_do_not_matter(weak, monkeypatch):
    whole = NeighbourLinkage(n_records=50).run(weak, np.random.default_rng(0))
    monkeypatch.setattr(neighbour_linkage, "AT_ONCE", 37)
    in_blocks = NeighbourLinkage(n_records=50).run(weak, np.random.default_rng(0))
    assert in_blocks.main == whole.main
    assert in_blocks.details == pytest.approx(whole.details)


def test_scores_are_log_ratios_of_two_normal_densities(weak):
    published = weak.published.take(np.arange(5))
    rng = np.random.default_rng(3)
    sketches, squares = rng.integers(-5, 6, (3, 80)).astype(float), np.array([3.0, 5.0, 6.0])
    scores = likelihood_ratios(published, sketches, squares, 9.0)
    for i in range(3):
        for j in range(5):
            s = published.components[published.starts[j] : published.starts[j + 1]].astype(float)
            length = ((s**2).sum() + 4 * 9.0) / (len(s) + 4)
            rest = max(length - squares[i], 0.25 * length)
            own = [_log_normal(a - b, rest) - _log_normal(a, length) for a, b in zip(s, sketches[i], strict=False)]
            assert scores[i, j] == pytest.approx(sum(own))


def _log_normal(x: float, variance: float) -> float:
    return -0.5 * math.log(2 * math.pi * variance) - x * x / (2 * variance)


def test_a_part_holds_its_share_of_a_record(weak):
    part = part_of(weak.original, 0.5, np.random.default_rng(0))
    assert part.sizes.tolist() == np.maximum(np.rint(weak.original.sizes / 2), 1).tolist()
    for i in range(0, 300, 50):
        mine = part.items[part.starts[i] : part.starts[i + 1]]
        assert np.isin(mine, weak.original.items[weak.original.starts[i] : weak.original.starts[i + 1]]).all()
        assert (np.diff(mine) > 0).all()
    assert part_of(weak.original, 0.01, np.random.default_rng(0)).sizes.tolist() == [1] * 300
