"""The labels of a recoded column, on columns small enough to write down."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import Column, encode_cells
from shoal.errors import DataError
from shoal.tables.encoding import rank
from shoal.tables.publish.recode import recode

TREE = Hierarchy((("a", "ab", "all"), ("b", "ab", "all"), ("c", "cd", "all"), ("d", "cd", "all")))
WORD = Attribute("x", "nominal", "quasi")
NUMBER = Attribute("x", "continuous", "quasi")
GRADE = Attribute("x", "ordinal", "quasi", order=("low", "middle", "high"))


def column_of(cells: list[str | None], markers: tuple[str | None, ...] = ("?",)) -> Column:
    values = sorted({c for c in cells if c is not None})
    codes = [len(values) if c is None else values.index(c) for c in cells]
    return Column("x", np.array(codes, np.int32), np.array(values, dtype=object), markers if None in cells else ())


def shown(column: Column) -> list[str]:
    assert column.codes.dtype == np.int32
    assert list(column.values) == sorted(set(column.values))
    assert set(column.codes.tolist()) == set(range(len(column.values) + len(column.markers)))
    return [column.texts()[c] for c in column.codes]


def recoded(cells, attribute: Attribute, level: int) -> list[str]:
    column = column_of(cells)
    return shown(recode(column, rank(column, attribute), level, attribute.hierarchy))


def test_labels_of_a_hierarchy() -> None:
    attribute = Attribute("x", "nominal", "quasi", hierarchy=TREE)
    cells = ["c", "a", None, "b"]
    assert recoded(cells, attribute, 0) == ["c", "a", "?", "b"]
    assert recoded(cells, attribute, 1) == ["cd", "ab", "?", "ab"]
    assert recoded(cells, attribute, 2) == ["all"] * 4
    assert recoded([None, None], attribute, 2) == ["all", "all"]
    assert recoded([None, None], attribute, 1) == ["?", "?"]


def test_labels_without_a_hierarchy() -> None:
    assert recoded(["b", "a", None], WORD, 0) == ["b", "a", "?"]
    assert recoded(["b", "a", None], WORD, 1) == ["*"] * 3
    cells = ["9", "10", "-3", None, "4", "12"]  # in order -3 4 | 9 10 | 12
    assert recoded(cells, NUMBER, 0) == ["9", "10", "-3", "?", "4", "12"]
    assert recoded(cells, NUMBER, 1) == ["[9..10]", "[9..10]", "[-3..4]", "?", "[-3..4]", "12"]
    assert recoded(cells, NUMBER, 2) == ["[-3..10]", "[-3..10]", "[-3..10]", "?", "[-3..10]", "12"]
    assert recoded(cells, NUMBER, 3) == ["*"] * 6
    assert recoded(["low", "high", "middle"], GRADE, 1) == ["[low..middle]", "high", "[low..middle]"]


def test_spellings_of_one_value_become_one() -> None:
    # Two records of a class must not differ in how 1 is written.
    assert len(set(recoded(["1", "1.0", "2"], NUMBER, 0))) == 2
    column = Column("x", np.array([0, 1, 2], np.int32), np.array(["a"], dtype=object), ("?", "NA"))
    assert shown(recode(column, rank(column, WORD), 0, None)) == ["a", "?", "?"]


def test_numbers_stay_numbers_at_level_0() -> None:
    column = encode_cells("x", np.array([2.5, np.nan, 7.0, 2.5]))
    at_0 = recode(column, rank(column, NUMBER), 0, None)
    assert at_0.values.tolist() == [2.5, 7.0]
    assert at_0.codes.tolist() == [0, 2, 1, 0]
    assert shown(recode(column, rank(column, NUMBER), 1, None)) == ["*"] * 4


def test_suppressed_records_leave_no_trace() -> None:
    column = encode_cells("x", np.array([1.0, 2.0, 3.0, 4.0, 99.0]))
    ranked = rank(column, NUMBER)
    kept = np.array([1, 2, 3])  # 1 and 99 are suppressed
    assert recode(column.take(kept), ranked.take(kept), 0, None).values.tolist() == [2.0, 3.0, 4.0]
    assert shown(recode(column.take(kept), ranked.take(kept), 1, None)) == ["2", "[3..4]", "[3..4]"]


def test_refuses_levels_that_are_not_there() -> None:
    column = column_of(["a", "b"])
    with pytest.raises(DataError, match="levels 0 to 1, not 2"):
        recode(column, rank(column, WORD), 2, None)
    attribute = Attribute("x", "nominal", "quasi", hierarchy=TREE)
    with pytest.raises(DataError, match="taxonomy of 'x' is missing"):
        recode(column, rank(column, attribute), 1, None)


def test_rounded_ends_of_rows_that_stand_for_several_records_are_those_of_the_records() -> None:
    n_other = 0
    age = Attribute("x", "continuous", "quasi")
    for seed in (13, 122, 128, 129, 130, 166):
        rng = np.random.default_rng(seed)
        cells = [str(n) for n in np.unique((rng.exponential(20, 40) * 3).astype(int)).tolist()]
        weights = rng.choice([1, 1, 1, 2, 900], len(cells)).astype(np.int32)
        once, every = column_of(cells), column_of(np.repeat(cells, weights).tolist())
        by_weight = shown(recode(once, rank(once, age), 1, None, ends="rounded", weights=weights))
        of_all = shown(recode(every, rank(every, age), 1, None, ends="rounded"))
        assert np.repeat(by_weight, weights).tolist() == of_all
        n_other += by_weight != shown(recode(once, rank(once, age), 1, None, ends="rounded"))
    assert n_other  # weights make a difference
