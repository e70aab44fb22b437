"""Membership, homogeneity and its kin, the column join, downcoding, intersection, uniqueness."""

from __future__ import annotations

from shoal.attack.attack import run_attacks
from shoal.attack.tables import TABLE_ATTACKS


def test_a_seed_gives_the_same_result_again(coarse):
    first, again = (run_attacks(list(TABLE_ATTACKS.values()), coarse, seed=1).to_dict() for _ in range(2))
    assert first == again


def test_a_result_does_not_depend_on_which_others_are_named(coarse):
    all_of_them = run_attacks(list(TABLE_ATTACKS.values()), coarse, seed=1)
    alone = run_attacks(list(TABLE_ATTACKS.values()), coarse, ["membership"], seed=1)
    assert [r.attack for r in alone.results] == ["membership"]
    assert not alone.skipped
    assert alone.results[0].to_dict() in [r.to_dict() for r in all_of_them.results]


def test_all_attacks_run_or_say_why_not(raw, release):
    for case in (raw, release(k=20, partition="mdav", publish="condense"), release(l=3, publish="slice")):
        done = run_attacks(list(TABLE_ATTACKS.values()), case, seed=1)
        assert len(done.results) + len(done.skipped) == len(TABLE_ATTACKS)
        assert len(done.results) >= 5
        names = [r.attack for r in done.results] + [name for name, _ in done.skipped]
        assert len(set(names)) == len(names)
        for result in done.results:
            assert 0 <= result.main.value <= 1
            assert result.sentence.endswith(".")
            assert result.to_dict()["attack"] == result.attack


def test_every_attack_says_what_it_is():
    for attack in TABLE_ATTACKS.values():
        for said in (attack.title, attack.knows, attack.stopped_by, attack.remedy, attack.reference):
            assert len(said) > 5
