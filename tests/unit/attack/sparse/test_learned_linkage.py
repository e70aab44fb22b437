"""Signs that were learned from known pairs find sketches of others, without the key."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.attack.sparse.learned_linkage import LearnedLinkage, first_components
from shoal.data.sparse.sketches import Sketches


def test_long_sketches_are_found_from_pairs_alone(case_of) -> None:
    case = case_of(400, 48)
    found = LearnedLinkage(n_pairs=200, n_records=60).run(case, np.random.default_rng(1))
    assert found.main.value > 0.6
    assert found.control is not None
    assert found.control.value < 0.1
    assert found.succeeds
    assert found.details["components_learned"] == 48


def test_two_components_find_nobody(strong) -> None:
    found = LearnedLinkage(n_pairs=100, n_records=60).run(strong, np.random.default_rng(1))
    assert found.main.value < 0.1
    assert not found.succeeds


def test_it_needs_rows_and_no_key(strong) -> None:

    attack = LearnedLinkage()
    assert attack.missing(replace(strong, key=None)) is None
    assert attack.missing(replace(strong, rows=None)) is not None
    assert attack.in_release() is None


def test_sketches_are_cut() -> None:
    cut = first_components(Sketches(np.array([0, 3, 4, 6]), np.array([1, 2, 3, 4, 5, 6])), 2)
    assert cut.components.tolist() == [1, 2, 4, 5, 6]
    assert cut.counts.tolist() == [2, 1, 2]
