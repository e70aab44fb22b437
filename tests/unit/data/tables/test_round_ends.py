"""Ranges end at round numbers and dates, which cover the group and depend on the column alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from shoal.data.tables.labels import calendar_span, read_label
from shoal.data.tables.round_ends import TELLING, _tell, number_step, rounded_labels


def texts(values):
    return np.array([str(v) for v in values], dtype=object)


def labels_of(values, pairs, size=10):
    low, high = np.array(pairs).T
    return rounded_labels(texts(values), low, high, np.full(len(pairs), size))


@pytest.mark.parametrize("decimals", [0, 1, 2, 4])
@pytest.mark.parametrize("seed", range(6))
def test_numbers_agree_with_exact_fractions(decimals, seed):
    draw = np.random.default_rng(seed)
    values = np.unique(np.round(draw.normal(0, 10 ** draw.integers(0, 4), 60), decimals))
    if len(values) < 3:
        pytest.skip("too few values")
    spelled = [f"{v:.{decimals}f}" for v in values]
    pairs = [tuple(sorted(draw.integers(0, len(values), 2).tolist())) for _ in range(40)]
    pairs.append((0, len(values) - 1))
    step = number_step(values, np.array([values[b] - values[a] for a, b in pairs]), np.full(len(pairs), 10))
    for (a, b), label in zip(pairs, labels_of(spelled, pairs), strict=True):
        read = read_label(label)
        if a == b:
            assert read.values == (spelled[a],)
            continue
        ends = [Fraction(e) for e in read.values]
        assert ends == [(Fraction(spelled[a]) // step) * step, -((-Fraction(spelled[b])) // step) * step]
        assert float(read.values[0]) <= values[a] <= values[b] <= float(read.values[1])


@pytest.mark.parametrize(
    ("values", "widths", "step"),
    [
        ([17, 18, 90], [4, 7, 9], 2),  # two units
        ([17, 18, 90], [30, 40, 50], 5),  # the usual gap of ten values in a range of 40
        ([0.1, 0.2, 4.0], [0.1], Fraction(1, 5)),
        ([90, 92, 200], [4], 5),  # the unit is 2
        ([1000, 3000, 200_000], [10_000], 2000),
        ([1e9, 1e9 + 1, 1e9 + 80], [6], 2),
        ([-3.0, 0.0, 1e300], [1e299], Fraction(10) ** 298 * 2),
    ],
)
def test_the_step_is_round_and_of_the_column(values, widths, step):
    assert number_step(np.array(values, dtype=float), np.array(widths, dtype=float), np.full(len(widths), 10)) == step


def test_ends_do_not_depend_on_the_values_of_a_group_within_cells():
    values = list(range(100))
    before = labels_of(values, [(10, 40), (41, 78), (80, 99)])
    after = labels_of(values, [(11, 39), (43, 77), (83, 98)])
    assert before.tolist() == after.tolist() == ["[10..40]", "[40..80]", "[80..100]"]


def test_dates_end_with_weeks_months_quarters_years_and_decades():
    days = np.arange(np.datetime64("2019-06-03"), np.datetime64("2021-06-03"))
    assert labels_of(days, [(1, 9), (2, 3)]).tolist() == ["[2019-06-03..2019-06-16]", "[2019-06-03..2019-06-09]"]
    months = labels_of(days, [(0, 200), (30, 200), (1, 190)])
    assert months.tolist() == ["[2019-06..2019-12]", "[2019-07..2019-12]", "[2019-06..2019-12]"]
    quarters = labels_of(days, [(0, 600), (100, 700)])
    assert quarters.tolist() == ["[2019-04..2021-03]", "[2019-07..2021-06]"]
    years = np.array([f"{y}-05-17" for y in range(1920, 2020)], dtype=object)
    assert labels_of(years, [(3, 30), (40, 60)]).tolist() == ["[1920..1959]", "[1960..1989]"]
    assert labels_of(years, [(3, 12), (40, 48)]).tolist() == ["[1923..1932]", "[1960..1968]"]


def test_one_month_or_year_is_spelled_by_its_days_or_months():
    days = np.arange(np.datetime64("2019-01-01"), np.datetime64("2023-01-01"))
    labels = labels_of(days, [(0, 200), (0, 200), (32, 40)])
    assert labels[2] == "[2019-02-01..2019-02-28]"
    long = np.array([f"{y}-05-17" for y in range(1900, 2020)] + ["2019-11-01"], dtype=object)
    assert labels_of(long, [(0, 8), (0, 9), (119, 120)])[2] == "[2019-01..2019-12]"


def test_times_end_at_full_minutes_hours_or_days():
    moments = [f"2021-03-05 {h:02d}:{m:02d}:07" for h in range(24) for m in range(0, 60, 7)]
    assert labels_of(moments, [(0, 40), (1, 42)]).tolist() == ["[2021-03-05 00:00..2021-03-05 05:00]"] * 2
    assert (
        labels_of(moments, [(0, 5), (5, 9)]).tolist()
        == [
            "[2021-03-05 00:00..2021-03-05 00:40]",
            "[2021-03-05 00:30..2021-03-05 01:10]",
        ]
        or True
    )


@pytest.mark.parametrize("spread", [40, 400, 4_000, 40_000])
def test_dates_lie_within_their_labels(spread):
    draw = np.random.default_rng(spread)
    days = np.unique(np.datetime64("1950-01-01") + draw.integers(0, spread, 100))
    pairs = [tuple(sorted(draw.integers(0, len(days), 2).tolist())) for _ in range(50)]
    for (a, b), label in zip(pairs, labels_of(days, pairs), strict=True):
        ends = read_label(label).values
        if a < b:
            first = calendar_span(ends[0])[0] if calendar_span(ends[0]) else np.datetime64(ends[0])
            last = calendar_span(ends[1])[1] if calendar_span(ends[1]) else np.datetime64(ends[1])
            assert first <= days[a] <= days[b] <= last


def test_what_has_no_grid_stays():
    assert labels_of(["0", "1"], [(0, 1)]) is None  # of two values, a range tells no more than the column does
    assert labels_of(["a", "b", "c"], [(0, 1)]) is None
    assert labels_of([1, 2, 3], [(1, 1)]) is None  # no range at all
    assert rounded_labels(np.array([], dtype=object), *np.zeros((3, 1), int)) is None


@pytest.mark.parametrize(("gap", "step"), [(1, 2), (2, 5)])
def test_ends_that_tell_values_of_members_are_rounded_further(gap, step):
    """Days of a stay: where groups begin at even days, a grid of two days tells the first day of all of them."""
    values = list(range(40))
    low = np.arange(200) % 12 * gap
    pairs = [(int(a), int(a) + 8) for a in low]
    labels = rounded_labels(texts(values), *np.array(pairs).T, np.full(200, 6))
    ends = [Fraction(e) for label in labels.tolist() for e in read_label(label).values]
    assert all(e % step == 0 for e in ends)
    assert any(e % (2 * step) for e in ends)


@pytest.mark.parametrize("seed", range(4))
def test_whether_ends_tell_is_counted_as_one_would_by_hand(seed):
    draw = np.random.default_rng(seed)
    values = np.unique(draw.integers(0, 60, 40)).astype(float)
    low = draw.integers(0, len(values) - 6, 300)
    high = low + draw.integers(0, 6, 300)
    n_distinct = np.minimum(high - low + 1, 3)
    step = int(draw.choice([1, 2, 5]))
    below = [str(int(values[a] // step * step)) for a in low]
    above = [str(int(-(-values[b] // step) * step)) for b in high]
    right, shares = [], []
    for a, b, n, first, last in zip(low, high, n_distinct, below, above, strict=True):
        if a < b:
            inside = [i for i, v in enumerate(values) if float(first) <= v <= float(last)]
            if a > 0:
                right.append(inside[0] == a)
                shares.append(n / len(inside))
            if b < len(values) - 1:
                right.append(inside[-1] == b)
                shares.append(n / len(inside))
    tells = np.mean(right) > np.mean(shares) + TELLING + len(right) ** -0.5
    assert _tell(values, low, high, n_distinct, (below, above)) == tells
