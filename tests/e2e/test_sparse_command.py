"""Sparse records on the command line: what comes out, what is said, what is comparable, and what is kept back."""

from __future__ import annotations

import json
import re
import shutil
import stat
from pathlib import Path

import duckdb
import numpy as np
import pytest

from tests.e2e.command import DATA, NOT_VERIFIED, POLICY, SECRET, Ended, RunHere, run_command, write
from tests.e2e.sparse_samples import Carts, baskets, carts, rows_of, svmlight, table, texts

SEED = "743017430174301"
SKETCH = ("--publish", "sketch")
QUICK = ("--kind", "sparse", *SKETCH, "-k", "3")
LONG = ("--kind", "sparse", "--model", "delta", "--delta", "0.05", "--no-recovery-cap")
EVIDENCE = ("--original", "baskets.dat", "--private", "out/private")
CARTS = carts()


def sketches_of(publish: Path) -> list[list[int]]:
    """The published lists, by a reader that shares nothing with the package's."""
    with duckdb.connect() as database:
        return [row[0] for row in database.execute(f"SELECT sketch FROM '{publish / 'data.parquet'}'").fetchall()]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    """A folder with baskets.dat and a release in out/, and how the command ended; not to be changed."""
    here = tmp_path_factory.mktemp("baskets")
    write(here / "baskets.dat", baskets(CARTS))
    arguments = ("anonymize", "baskets.dat", *QUICK, "--seed", SEED, "--keep", "rows,key", "-o", "out")
    return here, run_command(*arguments, cwd=here)


@pytest.fixture
def here(made: tuple[Path, Ended], tmp_path: Path) -> Path:
    """A copy of that folder."""
    return Path(shutil.copytree(made[0], tmp_path / "here"))


def test_baskets_become_sketches(made: tuple[Path, Ended]) -> None:
    folder, ended = made
    assert (ended.code, ended.stderr) == (0, "")
    assert "60 sketches published of 60 records" in ended.stdout
    assert "No record was suppressed" in ended.stdout
    publish = folder / "out" / "publish"
    assert sorted(p.name for p in publish.iterdir()) == ["data.parquet", "datasheet.html", "manifest.json"]
    sketches = sketches_of(publish)
    assert len(sketches) == 60
    # A sum of n signs is odd where n is, and no larger than n.
    for row, sketch in zip(rows_of(folder / "out" / "private"), sketches, strict=True):
        assert all(abs(s) <= len(CARTS[row]) and (s - len(CARTS[row])) % 2 == 0 for s in sketch)
    assert sorted(rows_of(folder / "out" / "private")) == list(range(60))


def test_nothing_published_or_said_tells_a_secret(made: tuple[Path, Ended]) -> None:
    folder, ended = made
    out = folder / "out"
    key = (out / "private" / "key.txt").read_text().strip()
    assert re.fullmatch("[0-9a-f]{64}", key)
    shown = {**contents(out / "publish"), "report.html": (out / "private" / "report.html").read_bytes()}
    shown |= {"stdout": ended.stdout.encode(), "stderr": ended.stderr.encode()}
    for name, content in shown.items():
        for secret in (key, SEED, SECRET, str(folder)):
            assert secret.encode() not in content, (name, secret)
        assert bytes.fromhex(key) not in content, name
        assert not re.search(rb"ware\d\d", content), name
    manifest = json.loads((out / "publish" / "manifest.json").read_text())
    assert manifest["kind"] == "sparse"
    assert manifest["records"] == {"in": 60, "out": 60, "suppressed": 0}
    assert "details" not in manifest["guarantees"][0]
    assert {stat.S_IMODE(p.stat().st_mode) for p in (out / "private").iterdir()} == {0o600}
    kept = sorted(p.name for p in (out / "private").iterdir())
    assert kept == ["attacks.json", "key.txt", "neighbours.npy", "report.html", "report.json", "rows.csv"]


def test_a_check_says_what_it_could_not_verify(made: tuple[Path, Ended], run_here: RunHere) -> None:
    folder, _ = made
    alone = run_here("check", "out/publish", cwd=folder)
    assert (alone.code, "not verified" in alone.stdout) == (NOT_VERIFIED, True)
    without = run_here("check", "out/publish", "--original", "baskets.dat", cwd=folder)
    assert (without.code, "not verified" in without.stdout, "FAILS" in without.stdout) == (NOT_VERIFIED, True, False)
    whole = run_here("check", "out", *EVIDENCE, "--json", cwd=folder)
    assert whole.code == 0, whole.stdout
    found = json.loads(whole.stdout)
    assert found["holds"]
    models = [g["model"] for g in found["guarantees"]]
    assert models == ["k-variance", "delta-anonymity", "recovery-cap", "max-components", "coarse-counts", "sketch-form"]


