"""The tests of `report/page.py`."""

from __future__ import annotations

from dataclasses import replace

import shoal
from shoal.report.page import POLICY
from shoal.report.sweep import render_sweep
from tests.unit.sweep.people import PEOPLE, ROLES


def test_the_page_runs_nothing_and_marks_the_frontier_by_shape() -> None:
    found = shoal.sweep(PEOPLE, ROLES, k=[2, 3, 5], partitions=["mdav", "mondrian"])
    page = render_sweep(replace(found, title="<script>alert(1)</script>"))
    assert "<script" not in page
    assert POLICY in page.replace("&#39;", "'")
    assert page.count("◆") == 1 + len(found.frontier)
    assert page.count("○") == 1 + len(found.cells) - len(found.frontier)
    assert page.count("<svg") == 1
    for c in found.cells:
        assert f"{c.partition} k = {c.k}: risk" in page
    assert render_sweep(found) == render_sweep(found)
