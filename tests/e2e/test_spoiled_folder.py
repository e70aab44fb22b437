"""A published folder that was edited, or is none, does not pass `shoal check`."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import (
    DATA,
    FULL,
    NOT_VERIFIED,
    ROLES,
    SECRET,
    Case,
    RunHere,
    anonymize,
    assert_refused,
    call_here,
    people,
    text_of,
    write,
)

pytestmark = pytest.mark.unattacked

Spoil = Callable[[Path], object]


@pytest.fixture(scope="module")
def sound_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with people.csv, strict.toml and a release in out/, to be copied and spoiled."""
    folder = tmp_path_factory.mktemp("sound")
    write(folder / "people.csv", text_of(people(60, hobby=["chess"])))
    write(folder / "strict.toml", FULL.replace("k = 3", "k = 5"))
    ended = call_here(*anonymize("people.csv", *ROLES, "-k", "5", "--seed", "1"), cwd=folder)
    assert ended.code == 0, ended.stderr
    return folder


def edited_manifest(change: Callable[[dict[str, Any]], object]) -> Spoil:
    def spoil(publish: Path) -> None:
        path = publish / "manifest.json"
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))

    return spoil


def edited_data(change: Callable[[list[str]], list[str]], *, hide: bool = False) -> Spoil:
    """Edit the lines of the data; to hide it, give the manifest the checksum and count that it then has."""

    def spoil(publish: Path) -> None:
        path = publish / "data.csv"
        lines = change(path.read_text().splitlines())
        path.write_text("\n".join(lines) + "\n")
        if hide:
            found = hashlib.sha256(path.read_bytes()).hexdigest()
            edited_manifest(lambda m: m["checksums"].update({"data.csv": found}))(publish)
            edited_manifest(lambda m: m["records"].update({"out": len(lines) - 1}))(publish)

    return spoil


def lower_k(manifest: dict[str, Any]) -> None:
    manifest["require"] = [{"model": "k-anonymity", "k": 2}]
    manifest["guarantees"] = []


def without(name: str) -> Spoil:
    return lambda publish: (publish / name).unlink()


def other_original(publish: Path) -> None:
    write(publish.parents[1] / "people.csv", text_of(people(48, disease=["measles"])))


UNREADABLE = [
    ("no manifest", without("manifest.json"), "has no manifest.json"),
    ("manifest is not JSON", lambda p: (p / "manifest.json").write_text("{"), "not valid JSON"),
    ("manifest is not UTF-8", lambda p: (p / "manifest.json").write_bytes(b"\xff\xfe\xff"), "not valid JSON"),
    ("manifest is a list", lambda p: (p / "manifest.json").write_text("[]"), "not the manifest of a Shoal release"),
    ("manifest lacks a key", edited_manifest(lambda m: m.pop("columns")), "not the manifest of a Shoal release"),
    ("manifest points elsewhere", edited_manifest(lambda m: m.update(data="../../people.csv")), "not the manifest"),
    ("manifest points up", edited_manifest(lambda m: m.update(data="..")), "not the manifest"),
    ("manifest requires nothing", edited_manifest(lambda m: m.update(require=[])), "not the manifest"),
    ("manifest protects nothing", edited_manifest(
        lambda m: [c.update(role="insensitive") for c in m["columns"].values()]), "not the manifest"),
    ("no data", without("data.csv"), "has no data.csv"),
    ("empty data", lambda p: (p / "data.csv").write_text(""), "is empty"),
    ("broken data", lambda p: (p / "data.csv").write_text('a,b\n"1,2\n'), "a quote opens"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "says"), [c[1:] for c in UNREADABLE], ids=[c[0] for c in UNREADABLE])
def test_a_folder_that_cannot_be_checked(
    spoil: Spoil, says: str, sound_release: Path, tmp_path: Path, run_here: RunHere
) -> None:
    folder = Path(shutil.copytree(sound_release, tmp_path / "copy"))
    spoil(folder / "out" / "publish")
    ended = run_here("check", "out/publish", cwd=folder)
    assert_refused(ended, Case("", lambda f: [], DATA, says), folder)


