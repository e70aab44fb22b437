"""Better groups: never worse, never too small, repeatable, and whole when cut short."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal.tables.microaggregation.improve as improve_module
from shoal.engine.blocks import run_blocks
from shoal.errors import Infeasible, PolicyError
from shoal.kernels.tables.mdav import MixedPoints, label_mdav
from shoal.kernels.tables.near_path import near_order
from shoal.kernels.tables.shortest_path import cut_order
from shoal.tables.encoding import Ranked
from shoal.tables.microaggregation.improve import cut_large, improve
from shoal.tables.microaggregation.merge_runs import number_groups
from shoal.tables.partition.base import rank_array
from shoal.tables.partition.mdav import mdav_labels, mixed_points

Labels = npt.NDArray[np.int32]


def slow_loss(data: MixedPoints, labels: Labels) -> float:
    """Squared distances of all pairs of a group over its size, added up."""
    apart = data.points[:, None, :] - data.points[None, :, :]
    metric, other = apart[..., : data.n_metric], apart[..., data.n_metric :]
    distances = (metric**2).sum(axis=-1) + (other != 0) @ data.weights[data.n_metric :]
    members = [np.flatnonzero(labels == g) for g in np.unique(labels)]
    return float(sum(distances[np.ix_(rows, rows)].sum() / 2 / len(rows) for rows in members))


def mixed_table(n_rows: int, seed: int = 0) -> list[Ranked]:
    rng = np.random.default_rng(seed)
    columns = rank_array(np.round(rng.normal(size=(n_rows, 2)), 1))
    codes = rng.integers(4, size=n_rows).astype(np.int32)
    tree = np.array([[0, 10, 20], [1, 10, 20], [2, 11, 20], [3, 11, 20]], np.int32)
    positions = np.arange(4, dtype=np.float64)
    return [*columns, Ranked("c", "category", codes, positions), Ranked("t", "tree", codes[::-1], positions, tree)]


@pytest.fixture
def quick_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rounds of "best", short and cut into several legs."""
    short = [replace(annealing, n_sweeps=60) for annealing in improve_module.LONG[2:6]]
    monkeypatch.setattr(improve_module, "LONG", short)
    monkeypatch.setattr(improve_module, "STEPS_A_LEG", 50_000)


