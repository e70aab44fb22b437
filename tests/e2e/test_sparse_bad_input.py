"""Whatever is wrong with sparse records, keys or folders of sketches ends in one sentence, with nothing written."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import shoal
from tests.e2e.command import (
    DATA,
    INFEASIBLE,
    NOT_VERIFIED,
    OTHER,
    POLICY,
    SECRET,
    Arguments,
    Build,
    Case,
    Ended,
    RunHere,
    assert_refused,
    leftovers,
    write,
)
from tests.e2e.sparse_samples import baskets, carts, svmlight, table

CARTS = carts(40)
BASKETS, SVMLIGHT, TABLE = baskets(CARTS), svmlight(CARTS), table(CARTS)
PACKED = gzip.compress(BASKETS.encode(), mtime=0)
SPARSE = ("--kind", "sparse")
SKETCH = (*SPARSE, "--publish", "sketch")
COLUMN = (*SKETCH, "--column", "cart", "--delimiter", ";")


def data(content: str | bytes, *options: str, name: str = "baskets.dat") -> Build:
    """The usual command on a file of this content."""

    def build(folder: Path) -> Arguments:
        write(folder / name, content)
        return ["anonymize", name, "-o", "out", *(options or (*SKETCH, "-k", "3"))]

    return build


def svm(line: str) -> Build:
    """An SVMlight file whose last line is this one."""
    return data(SVMLIGHT + line + "\n", *SPARSE, "--format", "svmlight", "-k", "3", name="data.svm")


def rows(content: str, *options: str) -> Build:
    return data(content, *COLUMN, *options, name="data.csv")


def usual(*options: str) -> Build:
    return data(BASKETS, *SKETCH, *options)


def policy(text: str, *options: str) -> Build:
    def build(folder: Path) -> Arguments:
        write(folder / "policy.toml", text)
        return [*data(BASKETS, "-p", "policy.toml", *options)(folder)]

    return build


def key(content: str | bytes | None, *options: str) -> Build:
    """The usual command with a key file of this content, or with a folder in its place."""

    def build(folder: Path) -> Arguments:
        if content is not None:
            write(folder / "key.txt", content)
        return usual("--key", "key.txt", *options)(folder)

    return build


def nested(folder: Path) -> Arguments:
    write(folder / "texts" / "a" / "deeper" / "one.txt", "some words")
    return ["anonymize", "texts", *SPARSE, "-o", "out"]


def mixed(folder: Path) -> Arguments:
    write(folder / "texts" / "a" / "one.txt", "some words")
    write(folder / "texts" / "two.txt", "other words")
    return ["anonymize", "texts", *SPARSE, "-o", "out"]


def bare(folder: Path) -> Arguments:
    (folder / "texts").mkdir()
    return ["anonymize", "texts", *SPARSE, "-o", "out"]


BAD_DATA = [
    Case("empty file", data(""), DATA, "is empty"),
    Case("one record", data("a b c d e\n"), INFEASIBLE, "1 records? with items.* k = 3"),
    Case("one record, delta", data("a b c d e\n", *SPARSE, "--model", "delta"), INFEASIBLE, "no record can be published"),
    Case("only empty baskets", data("\n" * 30, *SPARSE, "--model", "delta"), DATA, "blank lines"),
    Case("only blanks", data(" \n" * 30), DATA, "blank lines"),
    Case("fewer than k", usual("-k", "40"), INFEASIBLE, "40 records with items.* k = 40"),
    Case("delta too large", usual("--delta", "1000"), INFEASIBLE, "lower delta"),
    Case("all equal", data("a b c d e f g h\n" * 40), INFEASIBLE, "40 have too few items.* recovery cap"),
    Case("NUL byte", data(BASKETS.replace("ware01", "wa\0e01", 1)), DATA, r"line \d+: holds a NUL byte"),
    Case("UTF-16 without a mark", data(BASKETS.encode("utf-16-le")), DATA, "NUL byte"),
    Case("gzip cut short", data(PACKED[:-20], *SPARSE, name="b.dat.gz"), DATA, "cut short|damaged"),
    Case("gzip with garbage behind", data(PACKED + b"garbage", *SPARSE, name="b.dat.gz"), DATA, "damaged"),
    Case("gzip with wrong bits", data(PACKED[:60] + b"\0\0\0\0" + PACKED[64:], *SPARSE, name="b.gz"), DATA, "damaged|cut short"),
    Case("no such file", lambda f: ["anonymize", "absent.dat", *SPARSE, "-o", "out"], DATA, "no such file"),
    Case("a device", lambda f: ["anonymize", "/dev/zero", *SPARSE, "-o", "out"], DATA, "device"),
    Case("svmlight: nan", svm("1 1:nan"), DATA, "line 41: .*plain numbers"),
    Case("svmlight: inf", svm("1 1:inf"), DATA, "line 41: .*plain numbers"),
    Case("svmlight: 1e400", svm("1 1:1e400"), DATA, "line 41: .*no finite number"),
    Case("svmlight: huge weight", svm("1 1:3000000000"), DATA, r"line 41: .*2\*\*31"),
    Case("svmlight: tiny weight", svm("1 1:1e-300"), DATA, "line 41: .*between"),
    Case("svmlight: no value", svm("1 1:"), DATA, "line 41: .*index:value"),
    Case("svmlight: no number", svm(f"1 {SECRET}:1"), DATA, "line 41: .*index:value"),
    Case("svmlight: negative index", svm("1 -1:1"), DATA, "line 41: .*index:value"),
    Case("svmlight: index twice", svm("1 2:1 2:3"), DATA, "line 41: .*twice"),
    Case("svmlight: two labels", svm("1,2 2:1"), DATA, "line 41: .*one label"),
    Case("svmlight: no label", svm("2:1 3:1"), DATA, "line 41: .*label"),
    Case("svmlight: comments only", data("# a\n# b\n", *SPARSE, "--format", "svmlight"), DATA, "nothing but comments"),
    Case("unknown column", data(TABLE, *SPARSE, "--column", "cartt", name="d.csv"), DATA, "did you mean 'cart'"),
    Case("unknown class", rows(TABLE, "--class-column", "grup"), DATA, "did you mean 'group'"),
    Case("column not named", data(TABLE, *SPARSE, name="d.csv"), DATA, "name the column"),
    Case("class of itself", rows(TABLE, "--class-column", "cart"), DATA, "cannot be both"),
    Case("missing class", rows(TABLE + "x,ware01;ware02,\n", "--class-column", "group"), DATA, "row 41 .*holds no class"),
    Case("header only", rows("id,cart,group\n"), DATA, "header but no rows"),
    Case("classes too small", rows(TABLE, "--class-column", "id", "-k", "3"), INFEASIBLE, "classes of fewer than 5.*leave out the classes"),
    Case("no words", data("id,cart\n1,a\n2,b\n", *SPARSE, "--format", "text", "--column", "cart", name="d.csv"), DATA, "no text holds"),
    Case("folder in a class", nested, DATA, "folder inside the folder"),
    Case("files and folders", mixed, DATA, "both files and folders"),
    Case("folder of nothing", bare, DATA, "holds no files"),
    Case("file for a folder", usual("--format", "folder"), DATA, "is a file"),
]  # fmt: skip

BAD_OPTIONS = [
    Case("k of 0", usual("-k", "0"), POLICY, "k: it must be greater than or equal to 1"),
    Case("delta of 0", usual("--delta", "0"), POLICY, "delta: it must be greater than 0"),
    Case("delta of nothing", usual("--delta", "nan"), POLICY, "delta: it"),
    Case("model", usual("--model", "k-anonymity"), POLICY, "take 'k-variance' or 'delta'"),
    Case("k of delta", usual("--model", "delta", "-k", "3"), POLICY, "k is for the model k-variance"),
    Case("threshold", usual("--threshold", "root"), POLICY, "'sqrt', 'difference'"),
    Case("metric", usual("--metric", "cosin"), POLICY, "did you mean 'cosine'"),
    Case("components", usual("--max-components", "0"), POLICY, "max_components: it must be"),
    Case("weights", usual("--weights", "tfidf"), POLICY, "'tfidf' are for text"),
    Case("delimiter", usual("--delimiter", ";;"), POLICY, "delimiter"),
    Case("column of baskets", usual("--format", "baskets", "--column", "a"), POLICY, "a column is for tables"),
    Case("table option", usual("--quasi", "age"), POLICY, "--quasi is for tables and linked tables, .*sparse records; leave it out"),
    Case("table method", usual("--method", "mdav"), POLICY, "--method is for tables"),
    Case("table hierarchy", usual("--hierarchy", "a=b"), POLICY, "--hierarchy is for tables"),
    Case("cluster", usual("--cluster", "tcp://127.0.0.1:1"), POLICY, "cluster is for tables, strings.* leave it out"),
    Case("workers", usual("--workers", "2"), POLICY, "workers = 2 is for tables, strings"),
    Case("pool", usual("--pool", "processes"), POLICY, "pool = 'processes' is for tables, strings"),
    Case("string option", usual("--eps", "1"), POLICY, "--eps is for strings"),
    Case("string label", usual("--label", "x"), POLICY, "--label is for strings"),
    Case("no kind", data(BASKETS, "--delta", "1"), POLICY, "--delta is for sparse records.* --kind sparse"),
    Case("table policy", policy('kind = "table"\n', "--kind", "sparse"), POLICY, "--kind sparse does not go with policy.toml, which is for tables"),
    Case("policy key", policy('kind = "sparse"\n[method]\nmax_component = 2\n'), POLICY, "line 3: .*did you mean 'max_components'"),
    Case("policy model", policy('kind = "sparse"\n[[require]]\nmodel = "l-diversity"\nk = 3\n'), POLICY, "no privacy model 'l-diversity'"),
    Case("policy twice", policy('kind = "sparse"\n[[require]]\nmodel = "k-variance"\n[[require]]\nmodel = "k-variance"\n'), POLICY, "twice"),
    Case("keep", usual("-k", "3", "--keep", "groups"), POLICY, "cannot keep 'groups'"),
    Case("hold out all", usual("--hold-out", "1"), POLICY, "between 0 and 1"),
    Case("hold out few", usual("--hold-out", "0.1"), POLICY, "fewer than 10"),
    Case("seed", usual("--seed", "-1"), POLICY, "the seed is not a whole number from 0 on"),
    Case("occupied", lambda f: [*usual("-k", "3")(f)[:2], "-o", ".", *SPARSE], OTHER, "is not empty"),
    Case("no key", key(None), DATA, "there is no key key.txt"),
    Case("short key", key("00ff\n"), DATA, "not a key of 32 bytes"),
    Case("long key", key("00" * 33), DATA, "not a key of 32 bytes"),
    Case("key of letters", key(SECRET), DATA, "cannot be read as a key"),
    Case("key of bytes", key(bytes(range(256))), DATA, "cannot be read as a key"),
    Case("key of nothing", key(""), DATA, "not a key of 32 bytes"),
    Case("key for strings", lambda f: ["anonymize", write(f / "b.dat", BASKETS).name, "--kind", "strings", "--key", write(f / "key.txt", "00" * 32).name, "-o", "out"], POLICY, "key"),
    Case("sweep of few", lambda f: ["sweep", write(f / "data.svm", SVMLIGHT).name], DATA, "takes 120 or more"),
    Case("sweep of a table's", lambda f: ["sweep", write(f / "data.svm", SVMLIGHT).name, "-t", "0.2"], POLICY, "t cannot be tried on sparse records"),
    Case("sweep without k", lambda f: ["sweep", write(f / "data.svm", SVMLIGHT).name, "-p", write(f / "p.toml", 'kind = "sparse"\nrequire = [{model = "delta-anonymity"}]\n').name], POLICY, "the policy asks for none"),
    Case("profile of nothing", lambda f: ["profile", write(f / "b.dat", "\n\n").name, *SPARSE], DATA, "blank|no record"),
    Case("profile of a column", lambda f: ["profile", write(f / "d.csv", TABLE).name, *SPARSE, "--column", "x"], DATA, "no column 'x'"),
]  # fmt: skip


@pytest.mark.parametrize("refused", [*BAD_DATA, *BAD_OPTIONS], ids=lambda c: c.name)
def test_it_is_one_sentence_and_nothing_is_written(tmp_path: Path, run_here: RunHere, refused: Case) -> None:
    arguments = refused.build(tmp_path)
    before = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*"))
    assert_refused(run_here(*arguments, cwd=tmp_path), refused, tmp_path)
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (baskets(CARTS, "\r\n").encode(), ""),
        (b"\xef\xbb\xbf" + BASKETS.encode(), ""),
        (BASKETS.encode("utf-16"), ""),
        (BASKETS.replace("ware01", "Käse").encode("latin-1"), "note: .*(latin|8-bit|encoding|UTF-8)"),
        (gzip.compress(BASKETS.encode()), ""),
    ],
    ids=["Windows line ends", "mark", "UTF-16", "Latin-1", "gzip"],
)
def test_other_spellings_of_the_same_records(tmp_path: Path, run_here: RunHere, content: bytes, says: str) -> None:
    write(tmp_path / "plain.dat", BASKETS)
    write(tmp_path / "other.dat", content)
    told = [run_here("profile", f"{n}.dat", *SPARSE, "-o", f"{n}.toml", cwd=tmp_path) for n in ("plain", "other")]
    assert [t.code for t in told] == [0, 0], told[1].stderr
    assert re.search(says, told[1].stdout, re.IGNORECASE), told[1].stdout
    assert told[1].stdout.splitlines()[:2] == told[0].stdout.splitlines()[:2]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data.csv and a release in out/, to be copied and spoiled."""
    folder = tmp_path_factory.mktemp("sketches")
    write(folder / "data.csv", TABLE)
    policy = shoal.SparsePolicy.of(publish="sketch", k=3, column="cart", delimiter=";", class_column="group")
    shoal.anonymize(folder / "data.csv", policy, seed=1).save(folder / "out", keep=["rows", "key"])
    return folder