SPOILED = [
    ("class below k", edited_data(lambda r: [*r[:1], "99,99," + r[1].split(",", 2)[2], *r[2:]]), (), "FAILS  k-anonymity fails in"),
    ("class below k, hidden", edited_data(lambda r: r[:1] + r[2:], hide=True), (), "FAILS  k-anonymity fails in"),
    ("harmless edit", edited_data(lambda r: [x.replace("gout", "Gout") for x in r]), (), "data.csv was changed"),
    ("harmless edit, hidden", edited_data(lambda r: [x.replace("gout", "Gout") for x in r], hide=True),
     ("--original", "people.csv"), "'disease' holds cells that the original does not have"),
    ("extra column", edited_data(lambda r: [x + ",1" for x in r], hide=True), (), "a column '1' that the manifest does not"),
    ("column taken away", edited_data(lambda r: [x.rsplit(",", 1)[0] for x in r], hide=True), (), "lacks the column 'hobby'"),
    ("row added", edited_data(lambda r: [*r, r[1]], hide=True), ("--original", "people.csv"), "do not make the original's 60"),
    ("extra file", lambda p: (p / "names.csv").write_text("x"), (), "names.csv is in the folder but not part"),
    ("datasheet edited", lambda p: (p / "datasheet.html").write_text("x"), (), "datasheet.html was changed"),
    ("datasheet taken away", without("datasheet.html"), (), "datasheet.html is part of a release but not in the folder"),
    ("checksum forgotten", edited_manifest(lambda m: m["checksums"].pop("data.csv")), (), "no checksum of data.csv"),
    ("wrong original", other_original, ("--original", "people.csv"), "the original has 48 rows"),
    ("quasi column hidden", edited_manifest(lambda m: m["columns"]["age"].update(role="insensitive")),
     ("-p", "strict.toml"), "'age' is quasi by the policy but insensitive"),
    ("identifying column published", edited_data(lambda r: ["name," + r[0], *(f"n{i}," + x for i, x in enumerate(r[1:]))]),
     ("-p", "strict.toml"), "a column 'name' that the manifest does not"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "options", "says"), [c[1:] for c in SPOILED], ids=[c[0] for c in SPOILED])
def test_a_folder_that_is_not_what_it_claims(
    spoil: Spoil, options: tuple[str, ...], says: str, sound_release: Path, tmp_path: Path, run_here: RunHere
) -> None:
    folder = Path(shutil.copytree(sound_release, tmp_path / "copy"))
    spoil(folder / "out" / "publish")
    ended = run_here("check", "out/publish", *options, cwd=folder)
    assert ended.code == NOT_VERIFIED, ended.stdout + ended.stderr
    assert re.search(says, ended.stdout), ended.stdout
    assert "NOT what it claims" in ended.stdout
    assert SECRET not in ended.stdout + ended.stderr
    machine = run_here("check", "out/publish", *options, "--json", cwd=folder)
    assert machine.code == NOT_VERIFIED
    assert json.loads(machine.stdout)["holds"] is False


def test_a_manifest_that_asks_for_less_is_caught_by_the_policy(
    sound_release: Path, tmp_path: Path, run_here: RunHere
) -> None:
    folder = Path(shutil.copytree(sound_release, tmp_path / "copy"))
    publish = folder / "out" / "publish"
    edited_data(lambda r: r[:1] + r[2:], hide=True)(publish)
    edited_manifest(lower_k)(publish)
    edited_manifest(lambda m: m["records"].update({"in": m["records"]["out"] + m["records"]["suppressed"]}))(publish)
    claims = json.loads(run_here("check", "out/publish", "--json", cwd=folder).stdout)["guarantees"]
    for claim in claims:
        del claim["worst"]
    edited_manifest(lambda m: m.update(guarantees=claims))(publish)
    alone = run_here("check", "out/publish", cwd=folder)  # who makes the datasheet anew too passes without a policy
    assert alone.stdout.count("FAILS") == 1
    assert "datasheet.html is not the one that belongs" in alone.stdout
    ended = run_here("check", "out/publish", "-p", "strict.toml", cwd=folder)
    assert ended.code == NOT_VERIFIED
    assert re.search("FAILS  k-anonymity fails in", ended.stdout)


def test_the_role_of_all_other_columns_holds_in_a_check(sound_release: Path, tmp_path: Path, run_here: RunHere) -> None:
    folder = Path(shutil.copytree(sound_release, tmp_path / "copy"))
    write(folder / "others.toml", FULL.replace("[columns]", '[columns]\n"*" = { role = "identifying" }'))
    ended = run_here("check", "out", "-p", "others.toml", cwd=folder)
    assert ended.code == NOT_VERIFIED
    assert "'hobby' is identifying by the policy but was published" in ended.stdout


def test_folders_that_are_not_there(tmp_path: Path, run_here: RunHere) -> None:
    ended = run_here("check", "absent", cwd=tmp_path)
    assert_refused(ended, Case("", lambda f: [], DATA, "no folder absent"), tmp_path)
    ended = run_here("profile", "absent.csv", cwd=tmp_path)
    assert_refused(ended, Case("", lambda f: [], DATA, "no such file"), tmp_path)
    assert list(tmp_path.iterdir()) == []
