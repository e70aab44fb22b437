"""The way taken for large tables: groups, blocks, what is told, and the loss beside the exact methods."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from shoal.kernels.tables.mdav import MixedPoints, label_mdav
from shoal.kinds.tables.policy import Method
from shoal.tables.blocks import partition_labels
from shoal.tables.encoding import Ranked
from shoal.tables.microaggregation import improve
from shoal.tables.microaggregation.near_linear import curve_blocks, group_blocks, near_linear_labels, squares_within
from shoal.tables.partition.base import rank_array
from shoal.tables.partition.mdav import mdav_labels, mixed_points
from shoal.tables.partition.v_mdav import v_mdav_labels
from tests.unit.tables.partition.mixed_columns import mixed

K = 4


def pairs_within(data: MixedPoints, labels: np.ndarray) -> float:
    """The loss, pair by pair."""
    total = 0.0
    for group in set(labels.tolist()):
        rows = np.flatnonzero(labels == group)
        for a, b in combinations(rows, 2):
            metric = ((data.points[a] - data.points[b])[: data.n_metric] ** 2).sum()
            differ = (data.points[a] != data.points[b])[data.n_metric :]
            total += (metric + data.weights[data.n_metric :][differ].sum()) / len(rows)
    return total


def test_squares_within_are_those_of_all_pairs() -> None:
    data = mixed_points(mixed(60))
    labels = np.random.default_rng(1).integers(0, 9, 60).astype(np.int32)  # any sizes
    assert squares_within(data, labels) == pytest.approx(pairs_within(data, labels))


@pytest.mark.parametrize("k", [2, 5, 11])
def test_groups_have_k_to_twice_k_records_and_lose_less_than_those_of_mdav(k: int) -> None:
    data = mixed_points(mixed(3000))
    labels = near_linear_labels(data, k)
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    assert squares_within(data, labels) < 0.95 * squares_within(data, label_mdav(data, k))


@pytest.mark.parametrize("n_rows", [4, 5, 7, 8, 9, 13])
def test_few_and_equal_records(n_rows: int) -> None:
    same = rank_array(np.ones((n_rows, 2)))
    labels = near_linear_labels(mixed_points(same), K)
    assert np.bincount(labels).min() >= K


def test_curve_blocks_hold_each_record_once() -> None:
    data = mixed_points(mixed(1000))
    found = curve_blocks(data, K, 130)
    assert len(found) == 8
    assert max(map(len, found)) <= 130
    assert sorted(np.concatenate(found).tolist()) == list(range(1000))
    assert all((np.diff(rows) > 0).all() for rows in found)
    assert min(map(len, curve_blocks(data, 300, 130))) >= 300  # a block of fewer than k could not be grouped


def test_the_curve_leaves_a_tail_together_that_median_cuts_part() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4000, 3))
    X[:40] += 500  # a far cluster
    found = curve_blocks(mixed_points(rank_array(X)), K, 500)
    assert sum(bool((rows < 40).any()) for rows in found) == 1


def test_group_blocks_hold_whole_groups() -> None:
    ranked = mixed(1000)
    data, labels = mixed_points(ranked), mdav_labels(ranked, K)
    found = group_blocks(data, labels, 200)
    assert 5 <= len(found) <= 6
    assert sorted(np.concatenate(found).tolist()) == list(range(1000))
    groups = [set(labels[rows].tolist()) for rows in found]
    assert all(not a & b for a, b in combinations(groups, 2))


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search of more effort as it is, its annealing cut short."""
    monkeypatch.setattr(improve, "SHORT", replace(improve.SHORT, n_steps=1))


def told(ranked: list[Ranked], method: Method, **given) -> tuple[np.ndarray, list[str]]:
    notes: list[str] = []
    return partition_labels(ranked, K, method, note=notes.append, **given), notes


@pytest.mark.parametrize("partition", ["mdav", "v-mdav"])
def test_more_records_than_block_rows_take_the_near_linear_way_and_the_loss_is_told(partition: str) -> None:
    ranked = mixed(1400)
    labels, notes = told(ranked, Method(partition=partition, block_rows=1000))
    data = mixed_points(ranked)
    assert (labels == near_linear_labels(data, K)).all()
    exact = mdav_labels(ranked, K) if partition == "mdav" else v_mdav_labels(ranked, K)
    gain = 100 * (1 - squares_within(data, labels) / squares_within(data, exact))
    assert gain > 1
    assert len(notes) == 1
    said = re.search(r"its sum of squares is ([\d.]+) % below exact " + partition, notes[0])
    assert said is not None, notes[0]
    assert float(said[1]) == pytest.approx(gain, abs=0.6)


def test_up_to_block_rows_the_method_is_exact_and_nothing_is_told() -> None:
    ranked = mixed(1000)
    labels, notes = told(ranked, Method(partition="mdav", block_rows=1000))
    assert notes == []
    assert (labels == mdav_labels(ranked, K)).all()


@pytest.mark.parametrize("partition", ["k-member", "nearest-neighbours"])
def test_methods_by_widths_run_in_blocks_and_their_loss_is_told(partition: str) -> None:
    labels, notes = told(mixed(2500), Method(partition=partition, block_rows=1000))
    assert np.bincount(labels).min() >= K
    assert len(notes) == 1
    assert re.search(rf"within 3 blocks .* its information loss is .* exact {partition}'s\.$", notes[0]), notes[0]


def test_the_order_of_columns_changes_nothing() -> None:
    ranked = mixed(1500)
    method = Method(partition="mdav", block_rows=1000)
    assert (told(ranked, method)[0] == told(ranked[::-1], method)[0]).all()


def test_more_effort_within_blocks_loses_less_and_is_told(short: None) -> None:
    ranked = mixed(2500)
    data = mixed_points(ranked)
    fast, _ = told(ranked, Method(partition="mondrian", block_rows=1000))
    balanced, notes = told(ranked, Method(partition="mondrian", effort="balanced", block_rows=1000))
    assert np.bincount(balanced).min() >= K
    assert squares_within(data, balanced) < squares_within(data, fast)
    assert notes == ["Groups were improved within 3 blocks of near ones, not across them."]
