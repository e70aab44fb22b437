"""Whatever is asked wrongly with a bound on memory ends in one sentence and an exit code, with nothing written."""

from __future__ import annotations

import gzip
from pathlib import Path

import duckdb
import pytest

from tests.e2e.command import (
    DATA,
    INFEASIBLE,
    POLICY,
    ROLES,
    Arguments,
    Build,
    Case,
    RunHere,
    anonymize,
    assert_refused,
    people,
    text_of,
    write,
)

LINES = text_of(people()).splitlines(keepends=True)
BOUNDED = (*ROLES, "-k", "3", "--memory", "2GB")
BASKETS = "".join(f"bread milk i{i % 3}\n" for i in range(8))
FASTA = "".join(f">s{i}\nACDEFGHIKL\n" for i in range(8))


def file(name: str, content: str | bytes, *options: str) -> Build:
    """The usual command on a file of this name and content."""

    def build(folder: Path) -> Arguments:
        write(folder / name, content)
        return anonymize(name, *options)

    return build


def table(content: str | bytes, *options: str) -> Build:
    return file("people.csv", content, *(options or BOUNDED))


def asked(*options: str) -> Build:
    return table(text_of(people()), *ROLES, "-k", "3", *options)


def baskets(*options: str, content: str = BASKETS) -> Build:
    return file("baskets.dat", content, "--kind", "sparse", *options)


def strings(*options: str, content: str = FASTA) -> Build:
    return file("proteins.fasta", content, *options)


def database(*statements: str) -> Build:
    def build(folder: Path) -> Arguments:
        with duckdb.connect(str(folder / "people.duckdb")) as connection:
            for statement in statements:
                connection.execute(statement)
        return anonymize("people.duckdb", "--quasi", "age", "-k", "3", "--memory", "2GB")

    return build


# fmt: off
CASES = [
    Case("gigs", asked("--memory", "2 gigs"), POLICY, "'2 gigs' is not a size in kB, MB, GB or TB"),
    Case("a bare number", asked("--memory", "2"), POLICY, "'2' is not a size in kB, MB, GB or TB"),
    Case("below zero", asked("--memory", "-1GB"), POLICY, "'-1GB' is not a size"),
    Case("too small", asked("--memory", "1MB"), POLICY, "at least 500 MB, such as 2GB, and '1MB' is less"),
    Case("gigs, of strings", strings("-k", "3", "--memory", "2 gigs"), POLICY, "'2 gigs' is not a size"),
    Case("gigs, of baskets", baskets("--model", "delta", "--memory", "2 gigs"), POLICY, "'2 gigs' is not a size"),
    Case("header only", table(LINES[0]), DATA, "people.csv: has a header but no rows"),
    Case("short row", table("".join([*LINES[:5], "a,31\n", *LINES[5:]])), DATA, "people.csv, line 6: has 2 fields where the header has 5"),
    Case("long row", table("".join([*LINES[:5], LINES[5].strip() + ",x\n", *LINES[6:]])), DATA, "line 6: has 6 fields"),
    Case("short row of a packed file", file("people.csv.gz", gzip.compress("".join([*LINES[:5], "a,31\n"]).encode()), *BOUNDED), DATA, "line 6: has 2 fields"),
    Case("one column", table("age\n31\n32\n33\n34\n", "--quasi", "age", "-k", "2", "--memory", "2GB"), DATA, "has one column"),
    Case("two kinds of line ends", table("".join(LINES[:9]) + "".join(LINES[9:]).replace("\n", "\r\n")), DATA, "has to be UTF-8, of two columns or more, with equal line ends"),
    Case("quote that never closes", table(text_of(people()).replace("flu", '"flu', 1)), DATA, "people.csv"),
    Case("k beyond the table", table(text_of(people()), *ROLES, "-k", "2500", "--memory", "2GB"), INFEASIBLE, "groups of 2,500 are required but the table has 24 rows"),
    Case("steps without a bound", asked("--resume", "steps"), POLICY, "resume is for tables in bounded memory"),
    Case("steps in the output", asked("--memory", "2GB", "--resume", "out/steps"), POLICY, "cannot be the folder of the release"),
    Case("steps of strings", strings("-k", "3", "--memory", "2GB", "--resume", "steps"), POLICY, "is for tables"),
    Case("steps of baskets", baskets("--model", "delta", "--memory", "2GB", "--resume", "steps"), POLICY, "is for tables"),
    Case("effort", asked("--memory", "2GB", "--effort", "balanced"), POLICY, "effort = balanced needs all records in memory"),
    Case("effort of strings", strings("-k", "3", "--effort", "balanced"), POLICY, "--effort is for tables and linked tables"),
    Case("effort of baskets", baskets("-k", "3", "--effort", "balanced"), POLICY, "--effort is for tables and linked tables"),
    Case("trajectories", file("trips.csv", "person,time,latitude,longitude\n", "--kind", "trajectories", "--memory", "2GB"), POLICY, "--memory is for tables, strings and sparse records"),
    Case("km-anonymity", baskets("-k", "3", "--publish", "suppress", "--memory", "2GB"), POLICY, "needs all records in memory"),
    Case("a chain", strings("-k", "3", "--memory", "2GB", "--generator", "markov"), POLICY, 'generator = "markov" needs all strings in memory'),
    Case("one string", strings("-k", "3", "--memory", "2GB", content=">a\nACD\n"), INFEASIBLE, "there is 1 string, fewer than k = 3"),
    Case("one string, held", strings("-k", "3", content=">a\nACD\n"), INFEASIBLE, "there is 1 string, fewer than k = 3"),
    Case("few baskets", baskets("-k", "3", content="bread milk\nbread\n"), INFEASIBLE, "there are 2 records, fewer than k = 3"),
    Case("few baskets in groups", baskets("-k", "3", "--unit", "group", content="bread milk\n"), INFEASIBLE, "there is 1 record, fewer than k = 3"),
    Case("database without a table", database(), DATA, "people.duckdb: holds no table; there is nothing to read"),
    Case("database of two tables", database("CREATE TABLE a (age INT)", "CREATE TABLE b (age INT)"), DATA, "holds 2 tables; name one"),
    Case("another table of a database", lambda folder: [*database("CREATE TABLE a (age INT)")(folder)[:1], "people.duckdb?table=b", *database()(folder)[2:]], DATA, "has no table 'b'; there is only one, with another name"),
    Case("record for a header", table("Smith,48103,flu\nJones,48104,gout\nMeyer,48105,flu\n", "--quasi", "age", "--others", "identifying", "-k", "2", "--memory", "2GB"), DATA, "line 1: looks like a record"),
    Case("no folder", lambda folder: [*asked("--memory", "2GB")(folder)[:2], *BOUNDED], POLICY, "Missing option '-o' / '--out'; `shoal anonymize --help` says"),
    Case("roles of a sweep", lambda folder: ["sweep", write(folder / "people.csv", text_of(people())), "--quasi", "age", "--k", "3"], POLICY, "shoal sweep has no option --quasi, as it takes what is asked for from a policy file"),
]
# fmt: on


def contents(folder: Path) -> dict[str, bytes | None]:
    return {str(p): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_is_refused_in_one_sentence(case: Case, run_here: RunHere, tmp_path: Path) -> None:
    arguments = case.build(tmp_path)
    before = contents(tmp_path)
    assert_refused(run_here(*arguments, cwd=tmp_path), case, tmp_path)
    assert contents(tmp_path) == before