Spoil = Callable[[Path], object]


def manifest(change: Callable[[dict[str, Any]], object]) -> Spoil:
    def spoil(out: Path) -> None:
        path = out / "publish" / "manifest.json"
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))

    return spoil


def rewritten(query: str, *, hide: bool = True) -> Spoil:
    """Write the data anew by a query on it, with its checksum in the manifest."""

    def spoil(out: Path) -> None:
        import hashlib

        path = out / "publish" / "data.parquet"
        with duckdb.connect() as database:
            database.execute(f"CREATE TABLE data AS SELECT * FROM '{path}'")
            database.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet, KV_METADATA {{shoal_step: '1.0'}})")
            n = database.execute(f"SELECT count(*) FROM '{path}'").fetchone()
        if hide:
            found = hashlib.sha256(path.read_bytes()).hexdigest()
            manifest(lambda m: m["checksums"].update({"data.parquet": found}))(out)
            manifest(lambda m: m["records"].update({"out": n[0], "in": n[0] + m["records"]["suppressed"]}))(out)

    return spoil


def edited(name: str, change: Callable[[str], str]) -> Spoil:
    def spoil(out: Path) -> None:
        path = out / name
        path.write_text(change(path.read_text()))

    return spoil


def cut(name: str) -> Spoil:
    def spoil(out: Path) -> None:
        path = out / name
        path.write_bytes(path.read_bytes()[:-40])

    return spoil


