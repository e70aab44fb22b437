"""What is caught of sketches of groups: too small ones, foreign sums, rare items, wrong classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from shoal.check.sparse.folder import asked_of
from shoal.check.sparse.groups import _sums, look_alikes
from shoal.check.sparse.verify import SparseEvidence, verify_sketches
from shoal.check.verdict import Verdict
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.sparse.group_sketches import anonymize_groups
from shoal.sparse.sketch import sketch_records
from tests.unit.sparse.test_group_sketches import KEY, records

POLICY = SparsePolicy.of(unit="group", k=5, recovery_cap=False)


def made(k: int = 5) -> tuple[Any, SparseEvidence]:
    original = records()
    found = anonymize_groups(original, POLICY.changed(k=k), KEY, seed=1)
    return found.made.sketches, SparseEvidence(original, found.made.rows, KEY, None, found.summed.groups)


def checked(published: Any, evidence: SparseEvidence | None) -> Verdict:
    return verify_sketches(published, asked_of(POLICY, None), evidence)


def test_what_was_made_holds_and_less_evidence_leaves_a_question() -> None:
    published, evidence = made()
    verdict = checked(published, evidence)
    assert verdict.holds
    assert not verdict.unverified
    assert {"k-anonymity", "look-alikes", "delta-anonymity", "sketch-form"} <= {g.model for g in verdict.guarantees}
    for less in (None, replace(evidence, groups=None), replace(evidence, rows=None), SparseEvidence(evidence.original)):
        told = checked(published, less)
        assert "takes the original" in told.unverified[0]
        assert all(g.holds for g in told.guarantees)


def test_groups_below_k_are_caught() -> None:
    published, evidence = made(3)
    verdict = checked(published, evidence)
    failing = {g.model for g in verdict.guarantees if not g.holds}
    assert {"k-anonymity", "look-alikes"} <= failing
    assert not checked(published, None).guarantees[0].holds  # anybody can count it


def test_a_sum_with_a_rare_item_is_caught() -> None:
    """As though the method had forgotten to leave it out."""
    published, evidence = made()
    assert evidence.original is not None
    assert evidence.groups is not None
    assert evidence.rows is not None
    rows = evidence.groups[evidence.rows]
    for k, holds in ((5, True), (1, False)):
        sums = _sums(evidence.original, evidence.groups, k)
        forged = sketch_records(sums.take(rows), published.counts, KEY)
        verdict = checked(replace(published, components=forged.components), evidence)
        assert verdict.holds is holds
        assert {g.model for g in verdict.guarantees if not g.holds} == (set() if holds else {"sketch-form"})


def test_exchanged_members_wrong_classes_and_foreign_secrets_are_caught() -> None:
    published, evidence = made()
    assert evidence.groups is not None
    assert evidence.rows is not None
    swapped = evidence.groups.copy()
    one, other = np.flatnonzero(swapped == 0)[0], np.flatnonzero(swapped == swapped.max())[0]
    swapped[[one, other]] = swapped[[other, one]]
    assert not checked(published, replace(evidence, groups=swapped)).holds
    turned = replace(published, classes=published.classes[::-1])
    assert "class" in checked(turned, evidence).findings[0]
    for wrong in (
        replace(evidence, groups=evidence.groups[:-1]),
        replace(evidence, rows=evidence.rows[:-1]),
        replace(evidence, rows=np.zeros_like(evidence.rows)),
        replace(evidence, groups=np.full_like(evidence.groups, -1)),
    ):
        assert checked(published, wrong).findings
    dropped = np.flatnonzero(evidence.rows != evidence.rows[0])
    fewer = checked(published.take(dropped), replace(evidence, rows=evidence.rows[dropped]))
    assert "have no sketch" in fewer.findings[0]


def test_look_alikes_are_counted_with_their_class() -> None:
    published, _ = made()
    counts: dict[Any, int] = {}
    for i in range(len(published)):
        cells = tuple(published.components[published.starts[i] : published.starts[i + 1]].tolist())
        counts[cells, int(published.labels[i])] = counts.get((cells, int(published.labels[i])), 0) + 1
    assert look_alikes(published, 5).achieved == min(counts.values())
