"""What is left of groups without the rows of a coalition, beside a slow search through all coalitions."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from shoal.errors import PolicyError
from shoal.kernels.tables import diversity
from shoal.tables import providers
from shoal.tables.limits import Limit, limits_on_table, n_of_sizes, outside_limit, person_limit, violations
from shoal.tables.persons import PersonCounts
from shoal.tables.providers import ProviderRows, coalitions

MODELS = {
    "distinct": (diversity.DISTINCT, 2.0),
    "probabilistic": (diversity.PROBABILISTIC, 1.5),
    "entropy": (diversity.ENTROPY, 1.6),
    "recursive": (diversity.RECURSIVE, 2.0),
    "alpha": (diversity.ALPHA, 0.75),
    "equal": (diversity.EQUAL, 0.5),
    "ordered": (diversity.ORDERED, 0.3),
    "basic": (diversity.BASIC, 1.5),
}


def slow(limit: Limit, labels, whose, coalition, n_groups):
    """Every coalition of all providers in turn; of a relative model beside the rest of the whole table."""
    broken = np.zeros(n_groups, dtype=bool)
    for size in range(coalition + 1):
        for members in combinations(sorted(set(whose.tolist())), size):
            rows = np.flatnonzero(~np.isin(whose, members))
            gone = set(range(n_groups)) - set(labels[rows].tolist())
            broken[list(gone)] = True
            if not len(rows):
                continue
            held = replace(limit, by_provider=None)
            held = held.among(rows) if limit.is_relative else held.of_rows(rows)
            found = violations(labels[rows], [held])
            broken[: len(found)] |= found
    return broken


@pytest.mark.parametrize("by_person", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_groups_fail_as_the_slow_search_says(name, by_person):
    n_failing = n_held = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n, n_values, coalition = int(rng.integers(10, 60)), 4, int(rng.integers(1, 4))
        codes = rng.integers(0, n_values, n).astype(np.int32)
        codes[:n_values] = np.arange(n_values)
        labels = np.sort(rng.integers(0, int(rng.integers(1, 6)), n))
        labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
        whose = rng.integers(0, int(rng.integers(2, 7)), n)
        model, parameter = MODELS[name]
        limit = Limit("s", name, codes, np.bincount(codes), model, parameter, c=2.5)
        if by_person:
            limit = replace(limit, by_person=PersonCounts.of(rng.integers(0, n, n), codes, n_values))
        limit = replace(limit, by_provider=ProviderRows.of(limit, whose, coalition))
        expected = slow(limit, labels, whose, coalition, int(labels.max()) + 1)
        assert violations(labels, [limit]).tolist() == expected.tolist(), seed
        n_failing, n_held = n_failing + expected.sum(), n_held + (~expected).sum()
    assert n_failing
    assert n_held


def all_of(coalition):
    return list(combinations(range(6), coalition))


@pytest.mark.parametrize("seed", range(6))
def test_records_and_persons_that_are_left_are_counted(seed):
    rng = np.random.default_rng(seed)
    n, k, coalition = 60, 3, 1 + seed % 3
    labels = np.sort(rng.integers(0, 4, n)).astype(np.int32)
    whose, persons = rng.integers(0, 6, n), rng.integers(0, 40, n)
    left_rows, left_persons = np.full(4, n), np.full(4, n)
    for members in combinations(range(6), coalition):
        rest = ~np.isin(whose, members)
        left_rows = np.minimum(left_rows, np.bincount(labels[rest], minlength=4))
        counted = [len(set(persons[rest & (labels == g)].tolist())) for g in range(4)]
        left_persons = np.minimum(left_persons, counted)
    assert violations(labels, [outside_limit(whose, k, coalition)]).tolist() == (left_rows < k).tolist()
    single = np.unique(persons, return_index=True)[1][
        np.unique(persons, return_inverse=True)[1]
    ]  # each person with one provider
    kept = np.flatnonzero(whose == whose[single])
    counted = [
        min(len(set(persons[kept][(labels[kept] == g) & ~np.isin(whose[kept], m)].tolist())) for m in all_of(coalition))
        for g in range(4)
    ]
    outside = outside_limit(whose[kept], k, coalition, persons[kept])
    assert violations(labels[kept], [outside]).tolist() == [n < k for n in counted]
    of_persons = person_limit(persons, k)
    of_persons = replace(of_persons, by_provider=ProviderRows.of(of_persons, whose, coalition))
    assert violations(labels, [of_persons]).tolist() == (left_persons < k).tolist()


def test_rows_of_suspects_are_measured_beside_the_whole_rest():
    codes = np.array([0, 1, 0, 1, 0, 1, 1, 1], dtype=np.int32)
    whose, labels = np.array([0, 0, 1, 1, 0, 0, 1, 1]), np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=np.int32)
    limit = Limit("s", "t", codes, np.bincount(codes), diversity.EQUAL, 0.2)
    limit = replace(limit, by_provider=ProviderRows.of(limit, whose, 1))
    whole = violations(labels, [limit])
    for group in (0, 1):
        rows = np.flatnonzero(labels == group)
        assert violations(np.zeros(4, dtype=np.int32), [limit.of_rows(rows)])[0] == whole[group]


def test_too_many_coalitions_beside_the_whole_are_refused(monkeypatch):
    monkeypatch.setattr(providers, "MOST_COALITIONS", 5)
    codes = np.array([0, 1] * 6, dtype=np.int32)
    limit = Limit("s", "0.5-closeness", codes, np.bincount(codes), diversity.EQUAL, 0.5)
    limit = replace(limit, by_provider=ProviderRows.of(limit, np.arange(12) // 2, 1))
    with pytest.raises(PolicyError, match="6 coalitions of 6 providers; lower coalition"):
        violations(np.zeros(12, dtype=np.int32), [limit])


def test_sizes_come_first_among_the_limits():
    from shoal.data.tables.attribute import Attribute
    from shoal.models.l_diversity import LDiversity
    from tests.unit.check.tables.slow_check import table

    data = table(s=["a", "b", "a", "b"])
    attributes = {"s": Attribute("s", "nominal", "sensitive")}
    persons, whose = np.arange(4), np.array([0, 0, 1, 1])
    found = limits_on_table(data, [LDiversity(l=2)], attributes, ["s"], "value", persons, whose, 2)
    assert n_of_sizes(persons, whose) == 2
    assert [limit.model for limit in found] == [diversity.OUTSIDE, diversity.DISTINCT, diversity.DISTINCT]
    assert [limit.by_provider is None for limit in found] == [True, False, False]
    assert found[0].fewest_values.parameter == pytest.approx(3)


def test_coalitions_are_all_there():
    assert len(list(coalitions(5, 3))) == 5 + 10 + 10
