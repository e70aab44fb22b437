"""Guess what each column means, from its name and its distinct values, and say why.

A guess is an offer: `shoal profile` shows it with its reason and writes it into a policy to edit.
"""

from __future__ import annotations

import re

import numpy as np

from shoal.data.tables.attribute import Attribute, Role, Type
from shoal.data.tables.ordered_column import OrderedColumn
from shoal.data.tables.parse import parse_dates, parse_numbers
from shoal.data.tables.table import Column, Table

_IDENTIFYING = frozenset(
    """name surname firstname lastname fullname forename ssn email mail phone telephone tel mobile fax address street
    passport iban mrn uuid guid username login ip url licence license""".split()
)
_KEYS = frozenset("id ids nbr no key hid pid uid nr account card customer member case serial".split())
_QUASI = frozenset(
    """age sex gender race ethnicity ethnic birth birthday birthdate dob born zip zipcode postcode postal plz city town
    village region county state province country nationality citizenship native marital civil hhcivil education school
    degree occupation job profession workclass employer religion language household family children relat relationship
    urbrur urban rural admission discharge admitted discharged death died height weight payer
    insurance insurer""".split()
)
_SENSITIVE = frozenset(
    """disease diagnosis diagnoses diag icd hiv illness condition symptom salary income wage wages earnings expend
    expenditure savings cost costs charge charges debt tax medication drug treatment therapy outcome result readmitted
    crime offence vote party genotype a1cresult insulin glucose glu serum med meds diabetes cancer blood""".split()
)
_SURVEY_WEIGHT = frozenset(["sampling", "household", "survey", "design"])
_CATEGORY = _KEYS | {"type", "status", "code", "class", "category", "group", "kind", "sex", "gender", "race", "flag"}
_COUNT = frozenset("""num number count n time days years months length size los age hours stay""".split())
_PREFIX = frozenset(["zip", "zipcode", "postcode", "postal", "plz", "icd"])

_BAND = re.compile(r"^\s*[\[\(<>≤≥]?=?\s*(-?\d+(?:\.\d+)?)")
_CLINICAL_CODE = re.compile(r"^[A-Z]?\d{2,3}(\.\d+)?$")


def words_of(name: str) -> set[str]:
    """The lower-case words of a column name.

    >>> sorted(words_of("patientNbr_zip-code"))
    ['code', 'nbr', 'patient', 'zip']
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return set(re.split(r"[^a-z0-9]+", spaced.lower())) - {""}


def is_key(name: str) -> bool:
    """Whether a column's name says that it numbers persons or things."""
    return bool(words_of(name) & _KEYS)


def guess(table: Table) -> dict[str, Attribute]:
    """Guess type and role of every column."""
    return {name: guess_attribute(column) for name, column in table.columns.items()}


def guess_attribute(column: Column, *, type: Type | None = None) -> Attribute:
    """Guess type and role of one column; a type that is known is kept."""
    if type is None:
        guessed, order, why_type = _guess_type(column)
    else:
        guessed, why_type = type, "type given"
        order = None
        if type == "ordinal":
            order = column.order if isinstance(column, OrderedColumn) else _band_order(column)
    role, why_role = _guess_role(column, guessed)
    return Attribute(column.name, guessed, role, order, None, f"{why_type}; {why_role}")


def _guess_type(column: Column) -> tuple[Type, tuple[str, ...] | None, str]:
    values, words = column.values, words_of(column.name)
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
        return _guess_number(column, numbers, words)
    order = _band_order(column)
    if order is not None:
        return "ordinal", order, "bands of numbers, ordered by their lower end"
    if (words & _PREFIX or words & {"diag", "diagnosis"}) and _share(column, _CLINICAL_CODE) > 0.9:
        return "prefix", None, "codes in which a shorter prefix means a wider area"
    return "nominal", None, "text"


def _guess_number(
    column: Column, numbers: np.ndarray[tuple[int], np.dtype[np.float64]], words: set[str]
) -> tuple[Type, tuple[str, ...] | None, str]:
    texts = [str(v) for v in column.values[:1000]] if column.is_text else []
    if words & _PREFIX or (any(t.startswith("0") and t.isdigit() and len(t) > 2 for t in texts)):
        return "prefix", None, "digits of a code in which a shorter prefix means a wider area"
    if words & {"diag", "diagnosis"} and texts and _share(column, _CLINICAL_CODE) > 0.9 and len(texts) > 20:
        return "prefix", None, "codes in which a shorter prefix means a wider area"
    whole = bool((numbers == np.round(numbers)).all())
    few = 50 if words & _CATEGORY else 10
    if whole and len(numbers) <= few and not words & _COUNT:
        count = f"{len(numbers)} whole numbers" if len(numbers) > 1 else "one whole number"
        return "nominal", None, f"only {count}, so probably codes"
    return "continuous", None, "numbers"


def _guess_role(column: Column, type: Type) -> tuple[Role, str]:
    words, n_rows = words_of(column.name), max(1, len(column.codes))
    n_values = len(column.values)
    distinct = n_values / n_rows
    named = words & _IDENTIFYING
    if named and not words & {"file", "drug", "product"}:
        return "identifying", f"the name says {sorted(named)[0]!r}"
    if words & _KEYS and distinct > 0.1 and n_rows >= 20:
        return "identifying", "the name says it is a key and the values repeat little"
    known = words & (_SENSITIVE | _QUASI | _COUNT)
    if (
        n_rows >= 20
        and distinct > 0.9
        and (type == "nominal" or _counts_rows(column) or (not known and _is_number(column)))
    ):
        return "identifying", "nearly every row has a value of its own"
    if words & {"weight", "weights", "wgt", "fnlwgt"} and (words & _SURVEY_WEIGHT or "fnlwgt" in words):
        return "insensitive", "a survey weight"
    if words & _SENSITIVE:
        return "sensitive", f"the name says {sorted(words & _SENSITIVE)[0]!r}"
    if words & _QUASI:
        return "quasi", f"the name says {sorted(words & _QUASI)[0]!r}, which others may know"
    if type == "date" or (type == "prefix" and words & _PREFIX):
        return "quasi", "others may know it"
    return "insensitive", "nothing in its name says that others know it"


def _share(column: Column, pattern: re.Pattern[str]) -> float:
    values = column.values[:: max(1, len(column.values) // 1000)]
    return sum(bool(pattern.match(str(v))) for v in values) / max(1, len(values))


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


def _counts_rows(column: Column) -> bool:
    """Whole numbers that run through the rows one by one."""
    numbers = parse_numbers(column.values)
    return (
        numbers is not None
        and bool(np.isfinite(numbers).all())
        and bool((numbers == np.round(numbers)).all())
        and float(np.ptp(numbers)) + 1 <= 1.2 * len(column.codes)
    )


def _day_first_fits(column: Column) -> bool:
    return column.is_text and all(int(str(v).split("/")[1]) <= 12 for v in column.values)
