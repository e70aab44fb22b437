"""Strings on the command line: what comes out, what is said, what is refused, and what is kept back."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import stat
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.command import (
    DATA,
    INFEASIBLE,
    NOT_VERIFIED,
    OTHER,
    POLICY,
    SECRET,
    Arguments,
    Case,
    RunHere,
    assert_refused,
    leftovers,
    write,
)

pytestmark = pytest.mark.unattacked

RNG = np.random.default_rng(3)
FAMILIES = ["".join(RNG.choice(list("ACDEFGHIKLMNPQRSTVWY"), 40)) for _ in range(2)]


def mutate(template: str, seed: int) -> str:
    """A string like the template: a third of its letters are others, and it may be shorter."""
    rng = np.random.default_rng(seed)
    letters = np.array(list(template))
    changed = rng.random(len(letters)) < 0.33
    letters[changed] = rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), int(changed.sum()))
    return "".join(letters[: int(rng.integers(30, 41))])


STRINGS = [mutate(FAMILIES[i % 2], i) for i in range(60)]
FASTA = "".join(f">sp|{SECRET}{i}|person {i} family={'ab'[i % 2]} x\n{s}\n" for i, s in enumerate(STRINGS))
TOKENS = [" ".join(f"page{p}" for p in np.random.default_rng(i).integers(0, 12, 9)) for i in range(80)]
TABLE = "id,class,sequence\n" + "".join(f"{SECRET}{i},{'+-'[i % 2]},{s}\n" for i, s in enumerate(STRINGS))


def read_fasta(text: str) -> Iterator[tuple[str, str]]:
    """Name and sequence of each record: an ordinary reader, which shares nothing with the package's."""
    name, parts = None, []
    for line in text.splitlines():
        if line.startswith(">"):
            if name is not None:
                yield name, "".join(parts)
            name, parts = line[1:], []
        elif line:
            parts.append(line)
    assert name is not None
    yield name, "".join(parts)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    write(tmp_path / "proteins.fasta", FASTA)
    write(tmp_path / "clicks.txt", "\n".join(TOKENS) + "\n")
    write(tmp_path / "genes.csv", TABLE)
    return tmp_path


