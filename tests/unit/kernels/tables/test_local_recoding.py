"""Cuts and growth of groups for local recoding, against slow twins that follow the words of the kernels."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.compile import interpreted
from shoal.kernels.tables.local_recoding import cut_blocks, grow_groups
from shoal.tables.encoding import Ranked
from shoal.tables.partition.full_domain import as_tree
from shoal.tables.partition.local_recoding import cells_of


def random_attribute(rng, name: str, n_rows: int) -> Ranked:
    """A taxonomy with leaves from left to right, plain categories or numbers; sometimes with missing values."""
    n_values = int(rng.integers(1, 8))
    kind = str(rng.choice(["tree", "tree", "category", "number", "order"]))
    has_missing = bool(rng.random() < 0.3)
    positions = (
        np.sort(rng.choice(50, n_values, replace=False)) * 1.0 if kind == "number" else np.arange(n_values * 1.0)
    )
    ancestors = None
    if kind == "tree":
        levels = [np.arange(n_values)]
        for _ in range(int(rng.integers(0, 3))):
            breaks = np.append(0, rng.random(levels[-1].max()) < 0.5).cumsum()
            levels.append(breaks[levels[-1]])
        ancestors = np.column_stack([*levels, np.zeros(n_values)]).astype(np.int32)
    if has_missing:
        positions = np.append(positions, np.nan)
        if ancestors is not None:
            ancestors = np.vstack([ancestors, np.full(ancestors.shape[1], 99, dtype=np.int32)])
            ancestors[-1, -1] = 0
    ranks = np.minimum(rng.geometric(0.4, n_rows) - 1, len(positions) - 1).astype(np.int32)
    return Ranked(name, kind, ranks, positions, ancestors, has_missing)


def random_cells(seed: int):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(8, 70))
    ranked = [random_attribute(rng, f"x{i}", n_rows) for i in range(int(rng.integers(1, 5)))]
    rows = np.column_stack([r.ranks for r in ranked])
    _, first, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    return ranked, cells_of(ranked, None, first, counts), rows[first], counts, int(rng.integers(2, 6))


def slow_penalty(attribute: Ranked, ranks: set[int]) -> float:
    """The loss of a cell whose label covers these ranks, from the words of `local_recoding_labels`."""
    if len(ranks) == 1:
        return 0.0
    present = range(attribute.n_values - attribute.has_missing)
    if not ranks <= set(present) or attribute.kind == "category":
        return 1.0
    if attribute.kind == "tree":
        for level in attribute.ancestors.T:
            if len({int(level[r]) for r in ranks}) == 1:
                node = level[min(ranks)]
                return (sum(int(level[r]) == node for r in present) - 1) / (len(present) - 1)
    place = attribute.positions if attribute.kind == "number" else np.arange(attribute.n_values)
    return float((place[max(ranks)] - place[min(ranks)]) / (place[present[-1]] - place[0]))


def slow_loss(ranked, distinct, members) -> float:
    """The loss of one record of a group of distinct records."""
    return sum(slow_penalty(r, {int(distinct[d, a]) for d in members}) for a, r in enumerate(ranked))


def groups_of(labels) -> list[list[int]]:
    return [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)]


def slow_cuts(ranked, distinct, counts, k: int, enough: int, power: float, block: list[int]) -> list[list[int]]:
    """All candidate cuts of a block are tried, and the best is followed."""
    n_records = int(counts[block].sum())
    best, best_parts = 0.0, []
    for a, attribute in enumerate(ranked):
        tree = as_tree(attribute)
        whole = {int(distinct[d, a]) for d in block}
        if len(whole) == 1:
            continue
        height = next(h for h, level in enumerate(tree.ancestors.T) if len({int(level[r]) for r in whole}) == 1)
        level = tree.ancestors[:, height - 1]
        node_loss = under_node(attribute, tree.ancestors[:, height], next(iter(whole)))
        parts: dict[int, list[int]] = {}
        for d in block:
            parts.setdefault(int(level[distinct[d, a]]), []).append(d)
        ordered = sorted(parts, key=lambda node: (-int(counts[parts[node]].sum()), node))
        for n_alone in range(1, len(ordered) + 1):
            pieces = [parts[node] for node in ordered[:n_alone]]
            rest = [d for node in ordered[n_alone:] for d in parts[node]]
            sizes = [int(counts[p].sum()) for p in [*pieces, rest] if p]
            if min(sizes) < k:
                continue
            gain = sum(
                counts[p].sum() * (node_loss - under_node(attribute, level, int(distinct[p[0], a]))) for p in pieces
            )
            if len(ordered) == n_alone + 1:
                gain += counts[rest].sum() * (node_loss - under_node(attribute, level, int(distinct[rest[0], a])))
            entropy = -sum(s / n_records * np.log2(s / n_records) for s in sizes)
            if gain / entropy**power > best * (1 + 1e-12):
                best, best_parts = gain / entropy**power, [sorted(rest), *pieces]
    if n_records <= enough or not best_parts:
        return [sorted(block)]
    return [b for p in best_parts if p for b in slow_cuts(ranked, distinct, counts, k, enough, power, p)]


def under_node(attribute: Ranked, level: np.ndarray, rank: int) -> float:
    return slow_penalty(attribute, {int(r) for r in np.flatnonzero(level == level[rank])})


@pytest.mark.parametrize("seed", range(60))
def test_cuts_agree_with_their_twin(seed: int) -> None:
    ranked, cells, distinct, counts, k = random_cells(seed)
    enough, power = (0, 10)[seed % 2], (0.25, 1.0, 0.0)[seed % 3]
    rows, ends = cut_blocks(cells, k, enough, power, int(cells.nodes.max()) + 1)
    slow = slow_cuts(ranked, distinct, counts, k, enough, power, list(range(len(distinct))))
    assert [part.tolist() for part in np.split(rows, ends[:-1])] == slow


def slow_growth(ranked, distinct, counts, k: int, blocks: list[list[int]]) -> list[list[int]]:
    groups: list[list[int]] = []
    for block in blocks:
        left = list(block)
        begin = len(groups)
        while counts[left].sum() >= k:
            group = [left.pop(0)]
            while (size := int(counts[group].sum())) < k:
                near = min(left, key=lambda d: max(k, size + int(counts[d])) * slow_loss(ranked, distinct, [*group, d]))
                left.remove(near)
                group.append(near)
            groups.append(group)
        for d in left:
            growth = [
                int(counts[[*g, d]].sum()) * slow_loss(ranked, distinct, [*g, d])
                - int(counts[g].sum()) * slow_loss(ranked, distinct, g)
                for g in groups[begin:]
            ]
            groups[begin + growth.index(min(growth))].append(d)
    return groups


def grown(cells, k: int, rows, ends):
    labels = np.empty(len(cells.counts), dtype=np.int32)
    return labels, grow_groups(cells, rows, ends, k, labels)


@pytest.mark.parametrize("seed", range(40))
def test_growth_agrees_with_its_twin(seed: int) -> None:
    ranked, cells, distinct, counts, k = random_cells(100 + seed)
    rows, ends = cut_blocks(cells, k, 15, 0.25, int(cells.nodes.max()) + 1)
    labels, n_groups = grown(cells, k, rows, ends)
    slow = slow_growth(ranked, distinct, counts, k, [b.tolist() for b in np.split(rows, ends[:-1])])
    assert n_groups == len(slow)
    assert groups_of(labels) == [sorted(g) for g in slow]
    assert min(counts[g].sum() for g in slow) >= k


@pytest.mark.parametrize("seed", range(40))
def test_growth_is_the_same_whether_it_is_compiled_or_not(seed: int) -> None:
    _, cells, _, _, k = random_cells(300 + seed)
    rows, ends = cut_blocks(cells, k, (15, 10**6)[seed % 2], 0.25, int(cells.nodes.max()) + 1)
    labels, n_groups = grown(cells, k, rows, ends)
    with interpreted(True):
        again, n_again = grown(cells, k, rows, ends)
    assert n_groups == n_again
    assert np.array_equal(labels, again)
