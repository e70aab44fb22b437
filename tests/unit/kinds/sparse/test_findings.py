"""Records that are left out, and classes that are told no longer: never under a green tick where they are many."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.data.sparse.records import Sparse
from shoal.errors import Infeasible
from shoal.kinds.sparse.findings import learning_findings, suppression_findings
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.utility.sparse.baskets import ClassesTold


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


def told(lost: float, surely: float, name: str = "naive Bayes") -> ClassesTold:
    return ClassesTold(name, 0.8, 0.8 - lost, 0.1, 500, 250, surely)


def test_classes_that_are_told_no_longer_are_a_finding_above_three_points() -> None:
    def found(*learning: ClassesTold) -> Any:
        return learning_findings(SimpleNamespace(learning=learning), SparsePolicy())  # type: ignore[arg-type]

    assert found() == found(told(0.02, 0.01)) == found(told(0.5, 0.0)) == ()
    (finding,) = found(told(0.031, 0.001), told(0.04, 0.001, "nearest neighbours"))
    assert finding.is_serious
    assert finding.is_loss
    assert "(nearest neighbours)" in finding.sentence
    assert "80.0 % of 250 others, and for 76.0 %" in finding.sentence


def test_a_release_of_which_classes_are_not_told_is_amber_and_risks_come_first() -> None:
    # A class is told by two of six items of which each alone says nothing, and they are not dealt as one.
    rng = np.random.default_rng(0)
    rows, classes = [], []
    for i in range(900):
        first = int(rng.integers(0, 2))
        second = first if i % 2 else 1 - first
        rows.append([f"a{first}", f"b{second}", *[f"c{x}" for x in rng.integers(0, 4, 2)]])
        classes.append("same" if i % 2 else "other")
    policy = SparsePolicy.of(k=40, together=1)
    release = shoal.anonymize(Sparse.of(rows, classes), policy, seed=1)
    assert max(c.lost for c in release.utility.learning) > 0.2
    assert release.verdict.level == "amber"
    assert "A classifier (nearest neighbours)" in release.verdict.worst
    assert "classes" not in str(release.summary(report=False)["verdict"])
