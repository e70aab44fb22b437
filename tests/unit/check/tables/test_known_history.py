"""How many persons have a history that no other has, against a slow count by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.check.tables.known_history import TiedRecords, known_history, share_found
from shoal.data.tables.table import encode_cells


def texts(cells):
    return np.array(cells, dtype=object)


def slow_share(tables, window):
    """The share of persons that nobody else is left for, for some day that the first one may have been.

    Each table is a list of (person, label, kept, day or None).
    """
    persons = sorted({row[0] for table in tables for row in table})
    first = {p: min((r[3] for t in tables for r in t if r[0] == p and r[3] is not None), default=None) for p in persons}
    history = {
        p: Counter(
            (i, r[1], r[2], None if r[3] is None else r[3] - first[p])
            for i, t in enumerate(tables)
            for r in t
            if r[0] == p
        )
        for p in persons
    }
    n_found = 0
    for p in persons:
        alike = [q for q in persons if q != p and history[q] == history[p]]
        if first[p] is None:
            n_found += not alike
            continue
        possible = range(first[p] - window, first[p] + window + 1)
        n_found += any(all(abs(first[q] - t) > window for q in alike) for t in possible)
    return n_found / len(persons)


rows = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from("xy"), st.sampled_from("ab"), st.none() | st.integers(-6, 6)),
    min_size=1,
    max_size=12,
)


def tied(table, at=0):
    days = np.array([np.nan if r[3] is None else r[3] for r in table], dtype=float)
    return TiedRecords(
        np.array([r[0] for r in table]),
        [encode_cells("label", texts([r[1] for r in table]))],
        {f"{at}.kept": encode_cells("kept", texts([r[2] for r in table]))},
        {f"{at}.day": days},
    )


@given(st.lists(rows, min_size=1, max_size=2), st.integers(1, 4))
def test_as_many_are_found_as_by_trying_all_days(tables, window):
    # Persons are numbered without gaps.
    place = {p: i for i, p in enumerate(sorted({r[0] for t in tables for r in t}))}
    tables = [[(place[r[0]], *r[1:]) for r in t] for t in tables]
    made = [tied(t, i) for i, t in enumerate(tables)]
    names = [n for t in made for n in (*t.kept, *t.moved)]
    assert share_found(made, names, window) == pytest.approx(slow_share(tables, window))
    bare = [[(*r[:3], None) for r in t] for t in tables]
    assert share_found(made, [n for n in names if "kept" in n], window) == pytest.approx(slow_share(bare, window))


def test_times_of_day_stay_and_tell_persons_apart():
    days = {"at": np.array([10.0, 10.25, 10.0])}
    assert share_found([TiedRecords(np.array([0, 1, 2]), (), {}, days)], ["at"], 5) == pytest.approx(1 / 3)


def test_the_fewest_columns_above_the_limit_are_named():
    kept = {"a": encode_cells("a", texts(["1"] * 8)), "b": encode_cells("b", texts(list("stuvwxyz")))}
    table = TiedRecords(np.arange(8), (), kept)
    (found,) = known_history([table], shift_days=5, limit=0.05, reason=None)
    assert (found.columns, found.share, found.is_serious) == (("b",), 1.0, True)
    assert "up to" not in found.sentence
    (taken,) = known_history([table], shift_days=5, limit=0.05, reason="why not")
    assert not taken.is_serious
    both = TiedRecords(
        np.arange(4), (), {n: encode_cells(n, texts(list(c))) for n, c in {"a": "xxyy", "b": "xyxy"}.items()}
    )
    (together,) = known_history([both], shift_days=5, limit=0.05, reason=None)
    assert together.columns == ("a", "b")


def test_numbers_of_records_tell_where_they_are_not_alike():
    table = TiedRecords(np.array([0, 0, 1, 2]))
    assert known_history([table], shift_days=5, limit=0.05, reason=None) == ()
    (found,) = known_history([table], shift_days=5, limit=0.05, reason=None, counts_alone=True)
    assert (found.columns, found.share) == ((), pytest.approx(1 / 3))
    assert "how many there are" in found.sentence


def test_moved_days_are_told_as_the_days_between_them():
    table = TiedRecords(np.array([0, 0, 1, 1]), (), {}, {"seen": np.array([1.0, 2, 5, 9])})
    (found,) = known_history([table], shift_days=5, limit=0.05, reason=None)
    assert "the days between its 'seen'" in found.sentence
    assert "finds up to 100 %" in found.sentence