@given(
    st.integers(2, 5),
    st.integers(0, 60),
    st.integers(1, 5),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["numbers", "mixed", "equal"]),
)
@settings(max_examples=40, deadline=None)
def test_any_start_gets_better_groups_of_k_to_2k_minus_1(
    k: int, extra: int, n_start: int, seed: int, kind: str
) -> None:
    n_rows = k + extra
    rng = np.random.default_rng(seed)
    start = (rng.permutation(n_rows) % min(n_start, n_rows // k)).astype(np.int32) * 3
    ranked = mixed_table(n_rows, seed) if kind == "mixed" else rank_array(rng.normal(size=(n_rows, 2)))
    data = mixed_points(rank_array(np.ones((n_rows, 2))) if kind == "equal" else ranked)
    found = improve(data, start, k)
    sizes = np.bincount(found)
    assert len(found) == n_rows
    assert k <= sizes.min() <= sizes.max() < 2 * k
    assert slow_loss(data, found) <= slow_loss(data, start) + 1e-9


def test_two_heaps_are_found() -> None:
    X = np.r_[np.arange(4.0), np.arange(100.0, 104.0)][:, None]
    found = improve(rank_array(X), np.array([0, 1] * 4, np.int32), 4)
    assert found.tolist() == [0] * 4 + [1] * 4


def test_categories_draw_records_together() -> None:
    codes = np.array([0, 1, 2] * 4, np.int32)
    attribute = Ranked("c", "category", codes, np.arange(3.0))
    found = improve([attribute], np.repeat([0, 1, 2], 4).astype(np.int32), 4)
    assert found.tolist() == [0, 1, 2] * 4


def test_balanced_needs_no_seed_and_fast_changes_nothing() -> None:
    ranked = mixed_table(200)
    labels = mdav_labels(ranked, 3)
    assert improve(ranked, labels, 3, "fast") is labels
    found = improve(ranked, labels, 3, seed=1)
    assert found.tolist() == improve(mixed_points(ranked), labels, 3, seed=2).tolist()
    assert slow_loss(mixed_points(ranked), found) < slow_loss(mixed_points(ranked), labels)


@pytest.mark.usefixtures("quick_best")
def test_best_repeats_itself_wherever_it_runs() -> None:
    data = mixed_points(rank_array(np.random.default_rng(4).normal(size=(400, 4))))
    labels = mdav_labels(rank_array(data.points), 3)
    found = improve(data, labels, 3, "best", seed=np.random.SeedSequence(5))
    with ThreadPoolExecutor(2) as threads:
        again = improve(
            data, labels, 3, "best", seed=5, run=lambda job, blocks: run_blocks(job, blocks, executor=threads)
        )
    assert found.tolist() == again.tolist()
    others = [improve(data, labels, 3, "best", seed=s).tolist() for s in range(2)]
    assert any(other != found.tolist() for other in others)
    assert slow_loss(data, found) <= slow_loss(data, improve(data, labels, 3))


@pytest.mark.usefixtures("quick_best")
@pytest.mark.parametrize("n_asked", [0, 1, 2, 3, 5, 8])
def test_stopped_work_keeps_whole_groups(n_asked: int) -> None:
    data = mixed_points(rank_array(np.random.default_rng(4).normal(size=(150, 3))))
    labels = mdav_labels(rank_array(data.points), 4)
    count = itertools.count()
    found = improve(data, labels, 4, "best", seed=1, stop=lambda: next(count) >= n_asked)
    assert next(count) <= n_asked + 10
    sizes = np.bincount(found)
    assert 4 <= sizes.min() <= sizes.max() < 8
    assert slow_loss(data, found) <= slow_loss(data, labels) + 1e-9


def test_no_time_leaves_the_groups() -> None:
    ranked = rank_array(np.random.default_rng(4).normal(size=(50, 3)))
    labels = number_groups(mdav_labels(ranked, 4))
    assert improve(ranked, labels, 4, "best", seed=1, deadline=0.0).tolist() == labels.tolist()


@pytest.mark.usefixtures("quick_best")
def test_progress_ends_at_its_total() -> None:
    ranked = rank_array(np.random.default_rng(4).normal(size=(150, 3)))
    told: list[tuple[int, int, float]] = []
    improve(ranked, mdav_labels(ranked, 4), 4, "best", seed=1, progress=lambda *now: told.append(now))
    assert len(told) > 4
    assert [done for done, _, _ in told] == list(range(len(told)))
    assert {total for _, total, _ in told[1:]} == {len(told) - 1}
    gone = [share for _, _, share in told]
    assert gone == sorted(gone)
    assert 0 == gone[0] < gone[-1] < 1


def test_rounds_that_gain_nothing_are_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    honest = improve_module._anneal_round
    monkeypatch.setattr(improve_module, "_anneal_round", lambda *given: made.append(given[5]) or honest(*given))
    short = [replace(annealing, n_sweeps=60) for annealing in improve_module.LONG]
    monkeypatch.setattr(improve_module, "LONG", short)
    X = np.repeat(np.arange(17.0), 6)[:, None]  # nothing is lost from the start
    told: list[tuple[int, int]] = []
    improve(rank_array(X), mdav_labels(rank_array(X), 3), 3, "best", seed=1, progress=lambda *now: told.append(now[:2]))
    n_molten = sum(annealing.hottest not in improve_module.REHEATED for annealing in short)
    assert n_molten == 4  # each begins anew, so that none tells of the next
    assert len(made) == 1 + n_molten + improve_module.MOST_IDLE < 1 + len(short)
    assert told[-1][0] == told[-1][1]


@pytest.mark.parametrize("n_rows", [6, 7, 9, 10])
def test_the_best_groups_of_a_few_records_are_the_best_there_are(n_rows: int) -> None:
    k = 3
    columns = [np.random.default_rng(n_rows).normal(size=n_rows), np.arange(n_rows) % 2]
    data = mixed_points(rank_array(np.column_stack(columns)))
    least = min(
        slow_loss(data, np.array(labels))
        for labels in itertools.product(range(n_rows // k), repeat=n_rows)
        if all(k <= labels.count(group) < 2 * k for group in set(labels))
    )
    start = np.zeros(n_rows, np.int32)
    assert slow_loss(data, improve(data, start, k, "best", seed=1)) == pytest.approx(least)


def test_the_best_groups_of_few_records_need_no_seed() -> None:
    ranked = mixed_table(40)
    labels = mdav_labels(ranked, 3)
    found = [improve(ranked, labels, 3, "best", seed=seed).tolist() for seed in (1, 2)]
    assert found[0] == found[1]
    efforts: list[Any] = ["balanced", "best"]
    assert [improve_module.needs_seed(effort, n) for effort in efforts for n in (100, 101)] == [False] * 3 + [True]


def test_few_records_that_gain_nothing_end_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(improve_module.dense, "N_HEATS", 3)
    X = np.repeat(np.arange(2.0), 6)[:, None]  # nothing is lost from the start
    told: list[tuple[int, int]] = []
    improve(rank_array(X), mdav_labels(rank_array(X), 3), 3, "best", seed=1, progress=lambda *now: told.append(now[:2]))
    heats = improve_module.dense.N_HEATS
    assert (heats * improve_module.MOST_DENSE_IDLE, heats * improve_module.MOST_DENSE_RUNS) in told
    assert (heats * (improve_module.MOST_DENSE_IDLE + 1), heats * improve_module.MOST_DENSE_RUNS) not in told
    assert told[-1][0] == told[-1][1]


def test_large_groups_are_cut_along_their_widest_column() -> None:
    points = np.column_stack([np.zeros(11), [5.0, 1, 4, 0, 3, 2, 6, 0, 0, 0, 0]])
    labels = np.array([0] * 7 + [1] * 4, np.int32)
    assert cut_large(points, labels, 3).tolist() == [0, 1, 0, 1, 0, 1, 0, 2, 2, 2, 2]


def test_a_large_table_gets_shorter_cooler_and_fewer_runs_in_bounded_work() -> None:
    small, large, huge = ([(a.runs(n), a.legs(n, 5)) for a in improve_module.LONG] for n in (1_000, 30_000, 1_000_000))
    assert [n_runs for n_runs, _ in small] == [n_runs for n_runs, _ in large] == [4] * 4 + [8] * 8
    assert {n_runs for n_runs, _ in huge} == {2}
    for n_rows, rounds in ((30_000, large), (1_000_000, huge)):
        n_steps = sum(n_runs * n_rows * n_sweeps * len(heats) for n_runs, legs in rounds for heats, n_sweeps, _ in legs)
        assert n_steps < 2e9
    assert small[0][1][0][0][0] > large[0][1][0][0][0]


def test_too_small_groups_and_unknown_efforts_are_refused() -> None:
    ranked = rank_array(np.arange(6.0)[:, None])
    with pytest.raises(Infeasible, match="fewer than k = 3"):
        improve(ranked, np.array([0, 0, 1, 1, 1, 1], np.int32), 3)
    with pytest.raises(PolicyError, match="'fast', 'balanced' or 'best'"):
        improve(ranked, np.zeros(6, np.int32), 3, "slow")  # type: ignore[arg-type]  # that is the point


def test_it_ends_where_nothing_is_lost() -> None:
    """Groups of equal values lose nothing but rounding errors, which are no gain to go after."""
    X = np.repeat([-2.0569489, 0.43188757, 0.44210726, 0.59880926], [4, 7, 5, 5])[:, None]
    labels = np.repeat(np.arange(4, dtype=np.int32), [4, 7, 5, 5])
    assert len(improve(rank_array(X), labels, 4, "balanced")) == len(X)


@pytest.mark.usefixtures("quick_best")
@pytest.mark.parametrize("effort", ["balanced", "best"])
def test_it_ends_alike_from_mdav_and_from_the_curve(effort: Any) -> None:
    """Many ties and long tails, on which the two starts are far apart."""
    rng = np.random.default_rng(2)
    columns = [np.floor(3 * rng.pareto(1.2, 120)), rng.integers(0, 4, 120), rng.poisson(0.5, 120) ** 3]
    data = mixed_points(rank_array(np.column_stack(columns).astype(float)))
    order = near_order(data.points, data.weights, data.n_metric, 5)
    starts = [label_mdav(data, 5), cut_order(data.points, data.weights, data.n_metric, order, 5)[0].astype(np.int32)]
    before = [slow_loss(data, labels) for labels in starts]
    found = [slow_loss(data, improve(data, labels, 5, effort, seed=1)) for labels in starts]
    assert abs(before[0] - before[1]) > 0.01 * min(before)
    assert found[0] == pytest.approx(found[1], rel=1e-6)
    assert max(found) <= min(before)