def everything(folder: Path) -> str:
    texts = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            texts.append((gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8", "replace"))
    return "\n".join(texts)


def test_fasta_needs_no_option(here: Path, run_here: RunHere) -> None:
    ended = run_here("anonymize", "proteins.fasta", "-k", "10", "-o", "out", cwd=here)
    assert ended.code == 0, ended.stderr
    assert ended.stderr == ""
    assert "60 pseudo-strings published for 60 strings, drawn from" in ended.stdout
    assert "No string was suppressed" in ended.stdout
    records = list(read_fasta((here / "out" / "publish" / "data.fasta").read_text()))
    assert len(records) == 60
    assert [name for name, _ in records] == [f"pseudo_{i:06d}" for i in range(1, 61)]
    assert not {s for _, s in records} & set(STRINGS)
    assert {len(s) for _, s in records} <= set(range(30, 41))
    assert sorted(p.name for p in (here / "out" / "publish").iterdir()) == [
        "data.fasta",
        "datasheet.html",
        "manifest.json",
    ]


def test_nothing_of_an_original_is_published(here: Path, run_here: RunHere) -> None:
    options = ("-k", "10", "--label", "family=(.)", "--keep", "groups,statistics", "--seed", "743017430174301")
    assert run_here("anonymize", "proteins.fasta", *options, "-o", "out", cwd=here).code == 0
    published = everything(here / "out" / "publish")
    for secret in (SECRET, "person 1", "743017430174301", "proteins", str(here), "family="):
        assert secret not in published, secret
    assert not any(s in published for s in STRINGS)
    manifest = json.loads((here / "out" / "publish" / "manifest.json").read_text())
    assert manifest["kind"] == "strings"
    assert manifest["records"] == {"in": 60, "out": 60, "suppressed": 0}
    assert "seed" not in json.dumps(manifest)
    assert "details" not in manifest["guarantees"][0]
    assert SECRET not in everything(here / "out" / "private")
    for name in ("report.html", "report.json"):
        assert not any(s in (here / "out" / "private" / name).read_text() for s in STRINGS)
    private = here / "out" / "private"
    assert {stat.S_IMODE(p.stat().st_mode) for p in private.iterdir()} == {0o600}
    assert sorted(p.name for p in private.iterdir()) == [
        "attacks.json",
        "groups.csv",
        "published-groups.csv",
        "report.html",
        "report.json",
        "statistics.npz",
        "template-lengths.csv",
    ]


@pytest.mark.parametrize("lengths", ["template", "spread"])
def test_a_release_holds_in_a_check(here: Path, run_here: RunHere, lengths: str) -> None:
    options = ("--label", "family=(.)", "--lengths", lengths, "--keep", "groups")
    assert run_here("anonymize", "proteins.fasta", "-k", "10", *options, "-o", "out", cwd=here).code == 0
    alone = run_here("check", "out/publish", cwd=here)
    assert (alone.code, "not verified" in alone.stdout) == (NOT_VERIFIED, True)
    original = ("--original", "proteins.fasta", "--label", "family=(.)")
    whole = run_here("check", "out", *original, "--private", "out/private", "--json", cwd=here)
    assert whole.code == 0, whole.stdout
    found = json.loads(whole.stdout)
    assert found["holds"]
    assert [g["model"] for g in found["guarantees"]] == [
        "string-condensation",
        "context-support",
        "no-copies",
        "near-copies",
        "rare-symbols",
    ]
    without_classes = run_here("check", "out", "--original", "proteins.fasta", cwd=here)
    assert (without_classes.code, "classes" in without_classes.stdout) == (NOT_VERIFIED, True)


def test_a_stricter_policy_is_not_met(here: Path, run_here: RunHere) -> None:
    assert run_here("anonymize", "proteins.fasta", "-k", "10", "--keep", "groups", "-o", "out", cwd=here).code == 0
    write(here / "strict.toml", 'kind = "strings"\n[[require]]\nmodel = "k-anonymity"\nk = 1000\n')
    evidence = ("--original", "proteins.fasta", "--private", "out/private")
    ended = run_here("check", "out", *evidence, "-p", "strict.toml", cwd=here)
    assert (ended.code, "FAILS  Condensation fails" in ended.stdout) == (NOT_VERIFIED, True)


def test_an_original_smuggled_in_is_found(here: Path, run_here: RunHere) -> None:
    assert run_here("anonymize", "proteins.fasta", "-k", "10", "-o", "out", cwd=here).code == 0
    data = here / "out" / "publish" / "data.fasta"
    data.write_text(data.read_text() + f">{SECRET}\n{STRINGS[0]}\n")
    ended = run_here("check", "out", "--original", "proteins.fasta", cwd=here)
    assert ended.code == NOT_VERIFIED
    assert "1 published string equals an original" in ended.stdout
    assert "1 description in data.fasta cannot come from a release" in ended.stdout
    assert "its checksum differs" in ended.stdout
    assert "there are 61 strings, the manifest says 60" in ended.stdout
    assert SECRET not in ended.stdout


def test_names_that_tell_more_than_the_row_are_found(here: Path, run_here: RunHere) -> None:
    assert run_here("anonymize", "proteins.fasta", "-k", "10", "-o", "out", cwd=here).code == 0
    data = here / "out" / "publish" / "data.fasta"
    assert "cannot come from a release" not in run_here("check", "out", cwd=here).stdout
    data.write_text(data.read_text().replace(">pseudo_000002", ">pseudo_19700512"))
    ended = run_here("check", "out", cwd=here)
    assert "1 description in data.fasta cannot come from a release" in ended.stdout
    assert "19700512" not in ended.stdout


@pytest.mark.parametrize("how", ["changed", "put in", "left out"])
def test_near_copies_smuggled_in_are_found_though_the_checksum_was_mended(
    here: Path, run_here: RunHere, how: str
) -> None:
    assert run_here("anonymize", "proteins.fasta", "-k", "10", "-o", "out", cwd=here).code == 0
    publish = here / "out" / "publish"
    lines = (publish / "data.fasta").read_text().splitlines()
    for i, at in enumerate([n for n, line in enumerate(lines) if not line.startswith(">")][:3]):
        text = STRINGS[5 * i]
        lines[at] = text[:9] + {"changed": "L" if text[9] != "L" else "S", "put in": "L" + text[9], "left out": ""}[how]
        lines[at] += text[10:]
    (publish / "data.fasta").write_text("\n".join(lines) + "\n")
    manifest = json.loads((publish / "manifest.json").read_text())
    assert manifest["near_copies"] == 0
    manifest["checksums"]["data.fasta"] = hashlib.sha256((publish / "data.fasta").read_bytes()).hexdigest()
    (publish / "manifest.json").write_text(json.dumps(manifest))
    ended = run_here("check", "out", "--original", "proteins.fasta", cwd=here)
    assert ended.code == NOT_VERIFIED
    assert "checksum" not in ended.stdout
    assert (
        "3 published strings equal an original that fewer than 10 hold, or all but one symbol of it, and the manifest"
        in " ".join(ended.stdout.split())
    )


def test_copies_can_be_allowed_and_that_is_told(here: Path, run_here: RunHere) -> None:
    codes = ["".join(code) for code in product("AB", repeat=4)] * 5
    write(here / "codes.txt", "\n".join(codes) + "\n")
    start = ("anonymize", "codes.txt", "--kind", "strings", "--format", "lines", "-k", "10", "--seed", "1")
    drawn_again = run_here(*start, "-o", "again", cwd=here)
    assert drawn_again.code == INFEASIBLE  # there are no other codes
    assert 'copies = "allow"' in drawn_again.stderr
    ended = run_here(*start, "--copies", "allow", "-o", "out", cwd=here)
    assert ended.code == 0, ended.stderr
    told = " ".join(ended.stdout.split())
    assert "Copies are allowed, so a published string may be a person's own" in told
    assert "No published string equals" not in told
    assert set((here / "out" / "publish" / "data.txt").read_text().split()) <= set(codes)
    checked = " ".join(run_here("check", "out", "--original", "codes.txt", cwd=here).stdout.split())
    assert "FAILS" not in checked
    assert "Copies are allowed" in checked
    refused = run_here(*start, "--copies", "drop", "-o", "bad", cwd=here)
    assert (refused.code, "copies" in refused.stderr, "redraw" in refused.stderr) == (POLICY, True, True)


def test_a_column_with_classes(here: Path, run_here: RunHere) -> None:
    options = ("--kind", "strings", "--column", "sequence", "--class-column", "class", "-k", "10", "--keep", "groups")
    ended = run_here("anonymize", "genes.csv", *options, "-o", "out", cwd=here)
    assert ended.code == 0, ended.stderr
    lines = (here / "out" / "publish" / "data.csv").read_text().splitlines()
    assert lines[0] == "sequence,class"
    # A spreadsheet would run + and - as formulas.
    assert sorted({line.rpartition(",")[2] for line in lines[1:]}) == ["'+", "'-"]
    assert SECRET not in everything(here / "out")
    checked = run_here("check", "out", "--original", "genes.csv", "--private", "out/private", cwd=here)
    assert checked.code == 0, checked.stdout
    assert "Telling the classes apart" in (here / "out" / "private" / "report.html").read_text()
    write(here / "out" / "publish" / "data.csv", "id," + "\n1,".join(lines) + "\n")
    spoiled = run_here("check", "out", "--original", "genes.csv", cwd=here)
    assert "the data has a column 'id' that the manifest does not know" in spoiled.stdout


def test_tokens_by_a_policy_file(here: Path, run_here: RunHere) -> None:
    text = (
        'kind = "strings"\n[input]\nformat = "tokens"\n[[require]]\nmodel = "k-anonymity"\nk = 8\n[method]\norder = 3\n'
    )
    write(here / "policy.toml", text)
    assert run_here("anonymize", "clicks.txt", "-p", "policy.toml", "-o", "out", cwd=here).code == 0
    options = ("--kind", "strings", "--format", "tokens", "-k", "8", "--order", "3")
    for name in "ab":
        assert run_here("anonymize", "clicks.txt", *options, "--seed", "5", "-o", name, cwd=here).code == 0
    lines = (here / "out" / "publish" / "data.txt").read_text().splitlines()
    assert lines
    assert not set(lines) & set(TOKENS)
    assert {t for line in lines for t in line.split()} <= {t for line in TOKENS for t in line.split()}
    assert everything(here / "a" / "publish") == everything(here / "b" / "publish")


def test_gzip_comes_back(here: Path, run_here: RunHere) -> None:
    write(here / "p.fasta.gz", gzip.compress(FASTA.encode()))
    assert run_here("anonymize", "p.fasta.gz", "-k", "10", "-o", "out", cwd=here).code == 0
    with gzip.open(here / "out" / "publish" / "data.fasta.gz", "rt") as file:
        assert len(list(read_fasta(file.read()))) == 60


def test_what_is_suppressed_is_said(here: Path, run_here: RunHere) -> None:
    write(here / "odd.fasta", FASTA + ">long\n" + "ACDEFGHIKL" * 90 + "\n>none\n")
    ended = run_here("anonymize", "odd.fasta", "-k", "10", "--seed", "3", "-o", "out", cwd=here)
    assert ended.code == 0, ended.stderr
    assert "2 of 62 strings were suppressed: 1 is empty; 1 has a length that fewer than 10" in ended.stdout
    assert "Those left out for their length have 900 to 900 symbols" in ended.stdout
    manifest = json.loads((here / "out" / "publish" / "manifest.json").read_text())
    few = {"from": 1, "to": 9}
    assert manifest["suppressed_because"] == {"empty": few, "length": few}
    assert not re.search(r"(?<![\w.])900\b", everything(here / "out" / "publish")), "within a checksum it may stand"
    assert "have 900 to 900 symbols" in (here / "out" / "private" / "report.html").read_text()


def test_a_profile_becomes_a_policy_and_a_release(here: Path, run_here: RunHere) -> None:
    ended = run_here("profile", "proteins.fasta", "--label", "family=(.)", cwd=here)
    assert ended.code == 0, ended.stderr
    assert "60 strings of characters (protein); lengths from 30 to 40" in ended.stdout
    assert "2 classes: a (30), b (30)" in ended.stdout
    assert run_here("anonymize", "proteins.fasta", "-p", "policy.toml", "-o", "out", cwd=here).code == 0
    records = read_fasta((here / "out" / "publish" / "data.fasta").read_text())
    assert {name.partition(" ")[2] for name, _ in records} == {"class=a", "class=b"}
    told = json.loads(
        run_here("profile", "genes.csv", "--kind", "strings", "--column", "sequence", "--json", cwd=here).stdout
    )
    assert (told["kind"], told["strings"], told["lengths"]["longest"]) == ("strings", 60, 40)


def test_json_says_everything(here: Path, run_here: RunHere) -> None:
    ended = run_here("anonymize", "proteins.fasta", "-k", "10", "-o", "out", "--json", cwd=here)
    told = json.loads(ended.stdout)
    assert told["records"]["out"] == 60
    assert told["verbatim"]["published"]["n_whole"] == 0
    assert 0 <= told["utility"]["composition"]["difference"] <= 2
    assert all(g["holds"] for g in told["guarantees"])


def case(name: str, code: int, says: str, *arguments: str | Path) -> Case:
    def build(folder: Path) -> Arguments:
        return list(arguments)

    return Case(name, build, code, says)


OUT = ("-o", "out")
REFUSED = [
    case("k of all", INFEASIBLE, "60 strings, fewer than k = 61", "anonymize", "proteins.fasta", "-k", "61", *OUT),
    case("k of one", POLICY, "k: it must be greater than or equal to 2", "anonymize", "proteins.fasta", "-k", "1", *OUT),
    case("eps", POLICY, "method.eps: it must be", "anonymize", "proteins.fasta", "--eps", "-1", *OUT),
    case("order", POLICY, "method.order: it must be", "anonymize", "proteins.fasta", "--order", "0", *OUT),
    case("lengths", POLICY, "the choices are 'template', 'spread'", "anonymize", "proteins.fasta", "--lengths", "any", *OUT),
    case("format", POLICY, "did you mean 'tokens'", "anonymize", "clicks.txt", "--kind", "strings", "--format", "token", *OUT),
    case("lengths apart", INFEASIBLE, "lengths alike", "anonymize", "apart.txt", "--kind", "strings", "-k", "3", "--rare", "1", *OUT),
    case("no column", DATA, "name the column", "anonymize", "genes.csv", "--kind", "strings", *OUT),
    case("other column", DATA, "did you mean 'sequence'", "anonymize", "genes.csv", "--kind", "strings", "--column", "sequenze", *OUT),
    case("other class", DATA, "did you mean 'class'", "anonymize", "genes.csv", "--kind", "strings", "--column", "sequence", "--class-column", "clas", *OUT),
    case("no group", POLICY, "one pair of parentheses", "anonymize", "proteins.fasta", "--label", "family=.", *OUT),
    case("no class found", DATA, "finds no class", "anonymize", "proteins.fasta", "--label", "species=(.)", *OUT),
    case("alphabet", DATA, "not in the alphabet", "anonymize", "proteins.fasta", "--alphabet", "dna", *OUT),
    case("empty file", DATA, "empty", "anonymize", "empty.fasta", "--kind", "strings", *OUT),
    case("no file", DATA, "there is no such file", "anonymize", "nowhere.fasta", *OUT),
    case("table option", POLICY, "--quasi is for tables", "anonymize", "proteins.fasta", "--quasi", "age", *OUT),
    case("table hierarchy", POLICY, "--hierarchy is for tables", "anonymize", "proteins.fasta", "--hierarchy", "a=b", *OUT),
    case("table -l", POLICY, "-l is for tables", "anonymize", "proteins.fasta", "-l", "2", *OUT),
    case("string option", POLICY, "--eps is for strings", "anonymize", "genes.csv", "--eps", "1", *OUT),
    case("kind and policy", POLICY, "--kind strings does not go with", "anonymize", "genes.csv", "--kind", "strings", "-p", "table.toml", *OUT),
    case("table policy", POLICY, "the data is strings", "anonymize", "proteins.fasta", "-p", "table.toml", *OUT),
    case("policy key", POLICY, "bad.toml, line 3: there is no key 'method.suport'; did you mean 'support'", "anonymize", "proteins.fasta", "-p", "bad.toml", *OUT),
    case("policy model", POLICY, "cannot be 'l-diversity'", "anonymize", "proteins.fasta", "-p", "diverse.toml", *OUT),
    case("keep", POLICY, "cannot keep 'mapping'", "anonymize", "proteins.fasta", "-k", "10", "--keep", "mapping", *OUT),
    case("occupied", OTHER, "is not empty", "anonymize", "proteins.fasta", "-o", "."),
    case("sweep of few", DATA, "takes 120 or more", "sweep", "proteins.fasta"),
    case("sweep of a table's", POLICY, "effort cannot be tried on strings", "sweep", "proteins.fasta", "--effort", "best"),
    case("sweep by a word", POLICY, "did you mean 'markov'", "sweep", "proteins.fasta", "--method", "markow"),
    case("sweep by a measure", POLICY, "did you mean 'pairs'", "sweep", "proteins.fasta", "--measure", "pair"),
    case("sweep for a target", POLICY, "a target is a column of a table", "sweep", "proteins.fasta", "--target", "x"),
    case("profile of nothing", DATA, "empty|no string", "profile", "empty.fasta", "--kind", "strings"),
    case("all alike", INFEASIBLE, "equals an original", "anonymize", "alike.txt", "--kind", "strings", "-k", "30", *OUT),
    case("only rare", INFEASIBLE, "no symbol is held by", "anonymize", "rare.txt", "--kind", "strings", "--format", "tokens", "-k", "2", *OUT),
]  # fmt: skip


@pytest.mark.parametrize("refused", REFUSED, ids=lambda c: c.name)
def test_bad_input_is_one_sentence(here: Path, run_here: RunHere, refused: Case) -> None:
    write(here / "empty.fasta", "")
    write(here / "apart.txt", "".join("A" * 10**i + "\n" for i in range(5)))
    write(here / "alike.txt", "abc\nacb\n" * 15)
    write(here / "rare.txt", "a b\nc d\ne f\n")
    write(here / "table.toml", 'kind = "table"\n[[require]]\nmodel = "k-anonymity"\nk = 3\n')
    write(here / "bad.toml", 'kind = "strings"\n[method]\nsuport = 2\n')
    write(here / "diverse.toml", 'kind = "strings"\n[[require]]\nmodel = "l-diversity"\nl = 2\n')
    before = sorted(p.name for p in here.iterdir())
    ended = run_here(*refused.build(here), cwd=here)
    assert_refused(ended, refused, here)
    assert sorted(p.name for p in here.iterdir()) == before


def test_spoiled_folders_are_told(here: Path, run_here: RunHere) -> None:
    assert run_here("anonymize", "proteins.fasta", "-k", "10", "--keep", "groups", "-o", "out", cwd=here).code == 0
    manifest = here / "out" / "publish" / "manifest.json"
    content = json.loads(manifest.read_text())
    for change in ({"format": "tables"}, {"require": []}, {"method": {}}, {"data": "../x"}, {"alphabet": 3}):
        manifest.write_text(json.dumps({**content, **change}))
        ended = run_here("check", "out", cwd=here)
        assert (ended.code, "is not the manifest" in ended.stderr) == (DATA, True), change
    manifest.write_text(json.dumps(content))
    (here / "out" / "private" / "template-lengths.csv").write_text("published_row,length\n1,3\n")
    ended = run_here("check", "out", "--original", "proteins.fasta", "--private", "out/private", cwd=here)
    assert (ended.code, "restore both" in ended.stderr) == (DATA, True)
    write(here / "table.toml", 'kind = "table"\n')
    ended = run_here("check", "out", "-p", "table.toml", cwd=here)
    assert (ended.code, "the folder holds strings" in ended.stderr) == (POLICY, True)
    shutil.rmtree(here / "out" / "private")
    ended = run_here("check", "out", "--private", "out/private", cwd=here)
    assert (ended.code, "--keep groups" in ended.stderr) == (DATA, True)
    assert leftovers(here) == []


@pytest.mark.slow
def test_the_human_proteins_open_in_an_ordinary_reader(shared_data: Path, tmp_path: Path, run_here: RunHere) -> None:
    human = shared_data / "swissprot" / "human.fasta.gz"
    ended = run_here("anonymize", human, "-k", "20", "--workers", "2", "-o", tmp_path / "out")
    assert ended.code == 0, ended.stderr
    assert re.search(r"\d+ of 9,076 strings were suppressed: \d+ have lengths that fewer than 20", ended.stdout)
    with gzip.open(tmp_path / "out" / "publish" / "data.fasta.gz", "rt") as file:
        published = dict(read_fasta(file.read()))
    with gzip.open(human, "rt") as file:
        originals = {s for _, s in read_fasta(file.read())}
    assert len(published) > 9000
    assert not originals & set(published.values())
    assert {c for s in published.values() for c in s} <= set("ACDEFGHIKLMNPQRSTVWY")
    assert (tmp_path / "out" / "private" / "report.html").stat().st_size < 1_000_000
