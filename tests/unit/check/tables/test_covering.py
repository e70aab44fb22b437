"""What labels cover, and that nothing doubtful passes in silence."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from shoal.check.tables.covering import count_unreadable, covering_of, scale_of
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import encode_cells


def column(cells):
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return encode_cells("x", array)


def covered(label, values, kind="nominal", missing="value", **options):
    """The values that a label covers (None for the missing one), and whether it is unreadable."""
    source = column(values)
    scale = scale_of(source, Attribute("x", kind, "quasi", **options))
    published = column([label])
    covering = covering_of(published, scale, missing=missing)
    labels = np.full(len(source.codes), published.codes[0], dtype=np.int64)
    inside = covering.covers(labels, scale.of_code[source.codes])
    return {v for v, i in zip(values, inside, strict=True) if i}, bool(count_unreadable(covering, published))


AGES = ["-5", "1", "1.0", "20", "25", "30", None]
TREE = Hierarchy((("a", "x", "*"), ("b", "y", "*"), ("c", "x", "*")))


@pytest.mark.parametrize(
    ("label", "values", "options", "expected"),
    [
        ("[20..25]", AGES, {"kind": "continuous"}, {"20", "25"}),
        ("[-5..1]", AGES, {"kind": "continuous"}, {"-5", "1", "1.0"}),
        ("[2..29.5]", AGES, {"kind": "continuous"}, {"20", "25"}),
        ("[20..25] or missing", AGES, {"kind": "continuous"}, {"20", "25", None}),
        ("1", AGES, {"kind": "continuous"}, {"1", "1.0"}),
        ("1.00", AGES, {"kind": "continuous"}, {"1", "1.0"}),
        ("*", AGES, {"kind": "continuous"}, set(AGES)),
        (None, AGES, {"kind": "continuous"}, {None}),
        (None, AGES, {"kind": "continuous", "missing": "any"}, set(AGES)),
        ("{b, d}", ["a", "b", "c", "d"], {}, {"b", "d"}),
        ("{b, d} or missing", ["a", "b", "c", "d", None], {}, {"b", "d", None}),
        ('{"a, b", c}', ["a, b", "c", "d"], {}, {"a, b", "c"}),
        ("{{b}, c}", ["{b}", "c", "b"], {}, {"{b}", "c"}),
        ("b or missing", ["a", "b", None], {}, {"b", None}),
        ("[lo..mid]", ["hi", "lo", "mid"], {"kind": "ordinal", "order": ("lo", "mid", "hi")}, {"lo", "mid"}),
        ("x", ["a", "b", "c"], {"hierarchy": TREE}, {"a", "c"}),
        ("401**", ["40178", "40175", "40277"], {"kind": "prefix"}, {"40178", "40175"}),
        (
            "[2020-01-02..2020-02-01]",
            ["2020-01-01", "2020-01-05", "2020-02-01"],
            {"kind": "date"},
            {"2020-01-05", "2020-02-01"},
        ),
        ("[1...5..2]", ["1.", "0.7", "2"], {"kind": "nominal"}, None),
    ],
)
def test_a_label_covers(label, values, options, expected):
    found, unreadable = covered(label, values, **options)
    if expected is None:
        assert unreadable
        return
    assert found == expected
    assert not unreadable


@pytest.mark.parametrize(
    ("label", "values", "kind"),
    [
        ("about 20", AGES, "continuous"),
        ("[20..x]", AGES, "continuous"),
        ("[25..20]", AGES, "continuous"),
        ("{a, z}", ["a", "b"], "nominal"),
        ("z", ["a", "b"], "nominal"),
        ("[a..b]", ["a", "b"], "nominal"),
        ("401**", ["40178", "40277"], "nominal"),
    ],
)
def test_what_cannot_be_read_is_counted(label, values, kind):
    found, unreadable = covered(label, values, kind)
    assert found == set()
    assert unreadable


@pytest.mark.parametrize(
    ("label", "values", "expected"),
    [
        ('{a, "b, c"}', ["a", "b, c", "b", "c", "d"], {"a", "b, c"}),
        ("{a, b}", ["a", "b", "{a, b}"], {"a", "b"}),
        ('"{a, b}"', ["a", "b", "{a, b}"], {"{a, b}"}),
        ("*", ["*", "b", None], {"*", "b", None}),
        ('"*"', ["*", "b", None], {"*"}),
        ("a or missing", ["a or missing", "a", None], {"a", None}),
        ('"a or missing"', ["a or missing", "a", None], {"a or missing"}),
    ],
)
def test_a_value_that_looks_like_a_label_is_told_from_one(label, values, expected):
    assert covered(label, values) == (expected, False)


def test_the_ends_of_a_range_are_told_apart_by_quotes():
    values = ["1e-300", ".5", "1.", "5", "0.3", "7"]
    assert covered('[1e-300..".5"]', values, "continuous") == ({"1e-300", ".5", "0.3"}, False)
    assert covered('["1."..5]', values, "continuous") == ({"1.", "5"}, False)
    assert covered("[1e-300...5]", values, "continuous") == (set(), True)
    assert covered("[0..5)", values, "continuous") == ({"1e-300", ".5", "0.3", "1."}, False)


def test_moments_of_a_date_column_are_in_order():
    values = np.array([date(2020, 1, d) for d in (3, 1, 2)], dtype="datetime64[us]")
    source = encode_cells("x", values)
    scale = scale_of(source, Attribute("x", "date", "quasi"))
    covering = covering_of(column(["[2020-01-01..2020-01-02]"]), scale, missing="value")
    assert covering.covers(np.zeros(3, dtype=np.int64), scale.of_code[source.codes]).tolist() == [False, True, True]
