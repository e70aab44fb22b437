"""Risks of re-identification from class sizes."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from shoal.check import classes_of, population_sizes, risk_of
from shoal.check.tables.risk import BINS
from shoal.errors import DataError
from tests.unit.check.tables.slow_check import table


def sized(*sizes):
    return table(a=[f"c{i}" for i, n in enumerate(sizes) for _ in range(n)])


def test_risks_of_known_sizes():
    risk = risk_of(classes_of(sized(1, 1, 2, 6), ["a"]), k=3)
    assert (risk.n_records, risk.n_classes, risk.n_unique, risk.unique_share) == (10, 4, 2, 0.2)
    assert (risk.n_below_k, risk.below_k_share) == (4, 0.4)
    assert (risk.prosecutor_highest, risk.prosecutor_average, risk.marketer) == (1.0, 0.4, 0.4)
    assert not risk.population_known
    assert (risk.journalist_highest, risk.journalist_average) == (1.0, pytest.approx(0.4))
    assert json.loads(json.dumps(risk.to_dict()))["records_by_class_size"]["5-9"] == 6
    with pytest.raises(dataclasses.FrozenInstanceError):
        risk.k = 2


def test_sentences_say_what_is_a_bound():
    classes = classes_of(sized(1, 1, 2, 6), ["a"])
    assert risk_of(classes).sentences == (
        "2 records of 10 (20 %) are unique by the quasi-identifiers; 4 (40 %) stand in groups of fewer than 5.",
        "An attacker who knows that a record is in the table picks it with a chance of 100 % at worst, 40 % on average.",
        "One who does not know this picks the right one with a chance of "
        "100 % at worst, at most 40 % on average, as the population is not known.",
        "One who matches all records with a register gets at most 40 % of them right.",
    )
    known = risk_of(classes, population=np.array([2, 4, 4, 60])).sentences
    assert known[3] == "One who matches all records with a register gets 13.5 % of them right."


def test_histogram_has_every_record_in_the_bin_of_its_class():
    sizes = [1, 2, 3, 4, 5, 9, 10, 19, 20, 49, 50, 99, 100, 250]
    risk = risk_of(classes_of(sized(*sizes), ["a"]), k=2)
    expected = [1, 2, 3 + 4, 5 + 9, 10 + 19, 20 + 49, 50 + 99, 100 + 250]
    assert risk.records_by_class_size == dict(zip(BINS, expected, strict=True))


def test_average_risk_is_the_mean_over_records():
    rng = np.random.default_rng(2)
    classes = classes_of(sized(*rng.integers(1, 30, 50)), ["a"])
    risk = risk_of(classes, k=5)
    assert risk.prosecutor_average == pytest.approx((1 / classes.sizes[classes.ids]).mean())
    assert risk.n_below_k == (classes.sizes[classes.ids] < 5).sum()


def test_a_population_lowers_the_risk_of_the_journalist():
    sample = table(age=[30.0, 30.0, 40.0], city=["x", "x", "y"])
    population = table(city=["y"] * 5 + ["x"] * 4 + ["z"], age=["40"] * 5 + ["30"] * 4 + ["30"])
    classes = classes_of(sample, ["age", "city"])
    crowd = population_sizes(classes, population)
    assert crowd.tolist() == [4, 5]
    risk = risk_of(classes, k=2, population=crowd)
    assert risk.population_known
    assert (risk.journalist_highest, risk.prosecutor_highest) == (0.25, 1.0)
    assert risk.journalist_average == risk.marketer == pytest.approx((2 / 4 + 1 / 5) / 3)


def test_a_population_that_lacks_a_class_does_not_lower_its_risk():
    sample = table(a=["x", "x", "y", None])
    crowd = population_sizes(classes_of(sample, ["a"]), table(a=["x", "x", "x", "?"]))
    assert crowd.tolist() == [3, 0, 1]
    risk = risk_of(classes_of(sample, ["a"]), k=2, population=crowd)
    assert risk.journalist_highest == 1.0
    fewer = risk_of(classes_of(table(a=["x", "x"]), ["a"]), population=np.array([1]))
    assert fewer.journalist_highest == 0.5
    with pytest.raises(DataError, match="recode"):
        population_sizes(classes_of(sample, ["a"]), table(a=["q"]))
