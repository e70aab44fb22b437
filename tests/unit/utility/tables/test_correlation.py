"""Associations against numpy, hand-made tables, and the expectation record by record."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Column, encode_cells
from shoal.utility.tables import correlation
from shoal.utility.tables.correlation import Association, associate, correlation_ratio, cramers_v
from shoal.utility.tables.grouping import Grouping
from shoal.utility.tables.reading import Reading, read_published
from shoal.utility.tables.scale import Scale, scale_of

N = 60  # fifteen groups of 2 to 6 records
RNG = np.random.default_rng(5)
X = RNG.normal(size=N).round(1)
Y = (X + RNG.normal(size=N)).round(1)
SEX = np.where(X + RNG.normal(size=N) > 0, "f", "m").astype(object)
JOB = np.array(["a", "b", "c"], dtype=object)[np.clip((Y + 1.5).astype(int), 0, 2)]
GROUPS = np.repeat(np.arange(15), np.arange(15) % 5 + 2).astype(np.int32)


def associated(columns: dict[str, tuple[str, np.ndarray, np.ndarray]]) -> Association:
    made, kept = Grouping.of(N, np.arange(N), GROUPS)
    scales: list[Scale] = []
    readings: list[Reading] = []
    for name, (type_, cells, published) in columns.items():
        attribute = Attribute(name, type_, "quasi")  # type: ignore[arg-type]
        scales.append(scale_of(encode_cells(name, cells), attribute))
        readings.append(read_published(scales[-1], encode_cells(name, published), kept, made))
    return associate(scales, readings, made)


def labels() -> np.ndarray:
    return np.array(["label"] * N, dtype=object)


def test_perfect_and_absent_association() -> None:
    assert cramers_v(np.array([[5.0, 0.0], [0.0, 7.0]])) == pytest.approx(1.0)
    assert cramers_v(np.array([[2.0, 4.0], [3.0, 6.0]])) == pytest.approx(0.0, abs=1e-7)
    assert cramers_v(np.array([[2.0, 4.0]])) == 0.0
    # chi2 = 40 (10 * 10 - 5 * 15)^2 / (15 * 25 * 25 * 15)
    assert cramers_v(np.array([[10.0, 5.0], [15.0, 10.0]])) == pytest.approx(
        np.sqrt((10 * 10 - 5 * 15) ** 2 / (15 * 25 * 25 * 15))
    )


def test_correlation_ratio_by_hand() -> None:
    z = np.array([-1.0, -1.0, 1.0, 1.0])
    assert correlation_ratio(np.array([-2.0, 2.0]), np.array([2.0, 2.0])) == pytest.approx(1.0)
    assert correlation_ratio(np.array([z[0] + z[2], z[1] + z[3]]), np.array([2.0, 2.0])) == 0.0


def test_before_agrees_with_numpy() -> None:
    found = associated({"x": ("continuous", X, X), "y": ("continuous", Y, Y), "sex": ("nominal", SEX, SEX)})
    assert found.before[0][1] == pytest.approx(np.corrcoef(X, Y)[0, 1])
    means = np.array([X[s == SEX].mean() for s in ("f", "m")])
    counts = np.array([(s == SEX).sum() for s in ("f", "m")])
    eta2 = np.dot(counts, (means - X.mean()) ** 2) / (N * X.var())
    assert found.before[0][2] == pytest.approx(np.sqrt(eta2))
    assert found.kinds == ("number", "number", "category")


def test_an_unchanged_release_changes_nothing() -> None:
    found = associated({"x": ("continuous", X, X), "sex": ("nominal", SEX, SEX), "job": ("nominal", JOB, JOB)})
    assert found.before == found.after
    assert found.mean_change == 0.0


def test_averages_of_groups_agree_with_numpy() -> None:
    means = np.array([X[g == GROUPS].mean() for g in GROUPS])
    found = associated({"x": ("continuous", X, means), "y": ("continuous", Y, Y)})
    assert found.after[0][1] == pytest.approx(np.corrcoef(means, Y)[0, 1])


def test_labels_are_expected_values_over_what_they_cover() -> None:
    """Slow twin: every record stands for all combinations that its group's labels allow, equally weighted."""
    found = associated(
        {
            "x": ("continuous", X, labels()),
            "sex": ("nominal", SEX, labels()),
            "job": ("nominal", JOB, labels()),
            "kept": ("nominal", JOB, JOB),
        }
    )
    table, by_sex, counts, kept = np.zeros((2, 3)), np.zeros(2), np.zeros(2), np.zeros((2, 3))
    low = np.array([X[g == GROUPS].min() for g in GROUPS])
    high = np.array([X[g == GROUPS].max() for g in GROUPS])
    centre = (low + high) / 2
    sd = np.sqrt(np.mean((centre - centre.mean()) ** 2 + (high - low) ** 2 / 12))
    for i in range(N):
        members = GROUPS[i] == GROUPS
        sexes, jobs = sorted(set(SEX[members])), sorted(set(JOB[members]))
        for s, j in itertools.product(sexes, jobs):
            table["fm".index(s), "abc".index(j)] += 1 / len(sexes) / len(jobs)
        for s in sexes:
            by_sex["fm".index(s)] += (centre[i] - centre.mean()) / sd / len(sexes)
            counts["fm".index(s)] += 1 / len(sexes)
            kept["fm".index(s), "abc".index(JOB[i])] += 1 / len(sexes)
    assert found.after[1][2] == pytest.approx(cramers_v(table))
    assert found.after[0][1] == pytest.approx(correlation_ratio(by_sex, counts))
    assert found.after[1][3] == pytest.approx(cramers_v(kept))


