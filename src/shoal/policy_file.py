"""A policy of any kind as a commented TOML file, which reads back as the same policy."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel

WIDTH = 110

Tell = Callable[[str], str]
"""How a file is told."""


def policy_toml(
    policy: BaseModel,
    reasons: Mapping[str, str],
    head: Iterable[str],
    folder: Path | None = None,
    *,
    is_shown: bool = False,
) -> str:
    """The file.

    Parameters
    ----------
    policy : BasePolicy
    reasons : mapping of str to str
        What is said beside a key, by its place: ``columns.age``, ``method.publish``; above a list, ``require.k``.
    head : iterable of str
        What stands at the top, a paragraph each.
    folder : path, optional
        Where the file will stand, so that files which it names are found from there.
    is_shown : bool
        Whether it is for a page, where files are told by their names: their folders are nobody's business there.
    """
    tell = _name if is_shown else partial(_from, folder=folder)
    lines = [line for text in head for line in _comment(text)]
    parts: list[str] = []
    for name, field in type(policy).model_fields.items():
        value = getattr(policy, name)
        is_said = name in ("kind", "require") or any(_is_about(key, name) for key in reasons)
        if not is_said and value == field.get_default(call_default_factory=True):
            continue
        if isinstance(value, BaseModel):
            parts += ["", f"[{name}]", *_keys(value, reasons, f"{name}.", tell)]
        elif isinstance(value, Mapping):
            parts += _sections(name, value, reasons, tell)
        elif isinstance(value, tuple) and value and all(isinstance(v, BaseModel) for v in value):
            parts += ["", *(line for key, why in reasons.items() if _is_about(key, name) for line in _comment(why))]
            for one in value:
                parts += [f"[[{name}]]", *_keys(one, {}, "", tell, tag="model"), ""]
        elif value is not None:
            lines += [f"{name} = {_toml(value)}{_beside(reasons.get(name, ''))}"]
    text = "\n".join([*lines, *parts])
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.rstrip("\n") + "\n"


def _is_about(key: str, name: str) -> bool:
    return key == name or key.startswith(f"{name}.")


def _keys(part: BaseModel, reasons: Mapping[str, str], place: str, tell: Tell, tag: str = "") -> Iterator[str]:
    """The keys of a part that are not as they are by default, or that something is said of."""
    for name, field in type(part).model_fields.items():
        value, why = getattr(part, name), reasons.get(f"{place}{name}", "")
        is_said = name == tag or why or value != field.get_default(call_default_factory=True)
        if is_said and value is not None:
            if name.endswith("hierarchy") and not isinstance(value, str):
                yield f"# {name} was given in Python: write it to a file and name that here"
            else:
                told = tell(value) if name.endswith("hierarchy") else value
                yield f"{name} = {_toml(told)}{_beside(why)}"


def _sections(name: str, value: Mapping[str, Any], reasons: Mapping[str, str], tell: Tell) -> Iterator[str]:
    """A table of entries; where each is of entries itself, a table for each."""
    for key, one in value.items():
        for inner, entries in _nested(one).items():
            place = f"{name}.{key}.{inner}."
            yield from ("", f"[{name}.{_key(key)}.{inner}]", *_entries(entries, reasons, place, tell))
    plain = {key: one for key, one in value.items() if not _nested(one)}
    if plain or not value:
        yield from ("", f"[{name}]", *_entries(plain, reasons, f"{name}.", tell))


def _nested(one: Any) -> dict[str, Mapping[str, Any]]:
    """The keys of an entry that hold entries themselves."""
    found = dict(one) if isinstance(one, BaseModel) else {}
    return {name: entries for name, entries in found.items() if isinstance(entries, Mapping)}


def _entries(value: Mapping[str, Any], reasons: Mapping[str, str], place: str, tell: Tell) -> Iterator[str]:
    for name, one in value.items():
        if isinstance(one, BaseModel):
            yield from _column(name, one, reasons.get(f"{place}{name}", ""), tell)
        else:
            yield f"{_key(name)} = {_toml(one)}{_beside(reasons.get(f'{place}{name}', ''))}"


def _column(name: str, column: BaseModel, why: str, tell: Tell) -> Iterator[str]:
    said: list[str] = []
    for key, value in column:
        if key == "hierarchy" and value is not None and value != "auto":
            if not isinstance(value, str):
                why = f"{why}; its hierarchy was given in Python: write it to a file and name that here".lstrip("; ")
                continue
            value = tell(value)
        if value is not None:
            said.append(f"{key} = {_toml(value)}")
    yield f"{_key(name)} = {{ {', '.join(said)} }}{_beside(why)}"


def _from(path: str, folder: Path | None) -> str:
    """A file as it is told from a folder."""
    if folder is None:
        return path
    return Path(os.path.relpath(Path(path).absolute(), folder.absolute())).as_posix()


def _name(path: str) -> str:
    """A file by its name alone."""
    return Path(path).name


def _comment(text: str) -> list[str]:
    if not text:
        return []
    indent = text[: len(text) - len(text.lstrip())]
    lines = textwrap.wrap(_one_line(text.strip()), WIDTH, break_long_words=False, break_on_hyphens=False)
    return [f"# {indent}{line}" for line in lines]


def _beside(why: str) -> str:
    return f"   # {_one_line(why)}" if why else ""


def _one_line(sentence: str) -> str:
    """A sentence that a comment can hold, whatever the names of columns in it."""
    return "".join(c if c.isprintable() else " " for c in sentence)


def _key(name: str) -> str:
    is_bare = name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name)
    return name if is_bare else _toml(name)


def _toml(value: Any) -> str:
    """A value as TOML: as in JSON, but for one character that must be escaped here."""
    if isinstance(value, BaseModel):
        given = {name: one for name, one in value if one is not None}
        value = {name: one for name, one in given.items() if name != "hierarchy" or isinstance(one, str)}
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(str(n))} = {_toml(v)}' for n, v in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(v) for v in value)}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
