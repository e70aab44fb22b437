"""Ranges end at round numbers and dates, which cover the group and depend on the column alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from shoal.check.tables.covering import covering_of, scale_of
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.labels import calendar_span, read_label
from shoal.data.tables.round_ends import (
    Ends,
    Spread,
    _edges,
    _number_grids,
    _tell,
    number_step,
    ordered_ends,
    rounded_labels,
)
from shoal.data.tables.table import encode_cells


def texts(values):
    return np.array([str(v) for v in values], dtype=object)


def spread_of(n_values, pairs, size=10):
    """Groups with so many values each, whose ends tell nothing: every guess is right."""
    low, high = np.array(pairs).T
    return Spread(low, high, np.full(len(low), size), np.ones(len(low), int), np.zeros(n_values, int))


def labels_of(values, pairs, size=10):
    return rounded_labels(texts(values), spread_of(len(values), pairs, size))


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
    assert labels_of(moments, [(0, 5), (5, 9)]).tolist() == [
        "[2021-03-05 00:00..2021-03-05 00:40]",
        "[2021-03-05 00:30..2021-03-05 01:10]",
    ]


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
    assert rounded_labels(np.array([], dtype=object), Spread(*np.zeros((4, 1), int), np.array([], dtype=int))) is None


def drawn_groups(values, n_groups, size, width, draw):
    """Values out of so many neighbours, as groups have that were cut by other columns as well."""
    starts = draw.integers(0, len(values) - width, n_groups)
    members = np.array([np.sort(draw.choice(np.arange(s, s + width), size, replace=False)) for s in starts])
    counts = np.bincount(members.ravel(), minlength=len(values))
    return members, counts


def spread_of_members(members, counts):
    return Spread(
        members[:, 0], members[:, -1], np.full(len(members), members.shape[1]), counts[members].sum(1), counts
    )


@pytest.mark.parametrize("gap", [1, 2])
def test_ends_that_tell_values_of_members_are_rounded_further(gap):
    """Days of a stay: where groups begin at even days, a grid of two days tells the first day of all of them."""
    values = list(range(40))
    low = np.arange(200) % 12 * gap
    n_alike = np.full(200, 6)
    spread = Spread(low, low + 8, np.full(200, 6), n_alike, np.ones(40, dtype=np.int64))
    labels = rounded_labels(texts(values), spread)
    ends = np.array([[float(e) for e in read_label(label).values] for label in labels.tolist()])
    first, last = np.searchsorted(values, ends[:, 0]), np.searchsorted(values, ends[:, 1], "right") - 1
    right = np.concatenate([(first == low)[low > 0], (last == low + 8)[low < 31]])
    assert right.mean() < np.mean(6 / (last - first + 1)) + 0.1


@pytest.mark.parametrize("seed", range(3))
def test_ends_in_the_tail_of_incomes_tell_no_more_than_guesses(seed):
    """A grid of equal cells gives the few who earn most a cell each; here somebody does in every third group."""
    draw = np.random.default_rng(seed)
    values = np.unique(np.rint(np.exp(draw.normal(9, 2, 800))))
    members, _ = drawn_groups(values[:-60], 150, 6, 200, draw)
    members[::3, -1] = draw.integers(len(values) - 60, len(values), 50)
    counts = np.bincount(members.ravel(), minlength=len(values))
    spread = spread_of_members(members, counts)
    step = number_step(values, values[spread.high] - values[spread.low], spread.n_distinct)
    grids = list(_number_grids(values, spread, step))
    before = np.append(0, np.cumsum(counts))

    def added(first, last):
        covered = before[np.searchsorted(values, last, "right")] - before[np.searchsorted(values, first)]
        guess = np.mean(spread.n_alike / covered)
        right = np.mean(values[np.searchsorted(values, first)] == values[spread.low])
        right += np.mean(values[np.searchsorted(values, last, "right") - 1] == values[spread.high])
        return (right / 2 - guess) / (1 - guess)

    labels = rounded_labels(np.array([f"{v:.0f}" for v in values], dtype=object), spread)
    ends = np.array([[float(e) for e in read_label(label).values] for label in labels.tolist()])
    assert added(grids[0].covers_from, grids[0].covers_to) > 0.08
    assert added(*ends.T) < 0.03
    assert np.all(ends[:, 0] <= values[spread.low])
    assert np.all(ends[:, 1] >= values[spread.high])


@pytest.mark.parametrize("seed", range(4))
def test_cells_hold_enough_values_between_multiples_of_the_step(seed):
    draw = np.random.default_rng(seed)
    decimals = seed % 3
    values = np.unique(np.round(draw.normal(0, 1, 300) ** 3 * 100, decimals))
    step, size = Fraction(1, 10**decimals) * int(draw.choice([2, 5])), int(draw.choice([2, 5, 20]))
    places = np.unique(_edges(values, step, size))
    shown = places * float(step)
    assert np.array_equal(places, np.rint(places))
    assert shown[0] <= values[0]
    assert shown[-1] >= values[-1]
    held = np.histogram(np.floor(values / float(step)), places[1:-1])[0]
    assert len(held) > 3
    assert held.min() >= size


def test_dates_that_tell_get_longer_spans():
    """Groups that begin with each month would tell its first day, if months were the cells."""
    days = np.arange(np.datetime64("2015-01-01"), np.datetime64("2021-01-01"))
    starts = np.flatnonzero(days == days.astype("datetime64[M]"))[:-8]
    spread = Spread(starts, starts + 110, np.full(len(starts), 5), np.full(len(starts), 5), np.ones(len(days), int))
    ends = [read_label(label).values for label in rounded_labels(days.astype(str).astype(object), spread)]
    assert {len(end) for pair in ends for end in pair} == {len("2015")}


@pytest.mark.parametrize(("time", "end"), [("T23:59:59.5", "2021-02-01)"), ("", "2021-01-31]")])
def test_a_month_by_itself_covers_its_last_day_to_the_end(time: str, end: str) -> None:
    moments = np.array(
        [f"{day}{time}" for day in ("2021-01-03", "2021-01-31", "2021-02-09", "2021-05-07", "2021-06-01")]
    )
    label = labels_of([moment.replace("T", " ") for moment in moments.tolist()], [(0, 1)], size=2)[0]
    assert label == f"[2021-01-01..{end}"
    column = encode_cells("t", moments.astype("datetime64[us]"))
    scale = scale_of(column, Attribute("t", "date", "quasi"))
    shown = encode_cells("t", np.array([label], dtype=object))
    covering = covering_of(shown, scale, missing="value")
    assert covering.covers(np.zeros(5, dtype=np.int64), np.arange(5)).tolist() == [True, True, False, False, False]


@pytest.mark.parametrize("seed", range(4))
def test_whether_ends_tell_is_counted_as_one_would_by_hand(seed):
    draw = np.random.default_rng(seed)
    values = np.unique(draw.integers(0, 90, 60)).astype(float)
    members, counts = drawn_groups(values, 40, 3, 12, draw)
    step = int(draw.choice([1, 2, 5, 10]))
    first, last = values[members[:, 0]] // step * step, -(-values[members[:, -1]] // step) * step
    right, guesses = [], []
    for group, a, b in zip(members.tolist(), first, last, strict=True):
        inside = [i for i, v in enumerate(values) if a <= v <= b]
        guess = sum(counts[i] for i in group) / sum(counts[i] for i in inside)
        if group[0] > 0:
            right.append(inside[0] in group)
            guesses.append(guess)
        if group[-1] < len(values) - 1:
            right.append(inside[-1] in group)
            guesses.append(guess)
    tells = np.mean(right) > np.mean(guesses) + 1e-9
    assert _tell(values, spread_of_members(members, counts), Ends([], [], first, last)) == tells


@pytest.mark.parametrize("seed", range(6))
def test_ends_of_ordered_categories_cover_and_tell_no_more_than_guesses(seed):
    draw = np.random.default_rng(seed)
    n_values = int(draw.integers(3, 60))
    groups = [np.unique(draw.integers(0, n_values, draw.integers(1, 6))).tolist() for _ in range(50)]
    low, high = (np.array([g[i] for g in groups]) for i in (0, -1))
    first, last = ordered_ends(low, high, np.array([len(g) for g in groups]), n_values)
    assert (first <= low).all()
    assert (last >= high).all()
    assert last.max() < n_values
    assert ((first == last) == (low == high)).all()
    right, guesses = [], []
    for group, a, b in zip(groups, first.tolist(), last.tolist(), strict=True):
        ends = [a] * (len(group) > 1 and group[0] > 0) + [b] * (len(group) > 1 and group[-1] < n_values - 1)
        right += [end in group for end in ends]
        guesses += [len(group) / (b - a + 1)] * len(ends)
    assert np.mean(right or [0]) <= np.mean(guesses or [0]) + 1e-9


def test_two_ordered_categories_stay_as_they_are():
    low, high = np.array([0, 0, 1]), np.array([1, 0, 1])
    first, last = ordered_ends(low, high, high - low + 1, 2)
    assert first.tolist() == [0, 0, 1]
    assert last.tolist() == [1, 0, 1]
