"""Whose row is it?"""

from __future__ import annotations

import pandas as pd

from shoal.data.tables.frames import from_frame
from shoal.data.tables.persons import person_codes


def test_rows_that_agree_in_all_columns_are_of_one_person():
    table = from_frame(pd.DataFrame({"house": [1, 1, 2, 1], "member": ["a", "b", "a", "a"]}))
    assert person_codes(table, ["house", "member"]).tolist() == [0, 1, 2, 0]
    assert person_codes(table, ["house"]).tolist() == [0, 0, 1, 0]


def test_rows_of_nobody_known_count_as_one_person():
    table = from_frame(pd.DataFrame({"id": ["a", None, "b", None], "n": [1, 2, 3, 4]}))
    codes = person_codes(table, ["id"])
    assert codes[1] == codes[3]
    assert sorted(set(codes.tolist())) == [0, 1, 2]
    both = person_codes(table, ["id", "n"])
    assert both[1] == both[3], "what is missing may be the same"
