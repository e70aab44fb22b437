"""Sweeps of sparse records: pseudo-baskets and sketches, each with its own measures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.data.sparse.records import Sparse
from shoal.held_out import hold_out
from shoal.kind import Run
from shoal.kinds.sparse.kind import KIND
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.sparse.sweep import SparseTrials
from shoal.report.sweep import render_sweep
from shoal.sweep.sweep import Sweep

RNG = np.random.default_rng(3)
BASKETS = [[f"item {i}" for i in sorted(set(RNG.integers(0, 60, 12).tolist()))] for _ in range(150)]
POLICY = SparsePolicy.of(k=5)


@pytest.fixture(scope="module")
def found() -> Sweep:
    return shoal.sweep(BASKETS, POLICY, k=[5, 10], methods=["pseudo", "sketch"], support=[2, 3], delta=2.0)


def test_what_means_nothing_for_a_publication_is_not_varied_there(found: Sweep) -> None:
    assert [(c.publish, c.support, c.delta, c.k) for c in found.cells] == [
        ("pseudo", 2, None, 5),
        ("pseudo", 2, None, 10),
        ("pseudo", 3, None, 5),
        ("pseudo", 3, None, 10),
        ("sketch", None, 2.0, 5),
        ("sketch", None, 2.0, 10),
    ]
    assert found.measures == ("pairs", "triples", "items", "neighbours", "dot-products")
    alone = SparseTrials(SparsePolicy.of(k=5, delta=0.5))
    alone.grid(None, {})
    assert alone.shown == ("neighbours", "dot-products")


def test_a_cell_is_the_release_that_it_stands_for(found: Sweep) -> None:
    kept, others = hold_out(Sparse.of(BASKETS), 1 / 3, 0)
    baskets = KIND.release(kept, POLICY.changed(support=3), Run(seed=0), held_out=others)
    cell = found.cells[2]
    assert cell.losses["pairs"] == baskets.utility.pairs.mean  # type: ignore[union-attr]
    assert cell.added_risk == max(r.risk.value for r in baskets.attacked.results if r.main.attempts)
    sketch = found.cells[4]
    assert sketch.holds
    assert 0 <= sketch.losses["neighbours"] <= 1
    assert sketch.loss("pairs") == math.inf


def test_what_the_policy_publishes_is_proposed(found: Sweep) -> None:
    assert found.proposed.publish == "pseudo"
    assert all(c.publish == "pseudo" for c in found.frontier)
    page = render_sweep(found)
    assert "2 of the releases below have no pairs" in page
    assert not any(f">{name}<" in page for name in ("item 1", "item 14"))


def test_the_options_make_the_proposed_release() -> None:
    one = SparseTrials(POLICY)
    pseudo, sketch = one.grid(7, {"publish": ["pseudo", "sketch"], "support": 4, "delta": 1.5})
    assert one.options(pseudo) == ("--support", "4", "-k", "7")
    assert one.options(sketch) == ("--publish", "sketch", "--delta", "1.5", "-k", "7")


@pytest.mark.parametrize(
    ("policy", "asked", "says"),
    [
        (POLICY, {"order": 2}, "order cannot be tried on sparse records"),
        (POLICY, {"publish": "sketches"}, "sketch"),
        (SparsePolicy.of(model="delta"), {}, "the policy asks for none"),
        (POLICY, {"measures": "neighbors"}, "did you mean 'neighbours'"),
    ],
)
def test_what_is_not_understood_is_refused(policy: SparsePolicy, asked: dict[str, Any], says: str) -> None:
    with pytest.raises(shoal.PolicyError, match=says):
        shoal.sweep(BASKETS, policy, **asked)


def test_too_few_records_are_refused() -> None:
    with pytest.raises(shoal.DataError, match="takes 120 or more"):
        shoal.sweep(BASKETS[:100], POLICY)
