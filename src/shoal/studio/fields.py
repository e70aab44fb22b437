"""Fields of forms, made from the keys of policies: the same names, help and defaults as the command line's options.

A field is named by its place in the policy, with slashes between: ``method/partition``, ``require/0/k``,
``columns/3/role`` (the third column of the data, as a name may hold anything).
"""

from __future__ import annotations

import csv
import io
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

YES, NO = "true", "false"
HIDDEN = ("kind", "columns", "require", "context", "tables")
"""Keys that other parts of pages are for."""


@dataclass(frozen=True)
class FormField:
    """One field of a form."""

    name: str
    """Its place in the policy."""
    key: str
    """What it is called there."""
    help: str
    """One sentence."""
    widget: str
    """One of choice, flag, number, text, names, lines."""
    value: str
    """What it is now, as it is typed."""
    choices: tuple[str, ...] = ()
    """What it may be, where that is a list."""
    instead: str = ""
    """What happens where it is empty."""
    is_usual: bool = True
    """Whether it is as it is by default."""


def fields_of(part: BaseModel, place: str = "", leave_out: Sequence[str] = ()) -> list[FormField]:
    """The fields of a policy, or of a part of one."""
    return [
        field_of(f"{place}{name}", name, info, getattr(part, name))
        for name, info in type(part).model_fields.items()
        if name not in leave_out and not _is_part(info.annotation)
    ]


def parts_of(policy: BaseModel) -> dict[str, BaseModel]:
    """The parts of a policy that have keys of their own."""
    return {
        name: getattr(policy, name)
        for name, info in type(policy).model_fields.items()
        if name not in HIDDEN and _is_part(info.annotation)
    }


def field_of(name: str, key: str, info: FieldInfo, value: Any, choices: Sequence[str] = ()) -> FormField:
    """A field of one key."""
    found = tuple(choices) or choices_of(info)
    how = _option(info)
    return FormField(
        name=name,
        key=key,
        help=info.description or "",
        widget=_widget(info, found),
        value=as_typed(value),
        choices=found,
        instead=str(how.get("instead") or ("" if info.is_required() else as_typed(info.get_default()))),
        is_usual=not info.is_required() and value == info.get_default(call_default_factory=True),
    )


def _option(info: FieldInfo) -> Mapping[str, Any]:
    extra = info.json_schema_extra
    found = extra.get("option") if isinstance(extra, dict) else None
    return found if isinstance(found, Mapping) else {}


def choices_of(info: FieldInfo) -> tuple[str, ...]:
    """The words that a key may be; none where it is no word of a list."""
    names = _option(info).get("names")
    if callable(names):
        return tuple(names())
    found = [inner for inner in _inner(info.annotation) if get_origin(inner) is Literal]
    return tuple(str(word) for inner in found for word in get_args(inner))


def takes_none(info: FieldInfo) -> bool:
    """Whether a key may be left open."""
    return type(None) in _inner(info.annotation) or (not info.is_required() and info.get_default() is None)


def _inner(annotation: Any) -> list[Any]:
    """The types that a union is of, or the type itself."""
    if get_origin(annotation) in (Union, types.UnionType):
        return [one for inner in get_args(annotation) for one in _inner(inner)]
    return [annotation]


def _is_part(annotation: Any) -> bool:
    is_class = isinstance(annotation, type) and get_origin(annotation) is None
    return is_class and issubclass(annotation, BaseModel)


def _widget(info: FieldInfo, choices: Sequence[str]) -> str:
    if choices:
        return "choice"
    kinds = [get_origin(inner) or inner for inner in _inner(info.annotation)]
    if callable(_option(info).get("parse")):
        return "text"
    if bool in kinds:
        return "flag"
    if (int in kinds or float in kinds) and str not in kinds:
        return "number"
    if tuple in kinds:
        return "names"
    return "lines" if any(isinstance(k, type) and issubclass(k, Mapping) for k in kinds) else "text"


def as_typed(value: Any) -> str:
    """A value as one types it into a form.

    >>> as_typed(None), as_typed(True), as_typed(0.5), as_typed(("a", "b,c")), as_typed({"x": "why"})
    ('', 'true', '0.5', 'a,"b,c"', 'x=why')
    >>> as_typed((("age", "sex"), ("zip",)))
    'age,sex;zip'
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return YES if value else NO
    if isinstance(value, Mapping):
        return "\n".join(f"{name}={one}" for name, one in value.items())
    if isinstance(value, list | tuple):
        if value and all(isinstance(one, list | tuple) for one in value):
            return ";".join(as_typed(one) for one in value)
        text = io.StringIO()
        csv.writer(text, lineterminator="").writerow(value)
        return text.getvalue() if value else ""
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def from_typed(info: FieldInfo, text: str) -> Any:
    """What was typed as the value that it means; what means nothing stays a text, which the policy then refuses."""
    text = text.replace("\r\n", "\n")
    if text.strip() == "" and (takes_none(info) or not info.is_required()):
        return info.get_default(call_default_factory=True) if not takes_none(info) else None
    parse: Callable[[str], Any] | None = _option(info).get("parse")
    if parse is not None:
        return parse(text)
    widget = _widget(info, choices_of(info))
    if widget == "flag":
        return {YES: True, NO: False}.get(text, text)
    if widget == "number":
        return _number(text, info)
    if widget == "names":
        return tuple(next(csv.reader([text], skipinitialspace=True), ()))
    if widget == "lines":
        return dict(line.partition("=")[::2] for line in text.split("\n") if line.strip())
    return text


def _number(text: str, info: FieldInfo) -> Any:
    kinds = _inner(info.annotation)
    for kind in (int, float):
        if kind in kinds:
            try:
                return kind(text)
            except ValueError:
                continue
    return text


def walk(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    """Every key of a model with its place."""
    for name, info in model.model_fields.items():
        if isinstance(info.annotation, type) and _is_part(info.annotation):
            for inner, field in walk(info.annotation):
                yield f"{name}/{inner}", field
        else:
            yield name, info
