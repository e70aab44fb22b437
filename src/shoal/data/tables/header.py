"""Is the first line a header, or the record of the first person?

A file without a header would publish that record as the names of its columns. In such a file the cell above a column
of numbers is a number, that above a column of dates a date, that above a column in which values repeat one of them, and
that above codes of one shape a code of the same shape. Names are none of these. So each column has a weight, how likely
a record's cell there would be known for one (1 above numbers, dates and codes; above other texts the share of rows
whose value another row has too), and the first line is taken for a record if the cells that look like one outweigh
half of all weights.

Years and numbers are names as well, as in ``country,2019,2020,2021``: whole numbers in equal steps above columns of
numbers count for nothing unless most of them are values of their columns. What is refused in vain can be insisted on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats
from shoal.data.tables.parse import parse_numbers
from shoal.data.tables.sense import says_missing
from shoal.data.tables.table import Column, spell
from shoal.errors import DataError

Header = Literal["first", "none"]
"""Whether the first line of a text file names the columns; None where that is to be told from the content."""

_MOST = 500
_NEARLY_ALL = 0.9
_FEW_ROWS = 20
_YEARS = (1850, 2150)
_RUN_FOR_SURE = 8
_LONG = 16  # longer than words are
_LETTERS, _DIGITS, _TELLING = re.compile(r"[^\W\d_]+"), re.compile(r"\d+"), re.compile(r"[@/:$€£%]")


def numbered_names(width: int) -> list[str]:
    """The names of columns that have none.

    >>> numbered_names(3)
    ['c1', 'c2', 'c3']
    """
    return [f"c{i}" for i in range(1, width + 1)]


def refuse_record(where: str, columns: Sequence[Column]) -> None:
    """Refuse a text file whose first line is a record; the sentence quotes nothing of it."""
    if looks_like_record(columns):
        raise DataError(
            f"{where}, line 1: looks like a record, not like the names of columns; say --header none "
            '(header = "none") if the file has no header, and its columns are called c1, c2, ..., or --header first '
            '(header = "first") if these are names'
        )


def refuse_named_by_record(where: str, columns: Sequence[Column], header: str | None) -> None:
    """Refuse columns that have names of their own if these are a record, as a reader leaves them of such a file."""
    check_header(header)
    if header == "none":
        raise DataError(f"{where}: its columns have names, so that header = {header!r} means nothing; leave it out")
    if header is None and looks_like_record(columns):
        raise DataError(
            f"{where}: the names of its columns look like a record, as if it had been read from a file without a "
            'header; read that file as such, or say --header first (header = "first") if these are names'
        )


def check_header(header: str | None) -> None:
    """Refuse what is not a way to read the first line."""
    if header not in (None, "first", "none"):
        raise DataError(f"the header cannot be {header!r}; it is 'first' or 'none'")


def looks_like_record(columns: Sequence[Column]) -> bool:
    """Whether the names of columns look like cells of them."""
    found = [above for column in columns if (above := _Above(column.name.strip(), column)).is_known]
    numbers = [f for f in found if f.number is not None and f.looks_like_value]
    if _are_in_steps(numbers):
        found = [f for f in found if f not in numbers]
    return 2 * sum(f.weight for f in found if f.looks_like_value) > sum(f.weight for f in found)


class _Above:
    """A name above its column.

    Attributes
    ----------
    weight : float
        How likely a record's cell here would be known for one.
    looks_like_value : bool
    number : float or None
        The number that the name is, above a column of numbers.
    is_value : bool
        Whether a row has exactly this text.
    is_known : bool
        Whether the name says something: a cell of which nothing is known is evidence of neither.
    """

    def __init__(self, name: str, column: Column) -> None:
        self.number: float | None = None
        self.is_value = _holds(column, name)
        self.is_known = self.is_value or not says_missing(_one(name))[0]
        counts = column.counts()[: len(column.values)]
        n_present = int(counts.sum())
        step = max(1, len(counts) // _MOST)
        some, rows = column.values[::step], counts[::step]
        numbers = _numbers(some)
        if not n_present:
            self.weight, self.looks_like_value = 0.0, False
        elif rows[np.isfinite(numbers)].sum() > _NEARLY_ALL * rows.sum():
            own = float(_numbers(_one(name))[0])
            self.weight, self.number = 1.0, own if np.isfinite(own) else None
            self.looks_like_value = np.isfinite(own) and not _is_far(own, numbers, n_present)
        elif (shape := _one_shape(some)) is not None:
            self.weight = 1.0
            self.looks_like_value = self.is_value or (_shape(name) == shape and _are_letters_of(name, some))
        else:
            self.weight = float(counts[counts > 1].sum() / n_present)
            self.looks_like_value = self.is_value
            if self.is_value:  # as likely as not to be met, or it would not be here
                self.weight = max(self.weight, 0.5)


def _are_in_steps(above: Sequence[_Above]) -> bool:
    """Whether numbers above columns count on, as years and places do, and so are names."""
    numbers = np.array([f.number for f in above], dtype=np.float64)
    n_values = sum(f.is_value for f in above)
    if len(numbers) < 2 or (numbers != np.round(numbers)).any():
        return False
    steps = np.diff(numbers)
    if steps[0] == 0 or (steps != steps[0]).any():
        return False
    if len(numbers) == 2:
        return abs(steps[0]) == 1 and bool(((_YEARS[0] <= numbers) & (numbers <= _YEARS[1])).all()) and not n_values
    return len(numbers) >= _RUN_FOR_SURE or 2 * n_values <= len(numbers)


def _numbers(values: npt.NDArray[Any]) -> Floats:
    """The numbers that values say, dates as microseconds since 1970, infinite where there is none."""
    if values.dtype.kind == "M":
        return values.astype("datetime64[us]").astype(np.int64).astype(np.float64)
    whole = parse_numbers(values)
    if whole is not None:
        return whole
    return np.fromiter(map(_number, spell(values)), np.float64, len(values))


def _number(text: str) -> float:
    try:
        return np.inf if "_" in text else float(text)  # float() reads 1_000; a person does not
    except ValueError:
        return np.inf


def _one(text: str) -> npt.NDArray[Any]:
    array = np.empty(1, dtype=object)
    array[0] = text
    return array


def _is_far(number: float, numbers: Floats, n_rows: int) -> bool:
    """Whether a number lies farther from all others than these do from each other."""
    finite = numbers[np.isfinite(numbers)]
    low, high = float(finite.min()), float(finite.max())
    return n_rows >= _FEW_ROWS and max(low - number, number - high) > high - low


def _one_shape(values: npt.NDArray[Any]) -> str | None:
    """The one shape that nearly all values have, if it has digits in it or is that of dates, mail or the like."""
    if values.dtype != object:
        return None
    texts = [str(v) for v in values]
    shape = _shape(texts[0])
    if "9" not in shape and not _TELLING.search(shape) and len(shape) < _LONG:
        return None
    alike = sum(_shape(text) == shape for text in texts)
    return shape if alike > _NEARLY_ALL * len(texts) else None


def _shape(text: str) -> str:
    """A text with one letter for a run of letters, and one digit for a run of digits; a long run keeps its length.

    >>> _shape("2020-02-01"), _shape("P-017"), _shape("ann@mail.org"), _shape("ACGTACGTACGTACGT")
    ('9-9-9', 'a-9', 'a@a.a', 'aaaaaaaaaaaaaaaa')
    """
    return _DIGITS.sub("9", _LETTERS.sub(_run, text))


def _are_letters_of(name: str, values: npt.NDArray[Any]) -> bool:
    """Whether the letters of a code are those of others: ``c1`` is no value among ``v1`` and ``v2``."""
    runs = {run for run in _LETTERS.findall(name) if len(run) < _LONG}
    if not runs or _TELLING.search(name):
        return True
    return runs.issubset(run for text in spell(values) for run in _LETTERS.findall(text))


def _run(found: re.Match[str]) -> str:
    size = len(found[0])
    return "a" * size if size >= _LONG else "a"


def _holds(column: Column, name: str) -> bool:
    """Whether a row has this text."""
    if not column.is_text:
        return name in set(spell(column.values[:_MOST]))
    at = int(np.searchsorted(column.values, name))
    return at < len(column.values) and column.values[at] == name
