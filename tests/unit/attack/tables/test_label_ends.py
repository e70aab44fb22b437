"""The tests of `attack/tables/label_ends.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.tables.case import TableCase
from shoal.attack.tables.label_ends import LabelEnds
from shoal.data.tables.table import Table, encode_cells
from shoal.kinds.tables.policy import Policy
from shoal.tables.anonymize import anonymize_table

N = 1000


def case_of(cells, kind, *, ends, k=5):
    original = Table.of(encode_cells(name, np.array(values)) for name, values in cells.items())
    policy = Policy.model_validate(
        {
            "columns": {name: {"role": "quasi", "type": kind} for name in cells},
            "require": [{"model": "k-anonymity", "k": k}],
            "method": {"ends": ends},
        }
    )
    made = anonymize_table(original, policy, seed=1)
    rows = made.rows.astype(np.int64)
    return TableCase(made.table, original, None, list(cells), [], made.attributes, rows=rows)


def made_up(kind):
    draw = np.random.default_rng(5)
    if kind == "whole":
        return {f"c{i}": draw.integers(0, 80, N) for i in range(3)}, "continuous"
    if kind == "decimal":
        return {f"c{i}": np.round(draw.normal(50, 10, N), 2) for i in range(3)}, "continuous"
    days = [(np.datetime64("2015-01-01") + draw.integers(0, 3000, N)).astype(str) for _ in range(2)]
    return {f"c{i}": d.astype(object) for i, d in enumerate(days)}, "date"


@pytest.mark.parametrize("kind", ["whole", "decimal", "date"])
def test_from_every_claim_to_guessing(kind):
    cells, type_ = made_up(kind)
    exact = LabelEnds().run(case_of(cells, type_, ends="exact"), np.random.default_rng(0))
    assert exact.main.value == 1
    assert exact.risk.low > 0.9
    assert exact.columns == tuple(cells)
    rounded = LabelEnds().run(case_of(cells, type_, ends="rounded"), np.random.default_rng(0))
    assert rounded.risk.value < 0.08
    assert rounded.main.value < rounded.baseline.value + 0.08


def test_claims_are_counted_as_one_would_by_hand(rng):
    original = Table.of([encode_cells("q", np.array([10, 14, 15, 21, 22, 30]))])
    labels = ["[10..15]", "[10..15]", "[10..15]", "[20..30]", "[20..30]", "[20..30]"]
    published = original.with_columns({"q": encode_cells("q", np.array(labels, dtype=object))})
    case = TableCase(published, original, None, ["q"], [], rows=np.arange(6))
    result = LabelEnds().run(case, rng)
    assert (result.main.successes, result.main.attempts) == (4, 4)  # 10, 15, 21 (the least from 20 on) and 30
    assert result.details["ends of q"] == 1
    moved = replace(case, original=Table.of([encode_cells("q", np.array([12, 14, 15, 10, 22, 29]))]))
    assert LabelEnds().run(moved, rng).main.successes == 3  # 10 belongs to another class


def test_it_needs_ranges_and_who_is_who(raw, release):
    assert "published as a range" in LabelEnds().missing(raw)
    assert "slices" in LabelEnds().missing(release(l=3, publish="screen"))
    assert "not known" in LabelEnds().missing(replace(release(), rows=None))
    assert LabelEnds().missing(release()) is None


def test_values_that_groups_share_are_no_ranges(rng):
    original = Table.of([encode_cells("q", np.array([1, 1, 2, 2, 5, 9]))])
    published = original.with_columns(
        {"q": encode_cells("q", np.array(["1", "1", "2", "2", "[5..9]", "[5..9]"], dtype=object))}
    )
    result = LabelEnds().run(TableCase(published, original, None, ["q"], [], rows=np.arange(6)), rng)
    assert result.main.attempts == 2
