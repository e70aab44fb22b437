"""The report of a stream: what is known of it, and no record."""

from __future__ import annotations

from pathlib import Path

import shoal
from shoal.check.stream.lines import NOT_KEPT
from shoal.report.stream import NOT_ATTACKED, render_stream_report
from shoal.stream.pump import Delay
from shoal.stream.stream import Streamed


def test_a_saved_stream_has_a_page(tmp_path: Path) -> None:
    rows = ({"age": 20 + i % 50, "disease": f"secret <{i}>"} for i in range(42))
    policy = shoal.Policy.of(quasi=["age"], sensitive=["disease"], k=5, accept={"unprotected": "a test"}, singled_out=1)
    shoal.stream(rows, policy, delay=20, seed=77).save(tmp_path / "out")
    page = (tmp_path / "out" / "private" / "report.html").read_text()
    for said in (
        "A stream of 42 records",
        "40",
        "2 of 42 records were suppressed",
        "NCP of age",
        "5-anonymity",
        "holds",
    ):
        assert said in page
    assert NOT_ATTACKED in page
    assert "secret" not in page
    assert 'class="verdict amber"' in page


def test_what_cannot_be_recomputed_is_told_in_place_of_a_guarantee() -> None:
    made = Streamed({"in": 30, "out": 30, "suppressed": 0}, {}, 2, {})
    page = render_stream_report(made, Delay(20, 5.0), (), (NOT_KEPT,))
    assert NOT_KEPT in page
    assert "No record was suppressed." in page
    assert "20 records or 5 seconds" in page
    assert "What it cost</h2>" not in page
