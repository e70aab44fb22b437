"""Tables and paragraphs in Markdown, for the pages of the string reproductions."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

fill = partial(textwrap.fill, width=120, break_on_hyphens=False)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table; the first column is of text, the others of numbers."""
    yield "| " + " | ".join(head) + " |"
    yield "|---|" + "---:|" * (len(head) - 1)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def value_range(values: Iterable[float], digits: int = 1) -> str:
    """The least and the largest value, or one where they look alike."""
    some = list(values)
    low, high = f"{min(some):,.{digits}f}", f"{max(some):,.{digits}f}"
    return low if low == high else f"{low} to {high}"


def met_or_missed(is_met: bool) -> str:
    """Whether a target was reached."""
    return "met" if is_met else "**missed**"
