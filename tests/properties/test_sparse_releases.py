"""Whatever the records and the policy, a release of sketches is checked, whole, and blind to the order of the input."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import shoal
from shoal.check.sparse.folder import asked_of
from shoal.check.sparse.verify import verify_sketches
from shoal.check.verdict import Verdict
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.errors import Infeasible
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.sparse.release import SparseRelease
from shoal.sparse.content_order import published_order
from shoal.sparse.sketch import sketch_records

KEY = bytes(range(32))
SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
FEW = settings(max_examples=8, deadline=None, suppress_health_check=SLOW)
NAMES = [f"item {c}" for c in "abcdefghijklmnopqrstuvwx"]
WEIGHTS = {
    "sets": st.just(1),
    "counts": st.integers(1, 4),
    "real": st.sampled_from([0.25, 0.7, 1.1, 3.0]),
    "signed": st.sampled_from([-2.5, -1.0, 0.5, 2.0]),
}
Records = list[dict[str, Any]]


@st.composite
def data(draw: st.DrawFn) -> tuple[Records, list[str] | None]:
    """A few to some twenty records, some of them equal, some empty; with classes or without."""
    weights = WEIGHTS[draw(st.sampled_from(sorted(WEIGHTS)))]
    record = st.dictionaries(st.sampled_from(NAMES), weights, min_size=5, max_size=14)
    records = draw(st.lists(record, min_size=6, max_size=16))
    records += [records[i] for i in draw(st.lists(st.integers(0, len(records) - 1), max_size=4))]
    records += [{}] * draw(st.integers(0, 1))
    labels = draw(st.none() | st.lists(st.sampled_from("xxy"), min_size=len(records), max_size=len(records)))
    return records, labels


@st.composite
def policies(draw: st.DrawFn) -> SparsePolicy:
    asked: dict[str, Any] = {
        "delta": draw(st.sampled_from([0.05, 0.5, 2.0])),
        "max_components": draw(st.sampled_from([3, 20, 128])),
        "recovery_cap": draw(st.booleans()),
        "coarse_counts": draw(st.booleans()),
        "rare": draw(st.integers(1, 4)),
    }
    if draw(st.booleans()):
        return SparsePolicy.of(model="delta", **asked)
    return SparsePolicy.of(
        publish="sketch",
        k=draw(st.integers(1, 3)),
        threshold=draw(st.sampled_from(["sqrt", "difference"])),
        variance=draw(st.sampled_from(["smaller", "paper", "exact"])),
        metric=draw(st.sampled_from(["cosine", "euclidean"])),
        neighbours=draw(st.sampled_from(["auto", "exact"])),
        **asked,
    )


def release_of(records: Sparse, policy: SparsePolicy) -> SparseRelease:
    """A release, which anonymize checks before it returns; data that cannot be published is not tried further."""
    try:
        return shoal.anonymize(records, policy, key=KEY)
    except Infeasible:
        assume(False)
        raise


def checked(release: SparseRelease, published: Sketches) -> Verdict:
    return verify_sketches(published, asked_of(release.policy, release.neighbours), release._evidence)


@FEW
@given(made=data(), policy=policies())
def test_a_release_holds_and_nothing_is_lost_or_doubled(
    made: tuple[Records, list[str] | None], policy: SparsePolicy
) -> None:
    records, labels = made
    release = release_of(Sparse.of(records, labels), policy)
    verdict = checked(release, release.sketches)
    assert verdict.holds, (verdict.findings, verdict.unverified)
    assert {g.model for g in verdict.guarantees} == {g.model for g in release.guarantees}
    rows = release._evidence.rows.tolist()
    assert len(set(rows)) == len(rows) == len(release.sketches)
    assert sum(release.suppressed.values()) == len(records) - len(rows)
    assert release.sketches.counts.min() >= 1
    assert release.sketches.counts.max() <= policy.method.max_components
    assert all(records[row] for row in rows)
    if labels is not None:
        shown = [release.sketches.classes[c] for c in release.sketches.labels]
        assert shown == [labels[row] for row in rows]
        filled = Counter(label for label, record in zip(labels, records, strict=True) if record)
        assert all(filled[label] >= policy.method.rare for label in shown)


@FEW
@given(made=data(), policy=policies(), order=st.randoms(use_true_random=False))
def test_the_order_of_records_items_and_names_never_shows(
    made: tuple[Records, list[str] | None], policy: SparsePolicy, order: Any
) -> None:
    records, labels = made
    first = release_of(Sparse.of(records, labels), policy)
    rows = list(range(len(records)))
    order.shuffle(rows)
    turned = [dict(sorted(records[i].items(), reverse=True)) for i in rows]
    second = release_of(Sparse.of(turned, None if labels is None else [labels[i] for i in rows]), policy)
    assert second._file.checksum == first._file.checksum
    assert dict(second.suppressed) == dict(first.suppressed)
    assert second.guarantees == first.guarantees
    # The same records, whichever of several equal ones.
    lists = [sorted(records[i].items()) for i in first._evidence.rows]
    assert [sorted(turned[i].items()) for i in second._evidence.rows] == lists


@FEW
@given(made=data(), policy=policies())
def test_items_that_nobody_holds_change_nothing(made: tuple[Records, list[str] | None], policy: SparsePolicy) -> None:
    records, labels = made
    plain = Sparse.of(records, labels)
    padded = Sparse.from_csr(plain.to_csr()[:, np.argsort([*plain.names])], labels, names=sorted(plain.names))
    more = replace(
        padded, items=padded.items + np.int32(1), names=("a name that sorts first", *padded.names, "zz", "zzz")
    )
    assert release_of(more, policy)._file.checksum == release_of(plain, policy)._file.checksum


@settings(FEW, max_examples=4)
@given(made=data(), policy=policies(), seed=st.integers(0, 2**64))
def test_a_seed_repeats_the_bytes_and_another_does_not(
    made: tuple[Records, list[str] | None], policy: SparsePolicy, seed: int
) -> None:
    records = Sparse.of(*made)
    release_of(records, policy)
    one, same, other = (shoal.anonymize(records, policy, seed=s) for s in (seed, seed, seed + 1))
    assert one._file.checksum == same._file.checksum
    assert one._evidence.key == same._evidence.key != other._evidence.key
    # What is published and what is not does not hang on the key.
    assert np.array_equal(np.sort(one._evidence.rows), np.sort(other._evidence.rows))
    assert sorted(one.sketches.counts) == sorted(other.sketches.counts)


@FEW
@given(made=data(), policy=policies(), at=st.integers(0, 2**31), by=st.sampled_from([-2, -1, 1, 2]))
def test_one_component_that_is_off_or_too_many_is_caught(
    made: tuple[Records, list[str] | None], policy: SparsePolicy, at: int, by: int
) -> None:
    release = release_of(Sparse.of(*made), policy)
    published = release.sketches
    components = published.components.copy()
    # A sum that lies between two points of the grid may be rounded to either.
    components[at % len(components)] += by if published.is_integral else 2 * by * published.step
    assert not checked(release, replace(published, components=components)).holds

    row = at % len(published)
    end = int(published.starts[row + 1])
    true = sketch_records(
        release._original.take(release._evidence.rows[[row]]),
        published.counts[[row]] + 1,
        release._evidence.key,
        published.step,
    ).components[-1]
    wrong = true + 2 * by * published.step
    starts = published.starts + (np.arange(len(published) + 1) > row)
    longer = replace(published, starts=starts, components=np.insert(published.components, end, wrong))
    assert not checked(release, longer).holds


@FEW
@given(made=data(), at=st.integers(0, 2**31), delta=st.sampled_from([0.5, 1.0, 2.0]))
def test_true_components_beyond_what_delta_allows_are_caught(
    made: tuple[Records, list[str] | None], at: int, delta: float
) -> None:
    policy = SparsePolicy.of(
        model="delta", delta=delta, recovery_cap=False, coarse_counts=False, max_components=4096, rare=1
    )
    release = release_of(Sparse.of(*made), policy)
    counts = release.sketches.counts.copy()
    counts[at % len(counts)] += 2  # where the quotient is a whole number, the method stays one below it
    records = release._original.take(release._evidence.rows)
    longer = sketch_records(records, counts, release._evidence.key, release.sketches.step)
    order = published_order(longer)
    told = replace(release._evidence, rows=release._evidence.rows[order])
    verdict = verify_sketches(longer.take(order), asked_of(policy, None), told)
    assert [g.model for g in verdict.guarantees if not g.holds] == ["delta-anonymity"]


@FEW
@given(made=data(), policy=policies(), at=st.integers(0, 2**31))
def test_a_sketch_left_out_doubled_or_of_another_class_is_caught(
    made: tuple[Records, list[str] | None], policy: SparsePolicy, at: int
) -> None:
    release = release_of(Sparse.of(*made), policy)
    published = release.sketches
    row = at % len(published)
    everyone = np.arange(len(published))
    assert not checked(release, published.take(np.delete(everyone, row))).holds
    assert not checked(release, published.take(np.insert(everyone, row, row))).holds
    if published.labels is not None and len(published.classes) > 1:
        labels = published.labels.copy()
        labels[row] = (labels[row] + 1) % len(published.classes)
        assert not checked(release, replace(published, labels=labels)).holds


@pytest.mark.parametrize(("n_records", "n_items"), [(300, 12), (20, 2000)])
def test_far_more_records_than_items_and_far_fewer(n_records: int, n_items: int) -> None:
    rng = np.random.default_rng(0)
    records = Sparse.of([[f"i{j}" for j in rng.choice(n_items, 9, replace=False)] for _ in range(n_records)])
    for policy in (SparsePolicy.of(k=3, recovery_cap=False), SparsePolicy.of(model="delta", recovery_cap=False)):
        release = shoal.anonymize(records, policy, key=KEY)
        assert release.records["out"] + sum(release.suppressed.values()) == n_records


@pytest.mark.slow
@settings(FEW, max_examples=150)
@given(made=data(), policy=policies())
def test_many_more_releases_hold(made: tuple[Records, list[str] | None], policy: SparsePolicy) -> None:
    release = release_of(Sparse.of(*made), policy)
    assert checked(release, release.sketches).holds
