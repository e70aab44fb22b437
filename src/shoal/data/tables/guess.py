"""Guess what each column means, from its name and its distinct values, and say why.

A guess is an offer: `shoal profile` shows it with its reason and writes it into a policy to edit. It fails closed: a
column of which nothing is known is taken for quasi-identifying, unless all records agree in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from shoal.arrays import Codes
from shoal.data.tables.attribute import Attribute, Role, Type
from shoal.data.tables.column_words import IDENTIFYING, QUASI, SENSITIVE, meanings_of
from shoal.data.tables.ordered_column import OrderedColumn
from shoal.data.tables.parse import parse_dates, parse_numbers
from shoal.data.tables.table import Column, Table
from shoal.data.tables.value_forms import PREFIX_FORMS, Form, form_of

ENOUGH = 20  # records, for shares of them to tell
ALONE = 0.05
"""Of the records: if more have a text of their own, groups would list it, and so tell who is in them."""
UNKNOWN = "nothing says that others do not know it"
"""Why a column is quasi-identifying that has no name and no values that are known."""

_BY_NAME: tuple[tuple[Role, tuple[str, ...]], ...] = (("sensitive", SENSITIVE), ("quasi", QUASI))
_NAMED_THINGS = frozenset(["thing", "place", "origin", "education", "work", "belief", "insurance", *SENSITIVE])
_BAND = re.compile(r"^\s*[\[\(<>≤≥]?=?\s*(-?\d+(?:\.\d+)?)")
_CLOCK = (
    re.compile(r"Q(?P<part>[1-4])[ /-]?(?P<year>\d{4})", re.IGNORECASE),
    re.compile(r"(?P<year>\d{4})[ /-]?Q(?P<part>[1-4])", re.IGNORECASE),
    re.compile(r"(?P<year>\d{4})-?W(?P<part>\d{2})(?:-?(?P<finer>[1-7]))?", re.IGNORECASE),
    re.compile(r"(?P<part>\d{1,2}):(?P<finer>\d{2})(?::(?P<second>\d{2}))?(?: ?(?P<half>[ap])m)?", re.IGNORECASE),
)
_CLINICAL_CODE = re.compile(r"^[A-Z]?\d{2,3}(\.\d+)?$")


def is_key(name: str) -> bool:
    """Whether a column's name says that it numbers persons or things."""
    return "key" in meanings_of(name)


def looks_sensitive(name: str) -> bool:
    """Whether a column's name says that its values are nobody else's business.

    >>> looks_sensitive("diagnosis"), looks_sensitive("postcode")
    (True, False)
    """
    found = _role_of_name(meanings_of(name))
    return found is not None and found[0] == "sensitive"


def guess(table: Table) -> dict[str, Attribute]:
    """Guess type and role of every column."""
    return {name: guess_attribute(column, weights=table.weights) for name, column in table.columns.items()}


def guess_attribute(column: Column, *, type: Type | None = None, weights: Codes | None = None) -> Attribute:
    """Guess type and role of one column; a type that is known is kept. Each row is one record, or as many as weighs."""
    form = form_of(column)
    if type is None:
        guessed, order, why_type = _guess_type(column, form)
    else:
        guessed, why_type = type, "type given"
        order = None
        if type == "ordinal":
            order = column.order if isinstance(column, OrderedColumn) else _order(column)
    role, why_role = _guess_role(column, guessed, form, weights)
    if role == "quasi" and type is None and guessed == "nominal" and column.is_text:
        counts = column.counts(weights)[: len(column.values)]
        alone = float(np.sum(counts == 1) / max(1, counts.sum()))
        if counts.sum() >= ENOUGH and alone > ALONE:
            listed = "have a text of their own, which groups would list; with a hierarchy it can be published"
            role, why_role = "identifying", f"{why_role}; {100 * alone:.0f} % of the records {listed}"
    return Attribute(column.name, guessed, role, order, None, f"{why_type}; {why_role}")


