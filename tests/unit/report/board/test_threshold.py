"""The threshold: by what is stated, and in doubt the one for public release."""

from __future__ import annotations

import pytest

from shoal.report.board.threshold import Threshold


@pytest.mark.parametrize(
    ("context", "value"),
    [
        ({}, 0.09),
        ({"release_model": "public"}, 0.09),
        ({"release_model": "public", "harms": "stigma"}, 0.05),
        ({"release_model": "agreement"}, 0.09),
        ({"release_model": "agreement", "harms": "stigma"}, 0.09),
        ({"release_model": "safe setting"}, 0.33),
        ({"release_model": "safe setting", "acceptable_risk": 0.2}, 0.2),
    ],
)
def test_the_threshold_follows_from_the_context(context: dict[str, object], value: float) -> None:
    found = Threshold.of(context)
    assert found.value == value
    assert found.why
    assert found.verdict(value) == "at or below"
    assert found.verdict(value * 1.01) == "above"
    assert found.verdict(None) == "not measured"
