"""Haplotype-like strings: aligned, many equal and some held by one alone, near ones related, places linked."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from shoal.data.samples.haplotypes import haplotypes
from shoal.errors import PolicyError


def test_many_are_equal_and_some_occur_once() -> None:
    made = haplotypes(1000, seed=1)
    held = Counter(made.texts())
    assert set(made.lengths.tolist()) == {125}
    assert 0.1 < sum(n == 1 for n in held.values()) / 1000 < 0.5
    assert max(held.values()) > 20
    more = Counter(haplotypes(1000, mutations=3.0, seed=1).texts())
    assert len(more) > len(held)


def test_places_are_linked() -> None:
    """The places that vary most go together far more than shuffled ones do."""
    made = haplotypes(1000, seed=2).symbols.reshape(1000, 125).astype(float)
    varied = made[:, np.argsort(made.var(axis=0))[-20:]]
    shuffled = np.random.default_rng(0).permuted(varied, axis=0)

    def linked(x):
        return float((np.corrcoef(x.T)[np.triu_indices(20, 1)] ** 2).mean())

    assert linked(varied) > 5 * linked(shuffled)


def test_a_seed_repeats_them_and_odd_sizes_are_made_or_refused() -> None:
    assert haplotypes(50, seed=3).texts() == haplotypes(50, seed=3).texts()
    assert haplotypes(50, seed=3).texts() != haplotypes(50, seed=4).texts()
    assert haplotypes(1, n_places=2, seed=1).texts() == ["AA"]
    for wrong in ({"n": 0}, {"n": 5, "n_places": 1}):
        with pytest.raises(PolicyError, match="cannot be made"):
            haplotypes(**wrong)
