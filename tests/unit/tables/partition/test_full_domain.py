"""Full-domain recoding against the definition, tried on every node of small lattices."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from shoal.data.tables.hierarchy import Hierarchy
from shoal.errors import DataError, Infeasible, PolicyError
from shoal.tables.encoding import Ranked
from shoal.tables.partition import full_domain
from shoal.tables.partition.full_domain import Lattice, as_tree, full_domain_recoding, leaf_counts
from tests.unit.tables.partition.slow_full_domain import random_tree, slow_node

LOSSES = ("gcp", "discernibility", "class size")


def random_table(seed: int) -> tuple[list[Ranked], int, float]:
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(6, 60))
    ranked = [random_tree(rng, f"x{i}", n_rows) for i in range(int(rng.integers(1, 5)))]
    return ranked, int(rng.integers(2, 6)), float(rng.choice([0.0, 0.05, 0.2, 0.5]))


def lattice_of(ranked: list[Ranked]):
    return product(*(range(r.ancestors.shape[1]) for r in ranked))


@pytest.mark.parametrize("missing", ["value", "any"])
@pytest.mark.parametrize("seed", range(25))
def test_no_node_of_the_lattice_loses_less(seed: int, missing: str) -> None:
    ranked, k, suppression = random_table(seed)
    budget = int(suppression * len(ranked[0].ranks))
    nodes = {levels: slow_node(ranked, levels, k, missing) for levels in lattice_of(ranked)}
    for loss in LOSSES:
        least = min(losses[loss] for suppressed, losses, _ in nodes.values() if len(suppressed) <= budget)
        found = full_domain_recoding(ranked, k, suppression=suppression, loss=loss, missing=missing)
        suppressed, losses, keys = nodes[found.levels]
        assert found.optimal
        assert found.loss == pytest.approx(least, rel=1e-9)
        assert found.loss == pytest.approx(losses[loss], rel=1e-9)
        assert set(np.flatnonzero(found.labels < 0).tolist()) == suppressed
        assert found.n_suppressed == len(suppressed) <= budget
        assert found.n_evaluated <= found.n_nodes == len(nodes)
        pairs = {(keys[i], int(found.labels[i])) for i in range(len(keys)) if i not in suppressed}
        assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
        assert {b for _, b in pairs} == set(range(len(pairs)))


@pytest.mark.parametrize("missing", ["value", "any"])
@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_for_every_pair_of_nodes(seed: int, missing: str) -> None:
    """What the search rests on: suppression shrinks upwards, and a visit bounds the losses above and below."""
    ranked, k, suppression = random_table(100 + seed)
    nodes = {levels: slow_node(ranked, levels, k, missing) for levels in lattice_of(ranked)}
    for loss in LOSSES:
        lattice = Lattice(ranked, k, suppression, loss, None, missing)
        visits = {levels: lattice.visit(levels) for levels in nodes}
        least = lattice.rises()
        for low, seen in visits.items():
            assert seen.is_allowed == (len(nodes[low][0]) <= lattice.budget)
            assert least[low] <= seen.rise * (1 + 1e-9)
            for high, other in visits.items():
                if all(a <= b for a, b in zip(low, high, strict=True)):
                    assert nodes[high][0] <= nodes[low][0]
                    assert seen.rise <= other.loss * (1 + 1e-9)
                    assert seen.rise <= other.rise * (1 + 1e-9)
                    if other.is_allowed:
                        assert seen.loss >= (seen.rise + other.fall) * (1 - 1e-9)


def test_bounded_effort_claims_no_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    ranked = [
        as_tree(Ranked(f"x{i}", "order", rng.integers(0, 16, 300).astype(np.int32), np.arange(16.0))) for i in range(4)
    ]
    whole = full_domain_recoding(ranked, 3, suppression=0.1)
    assert whole.optimal
    assert 3 < whole.n_evaluated < whole.n_nodes == 5**4
    short = full_domain_recoding(ranked, 3, suppression=0.1, max_nodes=3)
    monkeypatch.setattr(full_domain, "LARGEST", 100)
    walked = full_domain_recoding(ranked, 3, suppression=0.1)
    for found in (short, walked):
        suppressed, losses, _ = slow_node(ranked, found.levels, 3)
        assert not found.optimal
        assert found.loss == pytest.approx(losses["gcp"])
        assert found.loss >= whole.loss
        assert len(suppressed) == found.n_suppressed <= 30
    assert short.n_evaluated == 3
    assert walked.loss < 1


def test_attributes_without_a_hierarchy_become_trees() -> None:
    ranks = np.arange(5, dtype=np.int32)
    word = as_tree(Ranked("x", "category", ranks, np.array([0, 1, 2, 3, np.nan]), has_missing=True))
    assert word.ancestors.tolist() == [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0]]
    number = as_tree(Ranked("x", "number", ranks, np.array([1.0, 2, 5, 9, 20])))
    assert number.ancestors.tolist() == [[0, 0, 0, 0], [1, 0, 0, 0], [2, 1, 0, 0], [3, 1, 0, 0], [4, 2, 1, 0]]
    many = as_tree(Ranked("x", "number", np.arange(1000, dtype=np.int32), np.arange(1000.0)))
    assert [len(np.unique(level)) for level in many.ancestors.T] == [1000, 32, 16, 8, 4, 2, 1]
    alone = as_tree(Ranked("x", "number", np.zeros(3, np.int32), np.array([np.nan]), has_missing=True))
    assert alone.ancestors.tolist() == [[0, 0]]
    for attribute in (word, number, many, alone):
        assert full_domain_recoding([attribute], 2).loss <= 1


def test_leaves_that_no_record_has_count() -> None:
    tree = Hierarchy((("a", "x", "*"), ("b", "x", "*"), ("c", "x", "*"), ("d", "y", "*"), ("e", "y", "*")))
    ranks = np.array([0, 0, 1, 1], dtype=np.int32)
    ranked = Ranked("x", "tree", ranks, np.arange(2.0), tree.ancestors(["a", "d"]))
    assert leaf_counts(ranked, tree).tolist() == [[1, 3, 5], [1, 2, 5]]
    assert full_domain_recoding([ranked], 2).loss == 0
    # Two of three values alone: the records of a and b are under x, which has three leaves of five.
    ranked = Ranked("x", "tree", np.array([0, 1, 2, 2], np.int32), np.arange(3.0), tree.ancestors(["a", "b", "d"]))
    found = full_domain_recoding([ranked], 2, leaves=[leaf_counts(ranked, tree)])
    assert found.levels == (1,)
    assert found.loss == pytest.approx((2 * 2 / 4 + 2 * 1 / 4) / 4)
    assert full_domain_recoding([ranked], 2).loss == pytest.approx(2 * (1 / 2) / 4)


def test_what_has_no_answer_is_refused() -> None:
    ranked = [Ranked("x", "category", np.array([0, 1, 1], np.int32), np.arange(2.0))]
    with pytest.raises(Infeasible, match="fewer than k = 4"):
        full_domain_recoding(ranked, 4)
    with pytest.raises(PolicyError, match="suppression"):
        full_domain_recoding(ranked, 2, suppression=1.0)
    with pytest.raises(PolicyError, match="did you mean 'gcp'"):
        full_domain_recoding(ranked, 2, loss="gpc")
    with pytest.raises(DataError, match="taxonomy of 'x' is missing"):
        full_domain_recoding([Ranked("x", "tree", np.zeros(3, np.int32), np.arange(1.0))], 2)
    crossed = np.array([[0, 0, 0, 0], [1, 0, 1, 0]], dtype=np.int32)
    with pytest.raises(DataError, match="not nested"):
        full_domain_recoding([Ranked("x", "tree", np.array([0, 1, 1], np.int32), np.arange(2.0), crossed)], 2)
    rootless = np.array([[0, 0], [1, 1]], dtype=np.int32)
    with pytest.raises(DataError, match="one root"):
        full_domain_recoding([Ranked("x", "tree", np.array([0, 1, 1], np.int32), np.arange(2.0), rootless)], 2)
