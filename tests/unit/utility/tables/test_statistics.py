"""IL1 to IL5 against their definitions, written as loops, and cases worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shoal.errors import DataError
from shoal.utility.tables import statistics
from shoal.utility.tables.statistics import statistics_loss


def covariance(a: list[float], b: list[float]) -> float:
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    return sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True)) / (len(a) - 1)


def slow_losses(before: np.ndarray, after: np.ndarray) -> list[float]:
    """The definitions, cell by cell and pair by pair; no zeros, nothing missing."""
    x, y = [list(c) for c in before.T.tolist()], [list(c) for c in after.T.tolist()]
    p, n = len(x), len(x[0])
    pairs = [(i, j) for i in range(p) for j in range(i)]
    il1 = sum(abs(x[j][i] - y[j][i]) / abs(x[j][i]) for j in range(p) for i in range(n)) / (n * p)
    il2 = sum(abs(sum(a) - sum(b)) / abs(sum(a)) for a, b in zip(x, y, strict=True)) / p
    il3 = sum(abs(covariance(a, a) - covariance(b, b)) / covariance(a, a) for a, b in zip(x, y, strict=True)) / p
    il4 = il5 = 0.0
    for i, j in pairs:
        old, new = covariance(x[i], x[j]), covariance(y[i], y[j])
        il4 += abs(old - new) / abs(old) / len(pairs)
        old /= math.sqrt(covariance(x[i], x[i]) * covariance(x[j], x[j]))
        new /= math.sqrt(covariance(y[i], y[i]) * covariance(y[j], y[j]))
        il5 += abs(old - new) / len(pairs)
    return [il1, il2, il3, il4, il5]


@pytest.mark.parametrize("seed", range(4))
def test_losses_agree_with_their_definitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    before = rng.normal(10, 3, (40, 4)) @ rng.normal(size=(4, 4)) + 50
    after = before * 1.1 + rng.normal(size=before.shape)
    found = statistics_loss(before, after)
    assert [found.il1, found.il2, found.il3, found.il4, found.il5] == pytest.approx(slow_losses(before, after))
    assert found.overall == pytest.approx(20 * sum(slow_losses(before, after)))
    assert found.n_left_out == 0


def test_by_hand() -> None:
    before = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 9.0]])
    after = np.array([[2.0, 2.0], [2.0, 4.0], [2.0, 9.0]])
    found = statistics_loss(before, after)
    assert found.il1 == pytest.approx((1 + 0 + 1 / 3) / 6)
    assert found.il2 == 0
    assert found.il3 == pytest.approx(1 / 2)  # all of the first variance, nothing of the second
    assert found.il4 == pytest.approx(1.0)
    assert found.il5 == 0  # no correlation exists with a constant


def test_nothing_lost_and_large_numbers() -> None:
    x = np.random.default_rng(1).normal(size=(50, 3)) + 1e9
    assert statistics_loss(x, x).overall == 0
    shifted = statistics_loss(x, x[::-1])
    assert shifted.il2 == shifted.il3 == pytest.approx(0, abs=1e-6)
    assert shifted.il4 == pytest.approx(0, abs=1e-5)


def test_deviation_divides_by_the_spread() -> None:
    before = np.array([[0.0], [2.0], [4.0]])
    after = before + 1
    assert statistics_loss(before, after, variation="deviation").il1 == pytest.approx(1 / (math.sqrt(2) * 2))
    relative = statistics_loss(before, after)
    assert relative.il1 == pytest.approx((1 / 2 + 1 / 4) / 2)
    assert relative.n_left_out == 1


def test_a_mean_of_nothing_but_rounding_errors_is_no_mean() -> None:
    before = np.random.default_rng(2).normal(size=(100, 2))
    before -= before.mean(axis=0)
    found = statistics_loss(before, before + 1e-18)
    assert found.il2 == 0
    assert statistics_loss(before, before + 0.5).n_left_out == 2


def test_missing_cells_are_passed_over() -> None:
    rng = np.random.default_rng(3)
    before, after = rng.normal(5, 1, (30, 2)), rng.normal(5, 1, (30, 2))
    holes_before, holes_after = before.copy(), after.copy()
    holes_before[:4] = holes_after[4:8] = np.nan
    expected = statistics_loss(before[8:], after[8:])
    found = statistics_loss(holes_before, holes_after)
    assert found.to_dict() == pytest.approx(expected.to_dict())


def test_one_attribute_has_no_pairs_and_an_empty_table_no_loss() -> None:
    found = statistics_loss(np.array([[1.0], [2.0]]), np.array([[2.0], [1.0]]))
    assert (found.il4, found.il5) == (0, 0)
    assert statistics_loss(np.zeros((0, 2)), np.zeros((0, 2))).overall == 0


@pytest.mark.parametrize("is_paired", [True, False])
@pytest.mark.parametrize("variation", ["relative", "deviation"])
def test_some_rows_at_a_time_or_all_at_once(is_paired, variation, monkeypatch) -> None:
    rng = np.random.default_rng(8)
    before, after = rng.normal(5, 3, (40, 3)), rng.normal(5, 3, (40, 3))
    before[rng.random(before.shape) < 0.1] = np.nan
    before[:9, 1] = 0
    at_once = statistics_loss(before, after, variation=variation, is_paired=is_paired)
    monkeypatch.setattr(statistics, "AT_ONCE", 7)
    found = statistics_loss(before, after, variation=variation, is_paired=is_paired)
    assert found.to_dict() == pytest.approx(at_once.to_dict(), nan_ok=True)
    assert found.n_left_out == (9 if is_paired and variation == "relative" else 0)


def test_tables_of_different_shape_are_refused() -> None:
    with pytest.raises(DataError, match="same records"):
        statistics_loss(np.zeros((2, 1)), np.zeros((3, 1)))


def test_tables_that_are_not_paired_are_compared_by_their_statistics_alone() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3)) + 5
    x[rng.random(x.shape) < 0.1] = np.nan
    found = statistics_loss(x, x[rng.permutation(200)], is_paired=False)
    assert np.isnan(found.il1)
    assert max(found.il2, found.il3, found.il4, found.il5) < 1e-9
    # Paired, the gaps of both tables would be left out of both, and the statistics differ.
    assert statistics_loss(x, x[rng.permutation(200)]).il3 > 1e-3
    assert statistics_loss(x, x * 2, is_paired=False).il3 == pytest.approx(3)
