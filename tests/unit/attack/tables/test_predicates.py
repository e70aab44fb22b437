"""The tests of `attack/tables/predicates.py`."""

from __future__ import annotations

import numpy as np

from shoal.attack.tables.cells import read_view
from shoal.attack.tables.predicates import AT_LEAST, AT_MOST, EQUAL, Crowd, about_people, about_records, records_of
from shoal.attack.tables.singling_out import SinglingOut, _direction


def test_predicates_that_fit_one_raw_record_fit_one_person(raw, rng):
    view = read_view(raw, ["age", "zip", "occupation", "admission"])
    predicates, n_alone = SinglingOut()._predicates(view, 300, rng)
    assert n_alone == predicates.n == predicates.distinct().n == 300
    records = Crowd(records_of(view))
    assert set(records.count(about_records(predicates, view), 9).tolist()) == {1}
    assert set(Crowd(view.original).count(about_people(predicates, view), 9).tolist()) == {1}


def test_numbers_are_used_on_the_side_where_fewer_lie(raw):
    view = read_view(raw, ["age", "sex"])
    ages = view.labels[0]
    used = _direction(view, 0)[ages.codes]
    middle = np.median(ages.low[ages.codes])
    assert set(used[ages.low[ages.codes] > middle].tolist()) == {AT_LEAST}
    assert set(used[ages.low[ages.codes] <= middle].tolist()) == {AT_MOST}
    assert set(_direction(view, 1).tolist()) == {EQUAL}
