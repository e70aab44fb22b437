"""The tests of `tables/publish/aggregate.py`."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import shoal
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Column
from shoal.errors import Infeasible
from shoal.tables.encoding import rank
from shoal.tables.groups import Groups
from shoal.tables.publish.aggregate import aggregate
from shoal.tables.publish.generalise import generalise


def column_of(cells: list[str | None], markers: tuple[str | None, ...] = ("?",)) -> Column:
    values = sorted({c for c in cells if c is not None})
    codes = [len(values) if c is None else values.index(c) for c in cells]
    return Column("x", np.array(codes, np.int32), np.array(values, dtype=object), markers if None in cells else ())


def shown(column: Column) -> list[str]:
    return [column.texts()[c] for c in column.codes]


def publish(cells, labels, attribute, how="generalise", missing="value", restore_variance=False, k=2) -> list[str]:
    column, groups = column_of(cells), Groups.of(np.array(labels))
    ranked = rank(column, attribute)
    if how == "generalise":
        return shown(generalise(column, ranked, groups, attribute.hierarchy, missing=missing))
    return shown(aggregate(column, ranked, groups, k=k, missing=missing, restore_variance=restore_variance).column)


NUMBER = Attribute("x", "continuous", "quasi")

WORD = Attribute("x", "nominal", "quasi")

GRADE = Attribute("x", "ordinal", "quasi", order=("low", "middle", "high"))

DATE = Attribute("x", "date", "quasi")


def test_averages() -> None:
    assert publish(["1", "2", "4", "4"], [0, 0, 1, 1], NUMBER, "aggregate") == ["1.5", "1.5", "4", "4"]
    assert publish(["low", "high", "high"], [0, 0, 0], GRADE, "aggregate") == ["high"] * 3
    assert publish(["low", "high"], [0, 0], GRADE, "aggregate") == ["low"] * 2
    assert publish(["b", "a", "b"], [0, 0, 0], WORD, "aggregate") == ["b"] * 3
    assert publish(["b", "a"], [0, 0], WORD, "aggregate") == ["a"] * 2
    assert publish(["2020-02-01", "2020-02-03"], [0, 0], DATE, "aggregate") == ["2020-02-02"] * 2
    assert publish(["01.02.2020", "03.02.2020"], [0, 0], DATE, "aggregate") == ["02.02.2020"] * 2


def test_averages_of_missing_values() -> None:
    assert publish(["1", "2", None], [0, 0, 0], NUMBER, "aggregate") == ["1.5"] * 3
    assert publish(["1", None, None], [0, 0, 0], NUMBER, "aggregate") == ["?"] * 3
    cells = ["1", "2", None, "7", None, "8", "9"]
    assert publish(cells, [0, 0, 1, 1, 1, 2, 2], NUMBER, "aggregate") == ["1.5"] * 2 + ["?"] * 3 + ["8.5"] * 2
    assert publish(cells, [0, 0, 1, 1, 1, 2, 2], NUMBER, "aggregate", "any") == ["1.5"] * 2 + ["8"] * 5
    assert publish(cells, [0, 0, 1, 2, 1, 2, 2], NUMBER, "aggregate", "any") == ["1.5"] * 2 + ["8"] + ["8"] * 4
    for few in ([None, None], ["1", None]):
        assert publish(few, [0, 0], NUMBER, "aggregate") == ["?", "?"]
        with pytest.raises(Infeasible, match="fewer than 2 records"):
            publish(few, [0, 0], NUMBER, "aggregate", "any")


def test_a_value_alone_shares_the_average_of_groups_beside_it() -> None:
    """One present value in the last group: nobody's cell is 100, or can be had from two averages."""
    cells, labels = ["1", "2", "3", "30", "31", "32", "100", None, None], [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert publish(cells, labels, NUMBER, "aggregate", "any", k=3) == ["2"] * 3 + ["48.25"] * 6
    assert publish(cells, labels, NUMBER, "aggregate", "value", k=3) == ["2"] * 3 + ["31"] * 3 + ["?"] * 3
    cells[7] = "102"  # more than half present: then it has an average under both
    assert publish(cells, labels, NUMBER, "aggregate", "value", k=3) == ["2"] * 3 + ["59"] * 6
    words = ["a", "a", "b", "b", "b", "b", "c", None, None]
    assert publish(words, labels, WORD, "aggregate", "any", k=3) == ["a"] * 3 + ["b"] * 6
    grades = ["low", "low", "low", "high", "middle", "middle", "high", None, None]
    assert publish(grades, labels, GRADE, "aggregate", "any", k=3) == ["low"] * 3 + ["middle"] * 6


def test_huge_numbers_keep_their_mean() -> None:
    assert publish(["1e308", "1.5e308"], [0, 0], NUMBER, "aggregate") == ["1.25e+308"] * 2
    assert publish(["-1.7e308", "1.7e308"], [0, 0], NUMBER, "aggregate") == ["0", "0"]


def test_a_huge_value_of_one_group_takes_no_digits_from_others() -> None:
    values, labels = ["1e30", "1e30", "0.1", "0.2", "-7", "-8"], [0, 0, 1, 1, 2, 2]
    assert publish(values, labels, NUMBER, "aggregate") == ["1e+30", "1e+30", "0.15", "0.15", "-7.5", "-7.5"]


def test_means_are_those_of_exact_fractions() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(0, 1, 300) * 10.0 ** rng.integers(-8, 12, 300)
    labels = np.sort(rng.integers(0, 40, 300))
    labels = np.unique(labels, return_inverse=True)[1]
    shown = [float(v) for v in publish([repr(float(v)) for v in values], labels.tolist(), NUMBER, "aggregate")]
    for group in range(labels.max() + 1):
        own = [Fraction(float(v)) for v in values[labels == group]]
        exact, span = sum(own) / len(own), float(max(own) - min(own))
        assert shown[int(np.flatnonzero(labels == group)[0])] == pytest.approx(
            float(exact), rel=1e-11, abs=1e-14 * span
        )


def test_variance_is_restored() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(50, 9, 60)
    labels = np.argsort(np.argsort(values)) // 5
    before = np.array([float(f"{v:.6f}") for v in values])
    after = np.array(
        [float(t) for t in publish([f"{v:.6f}" for v in values], labels, NUMBER, "aggregate", restore_variance=True)]
    )
    assert after.mean() == pytest.approx(before.mean())
    assert after.std() == pytest.approx(before.std(), rel=1e-9)
    one = publish(["14", "18", "17", "10", "18"], [0] * 5, NUMBER, "aggregate", restore_variance=True)
    assert one == ["15.4"] * 5
    plain = np.array([float(t) for t in publish([f"{v:.6f}" for v in values], labels, NUMBER, "aggregate")])
    assert plain.std() < 0.999 * before.std()


def test_restored_variance_of_huge_numbers_is_a_number() -> None:
    table = {"x": [1e200, 2e200, 3e200, 7e200, 8e200, 9e200]}
    policy = shoal.Policy.of(quasi=["x"], k=2, partition="mdav", restore_variance=True)
    assert np.isfinite(np.array(shoal.anonymize(table, policy).data["x"], dtype=float)).all()
