"""Numbers of records as they are told: few are not counted out, and do not follow from what stands beside them."""

from __future__ import annotations

import itertools

import pytest

from shoal.told_counts import (
    Span,
    contradictions,
    may_be,
    public_counts,
    public_reasons,
    read_count,
    write_count,
)


@pytest.mark.parametrize("k", [2, 3, 5, 20])
def test_nothing_that_is_told_separates_counts_below_k(k: int) -> None:
    """Every number from 1 to k - 1 gives the same manifest, whatever is held out; k = 2 hides 1 among 1 and 2."""
    for held in ({}, {"held_out": 100}):
        told = [public_counts({"in": 500 + n, "out": 500, "suppressed": n, **held}, k) for n in range(1, max(k, 3))]
        assert all(t == told[0] for t in told)
        for n, t in enumerate(told, start=1):
            assert may_be(t["suppressed"], n)
            assert may_be(t["in"], 500 + n)
            assert contradictions(t, k, None, "rows") == []


def test_reasons_hide_one_another() -> None:
    k = 5
    seen: dict[str, set[tuple[int, ...]]] = {}
    for counts in itertools.product((0, 1, 2, 4, 5, 9), repeat=3):
        reasons = {name: n for name, n in zip("abc", counts, strict=True) if n}
        n = sum(counts)
        records, told = public_reasons({"in": 100 + n, "out": 100, "suppressed": n}, reasons, k)
        assert contradictions(records, k, told, "strings") == []
        assert may_be(records["suppressed"], n)
        assert may_be(records["in"], 100 + n)
        assert all(isinstance(told[name], Span) == (reasons[name] < k) for name in reasons)
        seen.setdefault(repr((records, told)), set()).add(counts)
    for alike in seen.values():  # whoever sees one of them cannot tell a small count from another
        for place in range(3):
            values = {counts[place] for counts in alike}
            assert values in ({0}, {1, 2, 4}, {5}, {9})


def test_exact_numbers_stay_where_no_few_are_told() -> None:
    assert public_counts({"in": 70, "out": 65, "suppressed": 5, "held_out": 7}, 5) == {
        "in": 70,
        "out": 65,
        "suppressed": 5,
        "held_out": 7,
    }
    assert public_counts({"in": 70, "out": 70, "suppressed": 0}, 5) == {"in": 70, "out": 70, "suppressed": 0}
    assert public_counts({"in": 70, "out": 70, "suppressed": 0, "held_out": 12}, 20)["held_out"] == Span(1, None)
    assert public_counts({"in": 72, "out": 70, "suppressed": 2, "held_out": 24}, 5)["held_out"] == Span(1, None)


def test_counts_survive_the_file() -> None:
    for told in (0, 7, Span(1, 4), Span(1, None)):
        assert read_count(write_count(told)) == told


@pytest.mark.parametrize(
    "told", [-1, True, 1.5, "3", None, [], {}, {"from": 1}, {"from": 3, "to": 1}, {"from": 1, "to": 2, "by": 1}]
)
def test_what_is_no_count_is_refused(told: object) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        read_count(told)


@pytest.mark.parametrize(
    ("records", "reasons", "says"),
    [
        ({"in": 10, "out": 8, "suppressed": 1}, None, "do not make those that came in"),
        ({"in": Span(9, 99), "out": 8, "suppressed": Span(1, 91)}, None, "as ranges that are not those of a release"),
        ({"in": Span(9, 12), "out": 8, "suppressed": Span(1, 4)}, {"a": 1}, "do not add up to the number"),
        ({"in": 8 + Span(1, 9), "out": 8, "suppressed": Span(1, 9)}, {"a": Span(1, 9)}, "not those of a release"),
    ],
)
def test_numbers_that_contradict_one_another_are_found(records: dict, reasons: dict | None, says: str) -> None:
    assert any(says in finding for finding in contradictions(records, 5, reasons, "rows"))
