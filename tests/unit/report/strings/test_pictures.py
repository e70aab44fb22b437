"""The tests of `report/strings/pictures.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.report.strings import pictures as string_pictures


@pytest.mark.parametrize("lengths", [[5], [3, 3, 4], [10, 100_000], [1, 2, 3000], list(range(1, 300))])
def test_pictures_of_any_lengths(lengths: list[int]) -> None:
    given = np.array(lengths, dtype=np.int64)
    picture = string_pictures.lengths(given, given, "lengths")
    assert (picture is None) is (len(set(lengths)) == 1)
    edges = string_pictures.length_edges(given)
    assert np.histogram(given, edges)[0].sum() == len(given)
    assert edges == sorted(set(edges))


@pytest.mark.parametrize(("ours", "control"), [((0, 3), (0, 0, 4)), ((5,), (5,)), ((0,) * 400 + (1,), (0, 1))])
def test_pictures_of_any_runs(ours: tuple[int, ...], control: tuple[int, ...]) -> None:
    assert "<svg" in string_pictures.longest_runs(ours, control, "runs")


@pytest.mark.parametrize("symbols", [["a"], list("ab"), [chr(0x4E00 + i) for i in range(60)], ["long", "longer"]])
def test_pictures_of_any_composition(symbols: list[str]) -> None:
    shares = [1 / len(symbols)] * len(symbols)
    alone, both = (string_pictures.composition(symbols, before, shares, "x") for before in (None, shares))
    assert "var(--before)" not in alone
    assert "var(--before)" in both


@pytest.mark.parametrize("distances", [[1.0, 1.0], [1e-5, 2e6]])
def test_pictures_of_any_distances(distances: list[float]) -> None:
    svg = string_pictures.distance_scatter(distances, distances[::-1], "distances")
    assert svg.count("<circle") == len(distances)
