"""`shoal attack` on tables and strings: what is told, written and shown, with controls and without."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

import shoal
from shoal.attack.result import AttackResult
from shoal.cli.demo import POLICY as CLINIC_POLICY
from shoal.data.samples.clinic import clinic, diagnosis_hierarchy
from shoal.data.samples.proteins import protein_families
from shoal.data.tables.frames import from_frame
from shoal.data.tables.write import write_table
from tests.e2e.command import (
    DATA,
    OTHER,
    POLICY,
    ROLES,
    Case,
    Ended,
    RunHere,
    assert_refused,
    call_here,
    people,
    text_of,
    write,
)

N_PATIENTS, N_PROTEINS = 300, 160
HEADING = "What attackers got</h2>"
EVIDENCE = {
    "table": ("--original", "clinic.csv", "--private", "out/private"),
    "strings": ("--original", "proteins.fasta", "--private", "out/private"),
}


@pytest.fixture(scope="module")
def clinic_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """clinic.csv, a release of three quarters of it in out/, and other patients in others.csv."""
    here = tmp_path_factory.mktemp("clinic")
    write_table(from_frame(clinic(N_PATIENTS)), here / "clinic.csv")
    write_table(from_frame(clinic(120, seed=99)), here / "others.csv")
    diagnosis_hierarchy().write(here / "diagnosis.csv")
    write(here / "policy.toml", CLINIC_POLICY)
    arguments = ("anonymize", "clinic.csv", "-p", "policy.toml", "--hold-out", "0.25", "--seed", "4", "-o", "out")
    ended = call_here(*arguments, "--keep", "rows", cwd=here)
    assert ended.code == 0, ended.stderr
    return here


@pytest.fixture(scope="module")
def protein_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """proteins.fasta, a release of three quarters of them in out/, and others in others.fasta."""
    here = tmp_path_factory.mktemp("proteins")
    for name, n, seed in (("proteins", N_PROTEINS, 1), ("others", 60, 2)):
        made = protein_families(n, n_families=2, mean_length=50.0, unevenness=0.2, seed=seed)
        write(here / f"{name}.fasta", "".join(f">P{i}\n{s}\n" for i, s in enumerate(made.texts())))
    made = shoal.anonymize(here / "proteins.fasta", shoal.StringPolicy.of(k=10), seed=4, hold_out=0.25)
    made.save(here / "out")
    return here


@pytest.fixture
def releases(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Path]:
    """A copy of the release of the kind that a test is about."""
    kind = request.node.callspec.params["kind"]
    source = request.getfixturevalue("clinic_release" if kind == "table" else "protein_release")
    return {kind: Path(shutil.copytree(source, tmp_path / "copy"))}


BOTH = pytest.mark.parametrize("kind", ["table", "strings"])
SOME = {"table": "membership,linkage", "strings": "copies,membership"}


def names_of(told: dict[str, list[dict[str, str]]]) -> set[str]:
    return {a["attack"] for a in (*told["attacks"], *told["not_run"])}


def all_but_attacks(page: str) -> tuple[str, str]:
    """What stands before and after the section on attacks, but for the worst of them."""
    page = re.sub(r"<dt>Worst</dt><dd>.*?</dd>", "", page)
    before, _, section = page.partition(HEADING)
    return before, section.partition("</section>")[2]


@BOTH
def test_a_release_with_held_out_records_shows_attacks_at_once(releases: dict[str, Path], kind: str) -> None:
    report = (releases[kind] / "out" / "private" / "report.html").read_text()
    assert report.count(HEADING) == 1
    section = report[report.index(HEADING) :]
    assert re.search(r"attacks achieved more with the release than", section)
    assert "No attack was run" not in section


@BOTH
def test_all_attacks_are_told_written_and_shown(releases: dict[str, Path], kind: str, run_here: RunHere) -> None:
    here = releases[kind]
    report = here / "out" / "private" / "report.html"
    before = report.read_text()
    ended = run_here("attack", "out/publish", *EVIDENCE[kind], "-o", "results.json", cwd=here)
    assert (ended.code, ended.stderr) == (0, "")
    results = json.loads((here / "results.json").read_text())
    assert results["attacks"]
    for found in results["attacks"]:
        assert re.search(rf"^{found['attack']} ", ended.stdout, re.MULTILINE)
        verb = AttackResult.from_dict(found).outcome
        assert verb == "SUCCEEDS" if found["succeeds"] else verb in ("found", "fails")
        assert f"  {verb}  {found['attack']}: {found['sentence']}" in ended.stdout
        assert 0 <= found["risk"]["low"] <= found["risk"]["value"] <= found["risk"]["high"] <= 1
    for skipped in results["not_run"]:
        assert f"not run  {skipped['attack']}: {skipped['because']}" in ended.stdout
    assert any(found["control"] for found in results["attacks"])
    after = report.read_text()
    assert after.count(HEADING) == 1
    assert all_but_attacks(before) == all_but_attacks(after)
    assert stat.S_IMODE(report.stat().st_mode) == 0o600


@BOTH
def test_named_attacks_alone_are_run_and_drawn_alike(releases: dict[str, Path], kind: str, run_here: RunHere) -> None:
    here = releases[kind]
    arguments = ("attack", "out", *EVIDENCE[kind], "--json", "--seed", "7", "--attack")
    some = json.loads(run_here(*arguments, SOME[kind], cwd=here).stdout)
    assert names_of(some) == set(SOME[kind].split(","))
    again = json.loads(run_here(*arguments, SOME[kind], cwd=here).stdout)
    assert some == again


@BOTH
def test_controls_may_come_from_a_file(releases: dict[str, Path], kind: str, run_here: RunHere) -> None:
    here = releases[kind]
    file = "others.csv" if kind == "table" else "others.fasta"
    arguments = ("attack", "out", *EVIDENCE[kind], "--attack", "membership", "--json")
    held_out, given = (
        json.loads(run_here(*arguments, *more, cwd=here).stdout)["attacks"][0] for more in ((), ("--control", file))
    )
    assert held_out["control"]["attempts"] == (75 if kind == "table" else 40)
    assert given["control"]["attempts"] == (120 if kind == "table" else 60)


@BOTH
def test_no_time_means_no_attack(releases: dict[str, Path], kind: str, run_here: RunHere) -> None:
    ended = run_here("attack", "out", *EVIDENCE[kind], "--seconds", "0", "-o", "none.json", cwd=releases[kind])
    assert (ended.code, ended.stderr) == (0, "")
    told = json.loads((releases[kind] / "none.json").read_text())
    assert told["attacks"] == []
    assert "The time for attacks was over." in {a["because"] for a in told["not_run"]}
    assert "No attack could be run" in ended.stdout
    report = (releases[kind] / "out" / "private" / "report.html").read_text()
    assert "No attack could be run." not in report, "what was found before stays"
    assert re.search(r"attacks achieved more with the release than", report)


REFUSED = [
    ("unknown attack", ("--attack", "memberships"), POLICY, "no attack 'memberships'.*did you mean 'membership'"),
    ("existing results", ("-o", "out"), OTHER, "out exists"),
    ("no place for results", ("-o", "absent/results.json"), OTHER, "cannot be written"),
    ("absent control", ("--control", "absent.csv"), DATA, "no such file"),
    ("negative seed", ("--seed", "-1"), POLICY, "seed"),
    ("negative time", ("--seconds", "-1"), POLICY, "seconds"),
    ("time of nothing", ("--seconds", "nan"), POLICY, "seconds"),
]


@pytest.mark.parametrize("kind", ["table"])
def test_more_risk_than_is_allowed_ends_with_5(releases: dict[str, Path], kind: str, run_here: RunHere) -> None:
    asked = ("attack", "out", *EVIDENCE[kind], "--attack", "singling-out-univariate", "--fail-above")
    ended = run_here(*asked, "0.1", cwd=releases[kind])
    assert ended.code == 5
    assert "adds more than 0.1, or may: singling-out-univariate" in ended.stderr
    assert run_here(*asked, "1", cwd=releases[kind]).code == 0
    assert run_here(*asked, "1.5", cwd=releases[kind]).code == 2


@pytest.mark.parametrize("kind", ["strings"])
@pytest.mark.parametrize(("options", "code", "says"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_what_cannot_be_is_one_sentence(
    releases: dict[str, Path], kind: str, options: tuple[str, ...], code: int, says: str, run_here: RunHere
) -> None:
    here = releases[kind]
    before = (here / "out" / "private" / "report.html").read_bytes()
    named = ("--attack", "copies") if "--attack" not in options else ()
    ended = run_here("attack", "out", *EVIDENCE[kind], *named, *options, cwd=here)
    assert_refused(ended, Case("", lambda f: [], code, says), here)
    assert (here / "out" / "private" / "report.html").read_bytes() == before


@BOTH
def test_held_out_records_have_to_be_known(releases: dict[str, Path], kind: str, run_here: RunHere) -> None:
    ended = run_here("attack", "out", *EVIDENCE[kind][:2], cwd=releases[kind])
    assert_refused(
        ended, Case("", lambda f: [], POLICY, "held out of this release; give its private folder"), releases[kind]
    )


@BOTH
def test_the_wrong_original_is_told(releases: dict[str, Path], kind: str, run_here: RunHere) -> None:
    here = releases[kind]
    write(here / "wrong.csv", "name,colour\n" + "x,red\ny,blue\n" * 50)
    wrong = "wrong.csv" if kind == "table" else "others.fasta"
    ended: Ended = run_here("attack", "out", "--original", wrong, "--private", "out/private", cwd=here)
    assert ended.code in (POLICY, DATA)
    assert ended.stderr.count("\n") == 1
    assert "defect" not in ended.stderr


@pytest.fixture(scope="module")
def plain_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """people.csv, and a release of all of them in out/, none of them held out."""
    here = tmp_path_factory.mktemp("plain")
    write(here / "people.csv", text_of(people(60)))
    ended = call_here("anonymize", "people.csv", *ROLES, "-k", "3", "--seed", "4", "-o", "out", cwd=here)
    assert ended.code == 0, ended.stderr
    return here


WITHIN = ("attack", "out", "--original", "people.csv", "--memory", "1GB")


def test_a_table_is_attacked_in_bounded_memory(plain_release: Path, run_here: RunHere) -> None:
    held, bounded = (
        json.loads(run_here(*arguments, "--json", cwd=plain_release).stdout) for arguments in (WITHIN[:-2], WITHIN)
    )
    assert bounded.keys() == held.keys()
    assert bounded["sample"] == held["sample"] == {"drawn": 60, "of": 60}
    assert names_of(bounded) == names_of(held)
    theirs = {a["attack"]: a for a in held["attacks"]}
    for found in bounded["attacks"]:
        assert found.keys() == theirs[found["attack"]].keys()
        assert found["main"] == theirs[found["attack"]]["main"]
    shown = run_here(*WITHIN, cwd=plain_release)
    assert (shown.code, shown.stderr) == (0, "")
    assert "not run  linkability: It looks at records one by one" in shown.stdout


def test_more_risk_than_is_allowed_ends_with_5_in_bounded_memory(plain_release: Path, run_here: RunHere) -> None:
    asked = (*WITHIN, "--attack", "singling-out-univariate", "--fail-above")
    assert run_here(*asked, "1", cwd=plain_release).code == 0
    ended = run_here(*asked, "0.1", cwd=plain_release)
    assert (ended.code, ended.stderr) == (5, "adds more than 0.1, or may: singling-out-univariate\n")


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (("--memory", "1GB", "--original", "absent.csv"), DATA, "no such file"),
        (("--memory", "1GB", "--original", "wrong.csv"), DATA, "the original has no column 'age', which was published"),
        (("--memory", "1GB", "--original", "empty.csv"), DATA, "empty"),
        (("--memory", "1GB", "--original", "people.json"), DATA, "people.json"),
        (("--memory", "1GB", "--original", "people.db"), DATA, "the table 'people' has no rows"),
        (("--memory", "20MB", "--original", "people.csv"), POLICY, "memory is a size of at least 500 MB"),
        (("--memory", "a lot", "--original", "people.csv"), POLICY, "such as 2GB"),
        (("--memory", "1GB", "--original", "people.csv", "--control", "absent.csv"), DATA, "no such file"),
        (("--memory", "1GB", "--original", "people.csv", "--control", "wrong.csv"), DATA, "the control has none of"),
        (("--original", "people.csv", "--control", "wrong.csv"), DATA, "the control has none of the columns that were"),
        (
            ("--memory", "1GB", "--original", "people.csv", "--other", "out"),
            POLICY,
            "another release beside it is attacked with",
        ),
    ],
)
def test_what_cannot_be_attacked_in_bounded_memory_is_one_sentence(
    plain_release: Path, tmp_path: Path, options: tuple[str, ...], code: int, says: str, run_here: RunHere
) -> None:
    here = Path(shutil.copytree(plain_release, tmp_path / "copy"))
    write(here / "wrong.csv", "name,colour\n" + "x,red\ny,blue\n" * 50)
    write(here / "empty.csv", "")
    write(here / "people.json", '{"age": [1, 2], "zip": ["a", "b"]}\n')
    with closing(sqlite3.connect(here / "people.db")) as database:
        database.execute("CREATE TABLE people (age, zip, city, disease)")
        database.commit()
    ended = run_here("attack", "out", *options, cwd=here)
    assert (ended.code, ended.stdout) == (code, "")
    assert ended.stderr.count("\n") == 1
    assert says in ended.stderr
    assert "defect" not in ended.stderr
