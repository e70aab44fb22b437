"""Groups of templates: passes, the best one kept, re-assignment, and the split of large segments."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.engine.executors import open_executor
from shoal.engine.seeds import spawn_seeds
from shoal.strings import groups
from shoal.strings.groups import (
    BLOCK_STRINGS,
    StringGrouping,
    group_block,
    group_segments,
    objective_of,
    reassign_strings,
    split_by_nearness,
)
from shoal.strings.templates import Templates, convert_lengths


def families(n: int, n_families: int, length: int, n_symbols: int, seed: int, spread: int = 0) -> Templates:
    """Strings that differ from the head of their family in a third of their symbols."""
    rng = np.random.default_rng(seed)
    heads = rng.integers(0, n_symbols, (n_families, length + spread))
    strings = heads[np.arange(n) % n_families]
    strings = np.where(rng.random(strings.shape) < 0.33, rng.integers(0, n_symbols, strings.shape), strings)
    lengths = length + rng.integers(0, spread + 1, n)
    symbols = np.concatenate([s[:m] for s, m in zip(strings, lengths, strict=True)]).astype(np.int32)
    return convert_lengths(symbols, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def create_groups(templates: Templates, k: int, seed: int, block_strings: int = BLOCK_STRINGS) -> StringGrouping:
    """Group the templates of one segment, split by nearness where they are many."""
    of_plan, of_groups = spawn_seeds(seed, 2)
    blocks = split_by_nearness(templates, max(block_strings, 2 * k), of_plan)
    return group_segments([(templates, blocks)], k, block_strings, of_groups)[0]


@pytest.mark.parametrize("spread", [0, 6])
def test_families_stay_together(spread: int) -> None:
    templates = families(60, 6, 30, 8, 0, spread)
    grouping = create_groups(templates, 10, seed=1)
    sizes = np.bincount(grouping.labels)
    assert sizes.min() >= 10
    assert grouping.objective == pytest.approx(objective_of(templates, grouping.labels))
    assert grouping.objective <= min(grouping.passes) + 1e-9
    random = np.random.default_rng(2).permutation(60) % 6
    assert grouping.objective < 0.92 * objective_of(templates, random.astype(np.int32))
    if not spread:
        by_family = np.arange(60) % 6
        assert all(len(set(by_family[grouping.labels == g])) == 1 for g in range(grouping.n_groups))


def test_leftovers_go_to_the_nearest_group() -> None:
    templates = families(67, 6, 30, 8, 0)
    grouping = create_groups(templates, 10, seed=1)
    assert np.bincount(grouping.labels).min() >= 10
    assert len(grouping.labels) == 67


def test_the_best_pass_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    templates = families(60, 6, 30, 8, 0)
    worse = (np.random.default_rng(5).permutation(60) % 6).astype(np.int32)
    first = groups.pass_around
    monkeypatch.setattr(
        groups,
        "pass_around",
        lambda of, k, order, *former: first(of, k, order, *former) if len(order) else worse.copy(),
    )
    monkeypatch.setattr(groups, "reassign_strings", lambda templates, labels, k, by_feature: labels)
    grouping = group_block(templates, 10, np.random.SeedSequence(3))
    assert len(grouping.passes) == 2
    assert grouping.passes[1] > grouping.passes[0]
    assert grouping.objective == pytest.approx(grouping.passes[0])


def test_a_group_of_strays_is_dissolved() -> None:
    templates = families(40, 2, 40, 12, 7)
    labels = np.zeros(40, np.int32)
    labels[1::2] = 1
    labels[:8] = 2  # four of each family
    after = reassign_strings(templates, labels, 4)
    assert after.max() == 1
    assert objective_of(templates, after) < objective_of(templates, labels)
    assert all(len(set(after[f::2])) == 1 for f in (0, 1))


def test_reassignment_never_goes_below_k() -> None:
    templates = families(33, 3, 20, 5, 1)
    labels = (np.random.default_rng(0).permutation(33) % 3).astype(np.int32)
    after = reassign_strings(templates, labels, 11)
    assert np.bincount(after).min() >= 11


def test_split_keeps_near_strings_together_and_all_of_them() -> None:
    templates = families(400, 2, 40, 12, 3)
    blocks = split_by_nearness(templates, 200, np.random.SeedSequence(0))
    assert [len(b) for b in blocks] == [200, 200]
    assert sorted(np.concatenate(blocks).tolist()) == list(range(400))
    assert all(len(set(b % 2)) == 1 for b in blocks)
    assert [len(b) for b in split_by_nearness(templates, 150, np.random.SeedSequence(0))] == [133, 133, 134]


def test_split_segments_tell_their_cost() -> None:
    templates = families(300, 10, 20, 8, 3)
    whole, split = create_groups(templates, 5, seed=1), create_groups(templates, 5, seed=1, block_strings=80)
    assert whole.split_cost is None
    assert split.n_blocks == 4
    assert split.split_cost is not None
    assert -0.5 < split.split_cost < 1.0
    assert np.bincount(split.labels).min() >= 5
    assert split.objective == pytest.approx(objective_of(templates, split.labels))


def test_blocks_never_get_too_small_for_groups() -> None:
    grouping = create_groups(families(93, 3, 12, 6, 3), 7, seed=1, block_strings=2)
    assert grouping.n_blocks == 7
    assert np.bincount(grouping.labels).min() >= 7


def test_groups_do_not_depend_on_the_executor() -> None:
    plans = []
    for seed in (1, 2, 3):
        templates = families(200, 10, 20, 8, seed)
        plans.append((templates, split_by_nearness(templates, 80, np.random.SeedSequence(seed))))
    here = group_segments(plans, 5, 80, np.random.SeedSequence(9))
    with open_executor(2) as executor:
        there = group_segments(plans, 5, 80, np.random.SeedSequence(9), executor)
    for one, two in zip(here, there, strict=True):
        assert one.labels.tolist() == two.labels.tolist()
        assert one.split_cost == two.split_cost


def test_equal_strings() -> None:
    symbols, starts = np.zeros(60, np.int32), np.arange(0, 63, 3)
    grouping = create_groups(convert_lengths(symbols, starts), 4, seed=0)
    assert grouping.objective == 0.0
    assert np.bincount(grouping.labels).min() >= 4
    split = create_groups(convert_lengths(symbols, starts), 4, seed=0, block_strings=8)
    assert split.split_cost == 0.0
