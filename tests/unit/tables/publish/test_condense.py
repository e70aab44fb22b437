"""Pseudo-records: their statistics, their form, and the check for copies."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Column, encode_cells
from shoal.errors import DataError, Infeasible
from shoal.tables.encoding import rank
from shoal.tables.groups import Groups
from shoal.tables.publish.condense import Condensed, condense, mixed


def objects(cells: list[str | None]) -> np.ndarray:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def made(columns: list[Column], types: list[str], labels, seed: int = 1, **more: object) -> Condensed:
    ranked = [rank(c, Attribute(c.name, t, "quasi")) for c, t in zip(columns, types, strict=True)]  # type: ignore[arg-type]
    return condense(columns, ranked, Groups.of(np.asarray(labels)), np.random.default_rng(seed), **more)  # type: ignore[arg-type]


def numbers(column: Column) -> np.ndarray:
    return np.append(column.values.astype(np.float64), np.nan)[np.minimum(column.codes, len(column.values))]


def texts(column: Column) -> list[str | None]:
    return [None if m else column.texts()[c] for c, m in zip(column.codes, column.missing, strict=True)]


def repeated(group: np.ndarray, times: int, seed: int) -> tuple[list[Column], np.ndarray]:
    """Many groups that are the same few records, so that all draws are of one distribution; and the labels."""
    table = np.tile(group, (times, 1))
    labels = np.repeat(np.arange(times), len(group))
    order = np.random.default_rng(seed).permutation(len(table))  # groups need not lie together
    return [encode_cells(f"x{j}", table[order, j]) for j in range(group.shape[1])], labels[order]


def test_draws_have_the_mean_and_the_covariance_of_their_group() -> None:
    rng = np.random.default_rng(5)
    group = rng.normal(size=(7, 3)) @ rng.normal(size=(3, 3)) * [1, 30, 1e-3] + [5, -200, 7]
    columns, labels = repeated(group, 6000, seed=2)
    drawn = np.column_stack([numbers(c) for c in made(columns, ["continuous"] * 3, labels).columns.values()])
    n, deviation = len(drawn), group.std(axis=0)
    # Five standard errors; a covariance of uniform draws has a standard error below sqrt(2 / n) of the deviations.
    assert np.abs((drawn.mean(axis=0) - group.mean(axis=0)) / deviation).max() < 5 / np.sqrt(n)
    difference = np.cov(drawn.T, bias=True) - np.cov(group.T, bias=True)
    assert np.abs(difference / np.outer(deviation, deviation)).max() < 5 * np.sqrt(2 / n)
    assert np.corrcoef(group.T)[np.triu_indices(3, 1)] == pytest.approx(
        np.corrcoef(drawn.T)[np.triu_indices(3, 1)], abs=0.03
    )


def test_every_draw_lies_in_the_box_of_its_group() -> None:
    rng = np.random.default_rng(6)
    table = rng.normal(size=(600, 4)) * [1, 10, 100, 3]
    labels = rng.permutation(np.arange(600) // 6)
    columns = [encode_cells(f"x{j}", table[:, j]) for j in range(4)]
    drawn = np.column_stack([numbers(c) for c in made(columns, ["continuous"] * 4, labels).columns.values()])
    outside = 0
    for g in range(100):  # the slow twin: one group after the other, on the same scale
        group, new = table[labels == g] / table.std(axis=0), drawn[labels == g] / table.std(axis=0)
        values, vectors = np.linalg.eigh(np.cov(group.T, bias=True))
        along = (new - group.mean(axis=0)) @ vectors
        assert (np.abs(along) <= np.sqrt(3 * values) + 1e-9).all()
        outside += int(((new > group.max(axis=0)) | (new < group.min(axis=0))).sum())
    assert outside > 0  # draws are not clipped to what the group holds


def test_draws_along_an_eigenvector_are_uniform() -> None:
    columns, labels = repeated(np.array([[0.0], [1.0], [2.0], [7.0]]) - 3.123456789, 5000, seed=3)
    drawn = np.sort(numbers(made(columns, ["continuous"], labels).columns["x0"]))
    centre, half = 2.5 - 3.123456789, np.sqrt(3 * np.var([0, 1, 2, 7]))
    expected = centre + half * (2 * (np.arange(len(drawn)) + 0.5) / len(drawn) - 1)
    assert np.abs(drawn - expected).max() < 5 * half / np.sqrt(len(drawn))


def test_a_group_with_gaps_keeps_variance_and_share_of_gaps() -> None:
    group = np.array([[1.1, 5.3], [2.7, np.nan], [4.9, 9.1], [9.7, 2.2], [np.nan, 1.8]]) + 10
    columns, labels = repeated(group, 4000, seed=4)
    drawn = np.column_stack([numbers(c) for c in made(columns, ["continuous"] * 2, labels).columns.values()])
    assert np.isnan(drawn).mean(axis=0) == pytest.approx([0.2, 0.2], abs=0.015)
    for j in range(2):
        assert np.nanmean(drawn[:, j]) == pytest.approx(np.nanmean(group[:, j]), rel=0.01)
        assert np.nanvar(drawn[:, j]) == pytest.approx(np.nanvar(group[:, j]), rel=0.03)
    # Gaps fall independently of each other.
    assert np.isnan(drawn).all(axis=1).mean() == pytest.approx(0.04, abs=0.01)


def test_categories_are_drawn_from_the_shares_of_their_group() -> None:
    words = encode_cells("w", objects(["a", "a", "b", None, "c", "c", "c", "c"] * 3000))
    sizes = encode_cells("s", objects(["low", "high", "low", "low", "high", "high", "low", "low"] * 3000))
    labels = np.tile([0, 0, 0, 0, 1, 1, 1, 1], 3000) + 2 * np.repeat(np.arange(3000), 8)
    found = made([words, sizes], ["nominal", "ordinal"], labels).columns
    cells = np.array([t or "?" for t in texts(found["w"])])
    first = labels % 2 == 0
    assert set(cells[~first]) == {"c"}
    for value, share in {"a": 0.5, "b": 0.25, "?": 0.25}.items():
        assert (cells[first] == value).mean() == pytest.approx(share, abs=0.025)
    low = np.array(texts(found["s"])) == "low"
    assert low[first].mean() == pytest.approx(0.75, abs=0.025)
    assert (low & (cells == "b"))[first].mean() == pytest.approx(0.75 * 0.25, abs=0.02)  # independent inside a group


def test_the_same_generator_draws_the_same_and_another_does_not() -> None:
    rng = np.random.default_rng(7)
    columns = [encode_cells("x", rng.normal(size=60)), encode_cells("w", objects(list("abc") * 20))]
    labels = np.arange(60) // 5
    one, two, three = (made(columns, ["continuous", "nominal"], labels, seed=s).columns for s in (1, 1, 2))
    assert numbers(one["x"]).tolist() == numbers(two["x"]).tolist()
    assert texts(one["w"]) == texts(two["w"])
    assert numbers(one["x"]).tolist() != numbers(three["x"]).tolist()


def test_groups_do_not_see_each_other() -> None:
    rng = np.random.default_rng(8)
    near, far = rng.normal(size=30), rng.normal(size=30) + 1000
    columns = [encode_cells("x", np.concatenate([near, far]))]
    drawn = numbers(made(columns, ["continuous"], np.repeat([0, 1], 30)).columns["x"])
    assert drawn[:30].max() < 10
    assert drawn[30:].min() > 990


def test_numbers_keep_their_decimals_and_dates_their_form() -> None:
    rng = np.random.default_rng(9)
    days = np.datetime64("2020-02-20") + rng.integers(0, 30, 40)
    columns = [
        encode_cells("whole", rng.integers(0, 90, 40)),
        encode_cells("text", objects([str(v) for v in rng.integers(0, 90, 40)])),
        encode_cells("price", rng.normal(50, 9, 40).round(2)),
        encode_cells("day", objects([d.strftime("%d.%m.%Y") for d in days.tolist()])),
        encode_cells("moment", days.astype("datetime64[us]")),
    ]
    types = ["continuous", "continuous", "continuous", "date", "date"]
    found = made(columns, types, np.arange(40) // 10).columns
    assert found["whole"].values.dtype == np.int64
    assert all("." not in t for t in found["text"].texts())
    assert numbers(found["price"]).tolist() == np.round(numbers(found["price"]), 2).tolist()
    assert not np.array_equal(numbers(found["price"]), np.round(numbers(found["price"]), 1))
    assert all(len(t) == 10 and t[2] == t[5] == "." for t in found["day"].texts())
    assert found["day"].values.tolist() == sorted(found["day"].values.tolist())
    assert found["moment"].values.dtype == np.dtype("datetime64[us]")
    assert (found["moment"].values == found["moment"].values.astype("datetime64[D]")).all()


def test_what_a_group_shares_stays_and_a_group_without_values_has_none() -> None:
    columns = [
        encode_cells("x", np.array([1 / 3, 1 / 3, 1 / 3, 3.0, 4.0, 5.5])),
        encode_cells("y", np.array([np.nan] * 3 + [1.0, 2.0, 4.0])),
    ]
    found = made(columns, ["continuous", "continuous"], [0, 0, 0, 1, 1, 1]).columns
    assert numbers(found["x"])[:3].tolist() == [1 / 3] * 3  # to the last bit
    assert np.isnan(numbers(found["y"])).tolist() == [True] * 3 + [False] * 3
    assert found["y"].has_missing


def test_bounds_that_everyone_knows_are_kept() -> None:
    columns = [encode_cells("change", np.array([-1, 0, 0, 0, 90] * 20))]
    free = numbers(made(columns, ["continuous"], np.arange(100) // 5).columns["change"])
    assert free.min() < -1
    kept = numbers(made(columns, ["continuous"], np.arange(100) // 5, bounds={"change": (-1, 50)}).columns["change"])
    assert (kept.min(), kept.max()) == (-1, 50)


def test_what_is_never_negative_stays_so_and_other_extremes_are_not_kept() -> None:
    labels = np.arange(100) // 5
    income = made([encode_cells("x", np.array([0, 0, 0, 0, 90] * 20))], ["continuous"], labels).columns["x"]
    assert numbers(income).min() == 0
    assert (numbers(income) == 0).mean() > 0.2  # what would have been negative
    ages = np.arange(100) + 20.25
    drawn = [numbers(made([encode_cells("x", ages)], ["continuous"], labels, seed=s).columns["x"]) for s in range(20)]
    assert np.min(drawn) < ages.min()
    assert np.max(drawn) > ages.max()


def test_dates_in_texts_are_days_even_where_a_group_shares_a_time() -> None:
    noon = objects(["2020-02-01 18:00:00"] * 3 + ["2020-02-01 17:00", "2020-03-01", "2020-04-01 09:30:00"])
    found = made([encode_cells("d", noon)], ["date"], [0, 0, 0, 1, 1, 1]).columns["d"]
    assert texts(found)[:3] == ["2020-02-02"] * 3
    assert len(set(found.texts())) == len(found.texts())


@pytest.mark.parametrize("shared", [170.0, 1e-300, -1e300, 0.0])
def test_a_column_of_one_number_leaves_the_others_alone(shared: float) -> None:
    columns = [encode_cells("x", np.full(20, shared)), encode_cells("y", np.arange(20.0) + 0.5)]
    with np.errstate(all="raise"):
        found = made(columns, ["continuous"] * 2, np.arange(20) // 5).columns
    assert numbers(found["x"]).tolist() == [shared] * 20
    assert not np.isnan(numbers(found["y"])).any()
    assert np.abs(numbers(found["y"]) - np.arange(20)).max() < 6


def test_huge_numbers_do_not_overflow() -> None:
    columns = [encode_cells("x", np.array([-1.7e308, 1.7e308, 1e308, -1e308]))]
    assert np.isfinite(numbers(made(columns, ["continuous"], [0] * 4).columns["x"])).all()


def is_copy(found: Condensed, columns: list[Column]) -> list[bool]:
    """The slow twin of the check: every pseudo-record among all originals, by what is written."""
    originals = set(zip(*(texts(c) for c in columns), strict=True))
    return [row in originals for row in zip(*(texts(found.columns[c.name]) for c in columns), strict=True)]


@pytest.mark.parametrize("seed", range(6))
def test_copies_are_drawn_again(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [
        encode_cells("x", rng.integers(0, 6, 300)),
        encode_cells("y", objects([None if v > 8 else str(v) for v in rng.integers(0, 10, 300)])),
        encode_cells("w", objects([None if v > 3 else "abcd"[v] for v in rng.integers(0, 5, 300)])),
    ]
    found = made(columns, ["continuous", "continuous", "nominal"], rng.permutation(np.arange(300) // 10), seed)
    report = found.copies
    assert report.n_copies > 20
    assert report.n_copies == report.n_redrawn + report.n_replaced + report.n_left
    assert report.n_left == 0
    assert sum(is_copy(found, columns)) == report.n_crowd
    assert report.n_records == 300


def test_without_the_check_there_would_be_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(11)
    columns = [encode_cells("x", rng.integers(0, 20, 200)), encode_cells("y", rng.integers(0, 20, 200))]
    labels = np.argsort(np.argsort(columns[0].codes, kind="stable")) // 5
    monkeypatch.setattr("shoal.tables.publish.condense.without_copies", lambda *_: (None, None))
    assert sum(is_copy(made(columns, ["continuous"] * 2, labels), columns)) > 0
    monkeypatch.undo()
    found = made(columns, ["continuous"] * 2, labels)
    assert sum(is_copy(found, columns)) == found.copies.n_crowd + found.copies.n_left == 0


def test_a_crowd_is_no_copy() -> None:
    columns = [encode_cells("x", np.array([4.0] * 5 + [9.0] * 5))]
    found = made(columns, ["continuous"], [0] * 5 + [1] * 5)
    assert found.copies.to_dict() == {
        "n_records": 10, "n_copies": 0, "n_redrawn": 0, "n_replaced": 0, "n_left": 0, "n_crowd": 10,
    }  # fmt: skip


def test_fewer_than_the_smallest_group_are_no_crowd() -> None:
    columns = [encode_cells("x", objects(["a"] * 4 + ["b"] * 96))]
    fours = made(columns, ["nominal"], np.arange(100) // 4).copies
    assert (fours.n_copies, fours.n_crowd) == (0, 100)
    fives = made(columns, ["nominal"], np.arange(100) // 5).copies
    assert fives.n_copies > 0
    assert fives.n_crowd == 100 - fives.n_left


def test_what_cannot_be_condensed_is_refused() -> None:
    columns = [encode_cells("x", np.array([1.0, 2.0, 3.0]))]
    with pytest.raises(Infeasible, match="group of one record"):
        made(columns, ["continuous"], [0, 0, 1])
    with pytest.raises(DataError, match="at least one attribute"):
        made([], [], [0, 0])
    with pytest.raises(DataError, match="infinite"):
        made([encode_cells("x", np.array([1.0, np.inf]))], ["continuous"], [0, 0])


def test_mixing_stays_inside_groups_and_is_even() -> None:
    labels = np.random.default_rng(3).permutation(np.arange(4000) // 4)
    groups = Groups.of(labels)
    order = mixed(groups, np.random.SeedSequence(5))
    assert sorted(order) == list(range(4000))
    assert (labels[order] == labels).all()
    assert (order == mixed(groups, np.random.SeedSequence(5))).all()
    assert (order != mixed(groups, np.random.SeedSequence(6))).any()
    # Of 4000 records about 1000 stay where they are, with a deviation of about 32.
    assert abs(int((order == np.arange(4000)).sum()) - 1000) < 160
