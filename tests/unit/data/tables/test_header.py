"""Files without a header: refused before a record becomes names, read with `header="none"`, and never quoted."""

from __future__ import annotations

import gzip
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.sparse.item_lists import read_cells
from shoal.data.strings.files import read_strings
from shoal.data.tables.dictionary import TextEncoder
from shoal.data.tables.files import read_table
from shoal.data.tables.frames import from_frame
from shoal.data.tables.header import looks_like_record
from shoal.errors import DataError

WITH_HEADER = [
    "adult/arx_adult.csv.gz",
    "census/census.csv",
    "diabetes130/IDs_mapping.csv",
    "nafld/nafld1.csv.gz",
    "nafld/nafld3.csv.gz",
    "promoters/promoters.csv",
    "randhie/randhie.csv.gz",
    "sdcmicro_testdata/francdat.csv",
    "sdcmicro_testdata/testdata.csv",
    "splice/splice.csv",
    "tarragona/tarragona.csv",
]
PEOPLE = b"Eve,34,Riga,2001-02-03\nBob,51,Riga,1999-12-31\nAnn,29,Oslo,2003-05-06\nJim,44,Oslo,1987-01-20\n"


def columns_of(rows, names=None):
    """The columns of rows of texts, under their names or under the first row."""
    names, body = (rows[0], rows[1:]) if names is None else (names, rows)
    columns = []
    for name, cells in zip(names, zip(*body, strict=True), strict=True):
        encoder = TextEncoder()
        encoder.add(cells)
        columns.append(encoder.column(name, ("", "?", "NA")))
    return columns


@pytest.mark.parametrize("name", WITH_HEADER)
def test_real_tables_are_read_with_their_header_and_refused_without(shared_data, name):
    table = read_table(shared_data / name)
    cells = [c.texts() for c in table.columns.values()]
    for row in (0, 1, table.n_rows // 2):
        rest = np.delete(np.arange(table.n_rows), row)
        record = [texts[c.codes[row]] for texts, c in zip(cells, table.columns.values(), strict=True)]
        headless = [
            replace(c.take(rest), name=n).compact() for c, n in zip(table.columns.values(), record, strict=True)
        ]
        assert looks_like_record(headless)


def test_adult_as_distributed_is_refused_and_the_sentence_quotes_no_cell(shared_data):
    path = shared_data / "adult" / "adult.data.gz"
    with pytest.raises(DataError, match="line 1: looks like a record") as refused:
        read_table(path)
    for cell in ("State-gov", "77516", "Bachelors", "Never-married", "2174"):
        assert cell not in str(refused.value)
    table = read_table(path, header="none")
    assert table.names == [f"c{i}" for i in range(1, 16)]
    assert table.n_rows == 32561
    assert table["c2"].cells()[0] == "State-gov"


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize(
    "first", [b"Eve,34,Riga,2001-02-03", b'"Eve",34,"Riga",2001-02-03', b"Eve, 34, Riga, 2001-02-03"]
)
def test_without_a_header_the_first_line_is_a_record_for_both_readers(tmp_path, first, ending):
    lines = [first, *PEOPLE.splitlines()[1:]]
    (tmp_path / "plain.csv").write_bytes(ending.join(lines) + ending)
    (tmp_path / "latin.csv").write_bytes(ending.join([*lines, "Zoë,31,Riga,2001-01-01".encode("cp1252")]) + ending)
    for name, n_rows in (("plain.csv", 4), ("latin.csv", 5)):
        with pytest.raises(DataError, match="looks like a record"):
            read_table(tmp_path / name)
        table = read_table(tmp_path / name, header="none")
        assert table.names == ["c1", "c2", "c3", "c4"]
        assert table.n_rows == n_rows
        assert [c.strip() for c in (table[n].cells()[0] for n in table.names)] == ["Eve", "34", "Riga", "2001-02-03"]


def test_a_file_of_one_line_or_of_one_column_has_no_header_either(tmp_path):
    (tmp_path / "line.csv").write_text("Eve,34\n")
    assert read_table(tmp_path / "line.csv", header="none").n_rows == 1
    (tmp_path / "column.csv").write_text("34\n51\n29\n")
    assert read_table(tmp_path / "column.csv", header="none")["c1"].cells().tolist() == ["34", "51", "29"]
    with pytest.raises(DataError, match="looks like a record"):
        read_table(tmp_path / "column.csv")


def test_who_insists_on_a_header_gets_it(tmp_path):
    (tmp_path / "a.csv").write_bytes(PEOPLE)
    assert read_table(tmp_path / "a.csv", header="first").names == ["Eve", "34", "Riga", "2001-02-03"]
    with pytest.raises(DataError, match="'first' or 'none'"):
        read_table(tmp_path / "a.csv", header="second")


@pytest.mark.parametrize(
    "header",
    [
        "country,2019,2020,2021",
        "id,2000,2005,2010",
        "0,1,2,3",
        "name,age,zip,disease",
        "Name,Age,2019,Q1",
        "x1,x2,x3,x4",
        "c1,c2,c3,c4",
        "name,2020-01-22,2020-01-23,2020-01-24",
    ],
)
def test_names_that_are_years_or_numbers_are_names(header):
    rng = np.random.default_rng(1)
    body = [[f"land {i}", *(f"{x:.1f}" for x in rng.lognormal(7, 3, 3))] for i in range(40)]
    assert not looks_like_record(columns_of([header.split(","), *body]))


def test_codes_under_numbered_names_are_told_from_codes_under_codes():
    rng = np.random.default_rng(3)
    body = [[f"v{x}", f"I{y}.{x}", f"u{y}@mail.org"] for x, y in rng.integers(0, 99999, (40, 2))]
    assert not looks_like_record(columns_of(body, ["c1", "c2", "c3"]))
    assert looks_like_record(columns_of(body))


@pytest.mark.parametrize("record", ["1,2,3", "4,3,2", "5,5,1", "1,3,5"])
def test_answers_from_one_to_five_are_a_record_also_in_equal_steps(record):
    rng = np.random.default_rng(2)
    body = rng.integers(1, 6, (60, 3)).astype(str).tolist()
    assert looks_like_record(columns_of([record.split(","), *body]))


@given(
    st.integers(2, 8),
    st.integers(5, 60),
    st.integers(0, 2**32 - 1),
)
def test_of_random_tables_names_pass_and_records_do_not(width, n_rows, seed):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 5, width)
    kinds[0] = rng.integers(0, 3)  # one column at least in which a record can be known

    def cells(kind):
        if kind == 0:
            return rng.integers(0, 10 ** int(rng.integers(1, 7)), n_rows).astype(str).tolist()
        if kind == 1:
            return [f"{x:.2f}" for x in rng.normal(50, 20, n_rows)]
        if kind == 2:
            return [str(np.datetime64("1990-01-01") + int(d)) for d in rng.integers(0, 9000, n_rows)]
        if kind == 3:
            return rng.choice(["red", "green", "blue"], n_rows).tolist()
        return [f"u{'abcdefgh'[int(x)]}{'klmnopqr'[int(y)]}" for x, y in rng.integers(0, 8, (n_rows, 2))]

    rows = [list(row) for row in zip(*(cells(kind) for kind in kinds), strict=True)]
    names = [f"{word}_{i}" for i, word in enumerate(rng.choice(["age", "sum", "day", "kind", "note"], width))]
    assert not looks_like_record(columns_of(rows, names))
    known = int((kinds < 3).sum())
    if 2 * known > width and len(set(rows[0])) == width:
        assert looks_like_record(columns_of(rows))


