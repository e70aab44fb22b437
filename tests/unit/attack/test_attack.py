"""Attacks are run by name, each with random numbers of its own."""

from __future__ import annotations

from shoal.attack.attack import NO_OTHERS, run_attacks
from shoal.attack.strings import STRING_ATTACKS
from shoal.attack.strings.case import StringCase
from shoal.attack.tables import TABLE_ATTACKS
from shoal.data.strings.strings import Strings


def case() -> StringCase:
    strings = Strings.of([f"ab{'c' * (i % 4)}{'d' * (i % 3)}" for i in range(12)])
    return StringCase(strings, strings)


def test_an_attack_draws_the_same_alone_and_among_others() -> None:
    among = run_attacks(list(STRING_ATTACKS.values()), case(), seed=3)
    for result in among.results:
        alone = run_attacks(list(STRING_ATTACKS.values()), case(), [result.attack], seed=3)
        assert repr(alone.results[0]) == repr(result)  # a number that is none equals nothing
        assert len(alone.results) == 1
    assert {*(r.attack for r in among.results), *(name for name, _ in among.skipped)} == {
        a.name for a in STRING_ATTACKS.values() if a.fits(case())
    }


def test_without_others_those_that_need_them_are_left_out() -> None:
    found = run_attacks(list(STRING_ATTACKS.values()), case(), seed=3, has_others=False)
    needing = {a.name for a in STRING_ATTACKS.values() if a.needs_others}
    assert needing
    assert not needing & {r.attack for r in found.results}
    assert {why for name, why in found.skipped if name in needing} == {NO_OTHERS}


def test_attempts_that_are_drawn_can_be_more_or_fewer_and_others_stay() -> None:
    sized = {a.name: a.of_size(7) for a in TABLE_ATTACKS.values()}
    for attack in TABLE_ATTACKS.values():
        assert type(sized[attack.name]) is type(attack)
    drawn = {name for name, attack in sized.items() if getattr(attack, "n_attacks", None) == 7}
    assert {"linkage", "linkage-rank", "inference", "inference-bayes", "membership", "homogeneity"} <= drawn
    # More of the rarest predicates would thin the successes out.
    assert not {"singling-out", "singling-out-univariate", "downcoding", "minimality"} & drawn
