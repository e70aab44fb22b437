"""Folders, patterns and databases on the command line: what comes out, and one sentence for whatever is no table."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from tests.e2e.command import DATA, POLICY, RunHere, write

ROLES = ("--quasi", "age,town", "--sensitive", "ill", "--others", "identifying", "-k", "3", "--seed", "5")
ROWS = (
    "SELECT range AS id, 20 + range % 7 AS age, ['Ulm', 'Bern', 'Bonn'][1 + range % 3] AS town, "
    "['flu', 'cold', 'gout', 'ulcer'][1 + range % 4] AS ill FROM range(120)"
)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same rows in every form; not to be changed."""
    folder = tmp_path_factory.mktemp("sources")
    (folder / "flat").mkdir()
    (folder / "flat" / "_SUCCESS").touch()
    duckdb.execute(f"COPY ({ROWS}) TO '{folder / 'one.parquet'}' (FORMAT parquet)")
    for i in range(3):
        part = f"SELECT * FROM ({ROWS}) WHERE id % 3 = {i}"
        duckdb.execute(f"COPY ({part}) TO '{folder / 'flat' / f'{i}.parquet'}' (FORMAT parquet)")
    with duckdb.connect(str(folder / "people.duckdb")) as database:
        database.execute(f"CREATE TABLE patients AS {ROWS}; CREATE TABLE visits (x INTEGER)")
    with closing(sqlite3.connect(folder / "people.db")) as database, database:
        database.execute("CREATE TABLE patients (id, age, town, ill)")
        database.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", duckdb.sql(ROWS).fetchall())
        database.execute("CREATE TABLE visits (x)")
    return folder


@pytest.mark.parametrize("data", ["flat", "flat/*.parquet", "people.duckdb?table=patients", "people.db?table=patients"])
def test_one_parquet_file_comes_out_that_can_be_checked_and_attacked(
    here: Path, tmp_path: Path, data: str, run_here: RunHere
) -> None:
    out, one = str(tmp_path / "out"), str(tmp_path / "one")
    bound = ("--memory", "1GB")
    assert run_here("anonymize", data, *ROLES, *bound, "--no-report", "-o", out, cwd=here).code == 0
    assert run_here("anonymize", "one.parquet", *ROLES, "--no-report", "-o", one, cwd=here).code == 0
    made = [{p.name: p.read_bytes() for p in Path(where, "publish").iterdir()} for where in (out, one)]
    assert made[0] == made[1]
    assert set(made[0]) == {"data.parquet", "datasheet.html", "manifest.json"}
    checked = run_here("check", f"{out}/publish", "--original", data, *bound, cwd=here)
    assert (checked.code, "The folder is what it claims to be." in checked.stdout) == (0, True)
    assert run_here("attack", out, "--original", data, *bound, "--attack", "inference", cwd=here).code == 0


@pytest.mark.parametrize(
    ("data", "code", "says"),
    [
        ("empty", DATA, "is a folder without a file of data"),
        ("flat/*.csv", DATA, "no file has such a name"),
        ("mixed", DATA, "its notes.csv is not a Parquet file"),
        ("people.db", DATA, "holds 2 tables; name one, people.db?table=NAME"),
        ("people.duckdb?table=patient", DATA, "has no table 'patient'; did you mean 'patients'"),
        ("people.db?table=visits", DATA, "the table 'visits' has no rows"),
    ],
)
@pytest.mark.parametrize("bound", [(), ("--memory", "1GB")])
def test_what_is_no_table_is_one_sentence(
    here: Path, tmp_path: Path, data: str, code: int, says: str, bound: tuple[str, ...], run_here: RunHere
) -> None:
    (here / "empty").mkdir(exist_ok=True)
    (here / "mixed").mkdir(exist_ok=True)
    (here / "mixed" / "a.parquet").write_bytes((here / "one.parquet").read_bytes())
    write(here / "mixed" / "notes.csv", "age,town\n1,Ulm\n")
    ended = run_here("anonymize", data, *ROLES, *bound, "-o", str(tmp_path / "out"), cwd=here)
    assert (ended.code, ended.stderr.count("\n")) == (code, 1)
    assert says in ended.stderr
    assert not (tmp_path / "out").exists()


