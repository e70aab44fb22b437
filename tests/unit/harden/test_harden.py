"""The search: harder until attacks fail, milder while they do, then once more in full; the same after a kill."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.attack.result import AttackResult, Rate
from shoal.errors import PolicyError
from shoal.harden.folder import HardenFolder
from shoal.harden.harden import MOST_AGAIN, Hardening, attempts_for
from shoal.harden.result import Hardened
from shoal.harden.step import Candidate, Step
from tests.unit.harden.toy import Guess, ToyData, ToyKind, ToyLadder, ToyRelease


def search(
    ladder: ToyLadder, risk: float = 0.09, *, home: Path | None = None, seed: int = 1, steps: int = 80
) -> Hardening:
    kind: Any = ToyKind()
    folder = None if home is None else HardenFolder(home)
    if folder is not None:
        folder.open()
    data = ToyData(tuple(range(9000)))
    return Hardening(kind, ladder, data, risk, 0.25, attempts_for(risk), seed, steps, None, folder, None)


def told(found: Hardened) -> str:
    return json.dumps({k: v for k, v in found.to_dict().items() if k != "policy"})


@pytest.mark.parametrize(("risk", "least", "most"), [(0.2, 5, 7), (0.09, 12, 20), (0.05, 21, 50)])
def test_the_policy_of_least_loss_below_the_risk_is_found(risk: float, least: int, most: int) -> None:
    found = search(ToyLadder(), risk).run()
    assert found.reached
    assert least <= found.policy.k <= most
    assert found.chosen.is_full
    assert found.chosen.bound <= risk
    held = [s.cost for s in found.steps if s.is_full and s.stays_below(risk)]
    assert found.chosen.cost == min(held)
    assert found.chosen in found.frontier or any(s.cost <= found.chosen.cost for s in found.frontier)


def test_a_policy_that_is_hard_enough_stays_as_it_is() -> None:
    found = search(ToyLadder(k=50)).run()
    assert found.reached
    assert found.policy.k == 50
    assert len(found.steps) == 1
    assert not found.candidate.reasons


@dataclass(frozen=True)
class Seldom(Guess):
    """Something to attempt is found only a few times."""

    name = "seldom"

    def run(self, case: ToyRelease, rng: np.random.Generator) -> AttackResult:
        return self.result(Rate(1, 60), "", control=Rate(1, 60))


def test_an_attack_in_full_that_finds_little_to_attempt_is_repeated_on_other_splits() -> None:
    ladder = ToyLadder(k=50)
    tried = search(ladder)
    tried.kind.attacks = (Guess(), Seldom())
    quick, full = (tried.attempt(ladder.start, split=split) for split in (0, 1))
    assert [j.result.main.attempts for j in quick.judged] == [1000, 60]
    assert [j.result.main.attempts for j in full.judged] == [2000, 300]
    assert full.judged[1].bound == full.judged[1].result.risk.high < quick.judged[1].result.risk.high
    assert ladder.made == 2 + MOST_AGAIN


def test_one_that_was_to_be_milder_is_attacked_until_one_succeeds_and_by_all_when_that_is_asked_for() -> None:
    ladder = ToyLadder(k=3)
    tried = search(ladder)
    tried.kind.attacks = (Guess(), Seldom())
    part = tried.attempt(ladder.start, whole=False)
    assert [j.result.attack for j in part.judged] == ["guess"]
    assert not part.is_whole
    whole = tried.attempt(ladder.start)
    assert [j.result.attack for j in whole.judged] == ["guess", "seldom"]
    assert whole.until_one_fails(tried.risk) == part
    assert tried.attempt(ladder.start, whole=False) is whole


def test_the_same_seed_gives_the_same_result_and_another_one_other_draws() -> None:
    assert told(search(ToyLadder()).run()) == told(search(ToyLadder()).run())
    assert told(search(ToyLadder()).run()) != told(search(ToyLadder(), seed=2).run())


def test_where_nothing_reaches_the_risk_the_nearest_is_offered_with_what_remains() -> None:
    found = search(ToyLadder(most=7)).run()
    assert not found.reached
    assert found.policy.k in (4, 5, 7)
    assert "No policy was found" in found.sentences[0]
    assert any("Guessing one of k adds" in s for s in found.sentences)
    assert any(s.startswith("To go on: state a larger risk") for s in found.sentences)
    assert [s.status for s in found.steps].count("infeasible") >= 1


def test_no_more_policies_are_tried_than_were_asked_for() -> None:
    found = search(ToyLadder(), 0.01, steps=2).run()
    assert not found.reached
    assert "2 policies were tried" in found.stopped
    assert found.stopped in found.sentences


class KilledError(Exception):
    pass


@pytest.mark.parametrize("after", [1, 2, 4])
def test_killed_and_taken_up_again_it_ends_the_same_and_makes_nothing_twice(tmp_path: Path, after: int) -> None:
    whole = ToyLadder()
    expected = search(whole, home=tmp_path / "whole").run()

    class Mortal(ToyLadder):
        def release(self, data: ToyData, policy: Any, seed: int, held_out: Any) -> Any:
            if self.made == after:
                raise KilledError
            return super().release(data, policy, seed, held_out)

    with pytest.raises(KilledError):
        search(Mortal(), home=tmp_path / "killed").run()
    again = ToyLadder()
    found = search(again, home=tmp_path / "killed").run()
    assert told(found) == told(expected)
    assert found.n_reused == after
    assert again.made == whole.made - after
    assert {p.stat().st_mode & 0o777 for p in (tmp_path / "killed").rglob("*.json")} == {0o600}


def test_a_spoiled_step_is_made_again(tmp_path: Path) -> None:
    expected = search(ToyLadder(), home=tmp_path / "steps").run()
    for path in (tmp_path / "steps" / "steps").iterdir():
        path.write_text("{}")
    found = search(ToyLadder(), home=tmp_path / "steps").run()
    assert found.n_reused == 0
    assert told(found) == told(expected)


def test_what_was_let_go_for_its_cost_is_attacked_when_it_no_longer_costs_more() -> None:
    one = search(ToyLadder())
    candidate = Candidate(one.ladder.start.policy.model_copy(update={"k": 40}))
    assert one.attempt(candidate, bound=0.1).status == "costs more"
    assert one.attempt(candidate, bound=0.1).status == "costs more"
    assert one.attempt(candidate).status == "attacked"


def test_one_that_was_attacked_later_is_let_go_again_by_a_run_that_is_taken_up(tmp_path: Path) -> None:
    first = search(ToyLadder(), home=tmp_path / "steps")
    candidate = Candidate(first.ladder.start.policy.model_copy(update={"k": 40}))
    seen = [first.attempt(candidate, bound=bound) for bound in (0.1, 0.9)]
    again = search(ToyLadder(), home=tmp_path / "steps")
    assert [again.attempt(candidate, bound=bound) for bound in (0.1, 0.9)] == seen
    assert [s.status for s in seen] == ["costs more", "attacked"]


def test_a_ladder_without_a_next_rung_ends_the_search() -> None:
    class Stuck(ToyLadder):
        def harder(self, candidate: Candidate, *_: Any) -> list[Candidate]:
            return [candidate]

    found = search(Stuck()).run()
    assert not found.reached
    assert len(found.steps) == 1


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ({"risk": 0.0}, "the risk is 0"),
        ({"risk": 1.5}, "the risk is 1.5"),
        ({"seed": -1}, "seed"),
        ({"seed": True}, "seed"),
        ({"steps": 0}, "steps"),
        ({"seconds": -1.0}, "seconds"),
        ({"hold_out": 1.0}, "share to hold out"),
        ({"policy": shoal.Policy.of(quasi=["height"])}, "height"),
    ],
)
def test_what_makes_no_sense_is_refused(asked: dict[str, Any], what: str) -> None:
    with pytest.raises(PolicyError, match=what):
        shoal.harden({"age": list(range(50))}, **{"policy": shoal.Policy.of(quasi=["age"]), **asked})


def test_a_table_is_hardened_and_its_file_reads_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    n = 400
    people = {
        "age": rng.integers(20, 70, n).tolist(),
        "sex": [("f", "m")[i] for i in rng.integers(0, 2, n)],
        "weight": np.round(rng.normal(70, 10, n), 2).tolist(),
    }
    policy = shoal.Policy.of(quasi=["age", "sex"], insensitive=["weight"], k=3)
    found = shoal.harden(people, policy, risk=0.25, seed=3, steps=25, folder=tmp_path / "steps")
    assert found.reached
    assert found.given.bound > 0.25
    assert found.policy.columns["weight"].role in ("quasi", "identifying")
    (tmp_path / "hardened.toml").write_text(found.to_toml(tmp_path))
    read = shoal.Policy.read(tmp_path / "hardened.toml")
    assert read == found.policy
    again = shoal.harden(people, policy, risk=0.25, seed=3, steps=25, folder=tmp_path / "steps")
    assert again.to_dict() == found.to_dict()
    assert again.n_reused == len(again.steps)
    assert all(isinstance(s, Step) for s in again.steps)