def neighbours(change: Callable[[Any], Any]) -> Spoil:
    """Change the list of neighbours, as numpy writes it, pickles and all."""

    def spoil(out: Path) -> None:
        path = out / "private" / "neighbours.npy"
        np.save(path, change(np.load(path)), allow_pickle=True)

    return spoil


def swapped_lines(text: str) -> str:
    """The first row of one class stands for the last of the other."""
    head, *lines = text.split()
    first, last = lines[0].split(",")[1], lines[-1].split(",")[1]
    lines[0], lines[-1] = f"1,{last}", f"{len(lines)},{first}"
    return "\n".join([head, *lines, ""])


def other_key(text: str) -> str:
    return ("0" if text[0] != "0" else "1") + text[1:]


UNREADABLE = [
    ("no data", lambda out: (out / "publish" / "data.parquet").unlink(), "has no data.parquet"),
    ("data cut short", cut("publish/data.parquet"), "damaged"),
    ("data is text", lambda out: (out / "publish" / "data.parquet").write_text("sketch\n1\n"), "is not Parquet"),
    ("extra column", rewritten(f"SELECT *, '{SECRET}' AS name FROM data"), "columns besides 'sketch' and 'label': 'name'"),
    ("null list", rewritten("SELECT CASE WHEN rowid = 3 THEN NULL ELSE sketch END AS sketch, label FROM data"), "holds a null"),
    ("null component", rewritten("SELECT list_append(sketch, NULL) AS sketch, label FROM data"), "null among its components"),
    ("null class", rewritten("SELECT sketch, CASE WHEN rowid = 3 THEN NULL ELSE label END AS label FROM data"), "'label' holds a null"),
    ("texts for components", rewritten("SELECT ['a'] AS sketch, label FROM data"), "the type VARCHAR"),
    ("nan", rewritten("SELECT ['nan'::DOUBLE] AS sketch, label FROM data"), "not a finite number"),
    ("no sketches", rewritten("SELECT label FROM data"), "no column 'sketch'"),
    ("no manifest", lambda out: (out / "publish" / "manifest.json").unlink(), "has no manifest.json"),
    ("manifest is not JSON", edited("publish/manifest.json", lambda t: t[:-9]), "not valid JSON"),
    ("manifest of strings", manifest(lambda m: m.update(kind="strings")), "manifest of a Shoal release"),
    ("manifest of a table", manifest(lambda m: m.update(kind="table")), "manifest of a Shoal release"),
    ("manifest asks for nothing", manifest(lambda m: m.update(require=[])), "manifest of a Shoal release"),
    ("manifest points elsewhere", manifest(lambda m: m.update(data="../private/rows.csv")), "manifest of a Shoal release"),
    ("rows are no numbers", edited("private/rows.csv", lambda t: t + SECRET + ",1\n"), "rows.csv cannot be read"),
    ("rows of nothing", edited("private/rows.csv", lambda t: ""), "rows.csv"),
    ("row 0", edited("private/rows.csv", lambda t: t.replace("\n1,", "\n0,")), "rows.csv"),
    ("key cut short", edited("private/key.txt", lambda t: t[:20]), "key of 32 bytes"),
    ("key of letters", edited("private/key.txt", lambda t: "z" + t[1:]), "cannot be read as a key"),
    ("neighbours cut short", cut("private/neighbours.npy"), "neighbours.npy cannot be read"),
    ("neighbours as objects", neighbours(lambda a: a.astype(object)), "neighbours.npy cannot be read"),
    ("neighbours as fractions", neighbours(lambda a: a.astype(np.float64)), "not a list of neighbours"),
    ("neighbours in a row", neighbours(lambda a: a.ravel()), "not a list of neighbours"),
    ("no secrets", lambda out: [p.unlink() for p in (out / "private").glob("*.[ct][sx][vt]")], "--keep rows,key"),
]  # fmt: skip
CHECK = ("check", "out/publish", "--original", "data.csv", "--private", "out/private")


