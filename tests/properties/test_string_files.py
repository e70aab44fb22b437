"""Whatever is written is read back as it was, in every format; and bad bytes end in one sentence."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.strings.files import looks_like_strings, read_strings, read_strings_back, write_strings
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.tables.table import Source
from shoal.errors import DataError

ODD = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
NASTY = st.sampled_from(list("=+-@'\",;> \t\r\n\v\f\x1c\x85\u2028\ufeff＝aAcC0"))
CHARACTERS = ODD | NASTY


def characters_without(refused: str) -> st.SearchStrategy[str]:
    return CHARACTERS.filter(lambda c: c not in refused)


def texts(refused: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.text(characters_without(refused), max_size=70), min_size=1, max_size=6)


def tokens(refused: str) -> st.SearchStrategy[list[list[str]]]:
    token = st.text(characters_without(refused), min_size=1, max_size=4).filter(lambda t: t == t.strip(" \t\v\f\r\n"))
    return st.lists(st.lists(token, max_size=5), min_size=1, max_size=6)


def come_back(strings: Strings) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        write_strings(strings, path)
        again = read_strings_back(path, strings.source, is_tokens=strings.is_tokens)
    assert again.texts() == strings.texts()
    assert again.classes == strings.classes
    assert (again.labels is None) is (strings.labels is None)
    if again.labels is not None and strings.labels is not None:
        assert again.labels.tolist() == strings.labels.tolist()


def labelled(strings: Strings, draw: Callable[..., list[str]], refused: str) -> Strings:
    label = st.text(characters_without(refused), min_size=1, max_size=5).filter(str.strip)
    return strings.with_labels(draw(st.lists(label, min_size=len(strings), max_size=len(strings))))


@given(st.data(), texts(" \t\n\r\v\f>;"), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_fasta(data: st.DataObject, listed: list[str], gzip: bool, has_labels: bool) -> None:
    strings = Strings.of(listed, source=StringSource(format="fasta", gzip=gzip))
    come_back(labelled(strings, data.draw, "\n\r") if has_labels else strings)


@given(texts("\n\r").filter(lambda t: "".join(t).strip(" \t\v\f") != ""), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_lines(listed: list[str], gzip: bool, is_list: bool) -> None:
    come_back(Strings.of(listed, source=StringSource(format="list" if is_list else "lines", gzip=gzip)))


@given(tokens(" \t\n\r\v\f").filter(any), st.booleans())
@settings(max_examples=60, deadline=None)
def test_tokens_between_blanks(listed: list[list[str]], is_list: bool) -> None:
    come_back(Strings.of(listed, source=StringSource(format="list" if is_list else "tokens")))


@given(st.sampled_from([",", ";", "|", "\t", " ", "ä"]), st.data())
@settings(max_examples=60, deadline=None)
def test_tokens_between_delimiters(delimiter: str, data: st.DataObject) -> None:
    listed = data.draw(tokens(delimiter + "\n\r").filter(any))
    come_back(Strings.of(listed, source=StringSource(format="tokens", delimiter=delimiter)))


@given(st.lists(st.lists(st.integers(0, 10**17).map(str), max_size=6), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_spmf(listed: list[list[str]]) -> None:
    come_back(Strings.of(listed, source=StringSource(format="spmf")))


@given(st.data(), texts(""), st.booleans(), st.sampled_from(["csv", "tsv", "parquet"]))
@settings(max_examples=40, deadline=None)
def test_columns(data: st.DataObject, listed: list[str], has_labels: bool, kind: str) -> None:
    table = Source("x", "parquet" if kind == "parquet" else "csv", "\t" if kind == "tsv" else ",")
    source = StringSource(format="column", column="=s", class_column="c" if has_labels else None, table=table)
    strings = Strings.of(listed, source=source)
    come_back(labelled(strings, data.draw, "") if has_labels else strings)


@given(st.sampled_from([",", ";", " "]), st.data())
@settings(max_examples=40, deadline=None)
def test_columns_of_tokens(delimiter: str, data: st.DataObject) -> None:
    listed = data.draw(tokens(delimiter + "\0"))
    come_back(Strings.of(listed, source=StringSource(format="column", column="s", delimiter=delimiter)))


@given(
    st.binary(max_size=60) | st.text(CHARACTERS, max_size=60).map(str.encode),
    st.sampled_from([None, "fasta", "lines", "tokens", "spmf"]),
)
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_strings_or_one_sentence(content: bytes, kind: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(content)
        looks_like_strings(path)
        try:
            strings, message = read_strings(path, format=kind, alphabet="learned"), None
        except DataError as error:
            strings, message = None, str(error)
        if strings is None:
            assert message is not None
            assert "\n" not in message
            assert str(path) in message
        elif not set(strings.compact().alphabet) <= set(" \t\v\f"):
            write_strings(strings, path)
            assert read_strings_back(path, replace(strings.source, notes=())).texts() == strings.texts()
