"""What options of the command line take besides texts and numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import click


class Listed(click.ParamType, ABC):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4 only
    """Several values with commas between them, which add up where the option is repeated."""

    @abstractmethod
    def split(self, text: str) -> tuple[Any, ...]:
        """The values; ValueError with a sentence where one is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Any, ...]:
        try:
            return value if isinstance(value, tuple) else self.split(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Names(Listed):
    """Column names with commas between them; a name that holds a comma is quoted as in a CSV file."""

    name = "names"

    def split(self, text: str) -> tuple[str, ...]:
        import csv

        rows = list(csv.reader([text], skipinitialspace=True))
        return tuple(n for n in rows[0] if n) if rows else ()


class Numbers(Listed):
    """Numbers with commas between them."""

    name = "numbers"
    number: type[int] | type[float] = float
    words = "numbers with commas between, such as 0,0.02,0.05"

    def split(self, text: str) -> tuple[float, ...]:
        try:
            return tuple(self.number(part) for part in text.split(",") if part.strip())
        except ValueError:
            raise ValueError(f"give {self.words}") from None


class Sizes(Numbers):
    """Whole numbers with commas between them."""

    number = int
    words = "whole numbers with commas between, such as 2,5,10"


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
