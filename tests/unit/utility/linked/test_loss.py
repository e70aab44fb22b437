"""Certainty lost in the quasi-identifiers of linked tables."""

from __future__ import annotations

import pytest

import shoal
from tests.linked_samples import clinic, policy


def test_rows_that_are_left_out_count_as_lost() -> None:
    release = shoal.anonymize(clinic(), policy(), seed=2)
    found = release.utility
    assert set(found.ncp["patients"]) == {"age", "sex"}
    assert set(found.ncp["visits"]) == {"ward"}
    assert found.ncp["labs"] == {}
    left = 1 - found.rows_out["visits"] / found.rows_in["visits"]
    assert left <= found.ncp["visits"]["ward"] <= 1
    cells = {"patients": 40, "visits": found.rows_in["visits"]}
    total = sum(cells[name] * value for name, own in found.ncp.items() for value in own.values())
    assert found.gcp == pytest.approx(total / (2 * 40 + cells["visits"]))
    assert found.to_dict()["gcp"] == found.gcp
