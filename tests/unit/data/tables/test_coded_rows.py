"""Distinct rows that a database holds, beside those of a table in memory."""

from __future__ import annotations

import gzip
from collections import Counter
from itertools import combinations
from pathlib import Path

import duckdb
import numpy as np
import pytest

from shoal.data.memory import bounded
from shoal.data.tables import room
from shoal.data.tables.coded_rows import CodedRows, coded_rows
from shoal.data.tables.room import TooManyDistinct
from shoal.data.tables.table import MARKERS, Column, Table
from shoal.data.tables.write import read_back
from shoal.errors import DataError


def texts(column: Column) -> list[str]:
    spelled = column.texts()
    return [spelled[code] for code in column.codes.tolist()]


def counted(table: Table) -> Counter:
    """The rows as a reader sees them, with their records; two spellings of nothing that look the same are one."""
    found: Counter = Counter()
    lines = zip(*(zip(texts(c), c.missing.tolist(), strict=True) for c in table.columns.values()), strict=True)
    for line, n in zip(lines, table.weights.tolist(), strict=True):
        found[line] += n
    return found


def typed(path: Path) -> Path:
    """Every type that a published column may have, with nulls, and texts that mean nothing."""
    duckdb.execute(f"""COPY (SELECT i % 5 AS small, (i % 3) * 10000000000 AS far, (i % 4) / 4 AS part,
        CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN 'nan'::DOUBLE WHEN 2 THEN -0.0 ELSE 0.0 END AS odd,
        CASE i % 6 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN '?' ELSE 't' || (i % 4) END AS word,
        i % 2 = 0 AS yes, DATE '2020-01-01' + (i % 3)::INT AS day,
        TIMESTAMP '2020-01-01 10:00:00' + INTERVAL (i % 2) HOUR AS moment, CASE WHEN i % 9 > 0 THEN i % 2 END AS hole,
        NULL::VARCHAR AS nothing FROM range(300) t(i)) TO '{path}' (FORMAT parquet)""")
    return path


NAMES = ["small", "far", "part", "odd", "word", "yes", "day", "moment", "hole", "nothing"]


def texted(path: Path) -> Path:
    lines = [
        f"{i % 3},{'=a' if i % 2 else chr(39) + '=a'},{['', '?', 'x y', chr(34) * 2 + 'q,'][i % 4]}" for i in range(90)
    ]
    quoted = [line if '"' not in line else line.replace('""q,', '"""q,"') for line in lines]
    text = "\n".join(["a,b,c", *quoted, ""])
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


FILES = {
    "data.parquet": (typed, NAMES),
    "data.csv": (texted, ["a", "b", "c"]),
    "data.csv.gz": (texted, ["a", "b", "c"]),
}


@pytest.fixture(params=FILES)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, list[str]]:
    make, names = FILES[request.param]
    return make(tmp_path / request.param), names


@pytest.mark.parametrize("n_parts", [1, 4])
def test_parts_have_the_rows_of_the_table_and_no_class_is_in_two(file, n_parts: int) -> None:
    path, names = file
    table = read_back(path, names, markers=MARKERS, is_weighed=True)
    with coded_rows(path, names, markers=MARKERS) as rows:
        assert (rows.names, rows.n_rows, rows.n_records) == (table.names, table.n_rows, table.n_records)
        by, beside = names[1:3], [names[0]]
        for are_joined in (False, True):
            parts = [t for _, _, t in rows.parts(by, names, are_joined=are_joined, n_parts=n_parts)]
            assert sum((counted(t.select(names)) for t in parts), Counter()) == counted(table)
        parts = [t for _, _, t in rows.parts(by, beside, n_parts=n_parts)]
        assert sum((counted(t.select([*by, *beside])) for t in parts), Counter()) == counted(
            table.select([*by, *beside])
        )
        classes = [set(counted(t.select(by))) for t in parts]
        assert not any(a & b for a, b in combinations(classes, 2))


def test_values_and_spellings_are_those_that_a_reader_gives(file) -> None:
    path, names = file
    table = read_back(path, names, markers=MARKERS, is_weighed=True)
    with coded_rows(path, names, markers=MARKERS) as rows:
        for name in names:
            dictionary, column = rows.dictionaries[name], table[name]
            assert dictionary.values.dtype == column.values.dtype
            assert dictionary.values.tolist() == column.values.tolist()
            assert set(dictionary.markers) == {m or "" for m in column.markers}
            assert counted(table.select([name])) == Counter(
                {
                    ((text, bool(absent)),): n
                    for text, absent, n in zip(
                        texts(dictionary), dictionary.missing, rows.counts(name).tolist(), strict=True
                    )
                }
            )


def test_counts_of_those_who_are_alone_and_of_sizes(file) -> None:
    path, names = file
    table = read_back(path, names, markers=MARKERS, is_weighed=True)
    with coded_rows(path, names, markers=MARKERS) as rows:
        for size in (0, 1, 2, 3):
            for chosen in list(combinations(names, size))[:12]:
                sizes = counted(table.select(chosen)) if chosen else Counter({(): table.n_records})
                assert rows.n_alone(chosen) == sum(n == 1 for n in sizes.values())
                found = rows.class_sizes(chosen)
                assert dict(zip(*(a.tolist() for a in found), strict=True)) == Counter(sizes.values())


def test_a_row_that_lacks_a_value_counts_once(tmp_path: Path) -> None:
    path = typed(tmp_path / "data.parquet")
    table = read_back(path, NAMES, markers=MARKERS, is_weighed=True)
    weights = np.where(table["word"].missing | table["odd"].missing, 1, table.weights).astype(np.int32)
    with coded_rows(path, NAMES, markers=MARKERS) as rows:
        assert rows.counts("small", ["word", "odd"]).tolist() == table["small"].counts(weights).tolist()


def test_dictionaries_that_do_not_fit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "TEXT_BYTES", 100 << 20)
    opened = coded_rows(typed(tmp_path / "data.parquet"), NAMES, markers=MARKERS)
    with bounded(500 << 20), pytest.raises(TooManyDistinct, match="values of 'word' differ"):
        opened.__enter__()


@pytest.mark.parametrize("text", ["a,b\n1,2\n3\n", "a,b\r\n1,2\n", "a\n1\n"])
def test_text_that_is_not_regular_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode())
    with pytest.raises(DataError), coded_rows(path, ["a", "b"], markers=MARKERS) as rows:
        assert isinstance(rows, CodedRows)
