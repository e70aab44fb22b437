"""What a form changes in a policy: only what differs from the page that it stood on, so that two tabs lose nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from shoal.errors import PolicyError
from shoal.kind import ColumnPlace
from shoal.studio.fields import HIDDEN, FormField, field_of, fields_of, from_typed, parts_of

CHANGED_MEANWHILE = "the requirements were changed in another tab meanwhile; look at them again, and change them then"


def requirement_fields(policy: Any) -> list[list[FormField]]:
    """The fields of each requirement; its model is no field, as it decides about the others."""
    return [
        fields_of(one, f"require/{i}:{one.model}/", leave_out=("model",))
        for i, one in enumerate(getattr(policy, "require", ()))
    ]


def column_fields(policy: Any, names: Sequence[ColumnPlace]) -> list[dict[str, FormField]]:
    """The fields of each column, by key, in the order of the columns."""
    form = column_model(policy)
    if form is None:
        return []
    found, nothing = [], form()
    for i, place in enumerate(names):
        one = said_of(policy, place) or nothing
        found.append(
            {
                key: field_of(f"columns/{i}/{key}", key, info, getattr(one, key))
                for key, info in form.model_fields.items()
                if key != "hierarchy"
            }
        )
    return found


def said_of(policy: Any, place: ColumnPlace) -> Any:
    """What a policy says of a column: for its table, or else for all; None where it says nothing."""
    own = getattr(policy, "tables", {}).get(place.table)
    said = None if own is None else own.columns.get(place.name)
    return said if said is not None else getattr(policy, "columns", {}).get(place.name)


def column_model(policy: Any) -> type[BaseModel] | None:
    """What is said of one column."""
    from typing import get_args

    info = type(policy).model_fields.get("columns")
    models = [a for a in get_args(info.annotation) if isinstance(a, type) and issubclass(a, BaseModel)] if info else []
    return models[0] if models else None


def all_fields(policy: Any, names: Sequence[ColumnPlace]) -> list[FormField]:
    """Every field that a form of any screen can have."""
    fields = fields_of(policy, leave_out=HIDDEN)
    for place, part in {**parts_of(policy), "context": policy.context}.items():
        fields += fields_of(part, f"{place}/")
    fields += [field for one in requirement_fields(policy) for field in one]
    return [*fields, *(field for one in column_fields(policy, names) for field in one.values())]


def changes(base: Any, names: Sequence[ColumnPlace], submitted: Mapping[str, str]) -> dict[str, str]:
    """What a form that was drawn from a policy says otherwise than it."""
    shown = {field.name: field.value for field in all_fields(base, names)}
    return {
        name: text
        for name, text in submitted.items()
        if name in shown and text.replace("\r\n", "\n").strip() != shown[name].strip()
    }


def changed(policy: Any, names: Sequence[ColumnPlace], said: Mapping[str, str]) -> Any:
    """A policy with what was typed on top; `PolicyError` where that is not understood."""
    content = as_content(policy)
    for place, text in said.items():
        _put(policy, content, names, place.split("/"), text)
    try:
        return type(policy)(**content)
    except PolicyError:
        if (other := _as_options(policy, said)) is None:
            raise
        return other


def _as_options(policy: Any, said: Mapping[str, str]) -> Any:
    """The same by the options of the command line, which may change what goes with a key too; None if that fails."""
    known, values = type(policy).options(), {}
    for place, text in said.items():
        *above, key = place.split("/")
        if key not in known or above[:1] in (["require"], ["columns"]):
            return None
        part = getattr(policy, above[0]) if above else policy
        values[key] = from_typed(type(part).model_fields[key], text)
    try:
        return policy.changed(**values)
    except PolicyError:
        return None


def as_content(policy: Any) -> dict[str, Any]:
    """All keys of a policy as it is read from a file, hierarchies as they are."""
    content: dict[str, Any] = {}
    for name in type(policy).model_fields:
        value = getattr(policy, name)
        if isinstance(value, BaseModel):
            content[name] = value.model_dump()
        elif isinstance(value, tuple) and value and all(isinstance(v, BaseModel) for v in value):
            content[name] = [one.model_dump() for one in value]
        elif isinstance(value, Mapping):
            content[name] = {key: _plain(one) for key, one in value.items()}
        else:
            content[name] = value
    return content


def _plain(one: Any) -> Any:
    """An entry as it is read from a file: what is left open is not there."""
    if isinstance(one, BaseModel):
        return {name: _plain(value) for name, value in one if value is not None}
    return {key: _plain(inner) for key, inner in one.items()} if isinstance(one, Mapping) else one


def _put(policy: Any, content: dict[str, Any], names: Sequence[ColumnPlace], place: list[str], text: str) -> None:
    if place[0] == "require" and len(place) == 3:
        index, _, model = place[1].partition(":")
        required = content["require"]
        if int(index) >= len(required) or required[int(index)]["model"] != model:
            raise PolicyError(CHANGED_MEANWHILE)
        info = type(policy.require[int(index)]).model_fields[place[2]]
        required[int(index)][place[2]] = from_typed(info, text)
    elif place[0] == "columns" and len(place) == 3:
        _put_column(policy, content, names[int(place[1])], place[2], text)
    elif len(place) == 2:
        content[place[0]][place[1]] = from_typed(type(getattr(policy, place[0])).model_fields[place[1]], text)
    else:
        content[place[0]] = from_typed(type(policy).model_fields[place[0]], text)


def _put_column(policy: Any, content: dict[str, Any], place: ColumnPlace, key: str, text: str) -> None:
    form = column_model(policy)
    assert form is not None
    value = from_typed(form.model_fields[key], text)
    keys = {key: None if value == () else value}
    if key == "role" and value != "insensitive":
        keys["shift"] = None
    put_said(content, place, keys)


def put_said(content: dict[str, Any], place: ColumnPlace, keys: Mapping[str, Any]) -> None:
    """Change what the content of a policy says of a column; None takes a key away.

    Where there are several tables it is said for the column's own; what was said for all of them stays for the others.
    """
    columns, of_all = content["columns"], content["columns"].get(place.name)
    if place.table:
        columns = content["tables"].setdefault(place.table, {"columns": {}})["columns"]
        columns.setdefault(place.name, dict(of_all or {}))
    column = columns.setdefault(place.name, {})
    for key, value in keys.items():
        if value is None:
            column.pop(key, None)
        else:
            column[key] = value
    if not column and not (place.table and of_all):
        del columns[place.name]


def with_requirement(policy: Any, model: str) -> Any:
    """A policy that requires one thing more, as it is by default."""
    models = type(policy).models()
    if model not in models:
        raise PolicyError(f"there is no privacy model {model!r} of this kind of data")
    content = as_content(policy)
    content["require"] = [*content["require"], {"model": model, **_least(models[model])}]
    try:
        return type(policy)(**content)
    except PolicyError as error:
        try:  # where one takes the place of another
            return policy.changed(model=model)
        except PolicyError:
            raise error from None


def without_requirement(policy: Any, index: int, model: str) -> Any:
    """A policy that requires one thing less."""
    content = as_content(policy)
    required = content["require"]
    if not 0 <= index < len(required) or required[index]["model"] != model:
        raise PolicyError(CHANGED_MEANWHILE)
    content["require"] = [one for i, one in enumerate(required) if i != index]
    return type(policy)(**content)


_FIRST = {"k": 5, "l": 3, "t": 0.2, "alpha": 0.5, "beta": 1.0, "c": 3.0, "m": 2, "rho": 0.5, "delta": 1.0}
"""What keys of requirements that have no default begin with, as the documentation's examples have them."""


def _least(model: type[BaseModel]) -> dict[str, Any]:
    required = [name for name, info in model.model_fields.items() if info.is_required() and name != "model"]
    return {name: _FIRST[name] for name in required if name in _FIRST}


def said_in_words(said: Mapping[str, str], names: Sequence[ColumnPlace]) -> str:
    """What was changed, for the history.

    >>> said_in_words({"method/partition": "mdav"}, [])
    'method.partition = mdav'
    >>> said_in_words({"columns/0/role": ""}, [ColumnPlace("age", "patients")])
    'columns.patients.age.role left open'
    """
    told = []
    for place, text in said.items():
        parts = place.split("/")
        if parts[0] == "columns" and len(parts) == 3:
            parts[1] = names[int(parts[1])].told
        if parts[0] == "require" and len(parts) == 3:
            parts[:2] = [parts[1].partition(":")[2]]
        short = text.strip().replace("\n", "; ")
        told.append(f"{'.'.join(parts)} {'left open' if not short else f'= {short[:60]}'}")
    return "; ".join(told[:4]) + (f" and {len(told) - 4} more" if len(told) > 4 else "")
