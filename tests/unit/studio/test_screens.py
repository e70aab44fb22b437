"""What screens show comes from the files of a session alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shoal.studio.jobs import begin
from shoal.studio.screens import BUILDERS, screen_of, tree_of
from shoal.studio.words import SCREENS
from tests.unit.studio.client import at_once, opened


def test_there_is_one_for_each_address() -> None:
    assert list(BUILDERS) == list(SCREENS)


def test_the_source_is_not_read_again(tmp_path: Path) -> None:
    client = opened(tmp_path)
    begin(client.session(), "make", {}, at_once)
    (tmp_path / "people.csv").unlink()
    for screen in SCREENS:
        assert screen_of(screen, client.session(), client.workspace, {})["fault"] == ""


def test_columns_show_what_was_measured(tmp_path: Path) -> None:
    client = opened(tmp_path)
    (rows,) = screen_of("columns", client.session(), client.workspace, {})["tables"]
    assert [row["name"] for row in rows] == ["name", "age", "zip", "disease"]
    assert rows[1]["measured"]["distinct"] == 40
    assert rows[1]["fields"]["role"].value == "quasi"
    assert 0 <= rows[1]["adds"] <= 1


def test_a_result_of_an_earlier_policy_says_so(tmp_path: Path) -> None:
    client = opened(tmp_path)
    session = client.session()
    begin(session, "make", {}, at_once)
    assert screen_of("result", session, client.workspace, {})["made"]["is_old"] is False
    session.change(session.text.replace("k = 5", "k = 6"), "k = 6")
    shown = screen_of("result", session, client.workspace, {})
    assert shown["made"]["is_old"] is True
    assert shown["tightest"]
    assert shown["pictures"]
    assert "style=" not in str(shown["pictures"][0])
    session.undo()
    assert screen_of("result", session, client.workspace, {})["made"]["is_old"] is False


@pytest.mark.parametrize("column", ["", "x", "99", "-1", "1"])
def test_any_column_can_be_asked_for(tmp_path: Path, column: str) -> None:
    client = opened(tmp_path)
    chosen = screen_of("hierarchies", client.session(), client.workspace, {"column": column})["chosen"]
    assert chosen["name"] in ("age", "zip", "disease")


def test_a_tree_is_drawn_from_coarse_to_fine() -> None:
    rows = [["a", "x", "*"], ["b", "x", "*"], ["c", "c", "*"]]
    (root,) = tree_of(rows)
    assert root["label"] == "*"
    assert [(n["label"], [m["label"] for m in n["inner"]]) for n in root["inner"]] == [("x", ["a", "b"]), ("c", [])]


def test_what_was_made_of_another_policy_or_file_is_not_shown_as_of_today(tmp_path: Path) -> None:
    client = opened(tmp_path)
    begin(client.session(), "make", {"seed": 1, "hold_out": 0.25}, at_once)
    for screen in ("result", "attacks", "release"):
        words = client.get(f"/people-1/{screen}").words
        assert "was changed" not in words.replace("This was changed in another tab", "")
        assert "--seed SEED --hold-out 0.25 -o out" in words
    client.post("/people-1/context", {"step": "2", "context/title": "A title"})
    for screen in ("result", "attacks", "release"):
        assert "The policy was changed" in client.get(f"/people-1/{screen}").words
    client.post("/people-1/history", {"do": "undo"})
    with (tmp_path / "people.csv").open("a", encoding="utf-8") as file:
        file.write("one more,30,10000,flu\n")
    for screen in ("result", "attacks", "release"):
        words = client.get(f"/people-1/{screen}").words
        assert "The file was changed" in words
        assert "The file was modified, moved or removed after it was read" in words
    client.post("/people-1/open", {"do": "read"})
    assert "after it was read" not in client.get("/people-1/columns").words


def test_a_sweep_says_which_policy_it_was_of(tmp_path: Path) -> None:
    client = opened(tmp_path)
    kept = {"cells": [], "rows": [], "columns": [], "words": [], "verdict": "", "risk": "", "loss": ""}
    client.session().keep("swept.json", {**kept, "n_records": 60, "noun": "records", "note": "", "step": 2})
    assert "tried with the policy from step" not in client.get("/people-1/sweep").words
    client.post("/people-1/context", {"step": "2", "context/title": "A title"})
    assert "tried with the policy from step 2" in client.get("/people-1/sweep").words


def test_what_is_required_already_is_not_proposed_first(tmp_path: Path) -> None:
    page = opened(tmp_path).get("/people-1/requirements").text
    proposed = re.findall('<option value="([^"]*)">', page[page.index('<select id="model"') :])
    assert proposed[0] != "k-anonymity"
    assert "k-anonymity" in proposed
