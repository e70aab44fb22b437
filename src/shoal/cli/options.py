"""From policies to the options of a command, and from these back to the policy that they mean.

What a policy makes with `shoal.policy.option`, and what its `changed` takes besides, is an option here: name, type,
help and default come from there, and so does the section of the help in which it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click

from shoal.cli.group import Command
from shoal.cli.option_types import Names, Parsed

if TYPE_CHECKING:
    from shoal.policy import BasePolicy, Option

    Owners = dict[type[BasePolicy], Option]
    """What an option is for each kind of data that has it."""

OF_ALL = ("quiet", "verbose", "as_json")
"""Options that every command has, by their names; that for help, which has different ones, is the last."""
_WIDEST_CHOICE = 26
_WIDEST_TERM = 30


def everything(option: Option) -> bool:
    """All that can be asked of policies."""
    return True


def how_to_read(option: Option) -> bool:
    """How data is read, and nothing else."""
    return option.is_input


def in_how_much_memory(option: Option) -> bool:
    """How data is read, and in how much memory."""
    return option.is_input or option.name == "memory"


def header_alone(option: Option) -> bool:
    """Whether the first line names the columns, and nothing else."""
    return option.name == "header"


class PolicyCommand(Command):
    """A command with options made from the policies of all kinds of data, in a section of its help for each kind.

    Parameters
    ----------
    asks : callable
        Which options of policies it has.
    first : collection of str, optional
        Which of its own options stand at the top of its help, while others stand at the end; by default all.
    makes_policy : bool
        Whether a policy is made from the options, which says what is wrong with them; else the parser does.
    """

    def __init__(
        self,
        *args: Any,
        asks: Callable[[Option], bool] = everything,
        first: Collection[str] | None = None,
        makes_policy: bool = True,
        **more: Any,
    ) -> None:
        super().__init__(*args, **more)
        self.asks, self.first, self.makes_policy = asks, first, makes_policy

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        own = super().get_params(ctx)
        return [*own[:-1], *_click_options(_policies(), self.asks, self.makes_policy), *own[-1:]]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        policies = _policies()
        shared = _shared(policies, self.asks)
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        shown = {str(o.name): o.get_help_record(ctx) or ("", "") for o in options}
        own = [name for name in shown if name not in shared]
        top = [name for name in own if self.first is None or name in self.first]
        common = [name for name, owners in shared.items() if any(o.is_common for o in owners.values())]
        last = [name for name in own if name in OF_ALL or name == own[-1]]
        top = [name for name in top if name not in last]
        sections = {"Options": [shown[n] for n in (*top, *common, *(last if self.first is None else ()))]}
        for policy in policies:
            of_kind = {n: option for n, option in policy.options(self.asks).items() if n not in common}
            sections[policy.plural.capitalize()] = [(shown[n][0], _told(option)) for n, option in of_kind.items()]
        sections["Run"] = [shown[n] for n in own if n not in top and (self.first is not None or n not in last)]
        terms = [term for rows in sections.values() for term, _ in rows]
        width = max((len(term) for term in terms if len(term) <= _WIDEST_TERM), default=0)
        for title, rows in sections.items():
            if rows:
                (term, told), *others = rows
                with formatter.section(title):  # a first term of that width makes all sections alike
                    formatter.write_dl([(term.ljust(width), told), *others], col_max=width)


def _policies() -> tuple[type[BasePolicy], ...]:
    from shoal.kind import kinds

    return tuple(kind.policy for kind in kinds())


@cache
def _shared(policies: Sequence[type[BasePolicy]], asks: Callable[[Option], bool]) -> dict[str, Owners]:
    """The options by name, each with what it is for the kinds of data that have it."""
    found: dict[str, Owners] = {}
    for policy in policies:
        for name, option in policy.options(asks).items():
            found.setdefault(name, {})[policy] = option
    return found


@cache
def _click_options(
    policies: Sequence[type[BasePolicy]], asks: Callable[[Option], bool], makes_policy: bool
) -> list[click.Option]:
    options = [_click_option(owners, makes_policy) for owners in _shared(policies, asks).values()]
    return [_kind_option(), *options] if makes_policy else options


def _kind_option() -> click.Option:
    from shoal.kind import default_kind, kinds
    from shoal.kinds import HOMES

    sure = ", ".join(f"{kind.name} for {kind.policy.surely}" for kind in kinds() if kind.policy.surely)
    return click.Option(
        ["--kind"],
        type=click.Choice(list(HOMES)),
        help=f"What DATA holds.  [default: {sure}, else {default_kind().name}]",
    )


def _click_option(owners: Owners, makes_policy: bool) -> click.Option:
    option = next(iter(owners.values()))
    choices = _choices(option)
    how: dict[str, Any] = {"metavar": option.metavar or None, "default": None}
    if option.parse is not None:
        how |= {"type": Parsed(option.parse)}
    elif choices and not makes_policy:
        how |= {"type": click.Choice(choices)}
    elif choices:
        is_told = _is_shown(option) and all(_choices(other) == choices for other in owners.values())
        how |= {"type": str, "metavar": f"[{'|'.join(choices)}]" if is_told else option.metavar or "NAME"}
        how |= {"shell_complete": _completes(choices)}
    elif (kind := _plain_type(option)) is Mapping:
        how |= {"multiple": True, "callback": _as_mapping}
    elif kind is tuple:
        how |= {"type": Names()}
    elif kind is not bool:
        how |= {"type": kind}
    return click.Option([_spelled(option), option.name], help=_told_of_all(owners), **how)


def _completes(choices: Sequence[str]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """What a shell asks for the words that may stand behind an option."""
    return lambda context, option, begun: [word for word in choices if word.startswith(begun)]


def _spelled(option: Option) -> str:
    """An option as the user writes it."""
    if option.flags:
        return option.flags
    word = option.name.replace("_", "-")
    if _plain_type(option) is bool:
        return f"--{word}/--no-{word}"
    return f"-{word}" if len(word) == 1 else f"--{word}"


def _plain_type(option: Option) -> Any:
    """What it takes, apart from None: bool, int, float, str, tuple for a list of names, or Mapping."""
    if _choices(option):
        return str
    for inner in [option.type, *get_args(option.type)]:
        plain = get_origin(inner) or inner
        if isinstance(plain, type) and issubclass(plain, bool | int | float | str | tuple | Mapping):
            return Mapping if issubclass(plain, Mapping) else plain
    raise TypeError(f"no option can be made of the type of {option.name}")


def _choices(option: Option) -> tuple[str, ...]:
    """The words that it may be; none where it is no word of a list."""
    if option.names is not None:
        return tuple(option.names())
    for inner in [option.type, *get_args(option.type)]:
        if get_origin(inner) is Literal:
            return get_args(inner)
    return ()


def _is_shown(option: Option) -> bool:
    """Whether its choices are few enough to stand beside its name."""
    return len("|".join(_choices(option))) <= _WIDEST_CHOICE


def _told(option: Option) -> str:
    """The help of an option for one kind of data: what it is, what it may be, what it is by default."""
    default = _default(option)
    return _meaning(option) + (f"  [default: {default}]" if default else "")


def _meaning(option: Option) -> str:
    if _choices(option) and not _is_shown(option):
        *but_last, last = _choices(option)
        return f"{option.help.removesuffix('.')}: {', '.join(but_last)} or {last}."
    return option.help


def _default(option: Option) -> str:
    if option.default in (None, {}, ()):
        return option.instead
    if isinstance(option.default, bool):
        return _spelled(option).split("/")[not option.default].removeprefix("--")
    return f"{option.default:g}" if isinstance(option.default, float) else str(option.default)


def _told_of_all(owners: Owners) -> str:
    """One help for all kinds of data that have an option: what it is for each, where that differs."""
    alike: dict[str, Owners] = {}
    for policy, option in owners.items():
        alike.setdefault(_meaning(option), {})[policy] = option
    told = []
    for meaning, same in alike.items():
        whose = f"For {' and '.join(policy.plural for policy in same)}: " if len(alike) > 1 else ""
        (_, usual), *others = ((policy, _default(option)) for policy, option in same.items())
        usual += "".join(f", {default} for {policy.plural}" for policy, default in others if default != usual)
        text = meaning[0].lower() + meaning[1:] if whose else meaning
        told.append(f"{whose}{text}" + (f"  [default: {usual}]" if usual else ""))
    return "  ".join(told)


def _as_mapping(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, str] | None:
    """What is given as NAME=VALUE, and may be given many times."""
    flag = option.opts[0]
    values = dict(text.partition("=")[::2] for text in given)
    if not all(values.values()):
        raise click.UsageError(f"{flag} takes {option.metavar}, and neither side may be empty")
    if len(values) < len(given):
        raise click.UsageError(f"{flag} is given more than once for the same name; give it once for each")
    return values or None


def asked_policy(data: Any, policy_file: Path | None, kind: str | None, asked: dict[str, Any]) -> Any:
    """The policy of the kind that DATA is, with what the options say on top."""
    from shoal.kind import kind_named, kind_of, read_policy

    given = {name: value for name, value in asked.items() if value is not None}
    policy = read_policy(policy_file) if policy_file else None
    if policy is not None and kind is not None and not isinstance(policy, kind_named(kind).policy):
        raise click.UsageError(f"--kind {kind} does not go with {policy_file}, which is for {policy.plural}")
    if policy is None:
        policy = (kind_named(kind) if kind else kind_of(data)).policy()
    _refuse_strangers(data, policy, given)
    return policy.changed(**given)


def _refuse_strangers(data: Any, policy: BasePolicy, names: Collection[str]) -> None:
    """Refuse an option that means nothing for this kind of data."""
    from shoal.kind import default_kind
    from shoal.report.points import listed

    shared = _shared(_policies(), everything)
    for name in names:
        owners = shared[name]
        if type(policy) in owners:
            continue
        first = next(iter(owners))
        kind = first.model_fields["kind"].default
        hint = f"say --kind {kind}, or drop it" if isinstance(policy, default_kind().policy) else "leave it out"
        flag, meant = _spelled(owners[first]).split("/")[0], listed([other.plural for other in owners])
        told = ", ".join(map(str, data.values())) if isinstance(data, Mapping) else data
        raise click.UsageError(f"{flag} is for {meant}, and {told} is read as {policy.noun}; {hint}")
