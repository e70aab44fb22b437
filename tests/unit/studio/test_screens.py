"""What screens show comes from the files of a session alone."""

from __future__ import annotations

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
    rows = screen_of("columns", client.session(), client.workspace, {})["rows"]
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
