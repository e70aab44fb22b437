"""The one grammar of labels: whatever writes a label writes it here, and whatever reads one reads it here.

============================  =====================================================
``31``                        a value
``[31..34]``                  from one value to another, both included
``[20..25)``                  the same without the last
``{Black, White}``            any of the listed values
``*``                         any value, or none
any of these `` or missing``  the same, or none
============================  =====================================================

The ends of a range of dates may be months or years, ``[2021-03..2021-09]``: from the first day of the one to the last
of the other (`calendar_span`).

A value that would be read otherwise where it stands is put in double quotes, with those inside it doubled:
``"*"``, ``{"Doe, J.", Roe}``, ``[1e-300..".5"]``. So every label reads in one way, as what was written.

The labels of a hierarchy are names and no part of this; who has the hierarchy looks them up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

EVERYTHING = "*"
OR_MISSING = " or missing"

_QUOTED = r'"(?:[^"]|"")*"'
_END = rf'({_QUOTED}|(?!["\.])(?:(?!\.\.).)+(?<!\.))'
_RANGE = re.compile(rf"\[{_END}\.\.{_END}([\])])", re.DOTALL)
_ITEM = rf'(?:{_QUOTED}|(?!")(?:(?!, ).)+)'
_SET = re.compile(rf"\{{{_ITEM}(?:, {_ITEM})*\}}", re.DOTALL)
_ITEMS = re.compile(_ITEM, re.DOTALL)
_VALUE = re.compile(_QUOTED, re.DOTALL)
_CALENDAR = re.compile(r"([1-9][0-9]{3})(-(?:0[1-9]|1[0-2]))?")


@dataclass(frozen=True)
class Label:
    """What a label says.

    Attributes
    ----------
    kind : {"value", "range", "set", "everything"}
    values : tuple of str
        The value, both ends of the range, or the members of the set.
    may_miss : bool
        Whether it stands for a missing value too.
    is_open : bool
        Of a range, whether the last value is left out.
    """

    kind: Literal["value", "range", "set", "everything"]
    values: tuple[str, ...] = ()
    may_miss: bool = False
    is_open: bool = False


def read_label(text: str) -> Label:
    """Read a label.

    >>> read_label("[31..34] or missing")
    Label(kind='range', values=('31', '34'), may_miss=True, is_open=False)
    >>> read_label('{"Doe, J.", Roe}').values
    ('Doe, J.', 'Roe')
    """
    rest = text.removesuffix(OR_MISSING)
    may_miss = len(rest) < len(text)
    if rest == EVERYTHING:
        return Label("everything", (), True)
    if rest[:1] == "[":
        found = _RANGE.fullmatch(rest)
        if found is not None:
            return Label("range", (_bare(found[1]), _bare(found[2])), may_miss, found[3] == ")")
    elif rest[:1] == "{":
        members = _members(rest)
        if members:
            return Label("set", tuple(members), may_miss)
    elif rest[:1] == '"' and _VALUE.fullmatch(rest) is not None:
        return Label("value", (_bare(rest),), may_miss)
    return Label("value", (rest,), may_miss)


def value_label(value: str) -> str:
    """The label of one value: the value, unless that reads as something else.

    >>> value_label("31"), value_label("*"), value_label("{a, b}")
    ('31', '"*"', '"{a, b}"')
    """
    return value if read_label(value) == Label("value", (value,)) else _quoted(value)


def range_label(first: str, last: str, *, is_open: bool = False) -> str:
    """The label of all values from one to another; of one value if both are the same.

    >>> range_label("31", "34"), range_label("31", "31"), range_label("1e-300", ".5")
    ('[31..34]', '31', '[1e-300..".5"]')
    """
    if first == last and not is_open:
        return value_label(first)
    ends = [_quoted(v) if not v or v[0] in '".' or v[-1] == "." or ".." in v else v for v in (first, last)]
    return f"[{ends[0]}..{ends[1]}{')' if is_open else ']'}"


def set_label(values: Sequence[str]) -> str:
    """The label of any of some values, in the order of their spelling.

    >>> set_label(["White", "Black"]), set_label(["Roe", "Doe, J."])
    ('{Black, White}', '{"Doe, J.", Roe}')
    """
    if len(values) == 1:
        return value_label(values[0])
    return "{" + ", ".join(_quoted(v) if not v or v[0] == '"' or ", " in v else v for v in sorted(values)) + "}"


def calendar_span(end: str) -> tuple[np.datetime64, np.datetime64] | None:
    """The first and the last moment of a month or year that a range of dates ends with; None for another end.

    >>> [str(moment) for moment in calendar_span("2021-02")]
    ['2021-02-01T00:00:00.000000', '2021-02-28T23:59:59.999999']
    >>> calendar_span("2021-02-03") is None
    True
    """
    found = _CALENDAR.fullmatch(end)
    if found is None:
        return None
    unit = "Y" if found[2] is None else "M"
    first, after = (np.array([end, end], f"datetime64[{unit}]") + np.array([0, 1])).astype("datetime64[us]")
    return first, after - np.timedelta64(1, "us")


def _members(text: str) -> list[str]:
    """The members of a set, none if it is not one."""
    if '"' not in text:
        members = text[1:-1].split(", ") if text.endswith("}") and len(text) > len("{}") else []
        return members if all(members) else []
    if _SET.fullmatch(text) is None:
        return []
    inner, items, at = text[1:-1], [], 0
    while at < len(inner):
        found = _ITEMS.match(inner, at)
        assert found is not None, "the whole was matched before"
        items.append(_bare(found[0]))
        at = found.end() + len(", ")
    return items


def _quoted(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'


def _bare(item: str) -> str:
    return item[1:-1].replace('""', '"') if item.startswith('"') else item
