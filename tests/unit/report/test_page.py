"""The tests of `report/page.py`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import shoal
from shoal.kinds.tables.policy import Policy
from shoal.report.page import POLICY
from shoal.report.sweep import render_sweep

SECRET = "Zanzibar77"

N = 40

PEOPLE: dict[str, list[Any]] = {
    "name": [f"person {i}" for i in range(N)],
    "age": [20 + (7 * i) % 50 for i in range(N)],
    "zip": [f"{10000 + 37 * ((5 * i) % 11)}" for i in range(N)],
    "city": [SECRET if i == 20 else ("Ayr", "Bath", "Cork")[i % 3] for i in range(N)],
    "disease": [("flu", "cold", "gout", "ulcer")[(i * i + i // 4) % 4] for i in range(N)],
}

ROLES = Policy.of(quasi=["age", "zip", "city"], sensitive=["disease"], identifying=["name"], k=3)


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