@pytest.mark.parametrize(("spoil", "says"), [c[1:] for c in UNREADABLE], ids=[c[0] for c in UNREADABLE])
def test_a_folder_that_cannot_be_checked(
    spoil: Spoil, says: str, sound: Path, tmp_path: Path, run_here: RunHere
) -> None:
    folder = Path(shutil.copytree(sound, tmp_path / "copy"))
    spoil(folder / "out")
    secret = (sound / "out" / "private" / "key.txt").read_text().strip()
    for command in (CHECK, ("attack", *CHECK[1:])):
        ended = run_here(*command, cwd=folder)
        assert_refused(ended, Case("", lambda f: [], DATA, says), folder)
        assert secret[1:] not in ended.stderr


SPOILED = [
    ("component changed", rewritten("SELECT list_transform(sketch, lambda x, i: x + CASE WHEN rowid = 5 AND i = 1 THEN 2 ELSE 0 END)::INTEGER[] AS sketch, label FROM data"), "original"),
    ("component changed, seen", rewritten("SELECT list_transform(sketch, lambda x: x + 2)::INTEGER[] AS sketch, label FROM data", hide=False), "data.parquet was changed"),
    ("component more", rewritten("SELECT CASE WHEN rowid = 5 THEN list_append(sketch, sketch[1]) ELSE sketch END AS sketch, label FROM data"), "original|order"),
    ("component of another kind", rewritten("SELECT list_transform(sketch, lambda x: x + 0.5)::DOUBLE[] AS sketch, label FROM data"), "original|whole|grid"),
    ("sketch taken away", rewritten("SELECT * FROM data WHERE rowid > 0"), "original"),
    ("sketch twice", rewritten("SELECT * FROM data UNION ALL SELECT * FROM data WHERE rowid = 0"), "original"),
    ("classes taken away", rewritten("SELECT sketch FROM data"), "whether sketches have classes"),
    ("classes swapped", rewritten("SELECT sketch, CASE label WHEN 'a' THEN 'b' ELSE 'a' END AS label FROM data"), "class"),
    ("class renamed", rewritten(f"SELECT sketch, replace(label, 'a', '{SECRET}') AS label FROM data"), "class"),
    ("order turned", rewritten("SELECT * FROM data ORDER BY rowid DESC"), "order|original"),
    ("rows swapped", edited("private/rows.csv", swapped_lines), "original|class"),
    ("rows cut", edited("private/rows.csv", lambda t: "\n".join(t.split()[:-3]) + "\n"), "rows"),
    ("row beyond", edited("private/rows.csv", lambda t: re.sub(r"\n1,\d+\n", "\n1,9999\n", t)), "rows|original"),
    ("row twice", edited("private/rows.csv", lambda t: re.sub(r"\n1,\d+\n2,(\d+)\n", r"\n1,\1\n2,\1\n", t)), "more than one sketch"),
    ("another key", edited("private/key.txt", other_key), "original"),
    ("more allowed", manifest(lambda m: m["records"].update(suppressed=1)), "suppress|manifest says"),
    ("reasons added", manifest(lambda m: m.update(suppressed_because={"empty": 3})), "do not add up"),
    ("extra file", lambda out: (out / "publish" / "names.csv").write_text("x"), "names.csv is in the folder"),
    ("datasheet edited", lambda out: (out / "publish" / "datasheet.html").write_text("x"), "datasheet.html was changed"),
    ("step", manifest(lambda m: m.update(step=0.5)), "step"),
    ("other original", lambda out: write(out.parent / "data.csv", table(carts(40, seed=8))), "original"),
    ("fewer originals", lambda out: write(out.parent / "data.csv", table(CARTS[:30])), "original"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "says"), [c[1:] for c in SPOILED], ids=[c[0] for c in SPOILED])
