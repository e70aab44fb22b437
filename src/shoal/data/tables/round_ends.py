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

Of numbers it is the next coarser one if the ends of ranges, over all groups, are clearly more often values of members
than other values of the column between them are: so it is where values crowd at the ends of cells.

These are facts about the column: the median of all groups, rounded up to a 1, 2 or 5, how often ends tell, and the unit
in which values are written. Who reads the release could tell them from its labels.

**Guarantee.** An end depends on the group only through the cell of the grid that its value lies in. **Not protected.**
The value itself where all members have the same, which is published as it is: k-anonymity takes quasi-identifiers for
known, and all k of a group show it. In a column of two values, both ends of a range are the only values there are.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats
from shoal.data.tables.hierarchy import round_up, spell_edge
from shoal.data.tables.labels import range_label, value_label
from shoal.data.tables.parse import parse_dates, parse_numbers

UNITS = 2
TELLING = 0.05
"""By so much may ends be values of members more often than others inside are, and by what chance explains."""
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

Ends = tuple[list[str], list[str]]
Places = npt.NDArray[np.integer[Any]]


def rounded_labels(
    spelled: npt.NDArray[Any], low: Places, high: Places, n_distinct: npt.NDArray[np.int64]
) -> npt.NDArray[Any] | None:
    """The label of each group's range, with rounded ends.

    Parameters
    ----------
    spelled : object array (n_values,)
        The values of the column in their order, as they are written.
    low, high : int arrays (n_groups,)
        The least and the greatest value of each group, as places in that order.
    n_distinct : int64 array (n_groups,)
        How many distinct values each group has.

    Returns
    -------
    object array (n_groups,)
        None for a column that has no grid: neither numbers nor dates of our calendar, numbers near the largest that
        there are, or two values only.
    """
    found = _ends(spelled, low, high, n_distinct) if len(spelled) > 2 and bool((low < high).any()) else None
    if found is None:
        return None
    pairs, of_group = np.unique(low.astype(np.int64) * len(spelled) + high, return_inverse=True)
    first = dict(zip(low.tolist(), found[0], strict=True))
    last = dict(zip(high.tolist(), found[1], strict=True))
    labels = [
        value_label(spelled[a]) if a == b else _label(first[a], last[b])
        for a, b in (divmod(pair, len(spelled)) for pair in pairs.tolist())
    ]
    return np.array(labels, dtype=object)[of_group]


def _label(first: str, last: str) -> str:
    """One cell of a calendar is spelled by its finer ends: a month alone could be taken for a date."""
    if first != last:
        return range_label(first, last)
    unit: Unit = "Y" if len(first) == len("2021") else "M"
    edges = np.array([first, first], dtype=f"datetime64[{unit}]") + np.array([0, 1])
    finer = edges.astype(f"datetime64[{_FINER[unit]}]") - np.array([0, 1])
    return range_label(str(finer[0]), str(finer[1]))


def _ends(spelled: npt.NDArray[Any], low: Places, high: Places, n_distinct: npt.NDArray[np.int64]) -> Ends | None:
    numbers = parse_numbers(spelled)
    if numbers is not None:
        if np.abs(numbers).max() > _HUGE:
            return None
        step = number_step(numbers, numbers[high] - numbers[low], n_distinct)
        ends = _number_ends(numbers[low], numbers[high], step)
        if _tell(numbers, low, high, n_distinct, ends):
            ends = _number_ends(numbers[low], numbers[high], round_up(step * Fraction(3, 2)))
        return ends
    dates = parse_dates(spelled)
    if dates is None:
        return None
    moments = dates.values.astype("datetime64[us]").astype(np.int64)
    years = np.array([moments.min(), moments.max()]).astype("datetime64[us]").astype("datetime64[Y]").astype(np.int64)
    if years.min() < 1000 - 1970 or years.max() >= 9900 - 1970:
        return None
    least = _least_step(moments, moments[high] - moments[low], n_distinct, int(np.gcd.reduce(moments - moments[0])))
    if (moments % _DAY).any() and least <= _TIMES[-1]:
        return _time_ends(moments[low], moments[high], next(t for t in _TIMES if t >= least))
    n, unit = next((s for s in _SPANS if s[0] * _DAYS[s[1]] * _DAY >= least), _SPANS[-1])
    return _calendar_ends(moments[low], n, unit)[0], _calendar_ends(moments[high], n, unit)[1]


