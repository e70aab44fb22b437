"""What pages list: points with a heading each, and names in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from shoal.context import TITLES


class Point(NamedTuple):
    """A heading and a sentence or two."""

    title: str
    text: str


def listed(items: Sequence[str]) -> str:
    """Join with commas and a last "and".

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join(filter(None, [", ".join(items[:-1]), items[-1] if items else ""]))


def quoted(names: Sequence[str], most: int = 4) -> str:
    """Some column names in a sentence.

    >>> quoted(["age"]), quoted(["a", "b", "c"], most=1)
    ('“age”', '“a” and 2 more')
    """
    shown = [f"“{n}”" for n in names[:most]]
    return listed([*shown, f"{len(names) - most} more"] if len(names) > most else shown)


def public_points(context: Mapping[str, Any] | None) -> list[Point]:
    """What is said of a release besides its data, with the headings that pages have for it.

    >>> public_points({"title": "Admissions", "licence": "CC-BY-4.0"})[1]
    Point(title='Licence', text='CC-BY-4.0')
    """
    told = context or {}
    return [Point(title, _told(told[name])) for name, title in TITLES.items() if name in told]


def _told(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)
