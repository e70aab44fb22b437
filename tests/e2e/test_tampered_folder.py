"""A folder that somebody made up to pass: edits with mended checksums, claims that nothing shows, and traps for readers."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import os
import random
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import DATA, NOT_VERIFIED, Ended, RunHere, call_here, run_command, write
from tests.e2e.sparse_samples import baskets, carts

pytestmark = pytest.mark.unattacked

Spoil = Callable[[Path], object]
Rows = list[dict[str, str]]
WITH_ORIGINAL = ("--original", "people.csv", "-p", "policy.toml")
POLICY = """
[columns]
age = { role = "quasi", type = "continuous" }
sex = { role = "quasi", type = "nominal" }
disease = { role = "sensitive" }
job = { role = "insensitive" }
[[require]]
model = "k-anonymity"
k = 3
[limits]
singled_out = 1.0
[method]
partition = "PARTITION"
"""


def make_release(folder: Path, partition: str, *options: str) -> Path:
    draw = random.Random(7)
    rows = [
        [str(20 + draw.randrange(60)), draw.choice("mf"), draw.choice(["flu", "cold", "gout", "ulcer"]), draw.choice("xyz")]
        for _ in range(60)
    ]  # fmt: skip
    write(folder / "people.csv", "age,sex,disease,job\n" + "".join(",".join(r) + "\n" for r in rows))
    write(folder / "policy.toml", POLICY.replace("PARTITION", partition))
    ended = call_here("anonymize", "people.csv", "-p", "policy.toml", "--seed", "1", "-o", "out", *options, cwd=folder)
    assert ended.code == 0, ended.stderr
    return folder


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_release(tmp_path_factory.mktemp("labelled"), "mondrian")


@pytest.fixture(scope="module")
def averaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_release(tmp_path_factory.mktemp("averaged"), "mdav", "--keep", "rows")


def edit_manifest(publish: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = publish / "manifest.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def mend(publish: Path, *names: str) -> None:
    sums = {n: hashlib.sha256((publish / n).read_bytes()).hexdigest() for n in names}
    edit_manifest(publish, lambda m: m["checksums"].update(sums))


def rows_edited(change: Callable[[Rows], object]) -> Spoil:
    """Edit the data and mend its checksum."""

    def spoil(publish: Path) -> None:
        path = publish / "data.csv"
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        change(rows)
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        mend(publish, "data.csv")

    return spoil


def edited_manifest(change: Callable[[dict[str, Any]], object]) -> Spoil:
    return lambda publish: edit_manifest(publish, change)


def shuffle(name: str) -> Callable[[Rows], None]:
    def change(rows: Rows) -> None:
        cells = [r[name] for r in rows]
        random.Random(3).shuffle(cells)
        for row, cell in zip(rows, cells, strict=True):
            row[name] = cell

    return change


def permute_labels(rows: Rows) -> None:
    labels = sorted({r["age"] for r in rows})
    other = dict(zip(labels, labels[1:] + labels[:1], strict=True))
    for row in rows:
        row["age"] = other[row["age"]]


def replaced_datasheet(publish: Path) -> None:
    (publish / "datasheet.html").write_text("<html>Every person hides among 500 others.</html>")
    mend(publish, "datasheet.html")


def added_file(publish: Path) -> None:
    (publish / "names.csv").write_text("Doe\n")
    mend(publish, "names.csv")


def five_hundred(manifest: dict[str, Any]) -> None:
    claim = manifest["guarantees"][0]
    claim.update(achieved=500, sentence="Every record hides among at least 500 (required: 500).")


TAMPERED: list[tuple[str, Spoil, str]] = [
    ("k-of-500", edited_manifest(five_hundred), "guarantee of k-anonymity is not what the data gives: achieved, sentence"),
    ("required-500", edited_manifest(lambda m: m["guarantees"][0].update(required={"k": 500})), "gives: required"),
    ("invented", edited_manifest(lambda m: m["guarantees"].append(
        {"model": "epsilon-differential-privacy", "required": {"epsilon": 1}, "achieved": 1, "holds": True})), "claims 1 guarantee that"),
    ("invented-words", edited_manifest(lambda m: m["guarantees"][0].update(certified="by the board")), "says more than a release does"),
    ("entry-added", edited_manifest(lambda m: m.update(differential_privacy={"epsilon": 0.1})), "entry 'differential_privacy' is none"),
    ("entry-of-column", edited_manifest(lambda m: m["columns"]["age"].update(noise="Laplace")), "entry 'columns.age.noise' is none"),
    ("forgotten", edited_manifest(lambda m: m["guarantees"].clear()), "guarantees do not name it"),
    ("sensitive-shuffled", rows_edited(shuffle("disease")), "that no record of the original is left for"),
    ("other-column-shuffled", rows_edited(shuffle("job")), "that no record of the original is left for"),
    ("labels-replaced", rows_edited(lambda rows: [r.update(age="[200..300]") for r in rows]), "stand for no value of the original"),
    ("labels-permuted", rows_edited(permute_labels), "that no record of the original is left for"),
    ("datasheet-replaced", replaced_datasheet, "datasheet.html is not the one that belongs"),
    ("file-added", added_file, "the manifest lists names.csv, which is not a file of a release"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "says"), [c[1:] for c in TAMPERED], ids=[c[0] for c in TAMPERED])
def test_what_was_made_up_is_found(spoil: Spoil, says: str, labelled: Path, tmp_path: Path, run_here: RunHere) -> None:
    folder = Path(shutil.copytree(labelled, tmp_path / "copy"))
    spoil(folder / "out" / "publish")
    ended = run_here("check", "out/publish", *WITH_ORIGINAL, cwd=folder)
    assert ended.code == NOT_VERIFIED, ended.stdout + ended.stderr
    assert says in ended.stdout
    assert "The folder is NOT what it claims to be." in ended.stdout


@pytest.mark.parametrize("release", ["labelled", "averaged"])
def test_a_sound_folder_says_no_more_than_what_was_compared(
    release: str, request: pytest.FixtureRequest, run_here: RunHere
) -> None:
    folder = request.getfixturevalue(release)
    alone = run_here("check", "out/publish", cwd=folder)
    assert alone.code == 0, alone.stdout
    assert "is what it claims" not in alone.stdout
    assert "not compared  any row with the record that it stands for" in alone.stdout
    beside = run_here("check", "out/publish", *WITH_ORIGINAL, cwd=folder)
    assert beside.code == 0, beside.stdout
    told = json.loads(run_here("check", "out/publish", *WITH_ORIGINAL, "--json", cwd=folder).stdout)
    assert told["holds"]
    assert ("is what it claims" in beside.stdout) == (not told["not_compared"])
    assert any("averages" in what for what in told["not_compared"]) == (release == "averaged")


def test_averages_are_compared_with_their_records_where_rows_were_kept(
    averaged: Path, tmp_path: Path, run_here: RunHere
) -> None:
    folder = Path(shutil.copytree(averaged, tmp_path / "copy"))
    options = (*WITH_ORIGINAL, "--private", "out/private")
    sound = run_here("check", "out/publish", *options, "--json", cwd=folder)
    assert sound.code == 0, sound.stdout
    assert not any("averages" in what for what in json.loads(sound.stdout)["not_compared"])
    for change, says in (
        (shuffle("disease"), "with other cells than its record has"),
        (permute_labels, "with an average in 'age' that no such records of the original can have"),
    ):
        publish = folder / "out" / "publish"
        before = (publish / "data.csv").read_bytes()
        rows_edited(change)(publish)
        ended = run_here("check", "out/publish", *options, cwd=folder)
        assert ended.code == NOT_VERIFIED, ended.stdout
        assert says in ended.stdout
        (publish / "data.csv").write_bytes(before)


def test_an_average_that_no_record_reaches_is_found_without_the_rows(
    averaged: Path, tmp_path: Path, run_here: RunHere
) -> None:
    folder = Path(shutil.copytree(averaged, tmp_path / "copy"))
    rows_edited(lambda rows: [r.update(age="250") for r in rows])(folder / "out" / "publish")
    ended = run_here("check", "out/publish", *WITH_ORIGINAL, cwd=folder)
    assert ended.code == NOT_VERIFIED
    assert "with an average in 'age' that no such records of the original can have" in ended.stdout


# ---------------------------------------------------------------- traps


def make_strings(folder: Path) -> None:
    draw = random.Random(2)
    write(folder / "people.csv", "".join("".join(draw.choice("ab") for _ in range(30)) + "\n" for _ in range(60)))
    write(
        folder / "policy.toml",
        'kind = "strings"\n[input]\nformat = "lines"\n[[require]]\nmodel = "k-anonymity"\nk = 10\n',
    )


def make_sparse(folder: Path) -> None:
    write(folder / "people.csv", baskets(carts(60)))
    write(folder / "policy.toml", 'kind = "sparse"\n[input]\nformat = "baskets"\n[method]\npublish = "sketch"\n')


@pytest.fixture(scope="module")
def kinds(labelled: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {"table": labelled}
    for kind, make in (("strings", make_strings), ("sparse", make_sparse)):
        folder = tmp_path_factory.mktemp(kind)
        make(folder)
        ended = call_here("anonymize", "people.csv", "-p", "policy.toml", "--seed", "1", "-o", "out", cwd=folder)
        assert ended.code == 0, ended.stderr
        found[kind] = folder
    return found


def data_of(publish: Path) -> Path:
    return publish / json.loads((publish / "manifest.json").read_text())["data"]


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def link(path: Path) -> None:
    elsewhere = path.parents[1] / path.name
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def link_to_device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def with_holes(path: Path) -> None:
    with path.open("ab") as file:
        file.truncate(1 << 40)


def huge_manifest(publish: Path) -> None:
    with (publish / "manifest.json").open("ab") as file:
        file.truncate(1 << 40)


def manifest_text(text: str) -> Spoil:
    return lambda publish: (publish / "manifest.json").write_text(text)


def count_edited(name: str, text: str) -> Spoil:
    """A number that JSON allows and Python cannot hold."""

    def spoil(publish: Path) -> None:
        edit_manifest(publish, lambda m: m["records"].update({name: "NUMBER"}))
        path = publish / "manifest.json"
        path.write_text(path.read_text().replace('"NUMBER"', text))

    return spoil


TRAPS: list[tuple[str, Spoil, str]] = [
    ("deep", manifest_text("[" * 200_000), "not valid JSON"),
    ("deep-object", manifest_text('{"a":' * 200_000), "not valid JSON"),
    ("huge-number", count_edited("out", "1e999"), "not valid JSON"),
    ("huge-integer", count_edited("out", "9" * 5000), "not valid JSON"),
    ("too-many-records", count_edited("out", "9" * 40), "is not the manifest"),
    ("negative", count_edited("out", "-1"), "is not the manifest"),
    ("nan", count_edited("out", "NaN"), "not valid JSON"),
    ("text-for-a-number", count_edited("in", '"60"'), "is not the manifest"),
    ("kind-is-a-list", edited_manifest(lambda m: m.update(kind=[])), "is not the manifest"),
    ("kind-is-an-object", edited_manifest(lambda m: m.update(kind={})), "is not the manifest"),
    ("kind-is-unknown", edited_manifest(lambda m: m.update(kind="tables")), "is not the manifest"),
    ("data-with-a-nul", edited_manifest(lambda m: m.update(data="data\0.csv")), "manifest"),
    ("half-a-character", edited_manifest(lambda m: m.update(data="data\ud800")), "not valid JSON"),
    ("twice", manifest_text('{"kind": "table", "kind": "strings"}'), "not valid JSON"),
    ("huge-manifest", huge_manifest, "not valid JSON"),
    ("manifest-pipe", lambda p: pipe(p / "manifest.json"), "not a plain file"),
    ("manifest-link", lambda p: link(p / "manifest.json"), "is a link"),
    ("manifest-device", lambda p: link_to_device(p / "manifest.json"), "is a link"),
    ("data-pipe", lambda p: pipe(data_of(p)), "not a plain file"),
    ("data-link", lambda p: link(data_of(p)), "is a link"),
    ("data-device", lambda p: link_to_device(data_of(p)), "is a link"),
    ("data-with-holes", lambda p: with_holes(data_of(p)), "holds far more than|damaged"),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["table", "strings", "sparse"])
@pytest.mark.parametrize(("spoil", "says"), [c[1:] for c in TRAPS], ids=[c[0] for c in TRAPS])
def test_a_trap_is_refused_in_one_sentence(
    kind: str, spoil: Spoil, says: str, kinds: dict[str, Path], tmp_path: Path, run_here: RunHere
) -> None:
    folder = Path(shutil.copytree(kinds[kind], tmp_path / "copy"))
    spoil(folder / "out" / "publish")
    ended: Ended = run_here("check", "out/publish", "--original", "people.csv", cwd=folder)
    assert ended.code == DATA, ended.stdout + ended.stderr
    assert ended.stderr.count("\n") == 1
    assert any(part in ended.stderr for part in says.split("|")), ended.stderr
    attacked = run_here("attack", "out/publish", "--original", "people.csv", "--seconds", "0", cwd=folder)
    assert attacked.code == DATA, attacked.stdout + attacked.stderr


@pytest.mark.parametrize("trap", [pipe, link, link_to_device, with_holes])
def test_a_datasheet_that_is_a_trap_is_found(
    trap: Callable[[Path], None], labelled: Path, tmp_path: Path, run_here: RunHere
) -> None:
    folder = Path(shutil.copytree(labelled, tmp_path / "copy"))
    trap(folder / "out" / "publish" / "datasheet.html")
    ended = run_here("check", "out/publish", cwd=folder)
    assert ended.code == NOT_VERIFIED
    assert "datasheet.html is" in ended.stdout


@pytest.mark.parametrize("rows", [False, True], ids=["one-long-line", "many-rows"])
def test_a_small_file_cannot_fill_the_memory(rows: bool, labelled: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(labelled, tmp_path / "copy"))
    publish = folder / "out" / "publish"
    header = (publish / "data.csv").read_bytes().split(b"\n")[0]
    line = b"[20..30],m,flu,x\n" if rows else b"x"
    with gzip.GzipFile(publish / "data.csv.gz", "wb", compresslevel=1, mtime=0) as file:
        file.write(header + b"\n")
        for _ in range(1500):
            file.write(line * ((1 << 20) // len(line)))
    (publish / "data.csv").unlink()
    edit_manifest(publish, lambda m: (m.update(data="data.csv.gz"), m["checksums"].pop("data.csv")))
    mend(publish, "data.csv.gz")

    def little_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))

    ended = run_command("check", "out/publish", cwd=folder, preexec=little_memory)
    assert ended.code == DATA, ended.stdout + ended.stderr
    assert "holds far more than the 60 records that its manifest claims" in ended.stderr
