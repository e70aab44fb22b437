"""JSON lines: texts, lists, objects of a key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal.data.strings.files import looks_like_strings, read_strings, read_strings_back, write_strings
from shoal.data.strings.format import FORMATS
from shoal.errors import DataError, PolicyError


@pytest.mark.parametrize(
    ("lines", "options", "strings", "classes"),
    [
        ('"abc"\n"da"\n', {}, ["abc", "da"], None),
        ('["home", "cart"]\n["pay", 3]\n', {}, [["home", "cart"], ["pay", "3"]], None),
        (
            '{"id": 7, "path": ["a", "b"], "group": "x"}\n\n{"path": ["c"], "group": "y"}\n',
            {"column": "path", "class_column": "group"},
            [["a", "b"], ["c"]],
            ("x", "y"),
        ),
    ],
    ids=["texts", "lists", "objects"],
)
def test_what_is_read_is_written_in_the_same_form(
    tmp_path: Path, lines: str, options: dict[str, Any], strings: list[Any], classes: tuple[str, ...] | None
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(lines)
    made = read_strings(path, **options)
    assert made.texts() == strings
    assert (made.classes if made.labels is not None else None) == classes
    write_strings(made, tmp_path / "data.jsonl")
    back = read_strings_back(tmp_path / "data.jsonl", made.source)
    assert (back.texts(), back.classes) == (made.texts(), made.classes)
    assert FORMATS["jsonl"].beside(tmp_path / "data.jsonl", made.source) == []
    assert '"id"' not in (tmp_path / "data.jsonl").read_text()


def test_other_keys_are_found(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"id": 7, "path": "ab"}\n')
    source = read_strings(path, column="path").source
    assert FORMATS["jsonl"].beside(path, source) == ["the data has a key 'id' that the manifest does not know"]


def test_lists_are_told_and_objects_are_not(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text('["a"]\n["b", "c"]\n')
    assert looks_like_strings(path) == "jsonl"
    path.write_text('{"a": "b"}\n')
    assert looks_like_strings(path) is None


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        ('"a"\n{oops\n', {}, "line 2: holds no JSON value"),
        ('{"a": "b"}\n', {}, "line 1: holds an object; name the key"),
        ('{"path": "b"}\n', {"column": "pth"}, "line 1: has no key 'pth'"),
        ('"a"\n["b"]\n', {}, "some lines hold texts and some lists"),
        ("3\n", {}, "line 1: is neither a text nor a list"),
        ('"a"\n', {"column": "x"}, "line 1: holds no object"),
        ('{"x": "a", "c": null}\n', {"column": "x", "class_column": "c"}, "line 1: the class is neither"),
    ],
)
def test_what_is_no_string_is_refused_with_its_line(
    tmp_path: Path, lines: str, options: dict[str, Any], message: str
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(lines)
    with pytest.raises(DataError, match=message):
        read_strings(path, **options)


def test_a_header_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('"a"\n')
    with pytest.raises(PolicyError, match="a header is for tables"):
        read_strings(path, header="none")
