"""What options of the command line take besides texts and numbers."""

from __future__ import annotations

import csv
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


class Slices(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4 only
    """A number of slices, the word best, or column names with commas between them and semicolons between slices."""

    name = "slices"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str) or value == "best":
            return value
        if value.strip().isdigit():
            return int(value)
        return tuple(Names().convert(part, param, ctx) for part in value.split(";"))


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


class Listed(click.Option):
    """An option whose help names what is registered, which is looked up when the help is shown and not before."""

    def __init__(self, *given: Any, known: str, **values: Any) -> None:
        super().__init__(*given, **values)
        self.known = known

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option and its help."""
        from shoal.kinds.tables import policy

        names = list(getattr(policy, self.known)())
        self.help = (self.help or "").replace("{names}", f"{', '.join(names[:-1])} or {names[-1]}")
        return super().get_help_record(ctx)
