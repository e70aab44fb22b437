"""What is written is what is read, and both readers of text agree on every file."""

from __future__ import annotations

import string
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from shoal.data.tables import csv as text_file
from shoal.data.tables.dictionary import TextEncoder
from shoal.data.tables.files import read_table
from shoal.data.tables.guarded import unguarded
from shoal.data.tables.table import Column, Source, Table
from shoal.data.tables.text_survey import _Counts, survey
from shoal.data.tables.write import file_name, write_table
from shoal.errors import DataError

RELAXED = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
AWKWARD = st.text(alphabet=st.sampled_from("ab\",;|\t\n\r '\\#é漢\u2028\ufeff"), max_size=5)
ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=8)
CELLS = st.one_of(AWKWARD, ANY_TEXT, st.sampled_from(["", "?", "NA", "007", "1.50", "-3", " x"]))
NAMES = st.text(alphabet=string.ascii_letters + ",;\"'é 0", min_size=1, max_size=6).map(str.strip).filter(bool)


def rows_of(table: Table) -> list[list[str]]:
    columns = [np.array(c.texts(), dtype=object)[c.codes].tolist() for c in table.columns.values()]
    return [list(row) for row in zip(*columns, strict=True)]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique_by=str.casefold))
    n_rows = draw(st.integers(1, 8))
    columns = []
    for name in names:
        encoder = TextEncoder()
        encoder.add(draw(st.lists(CELLS, min_size=n_rows, max_size=n_rows)))
        columns.append(encoder.column(name, ("", "?", "NA")))
    source = Source("t", "csv", draw(st.sampled_from([",", ";", "\t", "|"])), draw(st.booleans()))
    return Table.of(columns, source)


@RELAXED
@given(table=tables())
@example(table=Table.of([Column("a", np.zeros(1, np.int32), np.array(["'\r"], dtype=object))], Source("t", "csv", ",")))
def test_a_written_text_file_reads_as_the_same_table(table: Table) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file_name(table)
        write_table(table, path)
        again = read_table(path, markers=("", "?", "NA"), delimiter=table.source.delimiter, header="first")
    assert [unguarded(n) for n in again.names] == table.names
    assert [[unguarded(t) for t in row] for row in rows_of(again)] == rows_of(table)
    for before, after in zip(table.columns.values(), again.columns.values(), strict=True):
        assert after.missing.tolist() == before.missing.tolist()
        assert after.values.tolist() == sorted(after.values.tolist())
    assert (again.source.delimiter, again.source.gzip) == (table.source.delimiter, table.source.gzip)


@settings(RELAXED, max_examples=25)
@given(table=tables())
def test_a_written_parquet_file_reads_as_the_same_table(table: Table) -> None:
    table = Table(table.columns, Source("t", "parquet"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file_name(table)
        write_table(table, path)
        again = read_table(path, markers=("", "?", "NA"), header="first")
    assert again.names == table.names
    assert rows_of(again) == rows_of(table)
    for before, after in zip(table.columns.values(), again.columns.values(), strict=True):
        assert np.array_equal(before.codes, after.codes)
        assert before.markers == after.markers


RAW = st.text(alphabet=st.sampled_from('ab,,""\n\n\r "é'), max_size=30).map(lambda body: "x,y\n" + body)


@settings(RELAXED, max_examples=250)
@given(content=RAW, gzipped=st.just(False))
@example(content="x,y\n1,2,\n", gzipped=False)
@example(content='x,y\n "1",2\n', gzipped=False)
@example(content='x,y\n"1" ,2\n', gzipped=False)
@example(content='x,y\n1, "2,3"\n', gzipped=False)
@example(content='x,y\r\n1,"2\r\n"\r\n\r\n', gzipped=False)
def test_the_fast_reader_never_differs_from_the_careful_one(content: str, gzipped: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        path.write_bytes(content.encode())
        known = survey(path, gzipped=gzipped, delimiter=",", encoding=None)
        if not known.is_regular or known.header is None:
            return
        fast = text_file._read_regular(path, ["x", "y"], known, gzipped, ("a",))
        if fast is None:
            return
        careful = text_file._read_any(path, known, gzipped, ("a",))
    for one, other in zip(fast, careful, strict=True):
        assert np.array_equal(one.codes, other.codes)
        assert one.values.tolist() == other.values.tolist()
        assert one.markers == other.markers


@RELAXED
@given(content=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_in_one_sentence(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        path.write_bytes(content)
        try:
            outcome = f"read {read_table(path).n_rows} rows"
        except DataError as error:
            outcome = str(error)
    assert "\n" not in outcome
    assert outcome.startswith(("read ", str(path)))
    assert outcome != "read 0 rows"


@pytest.mark.parametrize("size", [1, 7, 64])
def test_pieces_of_any_size_give_the_same_survey(size: int, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes('x,y\r\n"a""b, c",2\r\né,"1"\r\n"",漢\r\n'.encode() * 3)
    whole = survey(path, gzipped=False, delimiter=",", encoding=None)
    body = path.read_bytes().removeprefix(b"x,y\r\n")
    pieces = _Counts(",")
    for at in range(0, len(body), size):
        pieces.add(body[at : at + size])
    assert whole.n_delimiters == pieces.delimiters
    assert whole.is_regular
    assert pieces.is_regular
    assert pieces.feeds == pieces.returns == pieces.pairs == body.count(b"\n")
