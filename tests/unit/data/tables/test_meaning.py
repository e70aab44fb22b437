"""The tests of `data/tables/meaning.py`."""

from __future__ import annotations

import pytest

import shoal
from shoal.data.tables.frames import from_frame
from shoal.data.tables.meaning import attributes_of, automatic_rows
from shoal.kinds.tables.policy import Policy

pd = pytest.importorskip("pandas")


def test_ordered_categories_of_pandas_keep_their_order() -> None:
    sizes = ["low", "high", "mid", "low", None, "high", "mid", "?", "high"]
    categories = ["?", "low", "mid", "high", "huge"]
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(sizes, categories=categories, ordered=True),
            "plain": pd.Categorical(sizes, categories=categories),
            "grade": pd.Categorical([3, 1, 2, 3, 1, 2, 3, 1, 2], categories=[3, 1, 2], ordered=True),
        }
    )
    attributes = attributes_of(from_frame(frame), Policy())
    assert (attributes["size"].type, attributes["size"].order) == ("ordinal", ("low", "mid", "high"))
    assert (attributes["grade"].type, attributes["grade"].order) == ("ordinal", ("3", "1", "2"))
    assert attributes["plain"].type == "nominal"
    asked = Policy(
        columns={"size": {"type": "ordinal", "order": ["high", "mid", "low"]}, "grade": {"type": "continuous"}}
    )
    attributes = attributes_of(from_frame(frame), asked)
    assert attributes["size"].order == ("high", "mid", "low")
    assert attributes["grade"].type == "continuous"


def test_another_delimiter_is_named_where_a_line_is_one_column() -> None:
    with pytest.raises(shoal.PolicyError, match="its delimiter seems to be another: ';'"):
        shoal.anonymize({"age;zip": ["1;2", "3;4"]}, shoal.Policy.of(quasi=["age"], k=2))
    with pytest.raises(shoal.PolicyError, match="did you mean 'agee'"):
        shoal.anonymize({"agee": [1, 2], "a;b": [1, 2]}, shoal.Policy.of(quasi=["age"], k=2))


def test_a_column_named_like_all_others_is_refused() -> None:
    with pytest.raises(shoal.DataError, match="rename it"):
        shoal.anonymize({"*": [1, 1], "age": [1, 1]}, shoal.Policy.of(quasi=["age"], k=2))


def test_whole_numbers_beyond_the_exact_ones_are_refused() -> None:
    table = {"n": [2**53, 2**53 + 1, 2**53 + 2, 2**53 + 2]}
    with pytest.raises(shoal.DataError, match="too large"):
        shoal.anonymize(table, shoal.Policy.of(columns={"n": {"role": "quasi", "type": "continuous"}}, k=2))


def test_hierarchies_that_columns_have_by_themselves() -> None:
    table = from_frame({"n": list(range(40)), "word": ["ab"[i % 2] for i in range(40)], "empty": [None] * 40})
    found = automatic_rows(table, Policy.of(quasi=["n", "word"]), most=100)
    values, rows = found["n"]
    assert values == [str(i) for i in range(40)]
    assert [row[0] for row in rows] == values
    assert {row[-1] for row in rows} == {"*"}
    assert found["word"] == (["a", "b"], [])
    assert found["empty"] == ([], [])
    some, rows = automatic_rows(table, Policy.of(quasi=["n"]), most=4)["n"]
    assert (some[0], some[-1], len(some), len(rows)) == ("0", "39", 4, 4)
