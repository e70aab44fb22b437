"""The path through near records, against the same moves on a plain list."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest

from shoal.kernels.compile import interpreted
from shoal.kernels.tables import near_path
from shoal.kernels.tables.near_path import _follow, _move_segment, _note_neighbours, near_order, near_order_and_places

Floats = npt.NDArray[np.float64]


def distance(points: Floats, weights: Floats, n_metric: int, a: int, b: int) -> float:
    metric = ((points[a] - points[b])[:n_metric] ** 2).sum()
    return float(np.sqrt(metric + weights[n_metric:][(points[a] != points[b])[n_metric:]].sum()))


def random_points(rng: np.random.Generator, n_rows: int) -> tuple[Floats, Floats, int]:
    points = np.column_stack([rng.normal(size=(n_rows, 2)), rng.integers(0, 3, n_rows)])
    return points, np.array([0.0, 0.0, 0.5]), 2


def slow_shorten(apart: Floats, near: npt.NDArray[np.int32]) -> list[int]:
    """Moves of segments on a list; the length of the whole path decides."""

    def length(path: list[int]) -> float:
        return sum(apart[a, b] for a, b in itertools.pairwise(path))

    def improve(row: int, path: list[int]) -> list[int] | None:
        for way in (0, 1):
            for size in range(1, near_path.SEGMENT + 1):
                at = path.index(row)
                start = at if way == 1 else at - size + 1
                if start < 0 or start + size > len(path):
                    break
                segment = path[start : start + size]
                rest = path[:start] + path[start + size :]
                best, most = None, 1e-9
                for beside in near[row]:
                    if apart[row, beside] >= length(path) - length(rest) - length(segment) - 1e-12:
                        break
                    if beside in segment:
                        continue
                    spot = rest.index(beside)
                    outward = segment if way == 1 else segment[::-1]  # from row to the other end
                    for trial in (
                        rest[:spot] + outward[::-1] + rest[spot:],
                        rest[: spot + 1] + outward + rest[spot + 1 :],
                    ):
                        if length(path) - length(trial) > most:
                            best, most = trial, length(path) - length(trial)
                if best is not None:
                    return best
        return None

    path = list(range(len(apart)))
    for _ in range(near_path.ROUNDS):
        for row in range(len(apart)):
            path = improve(row, path) or path
    return path


def test_neighbours_are_the_nearest_of_those_that_were_met() -> None:
    points, weights, n_metric = random_points(np.random.default_rng(1), 7)
    near, gaps = np.full((7, 4), -1, np.int32), np.full((7, 4), np.inf, np.float32)
    for order in (np.arange(7), np.arange(7)[::-1].copy()):  # a window of 6 holds all pairs; twice changes nothing
        _note_neighbours(points, weights, n_metric, order, near, gaps)
    for row in range(7):
        others = sorted((r for r in range(7) if r != row), key=lambda r: distance(points, weights, n_metric, row, r))
        assert near[row].tolist() == others[:4]


def test_most_near_records_are_found() -> None:
    points, weights, n_metric = random_points(np.random.default_rng(5), 400)
    order, places = near_order_and_places(points, weights, n_metric, 3, 8)
    near = np.empty_like(places)
    near[order] = order[places]
    apart = np.array([[distance(points, weights, n_metric, a, b) for b in range(400)] for a in range(400)])
    nearest = np.argsort(apart + np.diag([np.inf] * 400), axis=1)[:, :8]
    found = [len(set(near[row]) & set(nearest[row])) for row in range(400)]
    assert np.mean(found) > 7
    assert all(len(set(near[row]) - {row}) == 8 for row in range(400))
    assert (np.diff(np.take_along_axis(apart, near.astype(int), axis=1), axis=1) >= -1e-6).all()


def test_where_few_records_are_near_a_record_stands_for_the_rest() -> None:
    points, weights, n_metric = random_points(np.random.default_rng(5), 3)
    places = near_order_and_places(points, weights, n_metric, 2, 7)[1]
    assert sorted(places[0][:2]) == [1, 2]
    assert places[:, 2:].tolist() == [[0] * 5, [1] * 5, [2] * 5]


@pytest.mark.parametrize("k", [2, 5, 12])
def test_longer_lists_do_not_change_the_order(k: int) -> None:
    points, weights, n_metric = random_points(np.random.default_rng(k), 300)
    points[:, :2] = np.rint(points[:, :2] * 2)  # many ties
    order = near_order_and_places(points, weights, n_metric, k, 20)[0]
    assert order.tolist() == near_order(points, weights, n_metric, k).tolist()


@pytest.mark.parametrize("seed", range(20))
def test_moves_are_those_on_a_list(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, weights, n_metric = random_points(rng, 24)
    apart = np.array([[distance(points, weights, n_metric, a, b) for b in range(24)] for a in range(24)])
    near = np.argsort(apart + np.diag([np.inf] * 24), axis=1)[:, :4].astype(np.int32)
    links = np.empty((25, 2), np.int32)
    links[:, 0], links[:, 1] = np.arange(25) - 1, np.arange(25) + 1
    links[0, 0] = links[24] = 24
    awake = np.zeros(25, np.uint8)
    for _ in range(near_path.ROUNDS):
        for row in range(24):
            _move_segment(points, weights, n_metric, near, links, awake, row)
    assert awake[:24].any()
    path = np.empty(24, np.int64)
    _follow(links, path)
    assert path.tolist() == slow_shorten(apart, near)


def test_a_path_of_many_records_is_far_shorter_than_the_curve_and_holds_each_once() -> None:
    rng = np.random.default_rng(3)
    points = rng.normal(size=(3000, 5))
    order = near_order(points, np.zeros(5), 5, 3)
    assert sorted(order) == list(range(3000))
    curve = near_path.curve_order(points, np.eye(5), 0.0)
    lengths = [np.sqrt((np.diff(points[o], axis=0) ** 2).sum(axis=1)).sum() for o in (order, curve)]
    assert lengths[0] < 0.85 * lengths[1]


@pytest.mark.parametrize("k", [2, 4, 9, 40])
def test_every_k_orders_all_records(k: int) -> None:
    points, weights, n_metric = random_points(np.random.default_rng(k), 500)
    assert sorted(near_order(points, weights, n_metric, k)) == list(range(500))


@pytest.mark.parametrize("n_rows", [1, 2, 9, 300])
def test_interpreted_it_is_the_same_path(n_rows: int) -> None:
    points, weights, n_metric = random_points(np.random.default_rng(n_rows), n_rows)
    points[: n_rows // 3] = np.round(points[: n_rows // 3])  # ties
    order, near = near_order_and_places(points, weights, n_metric, 4, 8)
    with interpreted(True):
        again = near_order_and_places(points, weights, n_metric, 4, 8)
    assert order.tolist() == again[0].tolist()
    assert near.tolist() == again[1].tolist()
