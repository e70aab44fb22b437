"""What a release tells of how many records it left out, and of the order of its rows."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from shoal.data.samples.proteins import protein_families
from shoal.kinds.tables.policy import ORIGINAL_ORDER
from tests.e2e.command import NOT_VERIFIED, RunHere, call_here, people, text_of, write

pytestmark = pytest.mark.unattacked

N_TABLE, N_STRINGS, N_BASKETS = 120, 80, 90
ROLES = ("--quasi", "age,city", "--sensitive", "disease", "--identifying", "name,zip")
COMMANDS = {
    "table": ("people.csv", *ROLES, "-k", "5", "--method", "full-domain", "--suppression", "0.2", "--seed", "1"),
    "strings": ("proteins.fasta", "-k", "5", "--seed", "1"),
    "sparse": ("baskets.dat", "--kind", "sparse", "--model", "delta", "--seed", "1"),
}


def make(here: Path, kind: str, n_few: int) -> int:
    """An original with a few records that cannot be published; how many records there are."""
    if kind == "table":
        rows = people(N_TABLE, city=("Ayr", "Bath"), age=("30", "40"), disease=("flu", "cold", "gout"))
        odd = [[f"odd {i}", "97", "10000", "Zug", "flu"] for i in range(n_few)]
        write(here / "people.csv", text_of([*rows, *odd]))
        return N_TABLE + n_few
    if kind == "strings":
        made = protein_families(N_STRINGS, n_families=2, mean_length=40.0, unevenness=0.1, seed=3).texts()
        long = ["".join(made)[:2000] for _ in range(n_few)]
        write(here / "proteins.fasta", "".join(f">P{i}\n{s}\n" for i, s in enumerate([*made, *long])))
        return N_STRINGS + n_few
    baskets = [" ".join(str((5 * i + 7 * j * j) % 60) for j in range(12)) for i in range(N_BASKETS)]
    write(here / "baskets.dat", "\n".join([*baskets, *[""] * n_few, ""]))
    return N_BASKETS + n_few


@pytest.fixture(scope="module", params=["table", "strings", "sparse"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def released(kind: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, dict[str, object]]:
    """A release of each kind that left out two records: where it is, how many came in, what was told."""
    here = tmp_path_factory.mktemp(kind)
    n_in = make(here, kind, 2)
    return here, n_in, release(here, kind)


def release(here: Path, kind: str, *more: str) -> dict[str, object]:
    ended = call_here("anonymize", *COMMANDS[kind], "-o", "out", "--json", *more, cwd=here)
    assert ended.code == 0, ended.stderr
    return dict(json.loads(ended.stdout))


def test_few_suppressed_records_are_not_counted_out_in_public(
    released: tuple[Path, int, dict[str, object]], kind: str, run_here: RunHere
) -> None:
    here, n_in, told = released
    assert told["records"] == {"in": n_in, "out": n_in - 2, "suppressed": 2}, "the owner is told exactly"
    manifest = json.loads((here / "out" / "publish" / "manifest.json").read_text())
    assert manifest["records"] == {
        "in": {"from": n_in - 1, "to": n_in + 2},
        "out": n_in - 2,
        "suppressed": {"from": 1, "to": 4},
    }
    if kind != "table":
        assert list(manifest["suppressed_because"].values()) == [{"from": 1, "to": 4}]
    page = (here / "out" / "publish" / "datasheet.html").read_text()
    words = re.sub(r"<[^>]*>", " ", re.sub(r"<(svg|style).*?</\1>", "", page, flags=re.DOTALL))
    assert re.search(r"suppressed\s+1 to 4\b", words)
    assert not re.search(rf"\b{n_in}\b", words), "it would tell the number by subtraction"
    assert not re.search(r"suppressed\s+2\b", words)

    checked = run_here("check", "out/publish", "--original", COMMANDS[kind][0], cwd=here)
    assert "rows" not in checked.stdout.replace("--keep", ""), checked.stdout
    assert "FAILS" not in checked.stdout


@pytest.mark.parametrize("kind", ["table", "sparse"])
def test_many_and_none_are_told_exactly(tmp_path: Path, kind: str) -> None:
    for n_few in (0, 6):
        here = tmp_path / str(n_few)
        n_in = make(here, kind, n_few)
        if kind == "table" and n_few:  # six that are alike could stand in a group
            text = (here / "people.csv").read_text()
            for i in range(n_few):
                text = text.replace(f"odd {i},97,10000,Zug", f"odd {i},{91 + i},10000,Zug{i}")
            write(here / "people.csv", text)
        release(here, kind)
        manifest = json.loads((here / "out" / "publish" / "manifest.json").read_text())
        assert manifest["records"] == {"in": n_in, "out": n_in - n_few, "suppressed": n_few}


def test_held_out_records_do_not_tell_it_either(tmp_path: Path, run_here: RunHere) -> None:
    make(tmp_path, "sparse", 4)
    told = release(tmp_path, "sparse", "--hold-out", "0.25")
    assert 0 < told["records"]["suppressed"] < 5  # type: ignore[index]
    manifest = json.loads((tmp_path / "out" / "publish" / "manifest.json").read_text())
    assert manifest["records"]["held_out"] == {"from": 1, "to": None}
    refused = run_here("check", "out", "--original", "baskets.dat", cwd=tmp_path)
    assert "records were held out of this release; give its private folder too" in refused.stderr
    checked = run_here("check", "out", "--original", "baskets.dat", "--private", "out/private", cwd=tmp_path)
    assert "FAILS" not in checked.stdout


EDITS = {
    "another original": (None, "the original has"),
    "a range of any width": ({"suppressed": {"from": 1, "to": 99}}, "ranges that are not those of a release"),
    "exact and wrong": ({"suppressed": 3}, "do not make"),
    "more came in": ({"in": 999}, "do not make those that came in"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_the_check_holds_a_manifest_to_its_ranges(
    released: tuple[Path, int, dict[str, object]], kind: str, edit: str, tmp_path: Path, run_here: RunHere
) -> None:
    here, n_in, _ = released
    shutil.copytree(here, tmp_path, dirs_exist_ok=True)
    changes, says = EDITS[edit]
    path = tmp_path / "out" / "publish" / "manifest.json"
    manifest = json.loads(path.read_text())
    if changes is None:
        assert make(tmp_path, kind, 9) == n_in + 7
    else:
        manifest["records"].update(changes)
        if kind != "table" and "suppressed" in changes:
            manifest["suppressed_because"] = dict.fromkeys(manifest["suppressed_because"], changes["suppressed"])
        path.write_text(json.dumps(manifest))
    checked = run_here("check", "out", "--original", COMMANDS[kind][0], cwd=tmp_path)
    assert checked.code == NOT_VERIFIED, checked.stderr
    assert re.search(f"FAILS  .*{says}", checked.stdout), checked.stdout


def test_exact_numbers_of_earlier_versions_are_understood(tmp_path: Path, run_here: RunHere) -> None:
    n_in = make(tmp_path, "table", 2)
    release(tmp_path, "table")
    path = tmp_path / "out" / "publish" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["records"] = {"in": n_in, "out": n_in - 2, "suppressed": 2}
    path.write_text(json.dumps(manifest))
    checked = run_here("check", "out", "--original", "people.csv", cwd=tmp_path)
    assert checked.code == 0, checked.stdout


@pytest.mark.parametrize("order", ["original", "sorted"])
def test_the_order_of_the_original_is_told(tmp_path: Path, order: str, run_here: RunHere) -> None:
    write(tmp_path / "people.csv", text_of(people(60)))
    roles = "".join(f'{n} = {{ role = "quasi" }}\n' for n in ("age", "zip", "city"))
    write(tmp_path / "policy.toml", f'order = "{order}"\n[columns]\n"*" = {{ role = "identifying" }}\n{roles}')
    ended = run_here("anonymize", "people.csv", "-p", "policy.toml", "-o", "out", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    publish = tmp_path / "out" / "publish"
    assert json.loads((publish / "manifest.json").read_text())["order"] == order
    is_told = order == "original"
    assert (ORIGINAL_ORDER in ended.stdout) is is_told
    assert (ORIGINAL_ORDER in (publish / "datasheet.html").read_text()) is is_told
    assert (ORIGINAL_ORDER in (tmp_path / "out" / "private" / "report.html").read_text()) is is_told
    assert run_here("check", "out", "--original", "people.csv", cwd=tmp_path).code == 0