def test_a_folder_that_is_not_what_it_claims(
    spoil: Spoil, says: str, sound: Path, tmp_path: Path, run_here: RunHere
) -> None:
    folder = Path(shutil.copytree(sound, tmp_path / "copy"))
    spoil(folder / "out")
    ended = run_here(*CHECK, "--json", cwd=folder)
    assert ended.code == NOT_VERIFIED, ended.stdout + ended.stderr
    found = json.loads(ended.stdout)
    failed = [*found["findings"], *(g["sentence"] for g in found["guarantees"] if not g["holds"])]
    assert failed
    assert re.search(says, "\n".join(failed)), failed
    assert SECRET not in re.sub("class '[^']*'", "", "\n".join(failed)) + ended.stderr
    attacked = run_here("attack", *CHECK[1:], "--attack", "length", cwd=folder)
    assert attacked.code in (0, DATA), attacked.stderr
    assert "defect" not in attacked.stderr
    assert attacked.stderr.count("\n") == (attacked.code > 0)
    assert leftovers(folder) == []


WRONG_NEIGHBOURS = [
    ("beyond", lambda a: a + np.int32(1000)),
    ("below", lambda a: a - np.int32(1000)),
    ("oneself", lambda a: np.repeat(np.arange(len(a), dtype=np.int32)[:, None], 3, axis=1)),
    ("fewer", lambda a: a[:, :2]),
    ("of others", lambda a: np.roll(a, 1, axis=0)),
    ("of fewer", lambda a: a[:9]),
]


