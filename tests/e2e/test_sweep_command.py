"""`shoal sweep` as a user runs it: interrupted, taken up again, on processes, and with mistakes."""

from __future__ import annotations

import json
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from shoal.data.samples.proteins import protein_families
from tests.e2e.command import FULL, SECRET, Ended, people, run_command, start_command, text_of, write

RunHere = Callable[..., Ended]
PATIENCE = 600.0  # seconds, on the busiest machine


@pytest.fixture
def here(tmp_path: Path) -> Path:
    write(tmp_path / "people.csv", text_of(people(60)))
    write(tmp_path / "policy.toml", FULL)
    return tmp_path


SWEEP = ("sweep", "people.csv", "-p", "policy.toml")


def test_a_table_a_page_and_a_proposal(here: Path, run_here: RunHere) -> None:
    ended = run_here(*SWEEP, "--k", "2,3,100", "--method", "mdav,mondrian", "-o", "sweep/", cwd=here)
    assert (ended.code, ended.stderr) == (0, "")
    assert "6 releases of 60 records tried; none was published." in ended.stdout
    assert "mdav with k = 100 and mondrian with k = 100: groups of 100 are required" in ended.stdout
    line = ended.stdout.splitlines()[-1].split()
    assert line[:6] == ["shoal", "anonymize", "people.csv", "-p", "policy.toml", "--method"]
    assert run_here(*line[1:], cwd=here).code == 0
    assert sorted(p.name for p in (here / "sweep").iterdir()) == ["cells", "sweep.csv", "sweep.html", "sweep.json"]
    assert not [p for p in here.rglob("publish") if "out" not in p.parts]
    for path in (p for p in (here / "sweep").rglob("*") if p.is_file()):
        assert SECRET not in path.read_text()


def test_json_says_everything(here: Path, run_here: RunHere) -> None:
    ended = run_here(*SWEEP, "--k", "3", "--method", "mondrian", "--json", cwd=here)
    told = json.loads(ended.stdout)
    assert told["command"] == "shoal anonymize people.csv -p policy.toml --method mondrian -o out"
    assert told["cells"][0]["status"] == "holds"
    stored = json.loads((here / "sweep" / "sweep.json").read_text())
    assert {n: v for n, v in told.items() if n not in ("out", "command")} == stored


def test_bounded_memory_gives_the_same_json_and_a_command_that_works(here: Path, run_here: RunHere) -> None:
    asked = (*SWEEP, "--k", "3,5", "--method", "mondrian,datafly", "--json")
    held, bounded = (
        json.loads(run_here(*asked, "-o", out, *more, cwd=here).stdout)
        for out, more in (("held", ()), ("bounded", ("--memory", "1GB")))
    )
    assert bounded["command"] == held["command"].replace("--method", "--memory 1GB --method")
    assert run_here(*bounded["command"].split()[1:], cwd=here).code == 0
    assert bounded.keys() == held.keys()
    for ours, theirs in zip(bounded["cells"], held["cells"], strict=True):
        assert ours["losses"] == pytest.approx(theirs["losses"])
        same = ("partition", "k", "status", "n_in", "n_out", "risk_highest", "guarantees", "frontier")
        assert [ours[n] for n in same] == [theirs[n] for n in same]
    refused = run_here(*asked[:-1], "--method", "mdav", "--memory", "1GB", "-o", "none", cwd=here)
    assert (refused.code, refused.stdout) == (2, "")
    assert "method = mdav needs all records in memory: leave memory out" in refused.stderr
    assert not (here / "none").exists()


def test_nothing_feasible_is_exit_code_4(here: Path, run_here: RunHere) -> None:
    ended = run_here(*SWEEP, "--k", "100", cwd=here)
    assert ended.code == 4
    assert "Nothing that was tried can be made" in ended.stdout
    assert "shoal anonymize" not in ended.stdout


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (("--method", "mondrain"), 2, "did you mean 'mondrian'"),
        (("--k", "2,x"), 2, "whole numbers"),
        (("--k", "1"), 2, "2 or more"),
        (("--k", ","), 2, "no k was given"),
        (("--publish", "generalize"), 2, "did you mean 'generalise'"),
        (("-o", "people.csv"), 1, "not a folder"),
        (("-o", "."), 1, "more than a sweep"),
        (("-p", "none.toml"), 2, "--policy is given 2 times; give it once"),
    ],
)
def test_mistakes_are_one_sentence(
    here: Path, run_here: RunHere, options: tuple[str, ...], code: int, says: str
) -> None:
    before = sorted(here.rglob("*"))
    ended = run_here(*SWEEP, *options, cwd=here)
    assert (ended.code, ended.stdout) == (code, "")
    assert says in ended.stderr
    assert ended.stderr.startswith("shoal: ")
    assert ended.stderr.count("\n") == 1
    assert sorted(here.rglob("*")) == before


