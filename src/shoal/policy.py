"""The base of all policies: what the user asks for of a kind of data, one small object, equally a TOML file.

A kind's policy has its own keys and rules; reading, changing and explaining stand here. A key that is made with
`option` is an option of the command line too, with the help and the default that stand in the policy.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeGuard, get_args, get_origin

from pydantic import BaseModel, Field, PlainValidator, ValidationError
from pydantic_core import PydanticCustomError

from shoal.context import Context
from shoal.errors import PolicyError, did_you_mean
from shoal.policy_part import Strict as Strict

if TYPE_CHECKING:
    from typing_extensions import Self

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Option:
    """Something that `BasePolicy.changed` takes and the command line asks for.

    Attributes
    ----------
    name : str
        As `changed` takes it.
    type : type annotation
    help : str
        One sentence.
    default : object
        What holds where it is not given.
    instead : str
        Words for the default where it is None: what happens then.
    flags : str
        How it is written, where its name does not tell: ``"--method"``; ``"--on/--off"`` for true and false.
    metavar : str
        What stands for the value in the help, where the type does not tell.
    parse : callable, optional
        From the text of an option to the value, where the type does not tell.
    names : callable, optional
        What it may be, where that is registered elsewhere.
    is_common : bool
        Whether it is among the first that the help shows.
    is_input : bool
        Whether it says how a file is read; so do all keys of the part `input`.
    """

    name: str
    type: Any
    help: str
    default: Any = None
    instead: str = ""
    flags: str = ""
    metavar: str = ""
    parse: Callable[[str], Any] | None = None
    names: Callable[[], Iterable[str]] | None = None
    is_common: bool = False
    is_input: bool = False


def option(
    default: Any,
    help: str,
    *,
    instead: str = "",
    flags: str = "",
    metavar: str = "",
    parse: Callable[[str], Any] | None = None,
    names: Callable[[], Iterable[str]] | None = None,
    is_common: bool = False,
    is_input: bool = False,
    **limits: Any,
) -> Any:
    """A key of a policy that is an option of the command line as well; see `Option`, and `pydantic.Field` on limits."""
    how: Any = {"instead": instead, "flags": flags, "metavar": metavar, "parse": parse, "names": names}
    how |= {"is_common": is_common, "is_input": is_input}
    return Field(default, description=help, json_schema_extra={"option": how}, **limits)


LEAST_BYTES = 500_000_000  # what is loaded before any record is


def size_in_bytes(told: str | None) -> int | None:
    """A size as a policy tells it; None of what is none.

    >>> size_in_bytes("2 GB"), size_in_bytes("much")
    (2000000000, None)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kMGT])i?B", told or "", re.IGNORECASE)
    return None if found is None else int(float(found[1]) * 1000 ** ("KMGT".index(found[2].upper()) + 1))


def refuse_bound(told: str) -> None:
    """Refuse a bound on memory that is no size, or too small for anything to be done.

    Raises
    ------
    ValueError

    >>> refuse_bound("2 gigs")
    Traceback (most recent call last):
    ...
    ValueError: memory is a size of at least 500 MB, such as 2GB, and '2 gigs' is not a size in kB, MB, GB or TB
    """
    size = size_in_bytes(told)
    wrong = "is not a size in kB, MB, GB or TB" if size is None else "is less" if size < LEAST_BYTES else ""
    if wrong:
        raise ValueError(f"memory is a size of at least 500 MB, such as 2GB, and {told!r} {wrong}")


def named_in(known: Callable[[], Iterable[str]], *, or_none: bool = False) -> PlainValidator:
    """A name that is registered, or perhaps none; another is refused as a literal would be."""

    def name(given: Any) -> str | None:
        names = list(known())
        if (given is None and or_none) or (isinstance(given, str) and given in names):
            return given
        listed = " or ".join(filter(None, [", ".join(map(repr, names[:-1])), repr(names[-1])]))
        raise PydanticCustomError("literal_error", "Input should be {expected}", {"expected": listed})

    return PlainValidator(name)


def header_option() -> Any:
    """The key `header`, which every kind of data that can stand in a CSV file has."""
    return option(
        None,
        "Whether the first line names the columns.",
        instead="first, unless it looks like data",
        is_common=True,
        is_input=True,
    )


