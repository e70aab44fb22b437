"""The tests of `attack/tables/uniqueness.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.tables.case import TableCase
from shoal.attack.tables.uniqueness import Uniqueness
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table, encode_cells


def texts(name, cells):
    return encode_cells(name, np.array(cells, dtype=object))


def test_raw_records_fit_one_person_of_the_population(raw, release, people, rng):
    population = Table.of(raw.original[n] for n in ("age", "zip", "admission", "sex"))
    result = Uniqueness().run(replace(raw, population=population), rng)
    assert result.main.value == 1
    strong = replace(release(k=20, partition="mondrian", publish="generalise"), population=population)
    result = Uniqueness().run(strong, rng)
    assert result.main.value == 0
    assert result.details["median_people_that_fit"] >= 20
    assert not result.succeeds
    assert "no file" in Uniqueness().missing(raw)


def test_a_larger_population_hides_more(rng):
    published = Table.of([texts("q", ["[0..2]", "[0..2]", "9"])])
    original = Table.of([encode_cells("q", np.array([0, 2, 9]))])
    attributes = {"q": Attribute("q", "continuous", "quasi")}
    for more, unique in (([0, 1, 2, 9], 1), ([0, 1, 2, 9, 9], 0), ([1, 9], 3)):
        population = Table.of([encode_cells("q", np.array(more))])
        case = TableCase(published, original, None, ["q"], (), attributes, population=population)
        result = Uniqueness().run(case, rng)
        assert result.main.successes == unique
        assert result.details["unique_in_release"] == pytest.approx(1 / 3)
