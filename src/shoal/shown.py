"""What is shown to a person, wherever: lines and tables, which a terminal prints and a notebook draws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from html import escape
from typing import NamedTuple

MOST_ROWS = 100
"""Rows of a table in a notebook; the rest is counted."""
MOST_LINES = 3
"""Lines of a short account."""


class Grid(NamedTuple):
    """A table for a terminal, whose columns are told by their headings; some are numbers, set to the right."""

    headings: tuple[str, ...]
    rows: list[tuple[str, ...]]
    right: tuple[str, ...] = ()


class Shown(ABC):
    """Something that is shown in the same lines and tables in a terminal and in a notebook."""

    @abstractmethod
    def shown(self) -> list[str | Grid]:
        """A line or a table each."""

    def __repr__(self) -> str:
        lines = [line for part in self.shown() if isinstance(part, str) for line in part.split("\n") if line.strip()]
        more = "" if len(lines) <= MOST_LINES else "\n  ..."
        return f"{type(self).__name__}\n" + "\n".join(f"  {line.strip()}" for line in lines[:MOST_LINES]) + more

    def _repr_html_(self) -> str:
        parts = (table_html(p) if isinstance(p, Grid) else _paragraphs(p) for p in self.shown())
        return f"<p><b>{type(self).__name__}</b></p>{''.join(parts)}"


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{escape(line.strip())}</p>" for line in text.split("\n") if line.strip())


def table_html(grid: Grid) -> str:
    """A table for a notebook, of its first rows."""
    sides = [' style="text-align: right"' if h in grid.right else ' style="text-align: left"' for h in grid.headings]

    def row(tag: str, cells: Iterable[str]) -> str:
        return "".join(f"<{tag}{side}>{escape(cell)}</{tag}>" for side, cell in zip(sides, cells, strict=True))

    body = "".join(f"<tr>{row('td', cells)}</tr>" for cells in grid.rows[:MOST_ROWS])
    left = len(grid.rows) - MOST_ROWS
    more = f"<p>and {left:,} more</p>" if left > 0 else ""
    return f"<table><thead><tr>{row('th', grid.headings)}</tr></thead><tbody>{body}</tbody></table>{more}"