def test_a_policy_that_is_not_there_is_told(here: Path, run_here: RunHere) -> None:
    ended = run_here("sweep", "people.csv", "-p", "none.toml", "-o", "sweep", cwd=here)
    assert (ended.code, ended.stdout) == (2, "")
    assert "no policy file" in ended.stderr


def test_processes_give_the_same(here: Path, run_here: RunHere) -> None:
    asked = (*SWEEP, "--k", "2,5", "--method", "mdav,mondrian", "--json")
    alone = json.loads(run_here(*asked, "-o", "a", cwd=here).stdout)
    spread = run_command(*asked, "-o", "b", "--workers", "2", "--pool", "processes", cwd=here)
    assert spread.code == 0, spread.stderr
    told = json.loads(spread.stdout)
    for cells in (alone["cells"], told["cells"]):
        for cell in cells:
            del cell["seconds"]
    assert told["cells"] == alone["cells"]
    assert sorted(p.name for p in (here / "a" / "cells").iterdir()) == sorted(
        p.name for p in (here / "b" / "cells").iterdir()
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "number"),
    [
        (("--workers", "1"), signal.SIGINT),
        (("--workers", "1"), signal.SIGKILL),
        (("--workers", "2", "--pool", "processes"), signal.SIGINT),
    ],
)
def test_an_interrupted_sweep_goes_on(tmp_path: Path, workers: tuple[str, ...], number: signal.Signals) -> None:
    draw = random.Random(4)
    rows = [f"{draw.randint(17, 90)},{draw.randint(10000, 19999)},{draw.choice('abcd')}" for _ in range(20_000)]
    write(tmp_path / "many.csv", "\n".join(["age,zip,disease", *rows, ""]))
    write(
        tmp_path / "policy.toml",
        '[columns]\nage = { role = "quasi" }\nzip = { role = "quasi" }\ndisease = { role = "sensitive" }\n',
    )
    asked = ("sweep", "many.csv", "-p", "policy.toml", "--k", "2,3,4,5,6,7,8,9", "--method", "mdav", *workers)
    process = start_command(*asked, cwd=tmp_path)
    until = time.monotonic() + PATIENCE
    while not list(tmp_path.glob("sweep/cells/[!.]*.json")) and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(number)
    _, complaint = process.communicate(timeout=PATIENCE)
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert complaint == "shoal: interrupted; what was finished is in sweep; the same command goes on from there\n"
    assert not (tmp_path / "sweep" / "sweep.html").exists()
    before = {p: p.stat().st_mtime_ns for p in tmp_path.glob("sweep/cells/[!.]*.json")}
    assert 0 < len(before) < 8
    ended = run_command(*asked, cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    assert "taken from an earlier run" in ended.stdout
    assert len(list(tmp_path.glob("sweep/cells/[!.]*.json"))) == 8
    assert {p: p.stat().st_mtime_ns for p in before} == before


def test_strings_are_swept_too(tmp_path: Path, run_here: RunHere) -> None:
    made = protein_families(130, n_families=2, mean_length=18.0, seed=1)
    (tmp_path / "s.txt").write_text("".join(f"{text}\n" for text in made.texts()))
    command = ("sweep", "s.txt", "--kind", "strings", "--format", "lines", "-k", "20,90", "--method", "markov,window")
    ended = run_here(*command, "-o", "out", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    assert "shoal anonymize s.txt --kind strings --format lines" in ended.stdout
    assert "infeasible" in ended.stdout
    told = json.loads(run_here(*command, "-o", "out", "--json", cwd=tmp_path).stdout)
    assert [c["k"] for c in told["cells"]] == [20, 90, 20, 90]
    assert told["command"].startswith("shoal anonymize s.txt --kind strings")