@pytest.mark.parametrize("how", ["exact", "partition"])
@pytest.mark.parametrize("change", [c[1] for c in WRONG_NEIGHBOURS], ids=[c[0] for c in WRONG_NEIGHBOURS])
def test_a_wrong_list_of_neighbours_saves_nobody(
    change: Callable[[Any], Any], how: str, sound: Path, tmp_path: Path, run_here: RunHere
) -> None:
    folder = Path(shutil.copytree(sound, tmp_path / "copy"))
    method = "auto" if how == "exact" else how  # so few records are found exactly unless asked otherwise
    manifest(lambda m: (m.update(neighbours=how), m["method"].update(neighbours=method)))(folder / "out")
    strict = 'kind = "sparse"\n[input]\ncolumn = "cart"\nclass_column = "group"\ndelimiter = ";"\n'
    strict += '[[require]]\nmodel = "k-variance"\nk = 3\nthreshold = "difference"\n'
    write(folder / "strict.toml", strict)
    neighbours(change)(folder / "out")
    ended = run_here(*CHECK, "--json", cwd=folder)
    assert "defect" not in ended.stderr
    if how == "exact":  # they are found again, whatever the list says; the claim was made with the list
        assert failing(ended) == []
        assert "k-variance" in failing(run_here(*CHECK, "-p", "strict.toml", "--json", cwd=folder))
    else:
        assert ended.code == NOT_VERIFIED


