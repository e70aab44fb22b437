"""The tests of `attack/tables/membership.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.tables.membership import TableMembership


def test_members_of_a_raw_release_are_recognised(raw, rng):
    result = TableMembership().run(raw, rng)
    assert result.main.value > 0.95
    assert result.details["area_under_curve"] > 0.99
    assert result.succeeds


def test_members_of_a_strong_release_are_not(raw, rng):
    # records of a third group of people, who are neither: the best that can be published
    third = replace(raw, published=raw.control.take(np.arange(300)), control=raw.control.take(np.arange(300, 600)))
    result = TableMembership().run(third, rng)
    assert not result.succeeds
    assert result.details["area_under_curve"] == pytest.approx(0.5, abs=0.06)


def test_members_of_sliced_tables(release, rng):
    bucketized = TableMembership().run(release(l=3, publish="bucketize"), rng)
    assert bucketized.main.value > 0.95  # the quasi-identifiers stand there as they are
    screened = TableMembership().run(release(l=3, publish="screen"), rng)
    assert screened.main.value < 0.1


def test_membership_needs_controls(raw):
    assert "false alarm" in TableMembership().missing(replace(raw, control=None))
