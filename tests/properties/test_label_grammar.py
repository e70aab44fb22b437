"""Labels read back as what was written, whatever the values are spelled like."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from shoal.data.tables.labels import (
    EVERYTHING,
    OR_MISSING,
    Label,
    range_label,
    read_label,
    set_label,
    value_label,
)

# Pieces of which ambiguous labels are made, and whatever else there is.
PIECES = st.sampled_from(
    ["..", ".", ",", ", ", " ", "[", "]", "(", ")", "{", "}", '"', "*", "-", "or missing", " or missing", "a", "Doe"]
    + ["1e-300", ".5", "5.", "-1.5", "2020-01-31", "1,5", "\n", "'", "ä", "\\"]
)
VALUES = st.one_of(
    st.lists(PIECES, min_size=1, max_size=6).map("".join),
    st.floats(allow_nan=False).map(repr),
    st.dates().map(str),
    st.text(min_size=1, max_size=8),
)


@given(VALUES, st.booleans())
@example("*", False)
@example("x or missing", True)
@example('"a"', False)
@settings(max_examples=500, deadline=None)
def test_one_value_reads_back(value, may_miss):
    label = value_label(value) + OR_MISSING * may_miss
    assert read_label(label) == Label("value", (value,), may_miss)


@given(VALUES, VALUES, st.booleans(), st.booleans())
@example("1e-300", ".5", False, False)
@example("1.", "5", False, False)
@settings(max_examples=500, deadline=None)
def test_a_range_reads_back(first, last, is_open, may_miss):
    label = range_label(first, last, is_open=is_open) + OR_MISSING * may_miss
    if first == last and not is_open:
        assert read_label(label) == Label("value", (first,), may_miss)
    else:
        assert read_label(label) == Label("range", (first, last), may_miss, is_open)


@given(st.lists(VALUES, min_size=2, max_size=6, unique=True), st.booleans())
@example(["Doe, J.", "Roe"], False)
@example(["Doe", "J.", "Roe"], False)
@example(["a,", " b", ","], True)
@settings(max_examples=500, deadline=None)
def test_a_set_reads_back(values, may_miss):
    label = set_label(values) + OR_MISSING * may_miss
    assert read_label(label) == Label("set", tuple(sorted(values)), may_miss)


@given(st.lists(VALUES, min_size=1, max_size=3), st.lists(VALUES, min_size=1, max_size=3))
@settings(max_examples=300, deadline=None)
def test_two_sets_have_one_label_only_if_they_are_one_set(one, other):
    if set(one) != set(other):
        assert set_label(list(dict.fromkeys(one))) != set_label(list(dict.fromkeys(other)))


def test_ordinary_labels_look_as_they_always_did():
    assert range_label("31", "34") == "[31..34]"
    assert range_label("-1.5", "2e-05") == "[-1.5..2e-05]"
    assert range_label("2020-01-31", "2021-02-28") == "[2020-01-31..2021-02-28]"
    assert range_label("20", "25", is_open=True) == "[20..25)"
    assert set_label(["White", "Asian-Pac-Islander", "Black"]) == "{Asian-Pac-Islander, Black, White}"
    assert set_label(["1,5", "St. John's", "a.b"]) == "{1,5, St. John's, a.b}"
    for value in ("31", "-5", "4810*", "Married-civ-spouse", "Doe, J.", "{a", "[1]", "3.", "a..b", ""):
        assert value_label(value) == value
    assert read_label(EVERYTHING) == Label("everything", (), True)


def test_what_could_be_read_in_two_ways_is_quoted():
    assert range_label("1e-300", ".5") == '[1e-300..".5"]'
    assert set_label(["Roe", "Doe, J."]) == '{"Doe, J.", Roe}'
    assert read_label("[1e-300...5]") == Label("value", ("[1e-300...5]",))
