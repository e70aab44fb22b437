"""The tests of `attack/result.py`."""

from __future__ import annotations

import pytest

from shoal.attack.result import AttackResult, Rate
from shoal.report.attacks import verdict


def result(name: str, main: Rate, control: Rate | None, sentence: str = "It got so much.") -> AttackResult:
    return AttackResult(name, f"title of {name}", "the release", main, control, Rate(1, 100), sentence)


WON = result("membership", Rate(90, 100), Rate(5, 100))

LOST = result("length", Rate(6, 100), Rate(5, 100))


@pytest.mark.parametrize(
    ("results", "says"),
    [
        ((), "No attack could be run."),
        ((LOST,), "None of 1 attacks got more"),
        ((WON, LOST), "1 of 2 attacks got more"),
    ],
)
def test_one_sentence_on_all(results: tuple[AttackResult, ...], says: str) -> None:
    assert verdict(results).startswith(says)