class TextFile(BaseModel):
    """The keys that say how text files of tables are read; other files tell it themselves."""

    delimiter: str | None = option(
        None, "Character between the cells of a text file.", instead="detected: , ; tab or |", is_input=True
    )
    encoding: str | None = option(
        None,
        "Character encoding of a text file.",
        instead="detected: UTF-8, UTF-16 or Windows-1252",
        metavar="NAME",
        is_input=True,
    )
    decimal: Literal[".", ","] | None = option(
        None, "Decimal mark of numbers in a text file.", instead="a point", is_input=True
    )

    @property
    def reading(self) -> dict[str, str] | None:
        """What is stated of these; None where nothing is."""
        stated = {name: getattr(self, name) for name in TextFile.model_fields}
        return {name: said for name, said in stated.items() if said is not None} or None


def person_option() -> Any:
    """The key `person`, which every kind of data has that can stand in a table of several rows a person."""
    return option(
        (),
        "Column(s) that say whose row it is; persons are then counted, and the column is dropped.",
        metavar="COLUMN",
        is_common=True,
    )


class BasePolicy(Strict):
    """All that a release of one kind of data is asked to be.

    A key that is itself a `Strict` model, such as `method`, is a part: `changed` takes its keys as if they were the
    policy's own.
    """

    noun: ClassVar[str]
    """The kind of data in a sentence: "it is read as a table"."""
    plural: ClassVar[str]
    """The same of many: "this is for tables"."""
    surely: ClassVar[str] = ""
    """The formats that are of this kind for sure, in words."""
    arguments: ClassVar[tuple[Option, ...]] = ()
    """What `changed` takes besides keys."""

    kind: str
    context: Context = Field(Context(), description="What a board asks for that no data tells; see `shoal.context`.")

    metadata: bool = option(False, "Write metadata for machines too.", is_common=True)

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise PolicyError(explain(error, type(self), "the policy")) from error

    @classmethod
    def of(cls, **asked: Any) -> Self:
        """Write a policy in one line; see `changed` for what can be asked."""
        return cls().changed(**asked)

    def changed(self, **values: Any) -> Self:
        """The same policy with other values for some keys of it or of its parts."""
        said: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields}
        parts = _parts(type(self))
        given = type(self)(**{name: values.pop(name) for name in parts if name in values})
        for name, part in parts.items():
            own = {n: values.pop(n) for n in list(values) if n in part.model_fields}
            said[name] = (
                said[name].model_dump(exclude_unset=True) | getattr(given, name).model_dump(exclude_unset=True) | own
            )
        return type(self)(**said | values)

    def _repr_html_(self) -> str:
        from html import escape

        from shoal.policy_file import policy_toml

        return f"<p><b>{type(self).__name__}</b></p><pre>{escape(policy_toml(self, {}, (), is_shown=True))}</pre>"

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a TOML file."""
        return cls.from_content(*read_toml(path), Path(path))

    @classmethod
    def from_content(cls, content: dict[str, Any], text: str, path: Path) -> Self:
        """From what `read_toml` read."""
        from shoal.kind import kind_of_content

        meant = kind_of_content(content)
        if meant is not None and not issubclass(cls, meant.policy):
            own = cls.model_fields["kind"].default
            raise PolicyError(
                f"{path} is a policy for {meant.policy.noun}; read it with shoal.read_policy, or, if it is meant for "
                f'other data, say so there: kind = "{own}"'
            )
        try:
            return cls(**content)
        except PolicyError as error:
            if isinstance(error.__cause__, ValidationError):
                raise PolicyError(explain(error.__cause__, cls, str(path), text)) from None
            raise

    @classmethod
    def models(cls) -> Mapping[str, type[BaseModel]]:
        """The privacy models that can be required, by name."""
        return _tags(_models_in(cls.model_fields["require"].annotation)) if "require" in cls.model_fields else {}

    @classmethod
    def options(cls, asks: Callable[[Option], bool] = lambda _: True) -> dict[str, Option]:
        """What the command line asks for, by name: what `changed` takes besides keys, then keys in their order."""
        asked = [a for a in cls.arguments if asks(a)]
        usual = cls() if asked else None  # whose methods are not looked up where only files are asked about
        arguments = (replace(a, default=getattr(usual, a.name, None)) for a in asked)
        return {o.name: o for o in (*arguments, *filter(asks, _options_in(cls)))}


def _parts(policy: type[BasePolicy]) -> dict[str, type[Strict]]:
    """The keys of a policy that have keys of their own."""
    types = {name: field.annotation for name, field in policy.model_fields.items()}
    return {name: part for name, part in types.items() if _is_class(part) and issubclass(part, Strict)}


def _options_in(model: type[BaseModel]) -> Iterator[Option]:
    for name, field in model.model_fields.items():
        extra = field.json_schema_extra
        if isinstance(extra, dict) and "option" in extra:
            how: Any = extra["option"]
            yield Option(name, field.annotation, field.description or "", field.default, **how)
        else:
            for part in _models_in(field.annotation):
                yield from (replace(o, is_input=o.is_input or name == "input") for o in _options_in(part))


def _is_class(annotation: Any) -> TypeGuard[type[Any]]:
    """Whether it is a class; on Python 3.10 ``tuple[str, ...]`` passes for one."""
    return isinstance(annotation, type) and get_origin(annotation) is None


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """The models that a value of this type can hold."""
    if _is_class(annotation) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models_in(inner)]


def read_toml(path: str | Path) -> tuple[dict[str, Any], str]:
    """What a policy file holds, and its text."""
    if not isinstance(path, str | Path):
        raise PolicyError(
            f"a policy is read from the path of a TOML file, not from a value of type {type(path).__name__}"
        )
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PolicyError(f"there is no policy file {path}; `shoal profile` writes one to edit") from None
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(f"the policy file {path} cannot be read as UTF-8 text ({_reason(error)})") from None
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"{path} is not valid TOML: {error}") from None


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8"


def explain(error: ValidationError, policy: type[BasePolicy], where: str, text: str = "") -> str:
    """One sentence about the first thing that is wrong: where, which key, what would be right."""
    problems = error.errors()
    first = problems[0]
    models = policy.models()
    location = [p for p in first["loc"] if p not in models and p != "str" and not str(p).startswith("is-instance[")]
    key = "".join(f"[{p + 1}]" if isinstance(p, int) else f".{p}" for p in location).lstrip(".")
    last = str(location[-1]) if location else ""
    given = first.get("input")
    if location[-1:] == ["[key]"]:
        what = f"{location[0]}: names are texts, and one is of type {type(given).__name__}"
    elif first["type"] == "extra_forbidden":
        what = _no_key(policy, first["loc"], key, text)
    elif first["type"] == "union_tag_invalid":
        tag = str(given.get("model")) if isinstance(given, dict) else str(given)
        known = re.findall("'([^']+)'", str(first["ctx"]["expected_tags"]))
        what = f"{key}.model: there is no privacy model {tag!r} of this kind of data; {did_you_mean(tag, known)}"
    elif first["type"] == "union_tag_not_found":
        what = f"{key} names no privacy model; add model = one of {', '.join(models)}"
    elif first["type"] == "literal_error":
        known = [p.strip(" '") for p in re.split(r",| or ", str(first["ctx"]["expected"]))]
        what = f"{key} cannot be {given!r}; {did_you_mean(str(given), known)}"
    elif first["type"] == "missing":
        what = f"{key} is missing; add it"
    else:
        message = first["msg"].removeprefix("Value error, ").replace("Input should", "it must", 1)
        message = re.sub(r"dictionary or instance of \w+", "table", message)
        shown = "" if first["type"] == "value_error" or isinstance(given, dict | list) else f", not {given!r}"
        what = f"{f'{key}: ' if key else ''}{message}{shown}"
    line = _line_of(text, last)
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{where}{f', line {line}' if line else ''}: {what}{more}"


def _tags(models: Sequence[type[BaseModel]]) -> Mapping[str, type[BaseModel]]:
    """Privacy models by their names, which pydantic puts into the place of an error as if they were keys."""
    return {m.model_fields["model"].default: m for m in models if "model" in m.model_fields}


def _keys_at(policy: type[BasePolicy], place: Sequence[int | str]) -> list[str]:
    """The keys that a policy may have at a place."""
    models: list[type[BaseModel]] = [policy]
    for step in place:
        inside = [m for model in models if (f := model.model_fields.get(str(step))) for m in _models_in(f.annotation)]
        tagged = policy.models().get(str(step))
        models = inside or ([tagged] if tagged else models)
    return list(dict.fromkeys(key for model in models for key in model.model_fields))


def _no_key(policy: type[BasePolicy], place: Sequence[int | str], key: str, text: str) -> str:
    """That there is no such key, and what was meant: in Python roles and k are keys too, in a file they are not."""
    name, short = str(place[-1]), [] if len(place) > 1 else [argument.name for argument in policy.arguments]
    if text and name in short:
        where = "[[require]]" if len(name) == 1 else "[columns]"
        return f"there is no key {key!r} in a policy file; say it under {where}, as `shoal profile` writes it"
    return f"there is no key {key!r}; {did_you_mean(name, [*([] if text else short), *_keys_at(policy, place[:-1])])}"


def _line_of(text: str, key: str) -> int | None:
    found = re.search(rf'^.*(?<![\w-])"?{re.escape(key)}"?\s*=', text, re.MULTILINE) if key else None
    return text.count("\n", 0, found.start()) + 1 if found else None
