"""What the values of a column are by their spelling, whatever the column is called: dates, phones, names of people.

Looked at are up to a thousand distinct values, spread over the dictionary; a form is that of a column if nine in ten
have it. Names of people are known by given names that are frequent in the six languages of
`shoal.data.tables.column_words`, so rare ones are missed unless the column says what it is; a column of which nothing
is known is quasi-identifying in any case.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from shoal.data.tables.attribute import Role
from shoal.data.tables.parse import parse_dates, parse_numbers
from shoal.data.tables.table import Column, spell

_MOST = 1000
_NEARLY_ALL = 0.9
_FEW, _MANY = 5, 20  # distinct values from which a form is told that others may have by chance
_SOME_NAMES, _MOSTLY_NAMES = 0.3, 0.6
_LONG_TEXT = 40  # characters of a typical value
_SINCE, _UNTIL = 1900, 2100
_DEGREES = 180
_EPOCH = (631_152_000, 2_208_988_800)  # from 1990 to 2039, in seconds

_MONTH = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|janv|févr|fevr|avr|juin|juil|août|aout|déc|ene|"
    r"abr|ago|dic|gen|mag|giu|lug|set|ott|mrt|mei|maa)[a-zéûäç]*"
)
_TIME = r"\d{1,2}[:.h]\d{2}(?:[:.]\d{2}(?:[.,]\d+)?)?(?:\s*[ap]m)?"
_OFFSET = r"(?:\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
_DAY = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})|\d{4}[-/]\d{1,2}|\d{1,2}[-/]\d{4}|"
    rf"\d{{1,2}}(?:st|nd|rd|th|er|\.|º)?[-\s./]*(?:de\s+)?{_MONTH}\.?[-\s./,]*(?:de\s+)?(?:\d{{4}}|\d{{2}})|"
    rf"{_MONTH}\.?[-\s]+\d{{1,2}}(?:st|nd|rd|th)?,?[-\s]+\d{{4}}|{_MONTH}\.?[-\s]+\d{{4}})"
)
_PATTERNS: tuple[tuple[str, Role, str], ...] = (
    ("e-mail addresses", "identifying", r"[^@\s]+@[^@\s]+\.[a-z]{2,}"),
    ("web addresses", "identifying", r"(?:https?://|www\.)\S+"),
    ("network addresses", "identifying", r"(?:\d{1,3}\.){3}\d{1,3}|(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}"),
    ("universal identifiers", "identifying", r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"),
    ("account numbers", "identifying", r"[a-z]{2}\d{2}(?:\s?[a-z0-9]{4}){3,7}\s?[a-z0-9]{0,3}"),
    ("social security numbers", "identifying", r"\d{3}-\d{2}-\d{4}"),
    ("dates", "quasi", rf"(?:[a-z]{{2,3}},?\s+)?{_DAY}(?:,?[T\s]+{_TIME}{_OFFSET})?"),
    ("times", "quasi", rf"{_TIME}{_OFFSET}"),
    ("coordinates", "quasi", r"\(?-?\d{1,3}\.\d{3,}°?\s*[nsew]?\s*[,; ]\s*-?\d{1,3}\.\d{3,}°?\s*[nsew]?\)?"),
    (
        "phone numbers",
        "identifying",
        r"(?=(?:\D*\d){7,15}\D*\Z)(?:\+|00|\(?0)\d*[\d\s().\-/]+|\(?\d{3}\)?[-.\s]\d{3}[-.\s]\d{4}",
    ),
    ("diagnoses (ICD)", "sensitive", r"[a-tv-z]\d[0-9ab]\.[0-9a-z]{1,4}|[a-tv-z]\d[0-9]"),
    ("drugs (ATC)", "sensitive", r"[a-v]\d{2}[a-z]{2}\d{2}"),
    ("postcodes", "quasi", r"[a-z]{1,2}\d[a-z\d]?\s\d[a-z]{2}|\d{4}\s?[a-z]{2}|[a-z]\d[a-z]\s\d[a-z]\d|\d{5}-\d{4}"),
)
_COMPILED = tuple((form, role, re.compile(rf"(?:{p})\Z", re.IGNORECASE)) for form, role, p in _PATTERNS)
PREFIX_FORMS = ("diagnoses (ICD)", "drugs (ATC)", "postcodes")
"""Forms in which a shorter prefix means a wider area."""

_GIVEN_NAMES = frozenset(
    """james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony mark
    paul steven andrew george mary patricia jennifer linda elizabeth barbara susan jessica sarah karen nancy
    lisa margaret emily emma olivia anna ann anne jane alice helen laura julia ruth peter hans klaus jurgen
    wolfgang heinz uwe stefan andreas markus thorsten ursula renate monika sabine petra claudia heike katrin
    lena lukas leon felix jonas greta jean pierre michel philippe jacques marie nathalie isabelle sylvie
    catherine francoise camille chloe louis hugo jose antonio manuel francisco juan javier carlos miguel maria
    carmen josefa isabel dolores lucia pilar pablo diego giuseppe giovanni mario luigi francesco angelo luca
    marco giulia francesca chiara rosa paola sofia lorenzo matteo jan johannes pieter cornelis hendrik willem
    kees sanne daan sem lotte femke fleur johanna cornelia els joost bram mohammed mohamed ali ahmed fatima wei
    li mei yuki ivan olga natalia dmitri piotr krzysztof agnieszka ana joao ella mia noah liam sophie max ben
    tom tim eva""".split()
)


@dataclass(frozen=True)
class Form:
    """What values are by their spelling, and the role that this suggests."""

    name: str
    role: Role


def form_of(column: Column) -> Form | None:
    """What nearly all values of a column are, or None where their spelling says nothing.

    >>> from shoal.data.tables.frames import from_frame
    >>> form_of(from_frame({"x": ["25-Feb-2002", "1-Mar-2003"]})["x"])
    Form(name='dates', role='quasi')
    """
    if not len(column.values):
        return None
    some = column.values[:: max(1, len(column.values) // _MOST)]
    if some.dtype.kind == "M":
        return Form("dates", "quasi")
    numbers = parse_numbers(some)
    if numbers is not None and some.dtype.kind != "b":
        return _form_of_numbers(numbers, spell(some))
    texts = [text.strip() for text in spell(some)]
    for form, role, pattern in _COMPILED:
        if form == "diagnoses (ICD)" and len(texts) < _MANY and not any("." in t for t in texts):
            continue  # A01 and B02 may be anything
        if sum(pattern.match(text) is not None for text in texts) >= _NEARLY_ALL * len(texts):
            return Form(form, role)
    if parse_dates(some) is not None:
        return Form("dates", "quasi")
    if _are_people(texts):
        return Form("names of people", "identifying")
    if float(np.median([len(t) for t in texts])) > _LONG_TEXT and len(texts) >= _FEW:
        return Form("free text, which may name people", "identifying")
    return None


def _form_of_numbers(numbers: np.ndarray[tuple[int], np.dtype[np.float64]], texts: list[str]) -> Form | None:
    if len(numbers) < _FEW or not np.isfinite(numbers).all():
        return None
    if all(re.fullmatch(r"-?\d{1,3}\.\d{4,8}", text) for text in texts):
        return Form("perhaps coordinates", "quasi") if np.abs(numbers).max() <= _DEGREES else None
    if all(re.fullmatch(r"0\d{8,11}", text) for text in texts):
        return Form("phone numbers", "identifying")
    if (numbers != np.round(numbers)).any():
        return None
    if numbers.min() >= _SINCE and numbers.max() <= _UNTIL:
        return Form("years", "quasi")
    if all(re.fullmatch(r"(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])", text) for text in texts):
        return Form("dates", "quasi")
    for unit in (1, 1000):
        if _EPOCH[0] * unit <= numbers.min() and numbers.max() <= _EPOCH[1] * unit:
            return Form("seconds since 1970" if unit == 1 else "milliseconds since 1970", "quasi")
    return None


def _are_people(texts: list[str]) -> bool:
    """Whether texts are names: one or more words without digits, a given name among them in a good share."""
    from shoal.data.tables.column_words import words_of

    plausible = [t for t in texts if 0 < len(t.split()) <= 4 and not re.search(r"[\d@/_]", t)]
    if len(texts) < _FEW or len(plausible) < _NEARLY_ALL * len(texts):
        return False
    known = sum(bool(words_of(t) & _GIVEN_NAMES) for t in plausible)
    has_many_words = sum(len(t.split()) > 1 for t in plausible) > len(plausible) / 2
    return known > (_SOME_NAMES if has_many_words else _MOSTLY_NAMES) * len(plausible)
