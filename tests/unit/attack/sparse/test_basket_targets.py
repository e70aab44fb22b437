"""What attacks on pseudo-baskets share: who is attacked, what is known, and on which releases they run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.attack.attack import NOT_OF_THIS_MAKE, run_attacks
from shoal.attack.result import AttackResult
from shoal.attack.sparse import SPARSE_ATTACKS
from shoal.attack.sparse.basket_targets import OnBaskets, draw_rows, matrix, parts_of, unit_rows
from shoal.data.sparse.records import Sparse
from shoal.report.verdict import as_finding
from tests.unit.attack.sparse.basket_cases import dealt

ALL = list(SPARSE_ATTACKS.values())
ON_BASKETS = [attack for attack in ALL if isinstance(attack, OnBaskets)]
OTHER = next(attack.name for attack in ALL if attack not in ON_BASKETS)


def test_only_attacks_on_pseudo_baskets_are_run_on_them() -> None:
    found = run_attacks([a.of_size(20) for a in ALL], dealt(), seed=1)
    assert {r.attack for r in found.results} == {a.name for a in ON_BASKETS} != set()
    assert found.skipped == ()
    named = run_attacks(ALL, dealt(), [OTHER], seed=1)
    assert named.skipped == ((OTHER, NOT_OF_THIS_MAKE),)


def test_nothing_is_said_without_others_and_no_item_is_quoted() -> None:
    alone = run_attacks(ON_BASKETS, replace(dealt(), control=None), seed=1)
    assert len(alone.skipped) == len(ON_BASKETS)
    for result in run_attacks([a.of_size(20) for a in ON_BASKETS], dealt(), seed=1).results:
        assert not any(name in str(result.to_dict()) for name in dealt().original.names)


def test_what_is_said_of_records_that_are_not_dealt_anew_speaks_of_them() -> None:
    attacks = [a.of_size(20) for a in ON_BASKETS]
    for made, attack in zip(run_attacks(attacks, dealt(), seed=1).results, ON_BASKETS, strict=True):
        assert (made.stopped_by, made.remedy) == ("", "")
        assert "remedy" not in made.to_dict()
        assert "m" not in attack.remedy.split()
    for found in run_attacks(attacks, replace(dealt(), make="km"), seed=1).results:
        assert not {"support", "together", "dealt", "dealing"} & set(f"{found.stopped_by} {found.remedy}".split())
        assert found.remedy.startswith("raise ")
        again = AttackResult.from_dict(found.to_dict())
        assert (again.stopped_by, again.remedy) == (found.stopped_by, found.remedy) != ("", "")
        assert as_finding(found, SPARSE_ATTACKS[found.attack], {}).remedy == found.remedy


def test_known_parts_are_parts() -> None:
    records = Sparse.of([["a", "b", "c"], ["c"], ["b", "d"]])
    held = matrix(records, ["a", "b", "c", "d", "e"])
    assert held.toarray().tolist() == [[1, 1, 1, 0, 0], [0, 0, 1, 0, 0], [0, 1, 0, 1, 0]]
    parts = parts_of(held, np.array([2, 1, 0]), np.random.default_rng(0))
    assert parts.sum(axis=1).ravel().tolist() == [[2, 1, 0]]
    assert ((held - parts).toarray() >= 0).all()
    assert draw_rows(records, 5, 2, np.random.default_rng(0)).tolist() == [0, 2]
    assert np.allclose((unit_rows(held, np.ones(5)).toarray() ** 2).sum(axis=1), 1)
