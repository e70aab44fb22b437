"""The tests of `report/verdict.py`: what holds, the worst thing found, what it cost."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from shoal.attack.attack import NO_OTHERS, TIME_OVER, Attack, Attacked
from shoal.attack.result import AttackResult, Rate
from shoal.attack.sparse.one_more_item import OneMoreItem
from shoal.check.finding import Finding
from shoal.report.verdict import Grounds, judge_release, what_holds

NOTHING = Grounds("All holds.", True, "It cost little.")
FOUND = Finding("singled_out", ("cost",), 0.9, 0.05, "'cost' tells 90 % from all others.", "drop it")


class Made(Attack):
    def __init__(self, name, **facts):
        self.name, self.title, self.remedy = name, f"trying {name}", f"do something about {name}"
        for fact, value in facts.items():
            setattr(self, fact, value)

    def run(self, case, rng):
        raise AssertionError


def result(name, main, baseline, *, columns=(), admitted=0.0):
    rates = Rate(main, 1000), None, Rate(baseline, 1000)
    return AttackResult(name, f"trying {name}", "all", *rates, f"It got {main}.", {}, columns, admitted)


def judged(*results, grounds=NOTHING, attacks=()):
    known = {a.name: a for a in attacks}
    every = [known.get(r.attack, Made(r.attack)) for r in results]
    return judge_release(grounds, Attacked(results, ()), every)


def test_green_only_if_nothing_serious_was_found():
    found = judged(result("a", 40, 30), result("b", 10, 10))
    assert found.level == "green"
    assert "Nothing serious was found: none of the 2 attacks" in found.worst
    assert [heading for heading, _ in found.lines] == ["Holds", "Worst", "Cost"]
    assert (found.holds, found.cost) == ("All holds.", "It cost little.")


def test_an_attack_that_the_check_rules_out_is_not_enough_for_green():
    (ruled_out,) = [Made("a", is_checked=True)]
    alone = judged(result("a", 0, 0), attacks=[ruled_out])
    assert alone.level == "amber"
    assert "Nothing more is known of what attackers get" in alone.worst
    with_other = judged(result("a", 0, 0), result("b", 10, 10), attacks=[ruled_out])
    assert with_other.level == "green"
    assert "Nothing more is known" not in with_other.worst


def test_attacks_that_the_time_was_too_short_for_are_named_and_not_taken_for_harmless():
    attacked = Attacked((result("a", 40, 30),), (("b", TIME_OVER), ("c", "It takes longer; shoal attack runs it.")))
    found = judge_release(NOTHING, attacked, [Made("a"), Made("b"), Made("c")])
    assert found.level == "amber"
    assert found.worst.endswith("The time was too short for trying b: run shoal attack.")


def test_the_worst_is_told_with_columns_and_remedy():
    found = judged(result("a", 200, 10), result("b", 990, 10, columns=("cost", "zip")), result("c", 5, 5))
    assert found.level == "amber"
    assert found.worst == (
        "Trying b ('cost' and 'zip'): it got 990. What to do: do something about b. (1 more finding in the report)"
    )
    assert found.columns == ("cost", "zip")
    assert found.risk == pytest.approx(0.99, abs=0.01)
    assert json.loads(json.dumps(found.to_dict()))["level"] == "amber"


def test_what_was_measured_counts_like_attacks():
    grounds = Grounds("All holds.", True, "", (FOUND,))
    assert judged(grounds=grounds).worst == "'cost' tells 90 % from all others. What to do: drop it."
    assert judged(result("b", 990, 10), grounds=grounds).worst.startswith("Trying b")


def test_a_guarantee_that_fails_is_red_whatever_else():
    grounds = Grounds("This release does not meet 5-anonymity.", False, "")
    assert judged(result("a", 1, 1), grounds=grounds).level == "red"
    assert judged(result("a", 900, 1), grounds=grounds).level == "red"


def test_where_nothing_was_looked_for_it_is_not_green():
    found = judge_release(NOTHING, None, ())
    assert found.level == "amber"
    assert "no attack was run" in found.worst


def test_where_no_others_were_there_to_compare_with_it_says_so_beside_all_that_was_found():
    none = Attacked((), (("a", NO_OTHERS),))
    needed = "each needs records that are not in the release to compare with; hold some out (--hold-out 0.1)"
    assert needed in judge_release(NOTHING, none, [Made("a")]).worst
    found = judge_release(replace(NOTHING, findings=(FOUND,)), none, [Made("a")])
    assert found.worst.startswith("'cost' tells")
    assert needed in found.worst


def test_a_guarantee_admits_what_it_says():
    assert judged(result("a", 150, 1, admitted=0.2)).level == "green"
    assert judged(result("a", 250, 1, admitted=0.2)).level == "amber"


def test_what_is_accepted_is_amber_and_told_with_its_reason():
    taken = Finding(**{**FOUND.__dict__, "accepted": "nobody knows costs"})
    grounds = Grounds("All holds.", True, "", (taken,))
    confirming = Made("a", accepted_as="singled_out")
    found = judged(result("a", 990, 1), result("b", 1, 1), grounds=grounds, attacks=[confirming])
    assert found.level == "amber"
    assert found.worst.startswith("Accepted, because nobody knows costs: 'cost' tells 90 % from all others.")
    assert "The policy thereby also accepts what an attack adds, 0.99. Trying a: it got 990." in found.worst
    assert "the one other attack that was run adds no more risk" in found.worst
    assert found.risk == pytest.approx(0.99, abs=0.01)
    alone = judged(result("a", 990, 1), grounds=grounds, attacks=[confirming])
    assert "attack that was run" not in alone.worst
    assert judged(result("b", 1, 1), grounds=grounds, attacks=[]).columns == ("cost",)


def test_of_each_name_that_is_accepted_the_worst_is_told():
    taken = [Finding(n, (), s, 0.05, f"{n} {s}.", "", f"of {n}") for n, s in (("a", 0.1), ("b", 0.2), ("a", 0.3))]
    found = judged(result("c", 1, 1), grounds=Grounds("All holds.", True, "", tuple(taken)))
    assert found.level == "amber"
    assert found.worst.startswith("Accepted, because of a: a 0.3. Accepted, because of b: b 0.2. Nothing else serious")


def test_what_an_attack_adds_is_amber_where_only_that_is_above_and_accepted():
    little = Finding(**{**FOUND.__dict__, "share": 0.01, "accepted": "nobody knows costs"})
    confirming = Made("a", accepted_as="singled_out")
    found = judged(result("a", 990, 1), grounds=Grounds("All holds.", True, "", (little,)), attacks=[confirming])
    assert (found.level, found.worst) == ("amber", "Accepted, because nobody knows costs: Trying a: it got 990.")


def test_what_nobody_accepted_comes_before_what_was_accepted():
    taken = Finding(**{**FOUND.__dict__, "accepted": "nobody knows costs"})
    found = judged(result("c", 200, 1), grounds=Grounds("All holds.", True, "", (taken,)))
    assert found.level == "amber"
    assert found.worst.startswith("Trying c: it got 200. What to do")
    assert found.worst.endswith("(1 more finding in the report, 1 of them accepted)")


def test_an_attack_with_a_leaked_secret_is_a_warning():
    found = judged(result("a", 990, 1), result("b", 1, 1), attacks=[Made("a", leaked="the key")])
    assert found.level == "green"
    assert "Whoever has the key gets more" in found.worst


def test_chance_is_no_finding():
    few = AttackResult("a", "trying a", "all", Rate(3, 10), None, Rate(1, 10), "It got 3.")
    assert judge_release(NOTHING, Attacked((few,), ()), [Made("a")]).level == "green"


def test_grounds_are_read_back():
    grounds = Grounds("All holds.", True, "It cost little.", (FOUND,))
    assert Grounds.from_dict(json.loads(json.dumps(grounds.to_dict()))) == grounds


def test_what_holds_is_one_sentence():
    assert what_holds([], []) == "No guarantee was required of this release, and none is given."


def test_what_the_guarantees_admit_is_said():
    found = judged(result("a", 170, 0, admitted=0.2), result("c", 5, 5))
    assert found.level == "green"
    assert "The most that one adds is 0.17, where the guarantees allow 0.20." in found.worst
    assert "reaches" not in found.worst


def test_what_may_be_above_the_limit_is_amber_with_what_to_do():
    found = judged(result("a", 170, 0, admitted=0.2), result("b", 65, 30), result("c", 5, 5))
    assert found.level == "amber"
    assert "But the 95 % interval of trying b reaches 0.05" in found.worst
    assert found.worst.endswith("What else to do: do something about b.")
    both = judged(result("b", 65, 30), result("c", 66, 30))
    assert "of trying c reaches 0.05" in both.worst
    assert "above the limit, and so does another:" in both.worst
    assert ", and so do 2 others:" in judged(*(result(name, 65, 30) for name in "abc")).worst


def test_an_interval_around_what_a_guarantee_bounds_is_no_doubt():
    assert judged(result("a", 195, 0, admitted=0.2)).level == "green"
    assert judged(result("a", 195, 0, admitted=0.1)).level == "amber"


def test_where_too_little_was_compared_to_tell_it_is_amber():
    def compared(name, n, **more):
        return AttackResult(
            name, f"trying {name}", "all", Rate(n // 10, n), Rate(n // 10, n), None, "It got some.", **more
        )

    found = judged(compared("a", 20), result("c", 5, 5))
    assert found.level == "amber"
    assert found.worst.endswith(
        "But too few records were compared to be sure: trying a might add up to 0.231 unseen. More records to compare "
        "with would tell."
    )
    assert "unseen, as might 2 others." in judged(*(compared(name, 20) for name in "abc")).worst
    assert judged(compared("a", 2000)).level == "green"
    assert judged(compared("a", 20, admitted=0.5)).level == "green"
    assert judged(compared("a", 300)).level == "green"  # up to 0.054


def test_of_baskets_the_limit_is_held_to_the_upper_end_though_nothing_is_seen():
    def told(n, attack):
        rate = Rate(n // 10, n)
        result = AttackResult(attack.name, "trying it", "all", rate, rate, None, "It got some.")
        return judge_release(NOTHING, Attacked((result,), ()), [attack])

    assert OneMoreItem().unseen == 1
    found = told(300, OneMoreItem())
    assert found.level == "amber"
    assert "trying it might add up to 0.054 unseen." in found.worst
    assert found.worst.endswith("More records to compare with would tell; shoal attack tries more of them.")
    assert told(400, OneMoreItem()).level == "green"
    assert told(300, Made("a")).level == "green"
