"""Sweeps of strings: what is tried, what is measured, what is proposed; a cell is the release that it stands for."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.attack.strings.best_matches import AMBER
from shoal.data.samples.proteins import protein_families
from shoal.held_out import hold_out
from shoal.kind import Run
from shoal.kinds.strings.kind import KIND
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.strings.sweep import StringCell, StringTrials
from shoal.report.sweep import as_text, columns_of, render_sweep, verdict
from shoal.report.tables.words import percent
from shoal.sweep.sweep import Sweep

MADE = protein_families(130, n_families=2, mean_length=18.0, seed=1)
POLICY = StringPolicy.of(k=5)


@pytest.fixture(scope="module")
def found() -> Sweep:
    return shoal.sweep(MADE, POLICY, k=[5, 10], order=[1, 2], generator=["window", "markov"], support=3)


def trials(policy: StringPolicy = POLICY) -> StringTrials:
    return StringTrials(policy)


def test_the_grid_is_every_combination_and_a_chain_has_no_order(found: Sweep) -> None:
    assert [(c.generator, c.order, c.support, c.k) for c in found.cells] == [
        *(("window", order, 3, k) for order in (1, 2) for k in (5, 10)),
        *(("markov", None, 3, k) for k in (5, 10)),
    ]
    assert all(c.holds for c in found.cells)
    assert found.varied == ("order",)
    usual = [(a.k, a.settings["generator"]) for a in trials().grid(None, {})]
    assert usual == [(k, g) for g in ("window", "markov") for k in (5, 10, 20, 40)]


def test_a_cell_is_the_release_that_it_stands_for(found: Sweep) -> None:
    kept, others = hold_out(MADE, 1 / 3, 0)
    assert found.cells[0].n_in == len(kept)
    cell = found.cells[2]
    policy = POLICY.changed(generator="window", order=2, support=3, k=5)
    release = KIND.release(kept, policy, Run(seed=0), held_out=others)
    assert cell.losses["pairs"] == release.utility.k_mers[0].total_variation
    assert cell.losses["composition"] == release.utility.composition.total_variation
    areas = [r.details.get("area_under_curve", 0.0) for r in release.attacked.results]
    assert cell.members_told == max(areas)
    assert cell.added_risk == max(r.risk.value for r in release.attacked.results)
    assert cell.succeeding == tuple(r.title for r in release.attacked.results if r.succeeds)
    assert {g["model"] for g in cell.guarantees} == {g.model for g in release.guarantees}
    assert not any({"worst", "sentence"} & set(g) for g in cell.guarantees)


def test_the_frontier_is_by_members_told_and_the_first_measure(found: Sweep) -> None:
    best = [
        c
        for c in found.cells
        if not any(
            (o.members_told, o.loss("pairs")) != (c.members_told, c.loss("pairs"))
            and o.members_told <= c.members_told
            and o.loss("pairs") <= c.loss("pairs")
            for o in found.cells
        )
    ]
    assert found.frontier == tuple(best)
    assert found.proposed is not None
    safe = [c for c in found.cells if c.members_told <= AMBER and not c.succeeding] or found.cells
    assert found.proposed.loss("pairs") == min(c.loss("pairs") for c in safe)


def test_members_that_can_be_told_are_proposed_last() -> None:
    one = trials()
    asked = one.grid(5, {"generator": "window"})[0]
    cell = StringCell(
        generator="window", order=2, support=5, k=5, group_size=5, status="holds", sentence="", n_in=90, n_out=90,
        seconds=0.1, members_told=0.5,
    )  # fmt: skip
    ranks = [one.rank(asked, replace(cell, members_told=told)) for told in (None, 0.5, AMBER, 0.56)]
    assert ranks == [0, 0, 0, 1]
    assert one.rank(asked, replace(cell, succeeding=("finding a string by a fragment",))) == 1


def test_the_proposal_tells_both_risks_and_whether_attacks_succeed(found: Sweep) -> None:
    best = found.proposed
    assert best is not None
    told = ["members told from others with a chance of 50 %", "an attack adds 12 % at most"]
    cell = replace(best, members_told=0.5, added_risk=0.12, succeeding=())
    assert cell.risks_in_words(percent) == [*told, "no attacks succeed"]
    assert replace(cell, succeeding=("a",)).risks_in_words(percent) == [*told, "one attack succeeds"]
    assert replace(cell, succeeding=("a", "b")).risks_in_words(percent) == [*told, "2 attacks succeed"]
    assert all(said in verdict(found) for said in best.risks_in_words(percent))


def test_the_options_make_the_proposed_release() -> None:
    one = trials(StringPolicy.of(k=5, generator="template"))
    chain, *_, last = one.grid([5, 9], {"generator": ["markov", "window"], "order": [2, 3]})
    assert one.options(chain) == ("--generator", "markov")
    assert one.options(last) == ("--generator", "window", "--order", "3", "-k", "9")


def test_what_was_finished_is_taken_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {"k": [5], "generator": "markov", "folder": tmp_path / "out"}
    first = shoal.sweep(MADE, POLICY, **asked)
    monkeypatch.setattr(StringTrials, "measured", lambda *_: pytest.fail("made again"))
    again = shoal.sweep(MADE, POLICY, **asked)
    assert (first.n_reused, again.n_reused) == (0, 1)
    assert again.cells == first.cells
    told = json.loads((tmp_path / "out" / "sweep.json").read_text())
    assert told["cells"][0]["generator"] == "markov"
    keys = {
        one.key(one.grid(5, {"generator": "markov"})[0], checksum)
        for one in (trials(), trials(POLICY.changed(eps=1.0)))
        for checksum in ("a", "b")
    }
    assert len(keys) == 4


def test_classes_are_learned_where_they_are_asked_for() -> None:
    labelled = protein_families(160, n_families=2, mean_length=16.0, seed=2)
    found = shoal.sweep(labelled, StringPolicy.of(k=5), k=5, generator="window", measures=["accuracy", "pairs"])
    (cell,) = found.cells
    assert 0 <= cell.scores["accuracy"] <= 1
    assert cell.loss("accuracy") == cell.scores_before["accuracy"] - cell.scores["accuracy"]
    assert any("predicts the class with accuracy" in line for line in as_text(found))
    assert "accuracy" not in shoal.sweep(labelled, StringPolicy.of(k=5), k=5, generator="markov").cells[0].scores


def test_the_page_holds_no_string_and_says_how_risk_was_measured(found: Sweep) -> None:
    page = render_sweep(found)
    assert not any(text in page for text in MADE.texts() if len(text) > 8)
    assert "members told" in columns_of(found)
    assert found.note in page
    assert "in the table" not in page
    assert "87 of the 130 strings" in found.note
    assert any(found.note in line for line in as_text(found))


def test_trials_travel_to_processes() -> None:
    one = trials()
    one.take(MADE)
    assert pickle.loads(pickle.dumps(one)).n_in == one.n_in


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"l": 2}, "l cannot be tried on strings; the choices are k, generator, order, support"),
        ({"publish": "pseudo"}, "publish cannot be tried"),
        ({"target": "age"}, "a column of a table"),
        ({"measures": ["GCP"]}, "there is no measure 'GCP'"),
        ({"order": [0]}, "order"),
        ({"generator": []}, "no generator was given"),
        ({"k": [1]}, "k = 1 cannot be tried"),
    ],
)
def test_what_is_not_understood_is_refused(asked: dict[str, Any], says: str) -> None:
    with pytest.raises(shoal.PolicyError, match=says):
        shoal.sweep(MADE, POLICY, **asked)
