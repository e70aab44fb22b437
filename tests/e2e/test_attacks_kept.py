"""`shoal attack --private` after other runs: what was found stays until a run of as much means says otherwise."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from shoal.cli.demo import POLICY as CLINIC_POLICY
from shoal.data.samples.clinic import clinic, diagnosis_hierarchy
from shoal.data.tables.frames import from_frame
from shoal.data.tables.write import write_table
from tests.e2e.command import DATA, RunHere, call_here, write

ATTACK = ("attack", "out/publish", "--original", "clinic.csv", "--private", "out/private")


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with held-out records, whose report shows attacks; which row is whose was not kept."""
    here = tmp_path_factory.mktemp("clinic")
    write_table(from_frame(clinic(300)), here / "clinic.csv")
    diagnosis_hierarchy().write(here / "diagnosis.csv")
    write(here / "policy.toml", CLINIC_POLICY)
    ended = call_here(
        *("anonymize", "clinic.csv", "-p", "policy.toml", "--hold-out", "0.25", "--seed", "4", "-o", "out"), cwd=here
    )
    assert ended.code == 0, ended.stderr
    return here


@pytest.fixture
def here(released: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(released, tmp_path / "copy"))


def verdict(here: Path) -> tuple[int, int]:
    """How many of how many attacks succeeded, by the report."""
    page = (here / "out" / "private" / "report.html").read_text()
    found = re.search(r"(\d+|None) of (\d+) attacks achieved more with the release", page)
    assert found
    return (0 if found[1] == "None" else int(found[1]), int(found[2]))


def kept(here: Path) -> dict[tuple[str, int | None, bool], dict[str, object]]:
    """Results by attack, seed, and whether the rows were known."""
    told = json.loads((here / "out" / "private" / "attacks.json").read_text())
    return {(r["attack"], r["seed"], "rows" in r["granted"]): r for r in told["results"]}


def test_a_run_with_less_does_not_make_the_report_rosier(here: Path, run_here: RunHere) -> None:
    succeeded, tried = verdict(here)
    assert 0 < succeeded < tried
    before = kept(here)
    ended = run_here(*ATTACK, "--json", cwd=here)
    assert ended.code == 0, ended.stderr
    told = json.loads(ended.stdout)
    again = {a["attack"] for a in told["attacks"]}
    lost = {name for name, *_ in before} - again
    assert lost, "without the rows some attacks cannot be run, else nothing is tried here"
    assert sum(a["succeeds"] for a in told["attacks"]) < succeeded
    assert verdict(here) == (succeeded, tried)
    after = kept(here)
    assert {key: after[key] for key in before} == before


def test_runs_of_a_few_attacks_or_of_no_time_leave_the_others(here: Path, run_here: RunHere) -> None:
    before = verdict(here), kept(here)
    for more in (("--seconds", "0"), ("--attack", "membership"), ("--attack", "membership", "--attack", "homogeneity")):
        ended = run_here(*ATTACK, *more, cwd=here)
        assert ended.code == 0, ended.stderr
        assert (verdict(here), kept(here)) == before


def test_another_draw_is_shown_beside_the_first(here: Path, run_here: RunHere) -> None:
    before = kept(here)
    assert run_here(*ATTACK, "--attack", "membership", "--seed", "11", cwd=here).code == 0
    assert set(kept(here)) == {*before, ("membership", 11, False)}
    page = (here / "out" / "private" / "report.html").read_text()
    assert "seed 0)" in page
    assert "seed 11)" in page
    assert verdict(here)[1] == len(before)


def test_results_on_other_data_take_no_place(here: Path, run_here: RunHere) -> None:
    """As where the private folder of another release is given."""
    before = verdict(here), kept(here)
    data = here / "out" / "publish" / "data.csv"
    head, *rows = data.read_text().splitlines()
    data.write_text("\n".join([head, *reversed(rows), ""]))
    ended = run_here(*ATTACK, "--attack", "membership", cwd=here)
    assert ended.code == 3
    assert "results of attacks on other data" in ended.stderr
    assert (verdict(here), kept(here)) == before


def test_as_many_other_controls_do_not_make_the_report_rosier(here: Path, run_here: RunHere) -> None:
    """Members as controls get what members get, so nothing seems to come from the release."""
    before = verdict(here), kept(here)
    head, *rows = (here / "clinic.csv").read_text().splitlines()
    write(here / "others.csv", "\n".join([head, *rows[:75], ""]))
    ended = run_here(*ATTACK, "--control", "others.csv", cwd=here)
    assert ended.code == 0, ended.stderr
    assert verdict(here) >= before[0]
    assert set(kept(here)) >= set(before[1])


def test_a_page_that_cannot_be_drawn_again_stays_as_it_is(here: Path, run_here: RunHere) -> None:
    """As of earlier versions, which kept no report.json: new results are kept beside it, and that is said."""
    private = here / "out" / "private"
    for name in ("attacks.json", "report.json"):
        (private / name).unlink()
    page = (private / "report.html").read_bytes()
    ended = run_here(*ATTACK, "--attack", "membership", cwd=here)
    assert ended.code == 0
    assert "no page shows them, for there is no report.json" in ended.stderr
    assert (private / "report.html").read_bytes() == page
    assert len(kept(here)) == 1


def test_spoiled_results_are_refused_and_the_report_is_as_it_was(here: Path, run_here: RunHere) -> None:
    (here / "out" / "private" / "attacks.json").write_text("{")
    before = (here / "out" / "private" / "report.html").read_bytes()
    ended = run_here(*ATTACK, "--attack", "membership", cwd=here)
    assert ended.code == DATA
    assert "attacks.json cannot be read as results of attacks" in ended.stderr
    assert (here / "out" / "private" / "report.html").read_bytes() == before
