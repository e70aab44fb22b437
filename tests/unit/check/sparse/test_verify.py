"""The check of sketches: an honest release passes, and of each spoiled one exactly the right guarantee fails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.check.sparse.verify import SparseAsked, SparseEvidence, verify_sketches
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError
from tests.unit.check.sparse import slow_sketches as slow

ASKED = SparseAsked(delta=0.5, k=3, max_components=24)


def baskets(n=60, *, labels=True, weights="binary", seed=0, n_items=80):
    rng = np.random.default_rng(seed)
    records = []
    for i in range(n):
        items = rng.choice(n_items // 2, 12, replace=False) + (n_items // 2 if i % 2 else 0)
        items = np.where(rng.random(12) < 0.2, rng.integers(0, n_items, 12), items)
        value = {
            "binary": lambda: 1,
            "counts": lambda: int(rng.integers(1, 4)),
            "mixed": lambda: int(rng.choice([-2, -1, 1, 3])),
            "real": lambda: float(rng.gamma(3.0, 0.3)),
        }[weights]
        records.append({f"i{int(j):02d}": value() for j in items})
    return slow.sparse(records, ["odd" if i % 2 else "even" for i in range(n)] if labels else None)


@pytest.fixture(scope="module")
def release():
    return slow.honest(baskets(), ASKED)


@pytest.fixture(scope="module")
def real():
    return slow.honest(baskets(weights="real"), ASKED)


def failing(published, asked, evidence):
    verdict = verify_sketches(published, asked, evidence)
    assert not verdict.findings
    return {g.model for g in verdict.guarantees if not g.holds}


@pytest.mark.parametrize("weights", ["binary", "counts", "mixed", "real"])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_an_honest_release_passes(weights, metric):
    asked = replace(ASKED, metric=metric)
    release = slow.honest(baskets(weights=weights, seed=3), asked)
    assert len(release.published) > 20
    verdict = verify_sketches(release.published, asked, release.evidence)
    assert verdict.holds, [g.sentence for g in verdict.guarantees]
    models = {"k-variance", "delta-anonymity", "recovery-cap", "max-components", "class-size", "sketch-form"}
    assert {g.model for g in verdict.guarantees} == models | ({"rounding"} if weights == "real" else set())
    for less in ({"key": None}, {"neighbours": None}, {"key": None, "neighbours": None}):
        again = verify_sketches(release.published, asked, replace(release.evidence, **less))
        assert again.holds, [g.sentence for g in again.guarantees]


def test_what_is_achieved_is_what_the_definitions_give(release):
    found = {g.model: g for g in verify_sketches(release.published, ASKED, release.evidence).guarantees}
    records, rows = slow.records_of(release.evidence.original), release.evidence.rows
    variances = [(slow.square(records[q]) - 1) / release.counts[q] for q in rows]
    assert found["delta-anonymity"].achieved == pytest.approx(min(variances))
    ratios = []
    for q in rows:
        for i in release.evidence.neighbours[q]:
            t = min(release.counts[q], release.counts[i])
            if t:
                ratios.append((slow.room(records[q], records[i], "sqrt", "smaller") / t) ** 0.5)
    assert found["k-variance"].achieved == pytest.approx(min(ratios))
    assert found["k-variance"].n_classes == 3 * len(rows)
    assert found["max-components"].achieved == max(release.counts)
    assert 0.2 < found["recovery-cap"].achieved <= 0.5


def test_one_component_more_than_delta_allows():
    asked = replace(ASKED, k=None, recovery_cap=False, delta=0.6)
    data = baskets()
    counts = slow.caps(data, asked)
    counts[7] += 1
    spoiled = slow.assemble(data, counts, asked, None)
    assert failing(spoiled.published, asked, spoiled.evidence) == {"delta-anonymity"}
    # Without knowing which sketch is whose, it is still one too many among all that are as long.
    unknown = replace(spoiled.evidence, rows=None, key=None)
    assert failing(spoiled.published, asked, unknown) == {"component-counts"}


def test_one_component_more_than_the_recovery_cap_allows():
    asked = replace(ASKED, k=None)
    data = baskets()
    counts = slow.caps(data, asked)
    counts[7] += 1
    spoiled = slow.assemble(data, counts, asked, None)
    assert failing(spoiled.published, asked, spoiled.evidence) == {"recovery-cap"}
    assert verify_sketches(spoiled.published, replace(asked, recovery_cap=False), spoiled.evidence).holds


def test_one_component_more_than_was_asked_for():
    asked = replace(ASKED, k=None, max_components=5)
    release = slow.honest(baskets(), replace(asked, max_components=6))
    assert failing(release.published, asked, release.evidence) == {"max-components"}
    assert failing(release.published, asked, SparseEvidence()) == {"max-components"}


@pytest.mark.parametrize("threshold", ["sqrt", "difference"])
@pytest.mark.parametrize("has_list", [True, False])
def test_one_violated_edge(threshold, has_list):
    # No caps but a small delta: the edges decide.
    asked = replace(ASKED, delta=0.01, recovery_cap=False, max_components=200, threshold=threshold)
    data = baskets(seed=5)
    release = slow.honest(data, asked)
    listed = release.evidence.neighbours if has_list else None
    evidence = replace(release.evidence, neighbours=listed)
    assert verify_sketches(release.published, asked, evidence).holds
    records = slow.records_of(data)
    counts = list(release.counts)
    # Both ends of an edge to the very nearest record, which no tie can replace, beyond what it allows.
    q, other = next(
        (q, others[0])
        for q, others in enumerate(release.evidence.neighbours)
        if slow.dot(records[q], records[others[0]]) > slow.dot(records[q], records[others[1]]) + 1
    )
    allowed = int(slow.room(records[q], records[other], threshold, "smaller"))
    counts[q], counts[other] = allowed + 1, allowed + 1
    spoiled = slow.assemble(data, counts, asked, release.evidence.neighbours)
    evidence = replace(spoiled.evidence, neighbours=listed)
    verdict = verify_sketches(spoiled.published, asked, evidence)
    assert {g.model for g in verdict.guarantees if not g.holds} == {"k-variance"}
    edges = next(g for g in verdict.guarantees if g.model == "k-variance")
    assert edges.n_failing >= 1
    assert edges.achieved < 1


def test_a_method_that_looked_at_fewer_neighbours():
    asked = replace(ASKED, delta=0.01, recovery_cap=False, max_components=200, k=6)
    few = replace(asked, k=1)
    release = slow.honest(baskets(seed=5), few)
    assert verify_sketches(release.published, few, release.evidence).holds
    assert failing(release.published, asked, release.evidence) == {"k-variance"}
    # A list filled up with far records is a list, but not of the nearest.
    near = slow.neighbours_of(release.evidence.original, 59, "cosine")
    wrong = np.array([[others[0], *others[-5:]] for others in near], np.int32)
    assert failing(release.published, asked, replace(release.evidence, neighbours=wrong)) == {"k-variance"}


def test_too_few_records_for_k(release):
    asked = replace(ASKED, k=60)
    assert failing(release.published, asked, replace(release.evidence, neighbours=None)) == {"k-variance"}


def test_a_component_off_by_two(release):
    values = release.published.components[: release.published.counts[0]].tolist()
    values[-1] += 2
    spoiled = slow.with_sketch(release.published, 0, values)
    assert failing(spoiled, ASKED, release.evidence) == {"sketch-form"}
    values[-1] += 1
    odd = slow.with_sketch(release.published, 0, values)
    assert failing(odd, ASKED, replace(release.evidence, key=None)) == {"sketch-form"}
    values[-1] += 1001
    large = slow.with_sketch(release.published, 0, values)
    assert failing(large, ASKED, replace(release.evidence, key=None)) == {"sketch-form"}


def test_rows_that_are_swapped(release):
    counts = release.published.counts
    labels = release.published.labels
    at = next(i for i in range(len(counts) - 1) if counts[i] == counts[i + 1] and labels[i] == labels[i + 1])
    rows = release.evidence.rows.copy()
    rows[[at, at + 1]] = rows[[at + 1, at]]
    assert failing(release.published, ASKED, replace(release.evidence, rows=rows)) == {"sketch-form"}


def test_another_key(release):
    other = replace(release.evidence, key=bytes(32))
    assert failing(release.published, ASKED, other) == {"sketch-form"}
    short = verify_sketches(release.published, ASKED, replace(release.evidence, key=bytes(16)))
    assert short.findings
    assert not short.holds


def test_a_changed_class(release):
    labels = release.published.labels.copy()
    labels[0] = 1 - labels[0]
    assert failing(replace(release.published, labels=labels), ASKED, release.evidence) == {"class-size"}


def test_a_small_class():
    data = baskets()
    data = data.with_labels(["rare" if i < 3 else "frequent" for i in range(60)])
    lax, strict = replace(ASKED, rare=3), replace(ASKED, rare=4)
    release = slow.honest(data, lax)
    assert verify_sketches(release.published, lax, release.evidence).holds
    assert failing(release.published, strict, release.evidence) == {"class-size"}
    assert "class-size" in failing(release.published, strict, replace(release.evidence, rows=None, key=None))
    careful = slow.honest(data, strict)
    assert verify_sketches(careful.published, strict, careful.evidence).holds


def test_a_class_that_the_original_does_not_have(release):
    strange = replace(release.published, classes=("even", "strange"))
    assert failing(strange, ASKED, release.evidence) == {"class-size"}


def test_a_finer_step_than_was_told(real):
    records, step = slow.records_of(real.evidence.original), real.published.step / 64
    made = [slow.components(slow.KEY, records[row], real.counts[row], step) for row in real.evidence.rows]
    fine = replace(real.published, components=np.concatenate(made))
    assert failing(fine, ASKED, replace(real.evidence, key=None)) == {"rounding"}
    assert failing(fine, ASKED, real.evidence) == {"rounding"}
    assert failing(fine, ASKED, SparseEvidence()) == {"rounding"}


def test_a_step_that_is_told_and_too_fine(real):
    fine = replace(real.published, step=real.published.step / 4)
    assert failing(fine, replace(ASKED, recovery_cap=False, k=None), real.evidence) >= {"rounding"}
    assert verify_sketches(fine, ASKED).guarantees[1].holds  # nobody can tell without the original


def test_a_real_component_off_by_a_step(real):
    values = real.published.components[: real.published.counts[0]].tolist()
    values[0] += real.published.step
    assert failing(slow.with_sketch(real.published, 0, values), ASKED, real.evidence) == {"sketch-form"}


def test_a_sketch_of_an_empty_record():
    data = slow.sparse([*slow.records_of(baskets(labels=False)), {}])
    asked = replace(ASKED, recovery_cap=False)
    release = slow.honest(data, asked)
    assert verify_sketches(release.published, asked, release.evidence).holds
    counts = [*release.counts[:-1], 1]
    spoiled = slow.assemble(data, counts, asked, release.evidence.neighbours)
    assert failing(spoiled.published, asked, spoiled.evidence) == {"delta-anonymity"}


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (lambda rows: np.append(rows[:-1], rows[0]), "more than one sketch"),
        (lambda rows: np.append(rows[:-1], 60), "not among"),
        (lambda rows: rows[:-1], "another release"),
    ],
)
def test_rows_that_cannot_be(release, spoil, word):
    verdict = verify_sketches(release.published, ASKED, replace(release.evidence, rows=spoil(release.evidence.rows)))
    assert not verdict.holds
    assert word in verdict.findings[0]


def test_other_faults_are_found(release, real):
    empty = slow.with_sketch(release.published, 0, [])
    assert "no component" in verify_sketches(empty, ASKED, release.evidence).findings[0]
    unlabelled = replace(release.evidence.original, labels=None, classes=())
    assert "classes" in verify_sketches(release.published, ASKED, SparseEvidence(unlabelled)).findings[0]
    assert "whole numbers" in verify_sketches(release.published, ASKED, real.evidence).findings[0]
    assert not verify_sketches(replace(release.published, step=2.0), ASKED, release.evidence).holds
    endless = replace(real.published, components=np.full_like(real.published.components, np.inf))
    assert verify_sketches(endless, ASKED, real.evidence).findings
    none = Sketches(np.zeros(1, np.int64), np.zeros(0, np.int64))
    with pytest.raises(DataError, match="nothing would be published"):
        verify_sketches(none, ASKED)


def test_less_evidence_verifies_less(release):
    alone = verify_sketches(release.published, ASKED)
    assert [g.model for g in alone.guarantees] == ["max-components"]
    assert "--original" in alone.unverified[0]
    assert "k-variance need " in alone.unverified[0]
    assert not alone.holds
    some = verify_sketches(release.published, ASKED, SparseEvidence(release.evidence.original))
    assert {g.model for g in some.guarantees} == {"max-components", "class-size", "component-counts"}
    assert all(g.holds for g in some.guarantees)
    assert "--private" in some.unverified[0]
    only = verify_sketches(release.published, replace(ASKED, k=None, recovery_cap=False))
    assert "delta-anonymity needs " in only.unverified[0]


def test_the_key_tells_whose_sketches_these_are(release):
    # Some records twice, so that their sketches are of either.
    asked = replace(ASKED, k=None)
    records = slow.records_of(baskets(labels=False))
    data = slow.sparse(records + records[:5], ["a"] * 65)
    twice = slow.honest(data, asked)
    found = verify_sketches(twice.published, asked, replace(twice.evidence, rows=None))
    assert found.holds, found
    assert {"delta-anonymity", "sketch-form"} <= {g.model for g in found.guarantees}
    # One component too many is then told from the record's own bound.
    counts = list(twice.counts)
    counts[7] += 1
    spoiled = slow.assemble(data, counts, asked, None)
    assert failing(spoiled.published, asked, replace(spoiled.evidence, rows=None)) == {"recovery-cap"}
    # Three sketches of two equal records, and one of none.
    pair = [i for i, row in enumerate(twice.evidence.rows) if row in (0, 60)]
    three = twice.published.take(np.array([*range(len(twice.published)), pair[0]]))
    three = three.take(np.delete(np.arange(len(three)), 1 if 1 not in pair else 2))
    assert "sketch-form" in failing(three, asked, replace(twice.evidence, rows=None))
    off = slow.with_sketch(twice.published, 0, (twice.published.components[: twice.published.counts[0]] + 2).tolist())
    assert "sketch-form" in failing(off, asked, replace(twice.evidence, rows=None))


def test_short_sketches_are_anybodys():
    asked = replace(ASKED, k=None, max_components=2)
    release = slow.honest(baskets(), asked)
    verdict = verify_sketches(release.published, asked, replace(release.evidence, rows=None))
    assert all(g.holds for g in verdict.guarantees)
    assert "too short" in verdict.unverified[0]
    assert not verdict.holds


def test_nothing_is_quoted(release, real):
    for case in (release, real):
        rows = case.evidence.rows.copy()
        rows[[0, -1]] = rows[[-1, 0]]
        verdict = verify_sketches(case.published, replace(ASKED, delta=50.0), replace(case.evidence, rows=rows))
        text = " ".join([g.sentence for g in verdict.guarantees] + list(verdict.unverified + verdict.findings))
        assert sum(not g.holds for g in verdict.guarantees) >= 3
        assert not any(name in text for name in case.evidence.original.names)
        assert slow.KEY.hex() not in text


def test_numbers_of_components_off_the_coarse_grid_and_an_order_that_tells_are_found() -> None:
    from shoal.check.sparse.bounds import coarse_counts
    from shoal.check.sparse.verify import is_sorted

    grid = {2**i for i in range(12)} | {3 * 2**i for i in range(11)}
    for n in range(1, 3000):
        assert coarse_counts(np.array([n, 1])).holds is (n in grid)

    def sketches(rows: list[list[int]], labels: list[int]) -> Sketches:
        starts = np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(np.int64)
        return Sketches(starts, np.concatenate(rows).astype(np.int64), 1.0, np.array(labels, np.int32), ("a", "b"))

    rows = [[3], [-1, 2], [-1, 2], [0, -7], [2, 2, 2], [-4]]
    labels = [0, 0, 0, 0, 0, 1]
    assert is_sorted(sketches(rows, labels))
    for i in range(5):
        swapped = [*range(i), i + 1, i, *range(i + 2, 6)]
        is_still = rows[i] == rows[i + 1] and labels[i] == labels[i + 1]
        assert is_sorted(sketches([rows[j] for j in swapped], [labels[j] for j in swapped])) is is_still
