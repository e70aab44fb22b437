"""Round the ends of ranges outward, to numbers and dates that say nothing of the group.

A range that ends at the least and the greatest value of its group tells two values of members. So it ends on a grid
that is one for the whole column: ``[51.2..51.5]``, not ``[51.23..51.47]``; ``[2021-03..2021-09]``, whole months at both
ends.

The step is the least round one (1, 2 or 5 times a power of ten; a week, a month, a quarter, a year, a decade) that is
not below

- the usual gap between neighbouring values of a group: its range over its distinct values less one, as the median over
  all groups whose values differ. An end that may be moved by such a gap is the value of a member no more often than
  another place inside the range, which is what an attacker gets by guessing; a coarser step would cost more and protect
  no better;
- two (`UNITS`) units of the column, the unit being what all differences between its values are multiples of: a grid of
  single years would leave the age of everybody where it is.

On such a grid an end may still be a member's value: where values are rare, as in the tail of incomes, a cell holds one
or two of them. So the claims of `shoal.attack.tables.label_ends` are made here too, and while the ends of the groups
are right more often than guesses inside their labels, numbers get cells that hold at least 2, 3, 4, ... different
values of the column, each time a quarter more (`MORE`), their edges still multiples of the step, and dates get the next
coarser span. No allowance is made for chance: a table of many columns would use it up in each.

Ordered categories have no grid but themselves: their ends go outward to cells of 2, 3, ... of them (`ordered_ends`).

These are facts about the column: the median of all groups, rounded up to a 1, 2 or 5, how often ends tell, where its
values are rare, and the unit in which they are written. Who reads the release could tell them from its labels.

**Guarantee.** An end depends on the group only through the cell of the grid that its value lies in. **Not protected.**
The value itself where all members have the same, which is published as it is: k-anonymity takes quasi-identifiers for
known, and all k of a group show it. In a column of two values, both ends of a range are the only values there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats
from shoal.data.tables.hierarchy import round_up, spell_edge
from shoal.data.tables.labels import range_label, value_label
from shoal.data.tables.parse import parse_dates, parse_numbers

UNITS = 2
MORE = 1.25
"""So many times as many values have the cells of the next coarser grid; finer steps lose less and take longer."""
_ROUNDING = 1e-9
_DECIMALS = 9  # further ones are taken for noise of a measurement: such a column has no unit
_HUGE = 1e300  # of larger numbers the ranges, or the round numbers around them, may be none
_LARGEST = 2.0**50  # steps from 0, so that neighbouring ends are different floats
_DAY = 86_400_000_000  # in microseconds, as are all moments
_TIMES = (60_000_000, 600_000_000, 3_600_000_000, 21_600_000_000, _DAY, 7 * _DAY)
_MONDAY = 4 * _DAY  # the first of the epoch
Unit = Literal["D", "M", "Y"]
_SPANS: tuple[tuple[int, Unit], ...] = ((7, "D"), (1, "M"), (3, "M"), (1, "Y"), (10, "Y"), (100, "Y"))
_DAYS = {"D": 1.0, "M": 30.4375, "Y": 365.25}
_FINER: dict[Unit, Unit] = {"Y": "M", "M": "D"}

Places = npt.NDArray[np.integer[Any]]
Values = npt.NDArray[Any]


class Spread(NamedTuple):
    """Which values of a column its groups have, as places in the order of its values.

    Attributes
    ----------
    low, high : int arrays (n_groups,)
        The least and the greatest value of each group.
    n_distinct : int64 array (n_groups,)
        How many distinct values each group has.
    n_alike : int64 array (n_groups,)
        How many records of the column have one of them.
    counts : int64 array (n_values,)
        How many records have each value.
    """

    low: Places
    high: Places
    n_distinct: npt.NDArray[np.int64]
    n_alike: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]


class Ends(NamedTuple):
    """Where the range of each group begins and ends: as it is spelled, and the numbers or moments that it covers.

    Moments may have times of the day, which are told apart.
    """

    first: list[str]
    last: list[str]
    covers_from: Values
    covers_to: Values
    has_times: bool = False


def rounded_labels(spelled: Values, spread: Spread) -> Values | None:
    """The label of each group's range, with rounded ends.

    Parameters
    ----------
    spelled : object array (n_values,)
        The values of the column in their order, as they are written.
    spread : Spread
        Which of them each group has.

    Returns
    -------
    object array (n_groups,)
        None for a column that has no grid: neither numbers nor dates of our calendar, numbers near the largest that
        there are, or two values only.
    """
    low, high = spread.low, spread.high
    found = _ends(spelled, spread) if len(spelled) > 2 and bool((low < high).any()) else None
    if found is None:
        return None
    pairs, of_group = np.unique(low.astype(np.int64) * len(spelled) + high, return_inverse=True)
    first = dict(zip(low.tolist(), found.first, strict=True))
    last = dict(zip(high.tolist(), found.last, strict=True))
    labels = [
        value_label(spelled[a]) if a == b else _label(first[a], last[b], found.has_times)
        for a, b in (divmod(pair, len(spelled)) for pair in pairs.tolist())
    ]
    return np.array(labels, dtype=object)[of_group]


def ordered_ends(low: Codes, high: Codes, n_distinct: npt.NDArray[np.int64], n_values: int) -> tuple[Codes, Codes]:
    """Ends of ranges of ordered categories, moved outward to cells of equally many of them, the least that do not tell.

    Every category that a label covers is as good a guess. Ranges of one category stay; so do two in all.
    """
    values, is_range = np.arange(n_values), low < high
    spread = Spread(low, high, n_distinct, n_distinct, np.ones(n_values, dtype=np.int64))
    size = 1 if n_values > 2 and is_range.any() else n_values
    while size < n_values:
        first = np.where(is_range, low // size * size, low)
        last = np.where(is_range, np.minimum(high // size * size + size, n_values) - 1, high)
        if not _tell(values, spread, Ends([], [], first, last)):
            return first.astype(np.int32), last.astype(np.int32)
        size = max(size + 1, int(MORE * size))
    return (low * ~is_range, np.where(is_range, np.int32(n_values - 1), high)) if n_values > 2 else (low, high)


def _label(first: str, last: str, has_times: bool) -> str:
    """One cell of a calendar is spelled by its finer ends: a month alone could be taken for a date.

    A day is its first moment, so where there are times a month goes up to the day after, which is left out.
    """
    if first != last:
        return range_label(first, last)
    unit: Unit = "Y" if len(first) == len("2021") else "M"
    edges = np.array([first, first], dtype=f"datetime64[{unit}]") + np.array([0, 1])
    is_open = has_times and unit == "M"
    finer = edges.astype(f"datetime64[{_FINER[unit]}]") - np.array([0, not is_open])
    return range_label(str(finer[0]), str(finer[1]), is_open=is_open)


def _ends(spelled: Values, spread: Spread) -> Ends | None:
    low, high, n_distinct = spread[:3]
    numbers = parse_numbers(spelled)
    if numbers is not None:
        if np.abs(numbers).max() > _HUGE:
            return None
        step = number_step(numbers, numbers[high] - numbers[low], n_distinct)
        return _first_quiet(numbers, spread, _number_grids(numbers, spread, step))
    dates = parse_dates(spelled)
    if dates is None:
        return None
    moments = dates.values.astype("datetime64[us]").astype(np.int64)
    years = np.array([moments.min(), moments.max()]).astype("datetime64[us]").astype("datetime64[Y]").astype(np.int64)
    if years.min() < 1000 - 1970 or years.max() >= 9900 - 1970:
        return None
    least = _least_step(moments, moments[high] - moments[low], n_distinct, int(np.gcd.reduce(moments - moments[0])))
    return _first_quiet(moments, spread, _date_grids(moments[low], moments[high], least, bool((moments % _DAY).any())))


def _first_quiet(values: Values, spread: Spread, grids: Iterable[Ends]) -> Ends:
    """The first of ever coarser grids whose ends tell no more than guesses; the last if all do."""
    for ends in grids:
        if not _tell(values, spread, ends):
            break
    return ends


def number_step(numbers: Floats, widths: Floats, n_distinct: npt.NDArray[np.int64]) -> Fraction:
    """The step of the grid for a column of such values, whose groups have ranges so wide and so many values.

    >>> number_step(np.array([17.0, 18.0, 90.0]), np.array([4.0, 7.0, 9.0]), np.array([5, 5, 7]))
    Fraction(2, 1)
    >>> number_step(np.array([51.23, 51.47, 80.1]), np.array([0.24]), np.array([4]))
    Fraction(1, 10)
    """
    return round_up(_least_step(numbers, widths, n_distinct, _unit(numbers)))


def _tell(values: Values, spread: Spread, ends: Ends) -> bool:
    """Whether values of a column next to the ends of ranges are members' more often than guesses between them.

    A guess is a value that the label covers, as likely as it is frequent. Ends of the column itself are left out: no
    grid could hide them.
    """
    low, high = spread.low, spread.high
    first, after = np.searchsorted(values, ends.covers_from, "left"), np.searchsorted(values, ends.covers_to, "right")
    before = np.append(0, np.cumsum(spread.counts))
    share = spread.n_alike / np.maximum(before[after] - before[first], 1)
    inner, outer = (low < high) & (low > 0), (low < high) & (high < len(values) - 1)
    right = np.concatenate([(first == low)[inner], (after - 1 == high)[outer]])
    if not len(right):
        return False
    # Rounded, as the order in which shares are added up must not tell.
    return bool(right.mean() > np.concatenate([share[inner], share[outer]]).mean() + _ROUNDING)


def _least_step(
    values: npt.NDArray[Any], widths: npt.NDArray[Any], n_distinct: npt.NDArray[np.int64], unit: Fraction | int
) -> Fraction:
    differ = widths > 0
    usual = Fraction(float(np.median(widths[differ] / (n_distinct[differ] - 1))))
    largest = Fraction(float(np.abs(values).max()))
    return max(UNITS * Fraction(unit), usual, largest / Fraction(_LARGEST))


def _unit(numbers: Floats) -> Fraction:
    """What all differences are multiples of, in decimals; 0 where these have no end."""
    for decimals in range(_DECIMALS + 1):
        scaled = numbers * 10.0**decimals
        whole = np.rint(scaled)
        if np.abs(whole).max() >= _LARGEST:
            break
        if np.allclose(scaled, whole, rtol=1e-12, atol=1e-6):
            counts = whole.astype(np.int64)
            return Fraction(int(np.gcd.reduce(counts - counts[0])), 10**decimals)
    return Fraction(0)


def _number_grids(numbers: Floats, spread: Spread, step: Fraction) -> Iterator[Ends]:
    """Multiples of the step; then so few of them that cells hold several values."""
    below, above = numbers[spread.low], numbers[spread.high]
    around = np.floor(np.concatenate([below, above]) / float(step))
    yield _number_ends(below, above, step, np.concatenate([around + shift for shift in (-1, 0, 1, 2)]))
    size = 1
    while size < len(numbers):
        size = max(size + 1, int(MORE * size))
        yield _number_ends(below, above, step, _edges(numbers, step, size))


def _edges(numbers: Floats, step: Fraction, size: int) -> Floats:
    """Multiples of the step with so many values of the column between neighbours, the roundest of these.

    The outermost are too wide by a step, where a value that is a multiple might be rounded to either side of it.
    """
    cells = np.floor(numbers / float(step)).astype(np.int64)
    places, start = [int(cells[0]) - 1, int(cells[0])], 0
    while start + size <= len(cells):
        below = int(cells[start + size - 1])
        start = int(np.searchsorted(cells, below, "right"))
        if len(cells) - start >= size:
            places.append(_roundest(below + 1, int(cells[start])))
    top = int(cells[-1])
    return np.array([*places, top + 1, top + 2] if numbers[-1] > float(step) * top else [*places, top, top + 1], float)


def _roundest(low: int, high: int) -> int:
    """The multiple of the largest 1, 2 or 5 times a power of ten that lies between both.

    >>> _roundest(37, 64), _roundest(-3, 8), _roundest(1234, 1239), _roundest(7, 7)
    (50, 0, 1235, 7)
    """
    power = int(f"1{'0' * len(str(max(abs(low), abs(high))))}")
    while True:
        for digit in (5, 2, 1):
            place = -(-low // (digit * power)) * digit * power
            if place <= high:
                return place
        power //= 10


def _number_ends(below: Floats, above: Floats, step: Fraction, places: Floats) -> Ends:
    """The nearest of some multiples of the step, compared as the numbers that their labels show."""
    texts = [spell_edge(step * int(place)) for place in np.unique(places).tolist()]
    shown = np.array([float(text) for text in texts])
    first = np.searchsorted(shown, below, side="right") - 1
    last = np.searchsorted(shown, above, side="left")
    return Ends([texts[i] for i in first.tolist()], [texts[i] for i in last.tolist()], shown[first], shown[last])


def _date_grids(below: Places, above: Places, least: Fraction, has_times: bool) -> Iterator[Ends]:
    """Minutes to weeks where there are times of the day, then spans of the calendar."""
    if has_times:
        for step in _TIMES:
            if step >= least:
                yield _time_ends(below, above, step)
        least = max(least, Fraction(_TIMES[-1] + 1))
    for n, unit in _SPANS:
        if n * _DAYS[unit] * _DAY >= least or (n, unit) == _SPANS[-1]:
            first, last = _calendar_cells(below, n, unit), _calendar_cells(above, n, unit) + n
            covers = (a.astype(f"datetime64[{unit}]").astype("datetime64[us]").astype(np.int64) for a in (first, last))
            yield Ends(_spelled(first, unit), _spelled(last - 1, unit), next(covers), next(covers) - 1, has_times)


def _time_ends(below: Places, above: Places, step: int) -> Ends:
    """Full minutes, hours or days, or midnights before Mondays."""
    first = (below - _MONDAY) // step * step + _MONDAY
    last = -((_MONDAY - above) // step) * step + _MONDAY
    return Ends(_spelled(first, "m"), _spelled(last, "m"), first, last)


def _calendar_cells(moments: Places, n: int, unit: Unit) -> npt.NDArray[np.int64]:
    """The first day, month or year of the cells of n that moments lie in; weeks begin on Mondays."""
    places = moments.astype("datetime64[us]").astype(f"datetime64[{unit}]").astype(np.int64)
    offset = {"D": _MONDAY // _DAY, "M": 0, "Y": -1970}[unit]
    return (places - offset) // n * n + offset


def _spelled(places: Places, unit: Literal["D", "M", "Y", "m"]) -> list[str]:
    moments: npt.NDArray[np.datetime64] = places.astype("datetime64[us]" if unit == "m" else f"datetime64[{unit}]")
    return [text.replace("T", " ") for text in np.datetime_as_string(moments, unit=unit).tolist()]
