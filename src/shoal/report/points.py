"""What pages list: points with a heading each, and names in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


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
