"""The tests of `attack/sparse/targets.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.attack.sparse.linear_estimate import LinearEstimate, Prior, holds, name_items
from shoal.attack.sparse.signs import signs_of
from shoal.attack.sparse.targets import Targets, candidate_items, matrix_of, sketch_records
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from tests.unit.attack.sparse.sketch_cases import KEY, N_ITEMS, make_records


def test_a_control_of_other_names_and_order_is_read_by_name(case_of):
    case = case_of(200, 12)
    order = np.random.default_rng(2).permutation(N_ITEMS)
    control = case.control
    renamed = Sparse(
        control.starts,
        np.argsort(order)[control.items].astype(np.int32),
        control.weights,
        (*(control.names[i] for i in order), "never seen"),
    )
    assert (matrix_of(renamed, case.original).toarray() == matrix_of(control).toarray()).all()
    ours, theirs = (
        LinearEstimate(n_records=100).run(replace(case, control=c), np.random.default_rng(0))
        for c in (control, renamed)
    )
    assert ours.to_dict() == theirs.to_dict()


def test_records_hold_the_items_that_they_hold():
    records = make_records(30, 8)
    items = np.random.default_rng(0).integers(0, 12, 30)
    truth = [int(item) in records.items[slice(*records.starts[i : i + 2])] for i, item in enumerate(items)]
    assert holds(matrix_of(records), items).tolist() == truth


def test_more_components_than_items_are_no_trouble():
    records = make_records(40, 9).take(np.arange(40))
    components = sketch_records(records, KEY, 200)
    starts = np.arange(41) * 200
    targets = Targets(Sketches(starts, components.ravel().astype(np.int64)), records, components)
    columns = candidate_items(records, 10_000)
    found = name_items(targets, columns, signs_of(records, columns, KEY, 200), Prior.of(records, columns))
    assert found.right.all()
    assert found.error < 1e-4