def failing(ended: Ended) -> list[str]:
    """The models that fail."""
    return [g["model"] for g in json.loads(ended.stdout)["guarantees"] if not g["holds"]]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("attack", "out", "--original", "absent.csv"), DATA, "no such file"),
        (("attack", "absent", "--original", "data.csv"), DATA, "no folder absent"),
        (("attack", "out", "--original", "data.csv", "--control", "absent.csv"), DATA, "no such file"),
        (("attack", "out", "--original", "data.csv", "--private", "absent"), DATA, "absent"),
        (("attack", "out", "--original", "data.csv", "--attack", "recovery"), POLICY, "did you mean 'recovery-programme'"),
        (("attack", "out", "--original", "data.csv", "--other", "out"), POLICY, "a second release is for tables"),
        (("attack", "out", "--original", "data.csv", "-o", "absent/results.json"), OTHER, "cannot be written"),
        (("check", "out", "--label", "x"), POLICY, "is for strings"),
        (("check", "out", "-p", "table.toml"), POLICY, "the folder holds sparse records"),
    ],
)  # fmt: skip
def test_commands_on_a_sound_folder_that_cannot_be(
    arguments: tuple[str, ...], code: int, says: str, sound: Path, tmp_path: Path, run_here: RunHere
) -> None:
    folder = Path(shutil.copytree(sound, tmp_path / "copy"))
    write(folder / "table.toml", 'kind = "table"\n[[require]]\nmodel = "k-anonymity"\nk = 3\n')
    ended = run_here(*arguments, cwd=folder)
    assert_refused(ended, Case("", lambda f: [], code, says), folder)
