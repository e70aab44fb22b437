"""Records that are left out: bounded on request, and never under a green tick where they are many."""

from __future__ import annotations

import numpy as np
import pytest

import shoal
from shoal.errors import Infeasible
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.sparse.suppression import suppression_findings


def test_many_are_a_finding_and_more_than_allowed_are_refused() -> None:
    usual = SparsePolicy()
    assert suppression_findings(100, 95, usual) == ()
    (found,) = suppression_findings(100, 44, usual)
    assert found.is_serious
    assert "56 % of the records" in found.sentence
    assert suppression_findings(100, 44, usual.changed(suppression=0.6)) == ()
    with pytest.raises(Infeasible, match="more than the 5 % that suppression allows"):
        suppression_findings(100, 90, usual.changed(suppression=0.05))


def test_a_release_that_leaves_most_out_is_not_green() -> None:
    rng = np.random.default_rng(0)
    rows = [[f"i{x}" for x in set(rng.integers(0, 40, 1 + 14 * (i % 2)).tolist())] for i in range(200)]
    policy = SparsePolicy.of(publish="sketch", k=3)
    release = shoal.anonymize(rows, policy, seed=1)
    assert release.records["suppressed"] >= 90
    assert release.verdict.level == "amber"
    assert "of the records were left out" in release.verdict.worst
    with pytest.raises(Infeasible, match="suppression"):
        shoal.anonymize(rows, policy.changed(suppression=0.2), seed=1)
    assert policy.changed(suppression=0.2).publish == "sketch"
    assert SparsePolicy.of(suppression=0.2).publish == "pseudo"
