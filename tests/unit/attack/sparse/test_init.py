"""All attacks on sketches keep to the one interface."""

from __future__ import annotations

import json

import numpy as np

from shoal.attack.attack import run_attacks
from shoal.attack.sparse import SPARSE_ATTACKS
from shoal.attack.sparse.known_pairs import KnownPairs
from shoal.attack.sparse.matching_pursuit import MatchingPursuit
from shoal.attack.sparse.recovery_programme import RecoveryProgramme
from shoal.attack.sparse.targets import OnSketches


def test_all_have_a_name_and_say_what_they_are():
    assert len({attack.name for attack in SPARSE_ATTACKS.values()}) == len(SPARSE_ATTACKS) == 15
    for attack in SPARSE_ATTACKS.values():
        for told in (attack.title, attack.knows, attack.stopped_by, attack.remedy, attack.reference):
            assert told
            assert not told.endswith(".")


def test_all_run_and_their_results_are_plain_data(strong):
    quick = [
        type(attack)(n_records=3) if isinstance(attack, RecoveryProgramme | MatchingPursuit) else attack
        for attack in SPARSE_ATTACKS.values()
        if isinstance(attack, OnSketches) and not isinstance(attack, KnownPairs)
    ]
    attacked = run_attacks([*quick, KnownPairs(n_pairs=(20,), n_others=2)], strong, seed=1)
    assert not attacked.skipped
    told = json.loads(json.dumps(attacked.to_dict()))
    for result in told["attacks"]:
        assert result["sentence"].endswith(".")
        assert "nan" not in result["sentence"]
    assert attacked.to_dict() == run_attacks([*quick, KnownPairs(n_pairs=(20,), n_others=2)], strong, seed=1).to_dict()


def test_no_result_quotes_a_key_or_an_item(strong):
    case_key = strong.key.hex()
    for attack in filter(lambda a: isinstance(a, OnSketches), SPARSE_ATTACKS.values()):
        if isinstance(attack, RecoveryProgramme):
            attack = RecoveryProgramme(n_records=2)
        told = json.dumps(attack.run(strong, np.random.default_rng(0)).to_dict())
        assert case_key not in told
        assert not any(name in told for name in strong.original.names)
