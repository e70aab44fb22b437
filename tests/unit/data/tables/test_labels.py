"""The labels of a release say which values they stand for, whatever the values look like."""

from __future__ import annotations

import pytest

import shoal
from shoal.data.tables.labels import calendar_span, read_label
from shoal.kinds.tables.policy import Policy


def published(name: str, values: list[str], kind: str, **method: object) -> list[str]:
    people = {name: values, "disease": ["flu", "cold"] * (len(values) // 2)}
    policy = Policy(columns={name: {"role": "quasi", "type": kind}, "disease": {"role": "sensitive"}},
                    require=({"model": "k-anonymity", "k": 2},), method=method)  # fmt: skip
    return list(shoal.anonymize(people, policy, seed=1).data[name])


def test_the_ends_of_a_range_can_be_told_apart():
    labels = published("x", ["1e-300", ".5", "100.", "200"], "continuous", partition="mondrian", ends="exact")
    assert sorted(set(labels)) == ['["100."..200]', '[1e-300..".5"]']
    assert {read_label(t).values for t in labels} == {("1e-300", ".5"), ("100.", "200")}


@pytest.mark.parametrize("partition", ["k-member", "mondrian"])
def test_the_members_of_a_set_can_be_told_apart(partition):
    names = ["Doe, J.", "Roe", "Doe", "J."]
    labels = published("name", names * 2, "nominal", partition=partition, publish="generalise")
    told = [read_label(t) for t in labels]
    assert all(t.kind == "everything" or set(t.values) <= set(names) for t in told)
    labels = published("name", ["Doe, J.", "Roe", "Poe", "Poe"], "nominal", partition=partition, publish="generalise")
    assert set(labels) == {'{"Doe, J.", Roe}', "Poe"}


def test_a_value_that_is_spelled_like_a_label_is_quoted():
    labels = published("x", ["*", "*", "[1..2]", "[1..2]", "a", "a"], "nominal", partition="mondrian")
    assert set(labels) == {'"*"', '"[1..2]"', "a"}


def test_months_and_years_end_with_their_last_moment():
    assert [str(m)[:10] for m in calendar_span("2020-02")] == ["2020-02-01", "2020-02-29"]
    assert [str(m)[:10] for m in calendar_span("1999")] == ["1999-01-01", "1999-12-31"]
    assert all(calendar_span(text) is None for text in ("2020-13", "2020-1", "0999", "20200", "2020-02-01", "*", ""))
