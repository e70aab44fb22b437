"""Sketches of the sums of groups, against sums that are added up one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.errors import DataError, Infeasible
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.sparse.group_sketches import anonymize_groups, group_sums
from shoal.sparse.sketch import sketch_records

KEY = bytes(range(32))


def records(n: int = 60, *, classes: bool = True) -> Sparse:
    """Baskets of two habits; some hold what nobody else does."""
    rng = np.random.default_rng(3)
    rows = [[f"{'ab'[i % 2]}{j}" for j in range(4)] + [f"n{x}" for x in rng.integers(0, 9, 3)] for i in range(n)]
    rows[5].append("only")
    return Sparse.of([sorted(set(r)) for r in rows], [str(i % 2) for i in range(n)] if classes else None)


def test_sums_are_those_of_the_records_without_rare_items() -> None:
    data = records()
    found = group_sums(data, 5, 1)
    assert found.groups.min() >= 0
    for g in range(len(found.sums)):
        rows = np.flatnonzero(found.groups == g)
        assert len(rows) >= 5
        assert data.labels is not None
        assert found.sums.labels is not None
        assert set(data.labels[rows].tolist()) == {int(found.sums.labels[g])}
        total: dict[str, int] = {}
        for row in rows.tolist():
            for place in range(data.starts[row], data.starts[row + 1]):
                name = data.names[data.items[place]]
                total[name] = total.get(name, 0) + int(data.weights[place])
        total.pop("only", None)
        at = slice(found.sums.starts[g], found.sums.starts[g + 1])
        told = dict(zip((data.names[i] for i in found.sums.items[at]), found.sums.weights[at].tolist(), strict=True))
        assert told == total


def test_each_record_of_a_group_has_the_sketch_of_its_sum() -> None:
    data, policy = records(), SparsePolicy.of(unit="group", k=5, recovery_cap=False)
    found = anonymize_groups(data, policy, KEY, seed=1)
    made = found.made
    assert sorted(made.rows.tolist()) == list(range(len(data)))
    for i, row in enumerate(made.rows.tolist()):
        group = found.summed.groups[row]
        count = int(made.sketches.counts[i])
        own = sketch_records(found.summed.sums.take(np.array([group])), np.array([count]), KEY)
        at = slice(made.sketches.starts[i], made.sketches.starts[i + 1])
        assert made.sketches.components[at].tolist() == own.components.tolist()
        assert made.counts[row] == count


def test_neither_the_order_of_records_nor_a_class_of_few_changes_what_is_published() -> None:
    data, policy = records(), SparsePolicy.of(unit="group", k=5, recovery_cap=False)
    one = anonymize_groups(data, policy, KEY, seed=1)
    other = anonymize_groups(data.take(np.random.default_rng(0).permutation(len(data))), policy, KEY, seed=1)
    assert one.made.sketches.components.tolist() == other.made.sketches.components.tolist()
    labels = np.where(np.arange(len(data)) < 3, 2, data.labels).astype(np.int32)
    few = anonymize_groups(replace(data, labels=labels, classes=("0", "1", "2")), policy, KEY, seed=1)
    assert few.made.reasons[:3].tolist() == [2, 2, 2]
    assert not set(few.made.rows.tolist()) & {0, 1, 2}


def test_too_few_records_are_refused() -> None:
    with pytest.raises(Infeasible, match="k = 90"):
        group_sums(records(), 90, 1)


def test_the_weight_of_one_record_makes_no_sum_large() -> None:
    rows = [{str(j): 1 + (i + j) % 3 for j in range(4)} for i in range(20)]
    rows[7]["2"] = 10**6
    assert group_sums(Sparse.of(rows), 4, 0).sums.weights.max() <= 3 * 7
    with pytest.raises(DataError, match="scale the weights"):
        group_sums(Sparse.of([{"a": 2**30, "b": 1}] * 8), 4, 0)