def _guess_type(column: Column, form: Form | None) -> tuple[Type, tuple[str, ...] | None, str]:
    values, says = column.values, meanings_of(column.name)
    if len(values) == 0:
        return "nominal", None, "no cell has a value"
    if isinstance(column, OrderedColumn):
        return "ordinal", column.order, "ordered categories"
    if values.dtype.kind == "b":
        return "nominal", None, "true or false"
    dates = parse_dates(values)
    if dates is not None:
        note = ", month first (both readings fit)" if dates.form == "%m/%d/%Y" and _day_first_fits(column) else ""
        return "date", None, f"all values are dates{note}"
    numbers = parse_numbers(values)
    if numbers is not None:
        return _guess_number(column, numbers, says)
    if form is not None and form.name in PREFIX_FORMS:
        return "prefix", None, f"{form.name}, in which a shorter prefix means a wider area"
    order = _clock_order(column)
    if order is not None:
        return "ordinal", order, "quarters, weeks or times of the day, in their order"
    order = _band_order(column)
    if order is not None:
        return "ordinal", order, "bands of numbers, ordered by their lower end"
    if ("prefix" in says or "disease" in says) and _share(column, _CLINICAL_CODE) > 0.9:
        return "prefix", None, "codes in which a shorter prefix means a wider area"
    return "nominal", None, "text"


def _guess_number(
    column: Column, numbers: np.ndarray[tuple[int], np.dtype[np.float64]], says: Mapping[str, str]
) -> tuple[Type, tuple[str, ...] | None, str]:
    texts = [str(v) for v in column.values[:1000]] if column.is_text else []
    if "prefix" in says or (any(t.startswith("0") and t.isdigit() and len(t) > 2 for t in texts)):
        return "prefix", None, "digits of a code in which a shorter prefix means a wider area"
    if "disease" in says and texts and _share(column, _CLINICAL_CODE) > 0.9 and len(texts) > 20:
        return "prefix", None, "codes in which a shorter prefix means a wider area"
    whole = bool((numbers == np.round(numbers)).all())
    few = 50 if says.keys() & {"category", "key", "sex", "origin"} else 10
    if whole and len(numbers) <= few and not says.keys() & {"count", "age"} and says.get("event") != "time":
        count = f"{len(numbers)} whole numbers" if len(numbers) > 1 else "one whole number"
        return "nominal", None, f"only {count}, so probably codes"
    return "continuous", None, "numbers"


def _guess_role(column: Column, type: Type, form: Form | None, weights: Codes | None) -> tuple[Role, str]:
    says = meanings_of(column.name)
    n_records = len(column.codes) if weights is None else int(weights.sum(dtype=np.int64))
    n_rows = max(1, n_records)
    n_values = int((column.counts()[: len(column.values)] > 0).sum())
    if n_values + int(column.has_missing) <= 1:
        return "insensitive", "all records agree in it" if n_values else "no record has a value"
    by_name = _role_of_name(says)
    if by_name is not None and by_name[0] == "identifying":
        return by_name
    if form is not None and form.role == "identifying":
        return "identifying", f"the values are {form.name}"
    distinct = n_values / n_rows
    if "key" in says and distinct > 0.1 and n_rows >= ENOUGH and (form is None or form.role != "quasi"):
        return "identifying", "the name says it is a key and the values repeat little"
    is_known = by_name is not None or "count" in says or form is not None
    if (
        n_rows >= ENOUGH
        and distinct > 0.9
        and (
            (type == "nominal" and (form is None or form.role != "quasi"))
            or (form is None and _counts_rows(column, n_records))
            or (not is_known and _is_number(column))
        )
    ):
        return "identifying", "nearly every row has a value of its own"
    if by_name is not None and by_name[0] == "sensitive":
        return by_name
    if form is not None:
        known = ", which others may know" if form.role == "quasi" else ""
        return form.role, f"the values are {form.name}{known}"
    if by_name is not None:
        return by_name
    return "quasi", UNKNOWN


