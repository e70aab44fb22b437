"""Membership is plain with the key and near chance without it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.sparse.membership import SketchMembership, by_length, by_sketch
from shoal.attack.sparse.targets import sketch_records


def test_with_the_key_members_are_found(weak):
    result = SketchMembership().run(weak, np.random.default_rng(0))
    assert result.main.value > 0.99
    assert result.control.value == 0
    assert result.details["area_under_curve_with_key"] > 0.99
    assert result.details["hits_at_1_percent_false_alarms_with_key"] > 0.99
    assert result.succeeds


def test_without_the_key_it_is_chance(weak):
    result = SketchMembership().run(replace(weak, key=None), np.random.default_rng(0))
    assert result.details["area_under_curve_without_key"] == pytest.approx(0.5, abs=0.07)
    assert "area_under_curve_with_key" not in result.details
    assert not result.succeeds


def test_a_wrong_key_is_no_key(weak):
    result = SketchMembership().run(replace(weak, key=b"another key of thirty-two bytes!"), np.random.default_rng(0))
    assert result.main.value <= 0.01
    assert not result.succeeds
    assert result.details["area_under_curve_with_key"] == 0.5


def test_few_components_hide_members_somewhat(strong, weak):
    area = [
        SketchMembership().run(case, np.random.default_rng(0)).details["area_under_curve_with_key"]
        for case in (strong, weak)
    ]
    assert area[0] < 0.8 < area[1]


@pytest.mark.parametrize("kind", ["binary", "real"])
def test_equal_prefixes_are_found_like_one_by_one(case_of, kind):
    case = case_of(60, 3, kind, step=1.0)
    records = case.control
    step = None if case.published.is_integral else case.published.step
    ours = sketch_records(records, case.key, 3, step)
    slow = []
    for sketch in ours:
        ends = zip(case.published.starts, case.published.starts[1:], strict=False)
        equal = [b - a for a, b in ends if (case.published.components[a:b] == sketch[: b - a]).all()]
        slow.append(max(equal, default=0))
    assert 0 < sum(slow) < 3 * len(slow)
    assert by_sketch(case.published, records, case.key).tolist() == slow


def test_a_length_of_the_wrong_parity_does_not_count(case_of):
    case = case_of(50, 4)
    odd = np.flatnonzero(case.original.sizes[case.rows] % 2 == 1)
    scores = by_length(case.published.take(odd), case.original)
    assert (np.isfinite(scores) == (case.original.sizes % 2 == 1)).all()


def test_it_says_what_it_lacks(weak):
    assert SketchMembership().missing(weak) is None
    assert "hold some out" in SketchMembership().missing(replace(weak, control=None))
