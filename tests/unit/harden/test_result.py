"""What a hardening says of itself."""

from __future__ import annotations

import json
from dataclasses import replace

from shoal.attack.result import AttackResult, Rate
from shoal.harden.result import Hardened
from shoal.harden.step import Candidate, Judged, Step
from shoal.kinds.tables.policy import Policy
from shoal.shown import Grid


def step(rate: float, loss: float, *, attempts: int = 2000, is_full: bool = True, control: int = 2000) -> Step:
    found = AttackResult(
        "inference", "guessing a secret", "", Rate(round(rate * attempts), attempts), Rate(0, control),
        details={"cost: main": rate},
    )  # fmt: skip
    asked = {"partition": "mdav", "k": 5, "require": ["3-diversity"], "roles": {"cost": "quasi", "age": "quasi"}}
    return Step(
        asked, "attacked", is_full=is_full, loss=loss, judged=(Judged(found, found.risk.high),),
        measured={"loss": {"cost": loss}},
    )  # fmt: skip


GIVEN, GOOD = step(0.9, 0.1), step(0.01, 0.3)
COSTLY = Step({"k": 9}, "costs more", "dear", loss=0.9)
FOUND = Hardened(
    risk=0.09,
    given=GIVEN,
    candidate=Candidate(Policy.of(quasi=["cost"], k=5), {"columns.cost": "was insensitive; <b>"}),
    chosen=GOOD,
    steps=(GIVEN, COSTLY, step(0.5, 0.4), GOOD),
    measure="certainty",
    n_records=3000,
    n_held_out=1000,
    size=2000,
    notes={"columns.cost": "unchanged", "method.partition": "unchanged"},
)


def test_what_was_reached_is_said_with_what_it_means() -> None:
    assert FOUND.reached
    assert FOUND.sentences[0].startswith("No attack adds more than 0.09 at its upper bound; loss 0.300")
    assert "Releases made: 4; attacked in full: 3" in FOUND.meaning
    assert "2,000 records against 1,000 others" in FOUND.meaning
    assert "not corrected" in FOUND.sentences[-1]


def test_the_frontier_holds_what_nothing_beats() -> None:
    assert FOUND.frontier == (GIVEN, GOOD)


def test_what_held_only_with_few_attempts_is_not_reached() -> None:
    quick = replace(FOUND, chosen=step(0.01, 0.3, is_full=False), advice="leave cost out")
    assert not quick.reached
    assert any("not attacked in full" in s for s in quick.sentences)
    assert "To go on: leave cost out, or state a larger risk, or give more records." in quick.sentences


def test_what_remains_is_named_with_its_columns_and_what_no_number_of_attempts_can_tell() -> None:
    few = replace(FOUND, chosen=step(0.3, 0.3, attempts=20, control=20))
    (told,) = [s for s in few.sentences if s.startswith("Guessing a secret adds")]
    assert ", at cost; from 20 attempts the bound would be" in told
    undecided = replace(FOUND, chosen=step(0.0, 0.3, attempts=20, control=20))
    assert undecided.reached
    assert any("could be tried only 20 times and never succeeded" in s for s in undecided.sentences)


def test_the_file_says_why_and_whether_the_risk_is_reached() -> None:
    text = FOUND.to_toml()
    assert 'cost = { role = "quasi" }   # was insensitive; <b>' in text
    assert 'partition = "mondrian"   # unchanged' in text
    assert "DOES NOT REACH" not in text
    assert replace(FOUND, chosen=GIVEN).to_toml().startswith("# THIS POLICY DOES NOT REACH THE RISK OF 0.09.")


def test_it_is_shown_on_a_terminal_in_a_notebook_and_as_json() -> None:
    grid = FOUND.shown()[0]
    assert isinstance(grid, Grid)
    assert grid.rows[0][1] == "mdav, k=5, 3-diversity, 2 to quasi"
    assert [row[4] for row in grid.rows] == [
        "inference (in full)",
        "costs more",
        "inference (in full)",
        "holds (in full)",
    ]
    assert [row[5] for row in grid.rows] == ["frontier", "", "", "frontier"]
    assert "&lt;b&gt;" in FOUND._repr_html_()
    told = json.loads(FOUND.to_json())
    assert told["reached"] is True
    assert told["steps"][1]["status"] == "costs more"
    assert told["policy"] == FOUND.to_toml()