def test_chunks_of_groups_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {"x": ("continuous", X, labels()), "sex": ("nominal", SEX, labels()), "y": ("continuous", Y, Y)}
    whole = associated(columns)
    monkeypatch.setattr(correlation, "GROUPS_A_CHUNK", 4)
    assert np.allclose(associated(columns).after, whole.after)


def test_many_categories_are_lumped_and_many_attributes_left_out() -> None:
    names = np.array([f"v{i}" for i in range(N)], dtype=object)
    columns = {f"c{i}": ("nominal", names if i == 0 else SEX, labels()) for i in range(14)}
    found = associated(columns)
    assert len(found.names) == 12
    assert found.left_out == ("c12", "c13")
    assert np.isfinite(found.before).all()
    assert np.isfinite(found.after).all()


def test_constant_and_missing_columns_have_no_association() -> None:
    constant, missing = np.full(N, 0.1), np.full(N, np.nan)
    found = associated(
        {
            "constant": ("continuous", constant, constant),
            "missing": ("continuous", missing, missing),
            "x": ("continuous", X, labels()),
            "sex": ("nominal", SEX, labels()),
        }
    )
    for matrix in (found.before, found.after):
        assert np.allclose(np.array(matrix)[0, 1:], 0.0)
        assert np.allclose(np.array(matrix)[1, 2:], 0.0)


def test_a_code_of_a_missing_cell_is_a_category() -> None:
    holes = Column("h", np.where(X > 0, 0, 1).astype(np.int32), np.array(["v"], dtype=object), (None,))
    made, kept = Grouping.of(N, np.arange(N), GROUPS)
    scales = [scale_of(holes, Attribute("h", "nominal", "quasi")),
              scale_of(encode_cells("x", X), Attribute("x", "continuous", "quasi"))]  # fmt: skip
    readings = [
        read_published(scales[0], holes, kept, made),
        read_published(scales[1], encode_cells("x", X), kept, made),
    ]
    assert associate(scales, readings, made).before[0][1] > 0.5


@pytest.mark.parametrize(("n_rows", "steps"), [(1, 1 << 18), (50, 27), (50, 100), (50, 1)])
def test_products_in_stacks_are_those_of_the_slow_twin(
    n_rows: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(correlation, "STEPS_ALONE", steps)
    rng = np.random.default_rng(n_rows)
    block, weights = rng.normal(size=(n_rows, 3)), rng.integers(1, 9, n_rows)
    slow = [[sum(block[:, i] * block[:, j] * weights) for j in range(3)] for i in range(3)]
    assert correlation._products(block, weights) == pytest.approx(np.array(slow))
