"""Numbers, names and limits in plain words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from shoal.check.guarantee import Guarantee
from shoal.data.tables.attribute import Attribute
from shoal.report.tables.limits import not_protected
from shoal.report.tables.words import achieved, number, percent, required, short_name, treatment

Make = Callable[..., Any]


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.99951, ">99.9 %"),
        (0.995, "99.5 %"),
        (0.0004, "<0.1 %"),
        (0.25, "25 %"),
        (None, "–"),
    ],
)
def test_percent_never_claims_none_or_all(share: float | None, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "5"),
        (12345.678, "12,346"),
        (0.000012345, "0.0000123"),
        (1e-9, "1.00e-09"),
        (-3.14159, "-3.14"),
        (float("inf"), "∞"),
    ],
)
def test_number(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("changes", "name", "asked", "reached"),
    [
        ({}, "5-anonymity", "k ≥ 5", "k = 5"),
        (
            {"model": "t-closeness", "sensitive": "ill", "required": {"t": 0.3}, "achieved": 0.21},
            "0.3-closeness of ill", "t ≤ 0.3", "t = 0.21",
        ),
        (
            {"model": "alpha-k", "sensitive": "ill", "required": {"alpha": 0.5, "k": 5},
             "achieved": 0.4, "details": {"k": 6}},
            "(0.5, 5)-anonymity of ill", "α ≤ 0.5, k ≥ 5", "α = 0.4, k = 6",
        ),
        (
            {"model": "l-diversity", "kind": "recursive", "sensitive": "ill", "required": {"l": 2, "c": 3},
             "achieved": 1.5},
            "recursive (3, 2)-diversity of ill", "l ≥ 2, c ≤ 3", "c = 1.5",
        ),
    ],
)  # fmt: skip
def test_guarantees_by_name(make_guarantee: Make, changes: dict[str, Any], name: str, asked: str, reached: str) -> None:
    made: Guarantee = make_guarantee(**changes)
    assert (short_name(made), required(made), achieved(made)) == (name, asked, reached)


def titles(guarantees: list[Guarantee], roles: dict[str, str], publish: str = "generalise") -> list[str]:
    attributes = {n: Attribute(n, "nominal", r) for n, r in roles.items()}  # type: ignore[arg-type]
    return [point.title for point in not_protected(guarantees, attributes, publish)]


def test_limits_depend_on_what_was_required(make_guarantee: Make) -> None:
    k = make_guarantee()
    diverse = make_guarantee(model="l-diversity", sensitive="ill")
    close = make_guarantee(model="t-closeness", sensitive="ill")
    roles = {"age": "quasi", "ill": "sensitive"}
    assert "Sensitive values" in titles([k], roles)
    assert "Sensitive values" not in titles([k, diverse], roles)
    assert "Likely values" in titles([k, diverse], roles)
    assert "Likely values" not in titles([k, diverse, close], roles)
    assert "No sensitive column was named" in titles([k], {"age": "quasi"})
    assert "Columns that were kept" not in titles([k], {"age": "quasi"})


def test_limits_depend_on_how_it_was_published(make_guarantee: Make) -> None:
    roles = {"age": "quasi"}
    assert "Members of sets are real" in titles([make_guarantee()], roles, "generalise")
    assert "Averages add up" in titles([make_guarantee()], roles, "aggregate")
    assert {"Several releases", "Being in the table"} <= set(titles([], roles, "generalise"))


def test_treatment_says_what_became_of_a_column() -> None:
    assert treatment(Attribute("x", "nominal", "identifying"), "generalise") == "removed"
    assert treatment(Attribute("x", "nominal", "sensitive"), "generalise") == "kept as it was"
    assert "mean" in treatment(Attribute("x", "continuous", "quasi"), "aggregate")
    assert "range" in treatment(Attribute("x", "date", "quasi"), "generalise")
