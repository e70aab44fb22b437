"""Buckets in bounded memory by the command line alone: the bytes of a table that is held, checked, spoilt and refused."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from shoal.manifest import checksum
from tests.e2e.command import (
    DATA,
    INFEASIBLE,
    NOT_VERIFIED,
    POLICY,
    ROLES,
    SECRET,
    RunHere,
    call_here,
    people,
    run_command,
    text_of,
    write,
)

pytestmark = pytest.mark.unattacked

ASKED = (*ROLES, "-k", "3", "-l", "2", "--publish", "bucketize", "--seed", "5", "--accept", "singled_out=invented")
WITHIN = ("--memory", "1GB")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table as text and as Parquet, and a release that was made with all records in memory."""
    made = tmp_path_factory.mktemp("buckets")
    write(made / "people.csv", text_of(people(300)))
    with duckdb.connect() as database:
        told = "SELECT * FROM read_csv('people.csv', all_varchar = true)".replace(
            "people.csv", str(made / "people.csv")
        )
        database.execute(f"COPY ({told}) TO '{made / 'people.parquet'}' (FORMAT parquet, ROW_GROUP_SIZE 64)")
    ended = call_here("anonymize", "people.parquet", *ASKED, "-o", "held", cwd=made)
    assert ended.code == 0, ended.stderr
    return made


def bytes_of(out: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (out / "publish").iterdir()}


@pytest.mark.parametrize("where", [(), ("--workers", "2", "--pool", "processes")], ids=["here", "processes"])
def test_the_bytes_are_those_of_all_records(folder: Path, where: tuple[str, ...]) -> None:
    out = f"bounded{len(where)}"
    ended = (run_command if where else call_here)(
        "anonymize", "people.parquet", *ASKED, *WITHIN, *where, "-o", out, cwd=folder
    )
    assert ended.code == 0, ended.stderr
    assert bytes_of(folder / out) == bytes_of(folder / "held")
    assert "Measures and attacks used 300 of 300 records" in ended.stdout
    assert SECRET not in ended.stdout + ended.stderr
    report = (folder / out / "private" / "report.html").read_text(encoding="utf-8")
    assert "drawn, written and checked some buckets at a time" in report


@pytest.mark.parametrize("more", [(), ("-p", "policy.toml")])
def test_a_folder_is_checked_in_bounded_memory(folder: Path, run_here: RunHere, more: tuple[str, ...]) -> None:
    write(
        folder / "policy.toml",
        'columns.name.role = "identifying"\ncolumns.age.role = "quasi"\ncolumns.zip.role = "quasi"\n'
        'columns.city.role = "quasi"\ncolumns.disease.role = "sensitive"\ncolumns."*".role = "insensitive"\n'
        'memory = "1GB"\naccept.singled_out = "invented"\n[[require]]\nmodel = "k-anonymity"\nk = 3\n'
        '[[require]]\nmodel = "l-diversity"\nl = 2\n[method]\npublish = "bucketize"\n',
    )
    checked = run_here("check", "held/publish", "--original", "people.parquet", "--json", *WITHIN, *more, cwd=folder)
    assert checked.code == 0, checked.stdout + checked.stderr
    assert json.loads(checked.stdout)["holds"]


def test_a_secret_in_another_bucket_is_found_out(folder: Path, run_here: RunHere) -> None:
    ended = run_here("anonymize", "people.parquet", *ASKED, *WITHIN, "-o", "spoilt", cwd=folder)
    assert ended.code == 0, ended.stderr
    file = folder / "spoilt" / "publish" / "data.parquet"
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE data AS SELECT * FROM '{file}'")
        last = database.execute("SELECT max(bucket) FROM data").fetchone()[0]
        traded = f"CASE bucket WHEN 1 THEN {last} WHEN {last} THEN 1 ELSE bucket END"
        database.execute(
            "CREATE TABLE spoilt AS SELECT * REPLACE (disease AS disease) FROM data WHERE bucket NOT IN (1, ?) UNION ALL "
            f"SELECT * REPLACE ({traded} AS bucket, 'none' AS disease) FROM data WHERE bucket IN (1, ?) ORDER BY bucket",
            [last, last],
        )
        database.execute(f"COPY spoilt TO '{file}' (FORMAT parquet)")
    manifest = json.loads((file.parent / "manifest.json").read_text(encoding="utf-8"))
    manifest["checksums"][file.name] = checksum(file)
    (file.parent / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    checked = run_here("check", "spoilt/publish", "--original", "people.parquet", *WITHIN, cwd=folder)
    assert checked.code == NOT_VERIFIED
    assert "that the original does not have, or not so often" in checked.stdout
    assert "checksum" not in checked.stdout


@pytest.mark.parametrize(
    ("other", "source", "code", "told"),
    [
        (("bucketize", "screen"), "people.parquet", POLICY, "publish = screen needs all records in memory"),
        (("", ""), "people.csv", POLICY, "publish = bucketize is made in bounded memory from Parquet"),
        (("2", "40"), "people.parquet", INFEASIBLE, "cannot be met"),
        (("", ""), "absent.parquet", DATA, "no such file"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    folder: Path, run_here: RunHere, other: tuple[str, str], source: str, code: int, told: str
) -> None:
    asked = [other[1] if word == other[0] else word for word in ASKED]
    ended = run_here("anonymize", source, *asked, *WITHIN, "-o", "no", cwd=folder)
    assert ended.code == code
    assert told in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert not (folder / "no").exists()
