"""A verdict holds if everything was recomputed, and holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shoal.check.verdict import Verdict


def test_nothing_left_open_holds() -> None:
    assert Verdict(()).holds


@pytest.mark.parametrize("left", ["unverified", "findings", "not_compared"])
def test_anything_left_open_does_not_hold(left: str) -> None:
    assert not replace(Verdict(()), **{left: ("a sentence",)}).holds