@pytest.mark.parametrize(
    ("kept", "unknown"), [("rows", "key"), ("key", "each sketch is of")], ids=["rows alone", "key alone"]
)
def test_half_of_the_secrets_is_half_a_check(here: Path, run_here: RunHere, kept: str, unknown: str) -> None:
    for name in {"rows.csv", "key.txt"} - {f"{kept}.csv", f"{kept}.txt"}:
        (here / "out" / "private" / name).unlink()
    ended = run_here("check", "out", *EVIDENCE, cwd=here)
    assert "FAILS" not in ended.stdout
    if ended.code:
        assert ended.code == NOT_VERIFIED
        assert unknown in ended.stdout


def test_a_stricter_policy_is_not_met(made: tuple[Path, Ended], tmp_path: Path, run_here: RunHere) -> None:
    strict = write(tmp_path / "strict.toml", 'kind = "sparse"\n[[require]]\nmodel = "delta-anonymity"\ndelta = 50\n')
    ended = run_here("check", "out", *EVIDENCE, "-p", strict, cwd=made[0])
    assert (ended.code, "FAILS" in ended.stdout) == (NOT_VERIFIED, True)
    assert "NOT what it claims" in ended.stdout


def test_a_policy_file_is_the_same_as_options_and_a_seed_repeats_bytes(here: Path, run_here: RunHere) -> None:
    text = (
        'kind = "sparse"\n[input]\nformat = "baskets"\n[[require]]\nmodel = "delta-anonymity"\ndelta = 2.0\n'
        "[method]\nmax_components = 3\ncoarse_counts = false\n"
    )
    write(here / "policy.toml", text)
    options = ("--kind", "sparse", "--format", "baskets", "--model", "delta", "--delta", "2", "--max-components", "3")
    assert run_here("anonymize", "baskets.dat", "-p", "policy.toml", "--seed", "5", "-o", "a", cwd=here).code == 0
    ended = run_here(
        "anonymize", "baskets.dat", *options, "--exact-counts", "--seed", "5", "-o", "b", "--json", cwd=here
    )
    told = json.loads(ended.stdout)
    assert told["kind"] == "sparse"
    assert told["neighbours"] is None
    assert all(g["holds"] for g in told["guarantees"])
    assert {a["attack"] for a in told["attacks"]["attacks"]} >= {"recovery-programme", "length"}
    assert contents(here / "a" / "publish") == contents(here / "b" / "publish")
    kept = [contents(here / out / "private") for out in ("a", "b")]
    for files in kept:  # the reports differ in the command, which they tell, and in nothing else
        command = json.loads(files["report.json"])["report"]["provenance"]["command"]
        for name in ("report.json", "report.html"):
            assert command.encode() in files[name]
            files[name] = files[name].replace(command.encode(), b"")
    assert kept[0] == kept[1]
    assert sorted(contents(here / "a" / "private")) == ["attacks.json", "report.html", "report.json"]
    mixed = CARTS[::-1]
    write(here / "other-order.dat", baskets([items[::-1] for items in mixed]))
    assert run_here("anonymize", "other-order.dat", "-p", "policy.toml", "--seed", "5", "-o", "c", cwd=here).code == 0
    assert contents(here / "a" / "publish") == contents(here / "c" / "publish")


def prepare_format(folder: Path, name: str, records: Carts) -> tuple[str, tuple[str, ...]]:
    if name == "svmlight":
        write(folder / "data.svm", svmlight(records))
        return "data.svm", ()
    if name == "column":
        write(folder / "data.csv", table(records))
        return "data.csv", ("--kind", "sparse", "--column", "cart", "--class-column", "group", "--delimiter", ";")
    if name == "text":
        write(folder / "data.csv", table(records, " "))
        text = ("--format", "text", "--weights", "tfidf", "--stop-words", "none")
        return "data.csv", ("--kind", "sparse", "--column", "cart", "--class-column", "group", *text)
    texts(folder / "data", records)
    return "data", ("--kind", "sparse")