def test_names_that_the_shell_has_made_of_a_pattern_get_a_hint(here: Path, tmp_path: Path, run_here: RunHere) -> None:
    ended = run_here("anonymize", "flat/0.parquet", "flat/1.parquet", "-o", str(tmp_path / "out"), cwd=here)
    assert (ended.code, ended.stderr.count("\n")) == (POLICY, 1)
    assert "parts of one table are given as a folder, or as a pattern in quotes" in ended.stderr


def test_sketches_of_a_file_that_is_read_in_blocks(tmp_path: Path, run_here: RunHere) -> None:
    write(
        tmp_path / "baskets.dat", "".join(" ".join(str((i * j) % 90) for j in range(1, 12)) + "\n" for i in range(300))
    )
    asked = ("baskets.dat", "--kind", "sparse", "--model", "delta", "--seed", "5", "--memory", "1GB")
    made = run_here("anonymize", *asked, "--keep", "rows,key", "-o", "out", cwd=tmp_path)
    assert made.code == 0, made.stderr
    given = ("--original", "baskets.dat", "--private", "out/private")
    assert run_here("check", "out/publish", *given, cwd=tmp_path).code == 0
    for more, says in ((("--model", "k-variance"), "k-variance"), (("--publish", "suppress"), "suppress")):
        refused = run_here(
            "anonymize", "baskets.dat", "--kind", "sparse", *more, "--memory", "1GB", "-o", "no", cwd=tmp_path
        )
        assert (refused.code, refused.stderr.count("\n")) == (POLICY, 1)
        assert says in refused.stderr
        assert "needs all records in memory: leave memory out" in refused.stderr


def test_pseudo_baskets_of_a_file_that_is_read_in_blocks(tmp_path: Path, run_here: RunHere) -> None:
    write(
        tmp_path / "baskets.dat", "".join(" ".join(str((i * j) % 90) for j in range(1, 12)) + "\n" for i in range(300))
    )
    asked = ("baskets.dat", "--kind", "sparse", "-k", "5", "--seed", "5")
    for more, out in (((), "held"), (("--memory", "1GB"), "bounded")):
        made = run_here("anonymize", *asked, *more, "--keep", "groups", "-o", out, cwd=tmp_path)
        assert made.code == 0, made.stderr
        given = ("--original", "baskets.dat", "--private", f"{out}/private")
        assert run_here("check", f"{out}/publish", *given, cwd=tmp_path).code == 0
    held, bounded = (
        {p.name: p.read_bytes() for p in (tmp_path / out / "publish").iterdir()} for out in ("held", "bounded")
    )
    assert held == bounded


def bytes_of(out: Path) -> dict[str, bytes]:
    """What is published, and the groups that were kept."""
    files = [*(out / "publish").iterdir(), *(out / "private").glob("*.csv")]
    return {path.name: path.read_bytes() for path in files}


def test_pseudo_strings_of_a_file_that_is_read_in_blocks(tmp_path: Path, run_here: RunHere) -> None:
    lines = (" ".join(f"p{(i * j * j) % (7 + i % 5)}" for j in range(1, 4 + i % 9)) + "\n" for i in range(400))
    write(tmp_path / "visits.txt", "".join(lines))
    asked = ("anonymize", "visits.txt", "--kind", "strings", "--format", "tokens", "-k", "5", "--seed", "5")
    for bound, out in (((), "held"), (("--memory", "1GB"), "bounded")):
        made = run_here(*asked, *bound, "--keep", "groups", "-o", out, cwd=tmp_path)
        assert made.code == 0, made.stderr
    assert bytes_of(tmp_path / "held") == bytes_of(tmp_path / "bounded")
    given = ("--original", "visits.txt", "--private", "bounded/private")
    assert run_here("check", "bounded/publish", *given, cwd=tmp_path).code == 0
    for more, says in ((("--generator", "markov"), 'generator = "markov"'), (("--column", "a"), "a column")):
        refused = run_here(*asked, *more, "--memory", "1GB", "-o", "no", cwd=tmp_path)
        assert (refused.code, refused.stderr.count("\n")) == (POLICY, 1)
        assert f"{says} needs all strings in memory: leave memory out" in refused.stderr
