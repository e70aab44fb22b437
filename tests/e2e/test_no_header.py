"""A file without a header on every command: refused without a trace of its first record, and read with `--header none`."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.e2e.command import RunHere, write

pytestmark = pytest.mark.unattacked

FIRST = ("Zanzibar77", "39", "Wakanda", "2174.5", "Lupus-Q")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    rng = random.Random(0)
    cities, ills = ["Riga", "Oslo", "Bern", "Wakanda"], ["flu", "cold", "Lupus-Q", "gout"]
    rows = [
        (f"p{i}", str(rng.randint(20, 60)), rng.choice(cities), f"{rng.uniform(0, 5000):.1f}", rng.choice(ills))
        for i in range(80)
    ]
    text = "\n".join(",".join(row) for row in [FIRST, *rows])
    write(tmp_path / "people.csv", text + "\n")
    write(tmp_path / "named.csv", "name,age,city,cost,disease\n" + text + "\n")
    items = "\n".join(f"{c},{' '.join(rng.sample('abcdefghijkl', 4))}" for c in rng.choices(["EI", "IE"], k=40))
    write(tmp_path / "items.csv", f"EI,Zanzibar77 a\n{items}\n")
    dna = "\n".join(f"{c},{''.join(rng.choices('ACGT', k=20))}" for c in rng.choices(["EI", "IE"], k=60))
    write(tmp_path / "dna.csv", f"EI,AAAAAAAAAACCCCCCCCCC\n{dna}\n")
    return tmp_path


def told(folder: Path, before: set[Path]) -> str:
    """All that a command wrote."""
    return "".join(p.read_text(errors="replace") for p in folder.rglob("*") if p.is_file() and p not in before)


ROLES = ("--quasi", "c2,c3,c4", "--sensitive", "c5", "--identifying", "c1")


@pytest.mark.parametrize(
    "command",
    [
        ("profile", "people.csv", "-o", "policy.toml"),
        ("anonymize", "people.csv", "--quasi", "age", "-o", "out"),
        ("anonymize", "people.csv", *ROLES, "-o", "out", "--json"),
        ("anonymize", "named.csv", "--quasi", "age", "--control", "people.csv", "-o", "out"),
        ("sweep", "people.csv", "--k", "2", "-o", "sweep"),
        ("harden", "people.csv", "-o", "hardened.toml"),
        ("profile", "dna.csv", "--kind", "strings", "--column", "sequence", "-o", "policy.toml"),
        ("anonymize", "dna.csv", "--kind", "strings", "--column", "sequence", "-o", "out"),
        ("anonymize", "dna.csv", "--kind", "strings", "--format", "column", "-o", "out"),
        ("profile", "items.csv", "--kind", "sparse", "-o", "policy.toml"),
        ("anonymize", "items.csv", "--kind", "sparse", "--column", "items", "-o", "out"),
        ("anonymize", "items.csv", "--kind", "sparse", "--class-column", "class", "--column", "x", "-o", "out"),
    ],
)
def test_every_command_refuses_it_and_tells_nothing(here: Path, run_here: RunHere, command: tuple[str, ...]) -> None:
    before = {p for p in here.rglob("*") if p.is_file()}
    ended = run_here(*command, cwd=here)
    assert ended.code == 3, ended.stderr
    assert "line 1: looks like a record" in ended.stderr
    assert "--header none" in ended.stderr
    for cell in (*FIRST, "AAAAAAAAAACCCCCCCCCC", "'EI'"):
        assert cell not in ended.stdout + ended.stderr + told(here, before)


def test_without_a_header_all_commands_work_and_the_manifest_remembers(here: Path, run_here: RunHere) -> None:
    made = run_here("anonymize", "people.csv", "--header", "none", *ROLES, "-k", "3", "-o", "out", cwd=here)
    assert made.code == 0, made.stderr
    lines = (here / "out/publish/data.csv").read_text().splitlines()
    assert lines[0] == "c2,c3,c4,c5"
    assert len(lines) == 82
    assert json.loads((here / "out/publish/manifest.json").read_text())["header"] == "none"
    for page in ("manifest.json", "datasheet.html"):
        assert not any(cell in (here / "out/publish" / page).read_text() for cell in ("Zanzibar77", "2174.5"))
    checked = run_here("check", "out/publish", "--original", "people.csv", cwd=here)
    assert checked.code == 0, checked.stdout + checked.stderr
    assert run_here("check", "out/publish", "--original", "people.csv", "--header", "first", cwd=here).code == 5
    attacked = run_here("attack", "out/publish", "--original", "people.csv", "--attack", "homogeneity", cwd=here)
    assert attacked.code == 0, attacked.stderr
    write(here / "roles.toml", '[columns]\nc2 = { role = "quasi" }\nc3 = { role = "quasi" }\n')
    tried = run_here(
        *("sweep", "people.csv", "-p", "roles.toml", "--header", "none", "--k", "5", "-o", "sweep"), cwd=here
    )
    assert tried.code == 0, tried.stderr
    assert "--header none" in tried.stdout


def test_a_profile_writes_down_that_there_is_no_header(here: Path, run_here: RunHere) -> None:
    ended = run_here("profile", "people.csv", "--header", "none", "--no-sweep", "-o", "policy.toml", cwd=here)
    assert ended.code == 0, ended.stderr
    assert 'header = "none"' in (here / "policy.toml").read_text()
    roles = ("--quasi", "c2,c3", "-k", "3")
    assert run_here("anonymize", "people.csv", "-p", "policy.toml", *roles, "-o", "out", cwd=here).code == 0


def test_strings_and_items_of_such_a_file_are_released_and_checked(here: Path, run_here: RunHere) -> None:
    columns = ("--header", "none", "--column", "c2", "--class-column", "c1", "-k", "3")
    for kind, name in (("strings", "dna.csv"), ("sparse", "items.csv")):
        more = (
            ("--format", "column", "--no-recovery-cap", "--keep", "rows,key")
            if kind == "sparse"
            else ("--keep", "groups")
        )
        made = run_here("anonymize", name, "--kind", kind, *columns, *more, "-o", kind, cwd=here)
        assert made.code == 0, made.stderr
        content = json.loads((here / kind / "publish/manifest.json").read_text())
        assert (content if kind == "strings" else content["input"])["header"] == "none"
        checked = run_here(*("check", f"{kind}/publish", "--original", name, "--private", f"{kind}/private"), cwd=here)
        assert checked.code == 0, checked.stdout + checked.stderr
    refused = run_here(
        "anonymize", "people.csv", "--kind", "sparse", "--format", "baskets", *columns[:2], "-o", "x", cwd=here
    )
    assert refused.code == 2
    assert "a header is for tables" in refused.stderr
