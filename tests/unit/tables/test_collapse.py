"""Records put together, against a dictionary of what each record holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from shoal.data.tables.table import Table, encode_cells
from shoal.tables.collapse import collapse, joined_rows, single_rows
from shoal.tables.encoding import Ranked


def attribute(ranks):
    ranks = np.asarray(ranks, dtype=np.int32)
    return Ranked("a", "category", ranks, np.arange(ranks.max(initial=0) + 1.0))


@pytest.mark.parametrize("n_codes", [0, 1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_sorted_records_are_put_together_as_a_dictionary_would(seed, n_codes):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 80))
    columns = rng.integers(0, 3, (3, n))
    columns = columns[:, np.lexsort(columns)].astype(np.int32)
    # Large codes: packed into one number they would overflow.
    codes = [rng.choice([0, 1, 2**31 - 2], n).astype(np.int32) for _ in range(n_codes)]
    found = collapse([attribute(c) for c in columns], codes)
    keys = [tuple(column) for column in np.vstack([columns, *codes]).T.tolist()]
    counts = Counter(keys)
    assert [keys[i] for i in found.rows] == list(dict.fromkeys(keys))
    assert found.weights.tolist() == [counts[keys[i]] for i in found.rows]
    assert [keys[found.rows[row]] for row in found.of_record] == keys
    assert found.weights.dtype == found.of_record.dtype == np.int32


def test_records_that_do_not_follow_each_other_stay_apart_and_none_is_lost():
    found = collapse([attribute([1, 0, 0, 1])])
    assert found.rows.tolist() == [0, 1, 3]
    assert found.weights.tolist() == [1, 2, 1]
    assert found.of_record.tolist() == [0, 1, 1, 2]


def test_the_attributes_are_those_of_the_distinct_rows():
    found = collapse([attribute([4, 4, 2])])
    assert found.ranked([attribute([4, 4, 2])])[0].ranks.tolist() == [4, 2]


def test_single_rows_stand_for_themselves():
    found = single_rows(3)
    assert found.rows.tolist() == found.of_record.tolist() == [0, 1, 2]
    assert found.weights.tolist() == [1, 1, 1]


def test_rows_that_stand_for_several_records_already_are_put_together_with_these():
    found = collapse([attribute([4, 4, 2])], weights=np.array([5, 1, 3], dtype=np.int32))
    assert found.weights.tolist() == [6, 3]


def test_equal_rows_that_follow_each_other_are_joined():
    table = Table.of([encode_cells("a", np.array([3, 1, 3, 3])), encode_cells("b", np.array([0, 0, 0, 1]))])
    table = replace(table, weights=np.array([5, 2, 4, 1], dtype=np.int32))
    found, rows, place = joined_rows(table, np.array([1, 2, 0, 3]))
    assert rows.tolist() == [1, 2, 3]
    assert place.tolist() == [0, 1, 1, 2]
    assert found.take(rows).weights.tolist() == [2, 9, 1]