def number_step(numbers: Floats, widths: Floats, n_distinct: npt.NDArray[np.int64]) -> Fraction:
    """The step of the grid for a column of such values, whose groups have ranges so wide and so many values.

    >>> number_step(np.array([17.0, 18.0, 90.0]), np.array([4.0, 7.0, 9.0]), np.array([5, 5, 7]))
    Fraction(2, 1)
    >>> number_step(np.array([51.23, 51.47, 80.1]), np.array([0.24]), np.array([4]))
    Fraction(1, 10)
    """
    return round_up(_least_step(numbers, widths, n_distinct, _unit(numbers)))


def _tell(numbers: Floats, low: Places, high: Places, n_distinct: npt.NDArray[np.int64], ends: Ends) -> bool:
    """Whether values of a column next to the ends of ranges are members' more often than any between them.

    Ends of the column itself are left out: no grid could hide them.
    """
    differ = low < high
    below, above = (np.array(texts, dtype=np.float64) for texts in ends)
    first, last = np.searchsorted(numbers, below, "left"), np.searchsorted(numbers, above, "right") - 1
    share = n_distinct / np.maximum(last - first + 1, 1)
    inner, outer = differ & (low > 0), differ & (high < len(numbers) - 1)
    right = np.concatenate([(first == low)[inner], (last == high)[outer]])
    if not len(right):
        return False
    usual = np.concatenate([share[inner], share[outer]]).mean()
    return bool(right.mean() > usual + TELLING + 1 / np.sqrt(len(right)))


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


def _number_ends(below: Floats, above: Floats, step: Fraction) -> Ends:
    """The nearest multiples of the step, compared as the numbers that their labels show."""
    around = np.floor(np.concatenate([below, above]) / float(step))
    places = np.unique(np.concatenate([around + shift for shift in (-1, 0, 1, 2)]))
    texts = [spell_edge(step * int(place)) for place in places.tolist()]
    shown = np.array([float(text) for text in texts])
    first = np.searchsorted(shown, below, side="right") - 1
    last = np.searchsorted(shown, above, side="left")
    return [texts[i] for i in first.tolist()], [texts[i] for i in last.tolist()]


def _time_ends(below: npt.NDArray[np.int64], above: npt.NDArray[np.int64], step: int) -> Ends:
    """Full minutes, hours or days, or midnights before Mondays."""
    first = (below - _MONDAY) // step * step + _MONDAY
    last = -((_MONDAY - above) // step) * step + _MONDAY
    return _spelled(first, "m"), _spelled(last, "m")


def _calendar_ends(moments: npt.NDArray[np.int64], n: int, unit: Unit) -> Ends:
    """The first and the last day, month or year of the cells of n that moments lie in; weeks begin on Mondays."""
    places = moments.astype("datetime64[us]").astype(f"datetime64[{unit}]").astype(np.int64)
    offset = {"D": _MONDAY // _DAY, "M": 0, "Y": -1970}[unit]
    first = (places - offset) // n * n + offset
    return _spelled(first, unit), _spelled(first + n - 1, unit)


def _spelled(places: npt.NDArray[np.int64], unit: Literal["D", "M", "Y", "m"]) -> list[str]:
    moments: npt.NDArray[np.datetime64] = places.astype("datetime64[us]" if unit == "m" else f"datetime64[{unit}]")
    return [text.replace("T", " ") for text in np.datetime_as_string(moments, unit=unit).tolist()]