def test_frames_and_parquet_named_by_a_record_are_refused_without_quoting_it(tmp_path):
    (tmp_path / "a.csv").write_bytes(PEOPLE)
    frame = pd.read_csv(tmp_path / "a.csv")
    frame.to_parquet(tmp_path / "a.parquet")
    for read in (lambda: from_frame(frame), lambda: read_table(tmp_path / "a.parquet")):
        with pytest.raises(DataError, match="look like a record") as refused:
            read()
        told = str(refused.value).replace(str(tmp_path), "")  # whose name may hold any digits
        assert not any(cell in told for cell in ("Eve", "34", "Riga", "2001"))
    assert from_frame(frame, header="first").names == list(frame.columns)
    assert from_frame(pd.read_csv(tmp_path / "a.csv", header=None)).names == ["0", "1", "2", "3"]
    with pytest.raises(DataError, match="leave it out"):
        read_table(tmp_path / "a.parquet", header="none")


def test_columns_of_strings_and_items_are_refused_before_a_message_lists_the_columns(tmp_path):
    path = tmp_path / "a.csv.gz"
    lines = ["EI,S10,CCAGCTGCATCACAGGAGGCC", "IE,S11,CCAGGTGCATCACAGGAGGCC", "EI,S12,CCAGCTGCTTCACAGGAGGCC"]
    path.write_bytes(gzip.compress("\n".join([*lines, ""]).encode(), mtime=0))
    for read in (
        lambda: read_strings(path, format="column", column="sequence"),
        lambda: read_strings(path, format="column"),
        lambda: read_cells(path, "items", None),
        lambda: read_cells(path, None, None),
    ):
        with pytest.raises(DataError, match="looks like a record") as refused:
            read()
        assert not any(cell in str(refused.value) for cell in ("CCAG", "S10", "EI"))
    strings = read_strings(path, format="column", column="c3", class_column="c1", header="none")
    assert len(strings) == 3
    assert strings.source.header == "none"
    assert read_cells(path, "c3", "c1", "none").classes == ["EI", "IE", "EI"]


def test_two_equal_cells_of_a_first_record_are_not_quoted(tmp_path):
    (tmp_path / "a.csv").write_text("Secret,Secret,34\nx,y,51\n")
    with pytest.raises(DataError, match=r"columns 1 and 2 have the same name.*--header none") as refused:
        read_table(tmp_path / "a.csv")
    assert "Secret" not in str(refused.value)
