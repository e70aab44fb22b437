"""When an attack is judged to stay below a risk."""

from __future__ import annotations

import json

import pytest

from shoal.attack.result import AttackResult, Rate
from shoal.harden.step import Judged, Step, expected_bound, pooled


def result(main: Rate, control: Rate | None = None) -> AttackResult:
    return AttackResult("guess", "guessing", "nothing", main, control)


def judged(main: Rate, control: Rate | None = None) -> Judged:
    found = result(main, control)
    return Judged(found, found.risk.high)


def test_a_bound_above_the_risk_fails_and_one_below_does_not() -> None:
    assert judged(Rate(200, 2000), Rate(0, 2000)).fails_to_stay_below(0.09)
    assert not judged(Rate(100, 2000), Rate(0, 2000)).fails_to_stay_below(0.09)


@pytest.mark.parametrize("attempts", [0, 2, 30])
def test_too_few_attempts_without_a_success_are_undecided(attempts: int) -> None:
    one = judged(Rate(0, attempts), Rate(0, 500))
    assert one.bound > 0.09
    assert one.is_undecided(0.09)
    assert not one.fails_to_stay_below(0.09)


def test_one_success_in_few_attempts_fails() -> None:
    one = judged(Rate(1, 9), Rate(9, 9))
    assert one.fails_to_stay_below(0.09)
    assert not one.is_undecided(0.09)


def test_more_attempts_with_the_same_rates_bring_the_bound_down_to_what_was_added() -> None:
    small = result(Rate(60, 200), Rate(40, 200))
    bounds = [expected_bound(small, times, times) for times in (1, 4, 100, 1e6)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] == small.risk.high
    assert bounds[-1] == pytest.approx((0.3 - 0.2) / 0.8, abs=1e-3)


def test_the_least_bound_is_what_equal_rates_would_give() -> None:
    one = judged(Rate(500, 1000), Rate(100, 300))
    other = judged(Rate(1000 / 3, 1000), Rate(100, 300))
    assert one.least_bound == pytest.approx(other.bound)
    assert judged(Rate(5, 100)).least_bound == Rate(0, 100).high


def test_a_step_is_as_bad_as_its_worst_attack_that_ever_succeeded() -> None:
    few, bad, good = judged(Rate(0, 3)), judged(Rate(300, 1000)), judged(Rate(1, 1000))
    step = Step({}, "attacked", loss=0.2, judged=(few, good, bad))
    assert step.worst is bad
    assert step.bound == bad.bound
    assert step.failing(0.1) == (bad.result,)
    assert step.undecided(0.1) == (few.result,)
    assert not step.stays_below(0.1)
    assert Step({}, "attacked", loss=0.2, judged=(few, good)).stays_below(0.1)
    assert not Step({}, "infeasible", "too few").stays_below(0.1)
    assert Step({}, "infeasible", "too few").bound == 1.0
    assert Step({}, "attacked", loss=0.2).worst is None


def test_a_step_reads_back_from_json() -> None:
    step = Step(
        {"k": 5}, "attacked", "", True, 0.25,
        (judged(Rate(3, 10), Rate(1, 10)),), (("other", "no data"),), {"loss": {"age": 0.5}},
    )  # fmt: skip
    assert Step.from_dict(json.loads(json.dumps(step.to_dict()))) == step


def test_an_attack_is_short_of_attempts_only_by_their_number_and_where_more_would_help() -> None:
    for successes in (0, 1, 30):
        assert judged(Rate(successes, 60), Rate(0, 60)).is_short_of(1000, 0.05, 5)
    assert not judged(Rate(1, 60), Rate(0, 60)).is_short_of(100, 0.05, 5)  # as many as it was allowed, or nearly
    assert not judged(Rate(1, 400), Rate(0, 400)).is_short_of(1000, 0.05, 5)  # enough
    assert not judged(Rate(1, 2), Rate(0, 2)).is_short_of(1000, 0.05, 5)  # five times as many are too few
    assert not judged(Rate(0, 0)).is_short_of(1000, 0.05, 5)


def test_attacks_on_several_releases_are_counted_together() -> None:
    found = pooled([result(Rate(1, 60), Rate(2, 50)), result(Rate(0, 40), Rate(1, 50))])
    assert (found.main, found.control, found.baseline) == (Rate(1, 100), Rate(3, 100), None)
    assert found.sentence.startswith("Of 100 attempts on 2 releases by one policy")


def test_a_step_ends_with_the_first_attack_that_succeeds_as_if_no_other_had_been_run() -> None:
    good, bad, worse = judged(Rate(1, 1000)), judged(Rate(300, 1000)), judged(Rate(600, 1000))
    step = Step({}, "attacked", loss=0.2, judged=(good, bad, worse))
    ended = step.until_one_fails(0.1)
    assert (ended.judged, ended.is_whole) == ((good, bad), False)
    assert not ended.stays_below(0.1)
    assert step.until_one_fails(0.9) is step
    assert Step.from_dict(json.loads(json.dumps(ended.to_dict()))) == ended
