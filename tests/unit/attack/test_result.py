"""The tests of `attack/result.py`."""

from __future__ import annotations

import pytest

from shoal.attack.result import AddedRisk, AttackResult, Rate
from shoal.report.attacks import verdict
from shoal.report.verdict import as_finding


def result(name: str, main: Rate, control: Rate | None, sentence: str = "It got so much.") -> AttackResult:
    return AttackResult(name, f"title of {name}", "the release", main, control, Rate(1, 100), sentence)


WON = result("membership", Rate(90, 100), Rate(5, 100))

LOST = result("length", Rate(6, 100), Rate(5, 100))

LOST_TOO = result("copies", Rate(5, 100), Rate(5, 100))


@pytest.mark.parametrize(
    ("results", "says"),
    [
        ((), "No attack could be run."),
        ((LOST,), "The one attack achieved no more with the release than without it."),
        ((WON,), "The one attack achieved more with the release than without it: title of membership."),
        ((LOST, LOST_TOO), "None of 2 attacks achieved more"),
        ((WON, LOST), "1 of 2 attacks achieved more"),
    ],
)
def test_one_sentence_on_all(results: tuple[AttackResult, ...], says: str) -> None:
    assert verdict(results).startswith(says)


def test_what_may_be_added_is_judged_by_the_upper_end():
    few = AttackResult("a", "t", "k", Rate(2, 20), None, Rate(1, 20))
    assert few.may_add_more_than(0.1)
    assert not few.may_add_more_than(0.9)
    many = AttackResult("a", "t", "k", Rate(200, 2000), None, Rate(100, 2000))
    assert not many.may_add_more_than(0.1)
    assert many.may_add_more_than(0.02)
    known_anyway = AttackResult("a", "t", "k", Rate(500, 500), None, Rate(500, 500))
    assert not known_anyway.may_add_more_than(0.1)
    assert not AttackResult("a", "t", "k", Rate(0, 0)).may_add_more_than(0.1)


def test_where_nearly_all_guesses_are_right_no_more_can_be_added_than_is_left():
    """As of sets of categories, whose members are all of the group; the share of what is left is 0 of 0."""
    sets = AddedRisk.of(Rate(600, 600), Rate(600, 600))
    assert (sets.value, sets.low) == (0, 0)
    assert sets.high == pytest.approx(1 - Rate(600, 600).low)
    assert sets.high < 0.025
    assert AddedRisk.of(Rate(600, 600), Rate(599, 600)).high < 0.025
    assert AddedRisk.of(Rate(20, 20), Rate(20, 20)).high == 1
    assert AddedRisk.of(Rate(600, 600), Rate(540, 600)).high > 0.9


def test_a_rare_secret_that_the_release_tells_is_not_excused_by_how_rare_it_is():
    told = AddedRisk.of(Rate(5000, 5000), Rate(4900, 5000))
    assert told.low > 0.9


def test_columns_and_what_is_admitted_are_read_back():
    told = AttackResult("a", "t", "k", Rate(2, 20), columns=("zip",), admitted=0.2)
    assert AttackResult.from_dict(told.to_dict()) == told
    old = {n: v for n, v in told.to_dict().items() if n not in ("columns", "admitted")}
    assert AttackResult.from_dict(old).columns == ()


@pytest.mark.parametrize(
    ("main", "control", "word"),
    [
        (Rate(60, 200), Rate(2, 200), "SUCCEEDS"),
        (Rate(2, 200), Rate(0, 200), "found"),
        (Rate(1, 200), Rate(0, 200), "found"),
        (Rate(0, 200), Rate(0, 200), "fails"),
        (Rate(2, 200), Rate(2, 200), "fails"),
    ],
)
def test_a_few_that_chance_would_not_get_are_found(main: Rate, control: Rate, word: str) -> None:
    result = AttackResult("a", "an attack", "all", main, control, Rate(0.1, 200))
    assert result.outcome == word


def test_an_area_above_the_limit_is_a_success_where_chance_does_not_explain_it() -> None:
    """56 of 100 above the middle of others is within chance; the whole curve of the same scores need not be."""
    for area, error, told, succeeds in ((0.57, 0.02, 0.07, True), (0.57, 0.05, 0.0, False), (0.54, 0.01, 0.04, False)):
        details = {"area_under_curve": area, "area_error": error}
        found = AttackResult("a", "a", "all", Rate(56, 100), Rate(50, 100), details=details)
        assert found.told == pytest.approx(told)
        assert found.succeeds is succeeds
        assert as_finding(found, None, {}).is_above is succeeds