@pytest.mark.parametrize("name", ["svmlight", "column", "text", "folder"])
def test_every_format_gives_a_release_that_holds(tmp_path: Path, run_here: RunHere, name: str) -> None:
    data, options = prepare_format(tmp_path, name, carts(40))
    profiled = run_here("profile", data, *options, "--json", cwd=tmp_path)
    told = json.loads(profiled.stdout)
    assert (told["records"], len(told["classes"]), profiled.stderr) == (40, 2, "")
    arguments = ("anonymize", data, "-p", "policy.toml", *SKETCH, "-k", "3", "--keep", "rows,key", "-o", "out")
    ended = run_here(*arguments, cwd=tmp_path)
    assert (ended.code, ended.stderr) == (0, "")
    assert SECRET not in ended.stdout
    assert not any(SECRET.encode() in content for content in contents(tmp_path / "out").values())
    with duckdb.connect() as database:
        found = database.execute(f"SELECT * FROM '{tmp_path / 'out' / 'publish' / 'data.parquet'}'")
        assert [column[0] for column in found.description] == ["sketch", "label"]
        labels = [row[1] for row in found.fetchall()]
    named = ("-1", "+1") if name == "svmlight" else ("a", "b")
    classes = [named[i // 20 if name == "folder" else i % 2] for i in range(40)]
    assert labels == [classes[row] for row in rows_of(tmp_path / "out" / "private")]
    checked = run_here("check", "out", "--original", data, "--private", "out/private", cwd=tmp_path)
    assert checked.code == 0, checked.stdout + checked.stderr


def products(one: Path, other: Path) -> tuple[np.ndarray, np.ndarray]:
    """Dot products between the sketches of two releases, on their common components, and the true ones."""
    mine, theirs = sketches_of(one / "publish"), sketches_of(other / "publish")
    found = [[np.mean([s * t for s, t in zip(a, b, strict=False)]) for b in theirs] for a in mine]
    train, test = carts(40, seed=1), carts(30, seed=2)
    pairs = [[(train[i], test[j]) for j in rows_of(other / "private")] for i in rows_of(one / "private")]
    return np.array(found), np.array([[len(set(a) & set(b)) for a, b in row] for row in pairs])


def test_releases_are_comparable_if_and_only_if_they_share_the_key(tmp_path: Path, run_here: RunHere) -> None:
    write(tmp_path / "train.dat", baskets(carts(40, seed=1)))
    write(tmp_path / "test.dat", baskets(carts(30, seed=2)))
    keep = ("--keep", "rows,key")
    assert run_here("anonymize", "train.dat", *LONG, *keep, "--seed", "1", "-o", "train", cwd=tmp_path).code == 0
    shared = run_here(
        "anonymize", "test.dat", *LONG, *keep, "--key", "train/private/key.txt", "-o", "shared", cwd=tmp_path
    )
    assert shared.code == 0, shared.stderr
    assert "the key is that of another release" in shared.stdout
    assert run_here("anonymize", "test.dat", *LONG, *keep, "--seed", "2", "-o", "apart", cwd=tmp_path).code == 0
    estimated, true = products(tmp_path / "train", tmp_path / "shared")
    assert np.corrcoef(estimated.ravel(), true.ravel())[0, 1] > 0.8
    assert abs(estimated.mean() - true.mean()) < 0.3 * true.mean()
    estimated, true = products(tmp_path / "train", tmp_path / "apart")
    assert abs(np.corrcoef(estimated.ravel(), true.ravel())[0, 1]) < 0.5
    keys = [(tmp_path / name / "private" / "key.txt").read_text() for name in ("train", "shared", "apart")]
    assert keys[0] == keys[1] != keys[2]
    assert keys[0].strip() not in shared.stdout


def test_held_out_records_serve_as_controls(tmp_path: Path, run_here: RunHere) -> None:
    write(tmp_path / "baskets.dat", baskets(carts(80)))
    options = (*QUICK, "--hold-out", "0.25", "--seed", SEED, "--keep", "rows,key")
    ended = run_here("anonymize", "baskets.dat", *options, "-o", "out", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    held_out = (tmp_path / "out" / "private" / "held-out.csv").read_text().splitlines()[1:]
    assert len(held_out) == 20
    manifest = json.loads((tmp_path / "out" / "publish" / "manifest.json").read_text())
    assert manifest["records"] == {"in": 60, "out": 60, "suppressed": 0, "held_out": 20}
    assert "whether a known record is in the release" in (tmp_path / "out" / "private" / "report.html").read_text()
    refused = run_here("check", "out", "--original", "baskets.dat", cwd=tmp_path)
    assert (refused.code, "--private" in refused.stderr) == (POLICY, True)
    assert run_here("check", "out", *EVIDENCE, cwd=tmp_path).code == 0
    attack = ("attack", "out", *EVIDENCE, "--attack", "membership", "--json")
    found = json.loads(run_here(*attack, cwd=tmp_path).stdout)["attacks"][0]
    assert (found["main"]["attempts"], found["control"]["attempts"]) == (60, 20)
    write(tmp_path / "unseen.dat", baskets(carts(33, seed=9)))
    found = json.loads(run_here(*attack, "--control", "unseen.dat", cwd=tmp_path).stdout)["attacks"][0]
    assert found["control"]["attempts"] == 33


def test_attacks_are_told_written_and_put_into_the_report(here: Path, run_here: RunHere) -> None:
    report = here / "out" / "private" / "report.html"
    before = report.read_text()
    assert "known records" in before[before.index("Not run:") :]
    ended = run_here("attack", "out/publish", *EVIDENCE, "-o", "results.json", cwd=here)
    assert (ended.code, ended.stderr) == (0, "")
    assert re.search(r"fails  recovery-programme: With the key, 0 of 60 records were recovered whole", ended.stdout)
    assert "not run  membership" in ended.stdout
    results = json.loads((here / "results.json").read_text())
    assert [a["attack"] for a in results["attacks"]][:3] == ["recovery-programme", "matching-pursuit", "known-pairs"]
    assert [a["attack"] for a in results["not_run"]] == ["membership"]
    after = report.read_text()
    assert after.count("What attackers got") == before.count("What attackers got") == 1
    assert "pairs of record and sketch" in after
    assert "pairs of record and sketch" not in before
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    key = (here / "out" / "private" / "key.txt").read_text().strip()
    for shown in (ended.stdout, after, (here / "results.json").read_text()):
        assert key not in shown
        assert SECRET not in shown
    again = run_here("attack", "out/publish", *EVIDENCE, "-o", "results.json", cwd=here)
    assert (again.code, "results.json exists" in again.stderr) == (1, True)


def test_without_secrets_few_attacks_are_left(made: tuple[Path, Ended], run_here: RunHere) -> None:
    ended = run_here("attack", "out/publish", "--original", "baskets.dat", cwd=made[0])
    assert ended.code == 0, ended.stderr
    assert "not run  recovery-programme: It assumes that the key leaked" in ended.stdout
    report = (made[0] / "out" / "private" / "report.html").read_text()
    assert "With the key" in report, "an attack without --private leaves the report alone"


def test_what_is_suppressed_is_said(tmp_path: Path, run_here: RunHere) -> None:
    rows = table(carts(40)) + f"x,,a\ny,{SECRET},b\nz,ware00;ware01;ware02;ware03;ware04;ware05,lonely\n"
    write(tmp_path / "data.csv", rows)
    options = (*QUICK, "--column", "cart", "--class-column", "group", "--delimiter", ";")
    ended = run_here("anonymize", "data.csv", *options, "-o", "out", "--json", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["suppressed_because"] == {"empty": 1, "small_class": 1, "too_short": 1}
    assert "lonely" not in ended.stdout
    published = contents(tmp_path / "out" / "publish")
    assert not any(b"lonely" in content for content in published.values())
    manifest = json.loads(published["manifest.json"])
    assert manifest["suppressed_because"] == {n: {"from": 1, "to": 4} for n in told["suppressed_because"]}
    assert manifest["records"] == {"in": {"from": 43, "to": 52}, "out": 40, "suppressed": {"from": 3, "to": 12}}


def test_a_profile_says_what_it_found(tmp_path: Path, run_here: RunHere) -> None:
    write(tmp_path / "baskets.dat", baskets([*CARTS, CARTS[0][::-1], []]))
    ended = run_here("profile", "baskets.dat", "--kind", "sparse", "-o", "mine.toml", cwd=tmp_path)
    assert (ended.code, ended.stderr) == (0, "")
    assert "62 records with 8 to 15 items" in ended.stdout
    assert "1 records are empty, 1 are equal to another one" in ended.stdout
    assert SECRET not in ended.stdout
    assert "mine.toml" in ended.stdout
    text = (tmp_path / "mine.toml").read_text()
    assert SECRET not in text
    again = run_here("profile", "baskets.dat", "--kind", "sparse", "-o", "mine.toml", cwd=tmp_path)
    assert (again.code, "mine.toml exists" in again.stderr) == (1, True)
    assert (tmp_path / "mine.toml").read_text() == text


def test_the_key_may_be_told_by_its_folder_and_must_be_there(here: Path, run_here: RunHere) -> None:
    ended = run_here("anonymize", "baskets.dat", *QUICK, "--key", "out/private", "-o", "again", cwd=here)
    assert ended.code == 0, ended.stderr
    assert sketches_of(here / "again" / "publish") == sketches_of(here / "out" / "publish")
    ended = run_here("anonymize", "baskets.dat", *QUICK, "--key", "out/publish", "-o", "third", cwd=here)
    assert (ended.code, "--keep key" in ended.stderr) == (DATA, True)
    assert not (here / "third").exists()
