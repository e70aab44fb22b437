"""The tests of `data/tables/zipped.py`."""

from __future__ import annotations

import io
import sqlite3
import zipfile
from pathlib import Path

import pytest

from shoal.data.tables import zipped
from shoal.data.tables.files import read_table
from shoal.data.tables.table import Table
from shoal.errors import DataError

PEOPLE = b"age,zip\n31,48103\n47,48226\n"


def pack(path: Path, **files: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return path


def cells(table: Table) -> dict[str, list[str]]:
    return {n: [c.texts()[code] for code in c.codes] for n, c in table.columns.items()}


def test_the_only_table_is_read_and_goes_out_in_its_own_format(tmp_path: Path) -> None:
    table = read_table(pack(tmp_path / "people.zip", people__csv=PEOPLE))
    assert cells(table) == {"age": ["31", "47"], "zip": ["48103", "48226"]}
    assert (table.source.name, table.source.format, table.source.gzip) == ("people", "csv", False)


def test_what_systems_put_beside_a_file_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "people.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/", b"")
        archive.writestr("__MACOSX/data/._people.csv", b"x")
        archive.writestr("data/.DS_Store", b"x")
        archive.writestr("data/people.tsv", PEOPLE.replace(b",", b"\t"))
    assert cells(read_table(path))["age"] == ["31", "47"]


def test_a_database_in_an_archive(tmp_path: Path) -> None:
    inner = tmp_path / "people.db"
    with sqlite3.connect(inner) as database:
        database.execute("CREATE TABLE people (age INTEGER)")
        database.executemany("INSERT INTO people VALUES (?)", [(31,), (47,)])
    database.close()
    table = read_table(pack(tmp_path / "people.zip", people__db=inner.read_bytes()))
    assert (table.source.format, table["age"].cells().tolist()) == ("sqlite", [31, 47])


def test_of_several_one_has_to_be_named(tmp_path: Path) -> None:
    path = pack(tmp_path / "all.zip", people__csv=PEOPLE, visits__csv=b"a,b\n1,2\n")
    with pytest.raises(
        DataError, match=r"holds 2 files; name one, all.zip\?table=NAME: the choices are 'people.csv', 'visits"
    ):
        read_table(path)
    assert list(cells(read_table(f"{path}?table=visits.csv"))) == ["a", "b"]
    with pytest.raises(DataError, match=r"has no file 'visit.csv'; did you mean 'visits.csv'"):
        read_table(f"{path}?table=visit.csv")


def test_an_error_inside_names_archive_and_file_and_line(tmp_path: Path) -> None:
    path = pack(tmp_path / "people.zip", people__csv=b"age,zip\n31,48103\n47\n")
    with pytest.raises(
        DataError, match=r"people\.zip\?table=people\.csv, line 3: has 1 field where the header has 2"
    ) as told:
        read_table(path)
    assert "shoal-run" not in str(told.value)


@pytest.mark.parametrize("cut", [10, 40, 100])
def test_a_broken_archive(tmp_path: Path, cut: int) -> None:
    path = pack(tmp_path / "people.zip", people__csv=PEOPLE * 50)
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(DataError, match=r"the zip archive or spreadsheet is damaged; fetch or copy it again"):
        read_table(path)


def test_damaged_content(tmp_path: Path) -> None:
    path = tmp_path / "people.zip"
    with zipfile.ZipFile(path, "w") as archive:  # stored, so that the content can be found
        archive.writestr("people.csv", PEOPLE)
    path.write_bytes(path.read_bytes().replace(b"48226", b"48227", 1))
    with pytest.raises(DataError, match=r"is damaged"):
        read_table(path)


def test_an_encrypted_archive(tmp_path: Path) -> None:
    path = pack(tmp_path / "people.zip", people__csv=PEOPLE)
    content = bytearray(path.read_bytes())
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"is encrypted; unpack it yourself, with its password"):
        read_table(path)


def test_a_bomb_is_stopped_before_it_fills_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipped, "LEAST_BOUND", 1 << 12)
    monkeypatch.setattr(zipped, "_PIECE", 1 << 12)
    path = pack(tmp_path / "bomb.zip", people__csv=b"a,b\n" + b"0,0\n" * 500_000)
    with pytest.raises(DataError, match=r"unpacks to far more than the [0-9,]+ bytes that it takes"):
        read_table(path)


def test_what_is_no_table_inside(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"the zip archive is empty"):
        read_table(pack(tmp_path / "empty.zip"))
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("people.csv", PEOPLE)
    with pytest.raises(DataError, match=r"holds another zip archive"):
        read_table(pack(tmp_path / "outer.zip", inner__zip=inner.getvalue()))
    with pytest.raises(DataError, match=r"a PDF"):
        read_table(pack(tmp_path / "pdf.zip", paper__pdf=b"%PDF-1.4 x"))


def test_a_name_that_climbs_out_writes_nothing_there(tmp_path: Path) -> None:
    path = tmp_path / "people.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../../climbed.csv", PEOPLE)
    assert cells(read_table(path))["age"] == ["31", "47"]
    assert not list(tmp_path.parent.rglob("climbed.csv"))
