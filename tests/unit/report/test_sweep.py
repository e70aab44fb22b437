"""The tests of `report/sweep.py`."""

from __future__ import annotations

from html import unescape

import shoal
from shoal.report.sweep import as_text, reasons, render_sweep, verdict
from tests.unit.sweep.people import PEOPLE, ROLES, N


def test_what_cannot_be_made_does_not_stop_the_rest() -> None:
    found = shoal.sweep(PEOPLE, ROLES, k=[3, N + 1], partitions=["univariate", "mondrian"])
    assert [c.status for c in found.cells] == ["refused", "infeasible", "holds", "infeasible"]
    assert "lower k" in found.cells[1].sentence
    told = dict(reasons(found))
    assert set(told) == {f"univariate with k = {N + 1} and mondrian with k = {N + 1}", "univariate with k = 3"}
    assert found.frontier == (found.cells[2],)
    assert found.cells[1].n_suppressed is None
    page = render_sweep(found)
    assert found.cells[1].sentence in page
    assert page.count("✗") == 3


def test_nothing_at_the_policys_k_is_said() -> None:
    found = shoal.sweep(PEOPLE, ROLES.changed(k=30), k=[2], partitions=["mondrian"])
    assert found.proposed is None
    assert found.options == ()
    assert "k = 30" in verdict(found)
    none = shoal.sweep(PEOPLE, ROLES, k=[500], partitions=["mondrian"])
    assert "Nothing" in verdict(none)
    assert "<figure" not in render_sweep(none)
    assert as_text(none)[-1] == verdict(none)


def test_the_columns_that_stop_all_of_them_are_named_in_the_verdict() -> None:
    people = {**PEOPLE, "visit": [f"v{i}" for i in range(N)]}
    found = shoal.sweep(
        people, ROLES.changed(columns={"visit": {"role": "insensitive"}}), k=[3], partitions=["mondrian"]
    )
    assert "Whoever knows 'visit' finds 100 %" in verdict(found)
    assert "Whoever knows 'visit' finds 100 %" in unescape(render_sweep(found))
    assert sum("Whoever knows" in line for line in as_text(found)) == 1
