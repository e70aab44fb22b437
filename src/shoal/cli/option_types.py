"""What options of the command line take besides texts and numbers."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Any

import click


class Names(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4 only
    """Column names with commas between them; a name that holds a comma is quoted as in a CSV file."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        rows = list(csv.reader([value], skipinitialspace=True))
        return tuple(n for n in rows[0] if n) if rows else ()


class Sizes(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4 only
    """Whole numbers with commas between them."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(int(part) for part in value.split(",") if part.strip())
        except ValueError:
            self.fail("give whole numbers with commas between, such as 2,5,10", param, ctx)


class Numbers(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4 only
    """Numbers with commas between them."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(float(part) for part in value.split(",") if part.strip())
        except ValueError:
            self.fail("give numbers with commas between, such as 0,0.02,0.05", param, ctx)


class Parsed(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4 only
    """What a function of its own makes of the text."""

    name = "text"

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self.parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self.parse(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)
