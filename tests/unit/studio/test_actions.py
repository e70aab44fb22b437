"""What forms ask for."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import pytest

from shoal.errors import ShoalError
from shoal.studio import actions
from shoal.studio.actions import ACTIONS
from shoal.studio.screens import names_key
from shoal.studio.session import LOOKED
from shoal.studio.words import SCREENS
from shoal.studio.work import MADE, SWEPT
from tests.unit.studio.client import opened


def test_a_choice_is_a_step_with_its_words(tmp_path: Path) -> None:
    client = opened(tmp_path)
    client.post("/people-1/columns", {"columns/3/role": "sensitive", "step": "2"})
    session = client.session()
    assert session.policy.columns["disease"].role == "sensitive"
    assert session.steps()[-1].what == "columns.disease.role = sensitive"
    client.post("/people-1/requirements", {"do": "add", "model": "l-diversity"})
    assert [one.model for one in client.session().policy.require] == ["k-anonymity", "l-diversity"]
    client.post("/people-1/requirements", {"do": "remove", "which": "1:l-diversity"})
    client.post("/people-1/history", {"do": "undo"})
    assert len(client.session().policy.require) == 2
    client.post("/people-1/columns", {"do": "guesses"})
    assert client.session().policy.columns["disease"].role == "quasi"


def test_a_stale_form_of_another_tab_undoes_nothing(tmp_path: Path) -> None:
    client = opened(tmp_path)
    client.post("/people-1/requirements", {"step": "2", "method/partition": "mdav", "require/0:k-anonymity/k": "5"})
    client.post("/people-1/requirements", {"step": "2", "method/partition": "mondrian", "require/0:k-anonymity/k": "7"})
    policy = client.session().policy
    assert (policy.k, policy.method.partition) == (7, "mdav")


def test_two_tabs_that_change_at_the_same_moment_lose_neither_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, real, others = opened(tmp_path), actions.changed, []

    def interrupted(*given: Any) -> Any:
        if not others:
            sent = {"step": "2", "context/title": "A title"}
            others.append(threading.Thread(target=client.post, args=("/people-1/context", sent)))
            others[0].start()
            others[0].join(0.2)  # it waits for this one; if it did not, it would be overwritten now
        return real(*given)

    monkeypatch.setattr(actions, "changed", interrupted)
    client.post("/people-1/context", {"step": "2", "context/purpose": "A purpose"})
    others[0].join()
    context = client.session().policy.context
    assert (context.title, context.purpose) == ("A title", "A purpose")


def test_a_form_that_is_shown_again_with_its_error_holds_what_other_tabs_decided(tmp_path: Path) -> None:
    client, k = opened(tmp_path), "require/0:k-anonymity/k"
    client.post("/people-1/requirements", {"step": "2", k: "9"})
    sent = {"step": "2", k: "5", "method/partition": "nonsense"}
    page = client.post("/people-1/requirements", sent)
    assert page.status == 422
    assert f'name="{k}" value="9"' in page.text
    page = client.post("/people-1/requirements", {"step": "2", k: "one"})
    assert f'name="{k}" value="one"' in page.text


def test_undo_of_another_tab_undoes_nothing_unseen(tmp_path: Path) -> None:
    client = opened(tmp_path)
    client.post("/people-1/context", {"step": "2", "context/title": "A title"})
    page = client.post("/people-1/history", {"do": "undo", "step": "2"})
    assert (page.status, client.session().policy.context.title) == (422, "A title")
    assert client.post("/people-1/history", {"do": "undo", "step": "3"}).status == 200
    assert client.session().policy.context.title is None


def test_guesses_and_another_kind_leave_the_context_alone(tmp_path: Path) -> None:
    client = opened(tmp_path)
    client.post("/people-1/context", {"step": "2", "context/title": "A title"})
    client.post("/people-1/columns", {"do": "guesses"})
    assert client.session().policy.context.title == "A title"
    client.post("/people-1/open", {"do": "read", "kind": "sparse"})
    assert client.session().policy.context.title == "A title"


def test_what_was_replaced_meanwhile_is_not_taken_for_what_was_seen(tmp_path: Path) -> None:
    client = opened(tmp_path)
    session = client.session()
    told = {"holds": True, "sentence": "", "risk": None, "loss": None, "frontier": True, "proposed": True}
    session.keep(SWEPT, {"cells": [{"k": 5, "settings": {"partition": "mdav"}, "told": "mdav with k = 5", **told}]})
    (session.folder / "made" / "2" / "publish").mkdir(parents=True)
    session.keep(MADE, {"number": 2, "policy": session.text})
    for sent in (
        {"do": "take", "cell": "0", "told": "mondrian with k = 5"},
        {"do": "publish", "made": "1", "out": "o"},
    ):
        with pytest.raises(ShoalError, match="meanwhile; look at"):
            actions.act(session, "sweep", sent, b"", client.workspace, client.studio.start)
    assert session.last == 2
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("share", ["nan", "inf", "1e999", "some"])
def test_a_share_that_is_no_number_is_said_in_place(tmp_path: Path, share: str) -> None:
    client = opened(tmp_path)
    page = client.post("/people-1/result", {"do": "make", "hold_out": share})
    assert (page.status, "the share to hold out is not a number" in page.words) == (422, True)


def test_hierarchies_are_made_edited_looked_at_and_saved(tmp_path: Path) -> None:
    client = opened(tmp_path)
    page = client.post("/people-1/hierarchies", {"do": "bands", "column": "1"})
    assert client.session().policy.columns["age"].hierarchy == "auto"
    assert "It knows all 40 values of the column" in page.words
    text = "flu;airways;*\ncold;airways;*\n"
    page = client.post("/people-1/hierarchies", {"do": "hierarchy", "column": "3", "text": text})
    assert "1 of the column's values is not in it: ulcer" in page.words
    assert client.get("/people-1/file/hierarchy?column=3").text == text
    sent = client.upload(
        "/people-1/upload", "x.csv", f"{text}ulcer;gut;*\n".encode(), do="hierarchy", column="3", screen="hierarchies"
    )
    assert "It knows all 3 values" in client.get(sent.header("location")).words
    assert 'hierarchy = "hierarchies/column-3-2.csv"' in client.session().text
    page = client.post("/people-1/hierarchies", {"do": "hierarchy", "column": "3", "text": "flu;a;*\ncold;b\n"})
    assert page.status == 422
    assert "the hierarchy, line 2, has 2 levels where line 1 has 3" in page.words
    client.post("/people-1/hierarchies", {"do": "no_hierarchy", "column": "3"})
    assert client.session().policy.columns["disease"].hierarchy is None
    assert client.get("/people-1/file/hierarchy?column=1").text.count("\n") == 40
    assert client.get("/people-1/file/hierarchy?column=77").status == 422


def test_files_outside_are_neither_named_nor_given_out(tmp_path: Path) -> None:
    top = tmp_path / "data"
    top.mkdir()
    (tmp_path / "secret.csv").write_text("a;*\n", encoding="utf-8")
    client = opened(top)
    text = client.session().text.replace('age = { role = "quasi"', f'age = {{ hierarchy = "{tmp_path}/secret.csv"')
    assert "secret" in text
    assert client.post("/people-1/history", {"do": "edit", "text": text}).status == 422
    (client.session().folder / "policy.toml").write_text(text, encoding="utf-8")
    assert client.get("/people-1/file/hierarchy?column=1").status == 422
    page = client.post("/people-1/release", {"do": "publish", "out": "../out"})
    assert page.status == 422
    linked = f'kind = "linked"\n[tables.people.columns]\nage = {{ hierarchy = "{tmp_path}/secret.csv" }}\n'
    assert client.post("/people-1/history", {"do": "edit", "text": linked}).status == 422


def test_a_stale_form_of_other_columns_is_refused(tmp_path: Path) -> None:
    client = opened(tmp_path)
    key = names_key(client.session())
    assert f'name="names" value="{key}"' in client.get("/people-1/columns").text
    found = client.session().kept(LOOKED)
    client.session().keep(LOOKED, {**found, "names": found["names"][::-1]})
    page = client.post("/people-1/columns", {"step": "2", "names": key, "columns/1/role": "sensitive"})
    assert (page.status, "read again meanwhile" in page.words, client.session().last) == (422, True, 2)


def test_a_hierarchy_that_is_gone_is_no_defect(tmp_path: Path) -> None:
    client = opened(tmp_path)
    text = client.session().text.replace('age = { role = "quasi"', 'age = { hierarchy = "gone.csv"')
    client.post("/people-1/history", {"do": "edit", "text": text})
    page = client.get("/people-1/file/hierarchy?column=1")
    assert (page.status, "the hierarchy of age cannot be read" in page.words) == (422, True)


@pytest.mark.parametrize("kind", ["strings", "sparse", "trajectories", "linked"])
def test_a_stale_form_of_another_kind_is_refused(tmp_path: Path, kind: str) -> None:
    client = opened(tmp_path)
    client.post("/people-1/history", {"do": "edit", "text": f'kind = "{kind}"\n'})
    page = client.post("/people-1/columns", {"step": "2", "columns/1/role": "sensitive"})
    assert (page.status, "read as something else meanwhile" in page.words) == (422, True)


def test_a_policy_can_be_typed_as_a_file(tmp_path: Path) -> None:
    client = opened(tmp_path)
    page = client.post("/people-1/history", {"do": "edit", "text": "kind = 'table'\r\nk = 5\r\n"})
    assert page.status == 422
    assert "there is no key 'k'" in page.words
    typed = {"do": "edit", "text": "kind = 'table'\r\nmissing = 'any'\r\n"}
    page = client.post("/people-1/history", {**typed, "step": "1"})
    assert "changed in another tab meanwhile" in page.words
    assert "missing = &#39;any&#39;" in page.text  # what was typed is still there
    client.post("/people-1/history", {**typed, "step": "2"})
    assert client.session().policy.missing == "any"


@pytest.mark.slow
def test_from_the_sweep_to_the_policy(tmp_path: Path) -> None:
    client = opened(tmp_path)
    page = client.post("/people-1/sweep", {"do": "sweep", "sweep/k": "2,x"})
    assert "k takes numbers" in page.words
    page = client.post("/people-1/sweep", {"do": "sweep", "sweep/k": "1"})
    assert "k = 1 cannot be tried" in page.words
    page = client.post("/people-1/sweep", {"do": "sweep", "sweep/k": "2,4", "sweep/partition": "mondrian,mdav"})
    found = client.session().kept(SWEPT)
    assert [(c["settings"]["partition"], c["k"]) for c in found["cells"]] == [
        ("mondrian", 2),
        ("mondrian", 4),
        ("mdav", 2),
        ("mdav", 4),
    ]
    assert page.text.count('class="point"') == 4
    client.post("/people-1/sweep", {"do": "take", "cell": "3"})
    policy = client.session().policy
    assert (policy.method.partition, policy.k) == ("mdav", 4)
    assert client.session().steps()[-1].what == "taken from the sweep: mdav with k = 4"
    for cell in ("99", "", "x", "-1"):
        assert client.post("/people-1/sweep", {"do": "take", "cell": cell}).status == 422


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"seed": "x"}, "the seed is not a whole number"),
        ({"seed": "-1"}, "the seed is not a whole number"),
        ({"hold_out": "x"}, "not a number"),
        ({"hold_out": "2"}, "hold"),
    ],
)
def test_how_a_release_is_made_is_checked(tmp_path: Path, fields: dict[str, str], sentence: str) -> None:
    client = opened(tmp_path)
    page = client.post("/people-1/result", {"do": "make", **fields})
    assert sentence in page.words
    assert client.session().kept(MADE) is None


def test_fuzzed_forms_are_answered_with_a_page_and_a_sentence(tmp_path: Path) -> None:
    client = opened(tmp_path)
    draws = random.Random(19)
    words = [
        "",
        "0",
        "-1",
        "99",
        "x",
        "<b>",
        "a/b",
        "\0",
        "1:k-anonymity",
        "0:k-anonymity",
        "'",
        "é" * 50,
        "../x",
        "1e9",
        "²",
        "9" * 5000,
    ]
    names = ["column", "cell", "which", "number", "model", "text", "out", "control", "columns/9/role", "columns/x/role"]
    names += ["require/0/k", "require/x:y/z", "method/none", "context", "kind", "step", "screen", "seed", "sweep/k"]
    quick = [name for name in ACTIONS if name not in ("make", "sweep", "attack", "read")]
    for _ in range(120):
        fields = {name: draws.choice(words) for name in draws.sample(names, 5)}
        screen = draws.choice(list(SCREENS))
        answer = client.post(f"/people-1/{screen}", {**fields, "do": draws.choice([*quick, "none", ""])}, follow=False)
        assert answer.status in (303, 404, 422), (screen, fields, answer.text[-300:])
    assert client.session().policy.kind == "table"
