"""The tests of `tables/partition/blocks.py`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from shoal.kernels.compile import interpreted
from shoal.kinds.tables.policy import Method
from shoal.tables import blocks
from shoal.tables.blocks import partition_labels, sample_rows
from shoal.tables.encoding import Ranked
from shoal.tables.microaggregation import improve
from shoal.tables.partition.base import rank_array
from tests.unit.tables.partition.mixed_columns import mixed

K = 4


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search of more effort as it is, its annealing cut short."""
    monkeypatch.setattr(improve, "SHORT", replace(improve.SHORT, n_steps=1))


def told(ranked: list[Ranked], method: Method, **given) -> tuple[np.ndarray, list[str]]:
    notes: list[str] = []
    return partition_labels(ranked, K, method, note=notes.append, **given), notes


def test_a_sample_is_told_of_as_one_and_is_the_same_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "SAMPLE", 500)
    monkeypatch.setattr(blocks, "SAMPLE_BLOCK", 100)
    monkeypatch.setattr(blocks, "LARGER", 1)
    first, again = (told(mixed(2500), Method(partition="mdav", block_rows=1000)) for _ in range(2))
    assert first[1] == again[1]
    assert "On a sample of 500 of them, cut into 3 blocks" in first[1][0]


def test_samples_are_bounded_and_smaller_where_records_are_wide() -> None:
    assert sample_rows(7, 3).tolist() == list(range(7))
    assert len(sample_rows(10**6, 6)) == blocks.SAMPLE
    wide = sample_rows(10**6, 40)
    assert len(wide) == blocks.SAMPLE // 2
    assert len(set(wide.tolist())) == len(wide)
    assert wide.max() < 10**6


@pytest.mark.parametrize(("ours", "exact", "words"), [(0.0, 0.0, "the same as"), (1.0, 0.0, "above nothing, which is")])
def test_a_loss_of_nothing_is_compared_too(ours: float, exact: float, words: str) -> None:
    assert blocks._compared(ours, exact) == words


@pytest.mark.parametrize(
    "method",
    [Method(partition="mdav", block_rows=1000), Method(partition="v-mdav", effort="balanced", block_rows=1000)],
)
def test_workers_change_nothing(method: Method, short: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LARGER", 1)
    ranked = mixed(2500)
    alone = told(ranked, method)
    with ThreadPoolExecutor(2) as threads:
        shared = told(ranked, method, executor=threads)
    assert (alone[0] == shared[0]).all()
    assert alone[1] == shared[1]


def test_groups_of_a_small_table_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack that repeats a partition finds the groups that the release was made from, if it asks for the same."""
    made: list[int] = []
    honest = blocks.improve
    monkeypatch.setattr(blocks, "improve", lambda *given, **more: made.append(1) or honest(*given, **more))
    ranked = rank_array(np.random.default_rng(3).normal(size=(40, 2)))
    again = rank_array(np.random.default_rng(3).normal(size=(40, 2)))
    others = rank_array(np.random.default_rng(4).normal(size=(40, 2)))
    mdav, best = Method(partition="mdav"), Method(partition="mdav", effort="best")
    with interpreted(True):
        first = partition_labels(ranked, 3, mdav, seed=1)
        kept = first.tolist()
        first[:] = 0  # whoever gets them may change them
        assert partition_labels(again, 3, mdav, seed=2).tolist() == kept
        assert len(made) == 1
        for asked in ((others, 3, mdav), (ranked, 4, mdav), (ranked, 3, best), (ranked, 3, mdav)):
            partition_labels(*asked)
        assert len(made) == 5
    partition_labels(ranked, 3, mdav)
    partition_labels(ranked, 3, mdav)  # what is compiled is made each time
    assert len(made) == 7


def test_groups_that_were_stopped_are_not_kept() -> None:
    ranked = rank_array(np.random.default_rng(3).normal(size=(41, 2)))
    balanced = Method(partition="mdav", effort="balanced")
    notes: list[str] = []
    with interpreted(True):
        stopped = partition_labels(ranked, 3, balanced, stop=lambda: True, note=notes.append)
        assert len(notes) == 1
        whole = partition_labels(ranked, 3, balanced, note=notes.append)
    assert len(notes) == 1
    assert stopped.tolist() != whole.tolist()
