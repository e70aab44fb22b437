"""The tests of `attack/tables/membership.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.cases import TableCase
from shoal.attack.tables import Membership
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import Layout
from shoal.data.tables.table import Table, encode_cells


def texts(name, cells):
    return encode_cells(name, np.array(cells, dtype=object))


def test_members_of_a_raw_release_are_recognised(raw, rng):
    result = Membership().run(raw, rng)
    assert result.main.value > 0.95
    assert result.details["area_under_curve"] > 0.99
    assert result.succeeds


def test_members_of_a_strong_release_are_not(raw, rng):
    # records of a third group of people, who are neither: the best that can be published
    third = replace(raw, published=raw.control.take(np.arange(300)), control=raw.control.take(np.arange(300, 600)))
    result = Membership().run(third, rng)
    assert not result.succeeds
    assert result.details["area_under_curve"] == pytest.approx(0.5, abs=0.06)


def test_members_of_sliced_tables(release, rng):
    bucketized = Membership().run(release(l=3, publish="bucketize"), rng)
    assert bucketized.main.value > 0.95  # the quasi-identifiers stand there as they are
    screened = Membership().run(release(l=3, publish="screen"), rng)
    assert screened.main.value < 0.1


def test_membership_needs_controls(raw):
    assert "false alarm" in Membership().missing(replace(raw, control=None))


def screened(zips, swapped):
    """The printed table of screening in small: zip codes of the first slice tell the secret of one row."""
    layout = Layout.of([["zip", "s"], ["age", "s"]])
    original = Table.of(
        [
            encode_cells("age", np.array([21, 22, 31, 32])),
            texts("zip", ["40101", "40201", "40202", "40203"]),
            texts("s", ["low", "mid", "high", "top"]),
        ]
    )
    order = np.array(swapped)
    published = Table.of(
        [
            encode_cells("bucket", np.ones(4, dtype=np.int64)),
            texts("zip", zips).take(order),
            replace(original["s"], name="s@1").take(order),
            texts("age", ["[21..32]"] * 4),
            replace(original["s"], name="s@2"),
        ]
    )
    attributes = {
        "age": Attribute("age", "continuous", "quasi"),
        "zip": Attribute("zip", "prefix", "quasi"),
        "s": Attribute("s", "nominal", "sensitive"),
    }
    return TableCase(published, original, None, ["age", "zip"], ["s"], attributes, "screen", layout)
