"""How the command line takes its words: lists add up, nothing else is said twice, a mistyped command gets a hint."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import redirect_stdout
from typing import Any

import click

from shoal.cli.habits import is_quiet
from shoal.cli.option_types import Listed
from shoal.cli.standard_streams import remember_output
from shoal.errors import did_you_mean

_WRITTEN = "shoal.written"


def as_written() -> str:
    """The command that is being run, as it was written, without the value of its seed."""
    from shoal.provenance import command_line

    context = click.get_current_context()
    return command_line(context.meta.get(_WRITTEN, ()), str(context.info_name))


class Command(click.Command):
    """A command in which an option that takes a list adds up when it is repeated, and any other is refused."""

    def invoke(self, ctx: click.Context) -> Any:
        remember_output(ctx)
        if not is_quiet(ctx):
            return super().invoke(ctx)
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_WRITTEN] = tuple(args)
        told = f"shoal {ctx.info_name}"
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter as missing:
            what = " ".join(missing.format_message().split()).rstrip(".")
            raise click.UsageError(f"{what}; `{told} --help` says what it takes") from None
        except click.NoSuchOption as unknown:
            if not (_takes_policy(self) and _is_of_policies(ctx, unknown.option_name)):
                raise
            raise click.UsageError(
                f"{told} has no option {unknown.option_name}, as it takes what is asked for from a policy file "
                "(-p policy.toml); `shoal profile` writes one to edit"
            ) from None

    def make_parser(self, ctx: click.Context) -> Any:
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        lists = [p for p in options if isinstance(p.type, Listed)]
        for option in lists:  # so that the parser gathers every value of theirs, which stand here for one list
            option.multiple = True
        try:
            parser = super().make_parser(ctx)
        finally:
            for option in lists:
                option.multiple = False
        parse = parser.parse_args

        def parse_args(args: list[str]) -> tuple[dict[str, Any], list[str], list[click.Parameter]]:
            given, rest, order = parse(args=args)
            for option, times in Counter(order).items():
                if times > 1 and isinstance(option, click.Option) and option not in lists and not _may_repeat(option):
                    raise click.UsageError(f"{' or '.join(_spellings(option))} is given {times} times; give it once")
            for option in lists:
                if isinstance(given.get(option.name or ""), list):
                    given[str(option.name)] = ",".join(given[str(option.name)])
            return given, rest, order

        parser.parse_args = parse_args  # type: ignore[method-assign]
        return parser


def _may_repeat(option: click.Option) -> bool:
    """Whether saying it again says nothing else."""
    return option.multiple or (option.is_flag and not option.secondary_opts)


def _spellings(option: click.Option) -> list[str]:
    return [*option.opts[-1:], *option.secondary_opts[-1:]]


def _takes_policy(command: click.Command) -> bool:
    return any("--policy" in parameter.opts for parameter in command.params)


def _is_of_policies(ctx: click.Context, name: str) -> bool:
    """Whether it is an option of making a release."""
    making = ctx.find_root().command
    assert isinstance(making, click.Group)
    return any(name in p.opts for p in making.commands["anonymize"].get_params(ctx))


class Group(click.Group):
    """Commands, with a hint where none has the name."""

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            raise click.UsageError(f"there is no command {name!r}; {did_you_mean(name, self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)