def _role_of_name(says: Mapping[str, str]) -> tuple[Role, str] | None:
    """What a name says about the role; that of a thing or a place is no name of a person."""
    named = next((m for m in IDENTIFYING if m in says), None)
    if named is not None and (named != "name" or not says.keys() & _NAMED_THINGS):
        return "identifying", f"the name says {says[named]!r}"
    if ("weight" in says and says.keys() & {"design", "survey weight"}) or "survey weight" in says:
        return "quasi", "a survey weight, which tells the stratum"
    for role, meanings in _BY_NAME:
        word = next((says[m] for m in meanings if m in says), None)
        if word is not None:
            return role, f"the name says {word!r}" + (", which others may know" if role == "quasi" else "")
    return None


def _share(column: Column, pattern: re.Pattern[str]) -> float:
    values = column.values[:: max(1, len(column.values) // 1000)]
    return sum(bool(pattern.match(str(v))) for v in values) / max(1, len(values))


def _order(column: Column) -> tuple[str, ...] | None:
    """The order of categories, where their spelling tells it."""
    return _clock_order(column) or _band_order(column)


def _clock_order(column: Column) -> tuple[str, ...] | None:
    """Order quarters (``Q1 2002``), weeks (``2002-W08``) and times of the day (``08:15``, ``3:05 pm``), if all are."""
    if not column.is_text or len(column.values) < 2:
        return None
    for pattern in _CLOCK:
        found = [pattern.fullmatch(str(v)) for v in column.values]
        if all(found):
            places = [_clock_place(**m.groupdict()) for m in found if m is not None]
            return tuple(str(v) for _, v in sorted(zip(places, column.values, strict=True)))
    return None


def _clock_place(
    part: str, year: str | None = None, finer: str | None = None, second: str | None = None, half: str | None = None
) -> tuple[int, int, int, int]:
    """Where a quarter, a week or an hour comes; of twelve hours, 12 comes before 1."""
    hour = int(part) if half is None else int(part) % 12 + 12 * (half in "pP")
    return int(year or 0), hour, int(finer or 0), int(second or 0)


def _band_order(column: Column) -> tuple[str, ...] | None:
    """Order labels such as ``[10-20)``, ``<30``, ``>=65`` by their lower end, if all of a few labels are such."""
    if not column.is_text or not 2 <= len(column.values) <= 60:
        return None
    found = [_BAND.match(str(v)) for v in column.values]
    if not all(found) or all(str(v).strip().isdigit() for v in column.values):
        return None
    below = [str(v).strip().startswith(("<", "≤")) for v in column.values]
    above = [str(v).strip().startswith((">", "≥")) for v in column.values]
    lower = [float(m[1]) for m in found if m is not None]
    ranked = sorted(zip(lower, [a - b for a, b in zip(above, below, strict=True)], column.values, strict=True))
    return tuple(str(v) for *_, v in ranked)


def _is_number(column: Column) -> bool:
    """Whole numbers of five digits and more that are all about as long, as account and case numbers are."""
    numbers = parse_numbers(column.values)
    if (
        numbers is None
        or not np.isfinite(numbers).all()
        or (numbers != np.round(numbers)).any()
        or (numbers < 1e4).any()
    ):
        return False
    _, counts = np.unique(np.floor(np.log10(numbers)), return_counts=True)
    return bool(counts.max() > 0.95 * len(numbers))


def _counts_rows(column: Column, n_records: int) -> bool:
    """Whole numbers that run through the rows one by one."""
    numbers = parse_numbers(column.values)
    return (
        numbers is not None
        and bool(np.isfinite(numbers).all())
        and bool((numbers == np.round(numbers)).all())
        and float(np.ptp(numbers)) + 1 <= 1.2 * n_records
    )


def _day_first_fits(column: Column) -> bool:
    return column.is_text and all(int(str(v).split("/")[1]) <= 12 for v in column.values)
