"""One recoding for all under limits on sensitive values and suppression, against every node of small lattices."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from shoal.errors import Infeasible
from shoal.models.alpha_k import AlphaK
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness
from shoal.tables.encoding import Ranked
from shoal.tables.limits import limits_of
from shoal.tables.partition.datafly import datafly_recoding
from shoal.tables.partition.full_domain import Lattice, full_domain_recoding

LOSSES = ("gcp", "discernibility", "class size")
SHARES = (0.0, 0.05, 0.2, 0.4, 0.7)
MODELS = {
    "distinct": LDiversity(model="l-diversity", l=2),
    "probabilistic": LDiversity(model="l-diversity", l=2, kind="probabilistic"),
    "entropy": LDiversity(model="l-diversity", l=1.8, kind="entropy"),
    "recursive": LDiversity(model="l-diversity", l=2, c=1.5, kind="recursive"),
    "alpha": AlphaK(model="alpha-k", alpha=0.6, k=2),
    "equal": TCloseness(model="t-closeness", t=0.2, distance="equal"),
    "ordered": TCloseness(model="t-closeness", t=0.15, distance="ordered"),
    "beta": BetaLikeness(model="beta-likeness", beta=0.8, kind="basic"),
}


def holds(name: str, group: Counter[int], whole: Mapping[int, int]) -> bool:
    """Each model by its definition, in fractions; the entropy alone in floats."""
    n, total = sum(group.values()), sum(whole.values())
    counts = sorted(group.values(), reverse=True)
    gains = {v: Fraction(group[v], n) - Fraction(whole[v], total) for v in sorted(whole)}
    if name == "distinct":
        return len(counts) >= 2
    if name == "probabilistic":
        return counts[0] * 2 <= n
    if name == "entropy":
        return math.exp(-sum(c / n * math.log(c / n) for c in counts)) >= 1.8
    if name == "recursive":
        return 2 * counts[0] < 3 * sum(counts[1:])
    if name == "alpha":
        return counts[0] / n <= 0.6
    if name == "equal":
        return sum(g for g in gains.values() if g > 0) <= Fraction(1, 5)
    if name == "ordered":
        running = np.cumsum(list(gains.values()))
        return len(gains) < 2 or sum(abs(r) for r in running) / (len(gains) - 1) <= Fraction(15, 100)
    return all(g / Fraction(whole[v], total) <= Fraction(4, 5) for v, g in gains.items() if g > 0)


def random_table(seed: int) -> tuple[list[Ranked], Ranked, int]:
    """Up to three quasi-identifiers under random trees, and a sensitive attribute that depends on the first."""
    rng = np.random.default_rng(seed)
    n_rows, ranked = int(rng.integers(8, 40)), []
    for i in range(int(rng.integers(1, 4))):
        n_values = int(rng.integers(2, 6))
        level, levels = np.arange(n_values), [np.arange(n_values)]
        for _ in range(int(rng.integers(0, 3))):
            level = np.unique(rng.integers(0, level.max() + 1, level.max() + 1)[level], return_inverse=True)[1]
            levels.append(level)
        ancestors = np.column_stack([*levels, np.zeros(n_values, dtype=int)]).astype(np.int32)
        ranks = rng.integers(0, n_values, n_rows).astype(np.int32)
        ranks[:n_values] = np.arange(n_values)
        ranked.append(Ranked(f"x{i}", "tree", ranks, np.arange(float(n_values)), ancestors))
    n_values = int(rng.integers(2, 5))
    tied = np.where(rng.random(n_rows) < 0.5, ranked[0].ranks, rng.integers(0, n_values, n_rows)) % n_values
    codes = np.unique(tied, return_inverse=True)[1].astype(np.int32)
    sensitive = Ranked("s", "order", codes, np.arange(float(codes.max() + 1)))
    return ranked, sensitive, int(rng.integers(2, 4))


def slow_node(ranked, sensitive, k: int, levels, name: str):
    """Who is suppressed at a node, and each loss by its formula."""
    n_rows = len(sensitive.ranks)
    keys = [tuple(int(r.ancestors[r.ranks[i], h]) for r, h in zip(ranked, levels, strict=True)) for i in range(n_rows)]
    sizes = Counter(keys)
    left = {i for i in range(n_rows) if sizes[keys[i]] >= k}
    while True:
        whole = Counter(int(sensitive.ranks[i]) for i in left)
        groups: dict[tuple[int, ...], Counter[int]] = {}
        for i in left:
            groups.setdefault(keys[i], Counter())[int(sensitive.ranks[i])] += 1
        bad = {key for key, group in groups.items() if not holds(name, group, whole)}
        if not bad:
            break
        left = {i for i in left if keys[i] not in bad}
    lost = [
        1.0
        if i not in left
        else (np.count_nonzero(r.ancestors[:, h] == r.ancestors[r.ranks[i], h]) - 1) / (r.n_values - 1)
        for i in range(n_rows)
        for r, h in zip(ranked, levels, strict=True)
    ]
    published = Counter(keys[i] for i in left)
    return set(range(n_rows)) - left, {
        "gcp": sum(lost) / len(lost),
        "discernibility": sum(s * s for s in published.values()) + (n_rows - len(left)) * n_rows,
        "class size": len(left) / len(published) / k if published else np.inf,
    }


def nodes_of(ranked, sensitive, k: int, name: str):
    every = product(*(range(r.ancestors.shape[1]) for r in ranked))
    return {levels: slow_node(ranked, sensitive, k, levels, name) for levels in every}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(8))
def test_the_search_finds_what_all_nodes_have_for_every_share(seed: int, name: str) -> None:
    ranked, sensitive, k = random_table(seed)
    limits = limits_of([MODELS[name]], [sensitive])
    nodes = nodes_of(ranked, sensitive, k, name)
    for share in SHARES:
        budget = int(share * len(sensitive.ranks))
        allowed = {levels: losses for levels, (out, losses) in nodes.items() if len(out) <= budget}
        for loss in LOSSES:
            asked = {"suppression": share, "loss": loss, "limits": limits}
            if not allowed:
                with pytest.raises(Infeasible, match="no recoding for all meets the diversity requirements"):
                    full_domain_recoding(ranked, k, **asked)
                continue
            found = full_domain_recoding(ranked, k, **asked)
            assert found.optimal
            assert found.loss == pytest.approx(min(losses[loss] for losses in allowed.values()), rel=1e-9)
            assert found.loss == pytest.approx(nodes[found.levels][1][loss], rel=1e-9)
            assert set(np.flatnonzero(found.labels < 0).tolist()) == nodes[found.levels][0]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(4))
def test_what_a_visit_says_of_the_nodes_above_and_below_is_true(seed: int, name: str) -> None:
    ranked, sensitive, k = random_table(50 + seed)
    limits = limits_of([MODELS[name]], [sensitive])
    nodes = nodes_of(ranked, sensitive, k, name)
    for share, loss in product((0.0, 0.2, 0.7), LOSSES):
        lattice = Lattice(ranked, k, share, loss, None, "value", limits)
        visits = {levels: lattice.visit(levels) for levels in nodes}
        for high, seen in visits.items():
            assert seen.is_allowed == (len(nodes[high][0]) <= lattice.budget)
            assert not (seen.is_allowed and seen.rules_out)
            for low, other in visits.items():
                if all(a <= b for a, b in zip(low, high, strict=True)) and other.is_allowed:
                    assert not seen.rules_out
                    assert other.loss >= (other.rise + seen.fall) * (1 - 1e-9)
                if all(a >= b for a, b in zip(low, high, strict=True)):
                    assert other.loss >= seen.rise * (1 - 1e-9)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(6))
def test_datafly_ends_at_the_first_allowed_node_and_more_suppression_forbids_none(seed: int, name: str) -> None:
    ranked, sensitive, k = random_table(100 + seed)
    limits = limits_of([MODELS[name]], [sensitive])
    way = [[0] * len(ranked)]
    while any(h < r.ancestors.shape[1] - 1 for r, h in zip(ranked, way[-1], strict=True)):
        counts = [
            -1 if h == r.ancestors.shape[1] - 1 else len(set(r.ancestors[:, h].tolist()))
            for r, h in zip(ranked, way[-1], strict=True)
        ]
        step = counts.index(max(counts))
        way.append([h + (a == step) for a, h in enumerate(way[-1])])
    was_feasible = False
    for share in SHARES:
        budget = int(share * len(sensitive.ranks))
        left_out = [slow_node(ranked, sensitive, k, levels, name)[0] for levels in way]
        first = next((i for i, out in enumerate(left_out) if len(out) <= budget), None)
        if first is None:
            assert not was_feasible
            with pytest.raises(Infeasible, match="recodings that were tried"):
                datafly_recoding(ranked, k, suppression=share, limits=limits)
            continue
        was_feasible = True
        found = datafly_recoding(ranked, k, suppression=share, limits=limits)
        assert set(np.flatnonzero(found.labels < 0).tolist()) == left_out[first]


@pytest.mark.parametrize("name", MODELS)
def test_a_limit_among_some_records_is_the_limit_of_a_table_of_these(name: str) -> None:
    _, sensitive, _ = random_table(3)
    (limit,) = limits_of([MODELS[name]], [sensitive])
    rows = np.flatnonzero(sensitive.ranks != 0)
    codes = np.unique(sensitive.ranks[rows], return_inverse=True)[1].astype(np.int32)
    (alone,) = limits_of([MODELS[name]], [Ranked("s", "order", codes, np.arange(float(codes.max() + 1)))])
    among = limit.among(rows)
    assert among.codes.tolist() == alone.codes.tolist()
    assert among.counts.tolist() == alone.counts.tolist()
    assert (among.model, among.parameter, among.unknown) == (alone.model, alone.parameter, alone.unknown)


def test_some_of_these_tables_have_what_the_search_must_not_rely_on() -> None:
    """A node that is allowed below one that is not: with suppression, diversity is not monotone."""
    found = set()
    for seed, name in product(range(12), MODELS):
        ranked, sensitive, k = random_table(seed)
        nodes = nodes_of(ranked, sensitive, k, name)
        budget = int(0.4 * len(sensitive.ranks))
        for low, high in product(nodes, nodes):
            is_below = all(a <= b for a, b in zip(low, high, strict=True))
            if is_below and len(nodes[low][0]) <= budget < len(nodes[high][0]):
                found.add(name)
    assert {"probabilistic", "alpha", "ordered"} <= found
    assert "distinct" not in found
