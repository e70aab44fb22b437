"""What forms change in a policy: what was changed, and nothing else."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import PolicyError
from shoal.kind import ColumnPlace, kinds
from shoal.studio.edit import (
    all_fields,
    as_content,
    changed,
    changes,
    column_fields,
    said_in_words,
    said_of,
    with_requirement,
    without_requirement,
)

KINDS = {kind.name: kind.policy for kind in kinds()}
NAMES = [ColumnPlace(name) for name in ("age", "na/me", "zip.1")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_form_that_nobody_touched_changes_nothing(kind: str) -> None:
    policy = KINDS[kind]()
    shown = {field.name: field.value for field in all_fields(policy, NAMES)}
    assert changes(policy, NAMES, shown) == {}
    assert type(policy)(**as_content(policy)) == policy


def test_each_sort_of_place() -> None:
    policy = KINDS["table"].of(quasi=["age"], k=3)
    said = {
        "method/partition": "mdav",
        "require/0:k-anonymity/k": "7",
        "columns/1/role": "sensitive",
        "columns/0/role": "",
        "context/title": "A <title>",
        "missing": "any",
    }
    found = changed(policy, NAMES, changes(policy, NAMES, said))
    assert (found.method.partition, found.k, found.context.title, found.missing) == ("mdav", 7, "A <title>", "any")
    assert {name: column.role for name, column in found.columns.items()} == {"na/me": "sensitive"}


def test_a_column_of_one_table_is_changed_in_that_table() -> None:
    places = [ColumnPlace("age", "patients"), ColumnPlace("taken", "labs"), ColumnPlace("taken", "visits")]
    policy = KINDS["linked"](link="id", columns={"taken": {"role": "quasi", "type": "date"}})
    assert column_fields(policy, places)[1]["role"].value == "quasi"
    found = changed(policy, places, {"columns/1/role": "insensitive", "columns/0/type": "ordinal"})
    assert found.columns == policy.columns
    assert as_content(found)["tables"] == {
        "labs": {"columns": {"taken": {"role": "insensitive", "type": "date"}}},
        "patients": {"columns": {"age": {"type": "ordinal"}}},
    }
    open_again = changed(found, places, {"columns/1/role": "", "columns/1/type": "", "columns/0/type": ""})
    assert as_content(open_again)["tables"] == {"labs": {"columns": {"taken": {}}}, "patients": {"columns": {}}}
    assert said_of(open_again, places[2]).role == "quasi"


def test_two_tabs_change_different_keys_and_both_stay() -> None:
    base = KINDS["table"].of(k=3)
    shown = {field.name: field.value for field in all_fields(base, [])}
    first = changed(base, [], changes(base, [], {**shown, "require/0:k-anonymity/k": "9"}))
    second = changed(first, [], changes(base, [], {**shown, "method/partition": "mdav"}))
    assert (second.k, second.method.partition) == (9, "mdav")


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"method/suppression": "much"}, "suppression"),
        ({"method/suppression": "3"}, "less than 1"),
        ({"method/partition": "mondrain"}, "did you mean 'mondrian'"),
        ({"require/0:k-anonymity/k": "1"}, "greater than or equal to 2"),
        ({"require/5:k-anonymity/k": "5"}, "changed in another tab"),
        ({"require/0:l-diversity/k": "5"}, "changed in another tab"),
        ({"context/sampling_fraction": "2"}, "less than or equal to 1"),
        ({"columns/0/role": "king"}, "role"),
        ({"context/date": "tomorrow"}, "2025-01-31"),
    ],
)
def test_what_is_wrong_is_said_as_the_policy_says_it(said: dict[str, str], sentence: str) -> None:
    with pytest.raises(PolicyError, match=sentence):
        changed(KINDS["table"](), NAMES, said)


def test_requirements_come_and_go() -> None:
    policy = with_requirement(KINDS["table"].of(k=3), "l-diversity")
    assert [one.model for one in policy.require] == ["k-anonymity", "l-diversity"]
    assert [one.model for one in without_requirement(policy, 0, "k-anonymity").require] == ["l-diversity"]
    with pytest.raises(PolicyError, match="changed in another tab"):
        without_requirement(policy, 1, "k-anonymity")
    with pytest.raises(PolicyError, match="at least one"):
        without_requirement(KINDS["table"](), 0, "k-anonymity")
    with pytest.raises(PolicyError, match="no privacy model"):
        with_requirement(policy, "x-anonymity")


@pytest.mark.parametrize("kind", KINDS)
def test_every_model_that_a_kind_lists_can_be_added_or_says_why_not(kind: str) -> None:
    for model in KINDS[kind].models():
        try:
            found = with_requirement(KINDS[kind](), model)
        except PolicyError:
            continue
        assert model in [one.model for one in found.require]


def test_what_goes_together_changes_together() -> None:
    sketches = KINDS["sparse"]()
    other = "pseudo" if sketches.method.publish == "sketch" else "sketch"
    assert changed(sketches, [], {"method/publish": other}).method.publish == other


@settings(max_examples=25)
@given(st.dictionaries(st.sampled_from([f.name for f in all_fields(KINDS["table"](), NAMES)]), st.text(max_size=20)))
def test_whatever_is_typed_is_a_policy_or_a_sentence(said: dict[str, str]) -> None:
    policy = KINDS["table"]()
    with suppress(PolicyError):
        assert isinstance(changed(policy, NAMES, changes(policy, NAMES, said)), type(policy))


def test_of_strings_there_are_no_columns() -> None:
    assert column_fields(KINDS["strings"](), NAMES) == []


def test_words_for_the_history_are_short() -> None:
    said = {f"context/{name}": "x" * 200 for name in ("title", "source", "purpose", "harms", "contact", "licence")}
    told = said_in_words(said, [])
    assert told.endswith("and 2 more")
    assert len(told) < 400
