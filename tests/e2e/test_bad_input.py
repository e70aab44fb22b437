"""Whatever is wrong with data, policy or output ends in one sentence and an exit code, with nothing written."""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.command import (
    DATA,
    FULL,
    INFEASIBLE,
    K3,
    OTHER,
    POLICY,
    ROLE_LINES,
    ROLES,
    SECRET,
    Arguments,
    Build,
    Case,
    RunHere,
    anonymize,
    assert_refused,
    leftovers,
    people,
    run_command,
    text_of,
    write,
)


def table(content: str | bytes, *options: str, name: str = "people.csv") -> Build:
    """The usual command on a file of this content."""

    def build(folder: Path) -> Arguments:
        write(folder / name, content)
        return anonymize(name, *(options or (*ROLES, "-k", "3")))

    return build


def policy(text: str | bytes, *options: str, rows: list[list[str]] | None = None, **files: str) -> Build:
    """The usual table under a policy of this text, with hierarchies beside it."""

    def build(folder: Path) -> Arguments:
        write(folder / "people.csv", text_of(rows or people()))
        write(folder / "policy.toml", text)
        for name, content in files.items():
            write(folder / f"{name}.csv", content)
        return anonymize("people.csv", "-p", "policy.toml", *options)

    return build


def usual(*options: str) -> Build:
    return table(text_of(people()), *options)


def prepared(prepare: Callable[[Path], object], *options: str, out: str = "out") -> Build:
    """The usual command after something was done to the folder."""

    def build(folder: Path) -> Arguments:
        write(folder / "people.csv", text_of(people()))
        prepare(folder)
        return anonymize("people.csv", *ROLES, *options, out=out)

    return build


LINES = text_of(people()).splitlines(keepends=True)
CITY_ROLES = ROLE_LINES.replace('city = { role = "quasi" }', 'city = { role = "quasi", hierarchy = "city.csv" }')
CITIES = f"Ayr;coast;*\nBath;inland;*\nCork;coast;*\n{SECRET};coast;*\n"
PACKED = gzip.compress(text_of(people()).encode(), mtime=0)


def require(text: str) -> str:
    return ROLE_LINES + K3 + "[[require]]\n" + text


def parquet(folder: Path, *, nested: bool = False, damaged: bool = False) -> None:
    pandas = pytest.importorskip("pandas")
    header, *rows = people()
    frame = pandas.DataFrame(rows, columns=header)
    if nested:
        frame["visits"] = [[1, 2]] * len(frame)
    path = folder / "people.parquet"
    frame.to_parquet(path)
    if damaged:
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])


def parquet_case(**how: bool) -> Build:
    def build(folder: Path) -> Arguments:
        parquet(folder, **how)
        return anonymize("people.parquet", *ROLES, "-k", "3")

    return build


def folder_for_data(folder: Path) -> Arguments:
    (folder / "people").mkdir()
    return anonymize("people", *ROLES)


BAD_DATA = [
    Case("empty file", table(""), DATA, "is empty"),
    Case("blank lines only", table("\n\n  \n\n"), DATA, "only blank lines"),
    Case("header only", table(LINES[0]), DATA, "header but no rows"),
    Case("one row", table("".join(LINES[:2]), *ROLES, "-k", "2"), INFEASIBLE, "1 row"),
    Case("inf in a number", table(text_of(people(age=["31", "inf", "44"])), *ROLES), DATA, r"'age' holds infinite"),
    Case("1e400 in a number", table(text_of(people(age=["31", "1e400"])), *ROLES), DATA, r"'age' holds infinite"),
    Case("column name twice", table(text_of(people()).replace("zip", "age", 1)), DATA, "have the same name"),
    Case("column without a name", table(text_of(people()).replace("zip", "", 1)), DATA, "column 3 has no name"),
    Case("NUL byte", table(text_of(people()).replace("flu", "f\0u", 1)), DATA, r"line \d+: holds a NUL byte"),
    Case("UTF-16 without a mark", table(text_of(people()).encode("utf-16-le")), DATA, "NUL byte"),
    Case("quote that never closes", table(text_of(people()).replace("flu", '"flu', 1)), DATA, r"line \d+: a quote opens"),
    Case("text behind a quote", table(text_of(people()).replace("flu", '"flu"x', 1)), DATA, r"line \d+: a quote opens"),
    Case("short row", table("".join([*LINES[:5], f"{SECRET},31\n", *LINES[5:]])), DATA, "line 6: has 2 fields"),
    Case("long row", table("".join([*LINES[:5], LINES[5].strip() + f",{SECRET}\n", *LINES[6:]])), DATA, "line 6: has 6 fields"),
    Case("gzip cut short", table(PACKED[:-20], name="people.csv.gz"), DATA, "cut short|damaged"),
    Case("gzip with garbage behind", table(PACKED + b"garbage", name="people.csv.gz"), DATA, "damaged"),
    Case("gzip with a wrong sum", table(PACKED[:-8] + b"\1\2\3\4" + PACKED[-4:], name="people.csv.gz"), DATA, "damaged"),
    Case("gzip with wrong bits", table(PACKED[:60] + b"\0\0\0\0" + PACKED[64:], name="people.csv.gz"), DATA, "damaged|cut short"),
    Case("Parquet cut in half", parquet_case(damaged=True), DATA, "Parquet file is damaged"),
    Case("Parquet with a nested column", parquet_case(nested=True), DATA, "'visits' has the type LIST"),
    Case("text called Parquet", table(text_of(people()), name="people.parquet"), DATA, "is not Parquet"),
    Case("zip archive of which little is left", table(b"PK\3\4" + b"\0" * 40), DATA, "zip archive or spreadsheet is damaged"),
    Case("folder for data", folder_for_data, DATA, "is a folder"),
    Case("no such data", lambda f: anonymize("absent.csv", *ROLES), DATA, "no such file"),
    Case("device for data", lambda f: anonymize("/dev/zero", *ROLES), DATA, "device"),
]  # fmt: skip

BAD_OPTIONS = [
    Case("k of 0", usual(*ROLES, "-k", "0"), POLICY, "k: .*greater than or equal to 2"),
    Case("k of 1", usual(*ROLES, "-k", "1"), POLICY, "k: .*greater than or equal to 2"),
    Case("k of -3", usual(*ROLES, "-k", "-3"), POLICY, "k: .*greater than or equal to 2"),
    Case("k of 2.5", usual(*ROLES, "-k", "2.5"), POLICY, "'-k'.*not a valid integer"),
    Case("k of five", usual(*ROLES, "-k", "five"), POLICY, "'-k'.*not a valid integer"),
    Case("k beyond the table", usual(*ROLES, "-k", "25"), INFEASIBLE, "the table has 24 rows"),
    Case("l beyond the values", usual(*ROLES, "-l", "6"), INFEASIBLE, "'disease'.*reaches 5"),
    Case("l of 1", usual(*ROLES, "-l", "1"), POLICY, "greater than 1"),
    Case("l of 2.5", usual(*ROLES, "-l", "2.5"), POLICY, "whole number"),
    Case("l without a sensitive column", usual("--quasi", "age,zip", "--others", "insensitive", "-l", "2"), POLICY, "no column is sensitive"),
    Case("t of 0", usual(*ROLES, "-t", "0"), POLICY, "greater than 0"),
    Case("t of 2", usual(*ROLES, "-t", "2"), POLICY, "less than or equal to 1"),
    Case("t of nan", usual(*ROLES, "-t", "nan"), POLICY, "t: .*not nan"),
    Case("suppression of 1.5", usual(*ROLES, "--suppression", "1.5"), POLICY, "suppression: .*less than 1"),
    Case("suppression below 0", usual(*ROLES, "--suppression", "-0.1"), POLICY, "suppression"),
    Case("unknown method", usual(*ROLES, "--method", "mondrain"), POLICY, "did you mean 'mondrian'"),
    Case("unknown meaning of missing", usual(*ROLES, "--missing", "none"), POLICY, "missing cannot be 'none'"),
    Case("unknown secret to keep", usual(*ROLES, "--keep", "group"), POLICY, "did you mean 'groups'"),
    Case("unknown quasi column", usual("--quasi", "aeg,zip"), POLICY, "'aeg' that is not in the data; did you mean 'age'"),
    Case("unknown sensitive column", usual("--quasi", "age", "--sensitive", "diseases"), POLICY, "did you mean 'disease'"),
    Case("line for a column", table(f"{SECRET} 31\nAnn 32\n", "--quasi", "age", "-k", "2"), POLICY, "'age' that is not in the data; there is only one, with another name"),
    Case("line for a column of strings", table(f"{SECRET} 31\nAnn 32\n", "--kind", "strings", "--column", "age"), DATA, "no column 'age'; there is only one"),
    Case("line for columns of strings", table(f"{SECRET} 31\nAnn 32\n", "--kind", "strings", "--columns", "rs*"), DATA, "there is only one, with another name"),
    Case("line for a column of items", table(f"{SECRET} 31\nAnn 32\n", "--kind", "sparse", "--column", "age"), DATA, "no column 'age'; there is only one"),
    Case("line for a column of places", table(f"{SECRET} 31\nAnn 32\n", "--kind", "trajectories"), DATA, "--latitude .there is only one, with another name"),
    Case("stream of no file", lambda f: ["stream", "-p", write(f / "policy.toml", FULL), "--in", "absent.csv", "-o", "out"], DATA, "no file or folder absent.csv"),
    Case("no framework", lambda f: ["report", f], POLICY, "'--for'. Choose from: iso27559, .*`shoal report --help`"),
    Case("two roles", usual("--quasi", "age,zip", "--sensitive", "age"), POLICY, "'age' is given two roles"),
    Case("no quasi column", usual("--others", "insensitive"), POLICY, "no column is quasi-identifying"),
    Case("hierarchy without a file", usual(*ROLES, "--hierarchy", "city"), POLICY, "COLUMN=FILE"),
    Case("hierarchy of an unknown column", usual(*ROLES, "--hierarchy", "town=town.csv"), POLICY, "'town'"),
    Case("no workers", usual(*ROLES, "--workers", "0"), POLICY, "'--workers'"),
    Case("no output", lambda f: ["anonymize", write(f / "people.csv", text_of(people())), *ROLES], POLICY, "'-o'"),
    Case("no data", lambda f: ["anonymize", "-o", "out"], POLICY, "'DATA"),
    Case("unknown command", lambda f: ["anonymise", "people.csv"], POLICY, "anonymise"),
    Case("unknown option", usual("--quazi", "age"), POLICY, "--quazi"),
]  # fmt: skip

BAD_POLICIES = [
    Case("no policy", lambda f: anonymize(write(f / "people.csv", text_of(people())), "-p", "absent.toml"), POLICY, "no policy file"),
    Case("policy not UTF-8", policy("# é\n".encode("latin-1")), POLICY, "not UTF-8"),
    Case("policy not TOML", policy(FULL + "\n[method\n"), POLICY, r"not valid TOML.*line \d+"),
    Case("folder for policy", lambda f: ["anonymize", write(f / "people.csv", text_of(people())), "-o", "out", "-p", f], POLICY, "cannot be read"),
    Case("unknown key", policy(FULL + "[method]\npartitoin = 'mdav'\n"), POLICY, "policy.toml, line 12.*did you mean 'partition'"),
    Case("unknown key above", policy("mising = 'any'\n" + FULL), POLICY, "did you mean 'missing'"),
    Case("unknown key of a column", policy("[columns]\nage = { rol = 'quasi' }\n"), POLICY, "did you mean 'role'"),
    Case("wrong type of a key", policy(ROLE_LINES + "[[require]]\nmodel = 'k-anonymity'\nk = 'many'\n"), POLICY, "k: .*integer"),
    Case("column that is no table", policy("[columns]\nage = 'quasi'\n"), POLICY, "columns.age"),
    Case("unknown role", policy("[columns]\nage = { role = 'secret' }\n"), POLICY, "role cannot be 'secret'"),
    Case("unknown model", policy(ROLE_LINES + "[[require]]\nmodel = 'k-anonimity'\nk = 3\n"), POLICY, "did you mean 'k-anonymity'"),
    Case("no model", policy(ROLE_LINES + "[[require]]\nk = 3\n"), POLICY, "names no privacy model"),
    Case("nothing required", policy("require = []\n" + ROLE_LINES), POLICY, "at least one guarantee"),
    Case("column twice", policy("[columns]\nage = { role = 'quasi' }\nage = { role = 'sensitive' }\n"), POLICY, "not valid TOML"),
    Case("unknown column", policy(FULL.replace("city =", "town =")), POLICY, "'town' that is not in the data"),
    Case("unknown sensitive column required", policy(require("model = 'l-diversity'\nl = 2\nsensitive = 'diseese'\n")), POLICY, "did you mean 'disease'"),
    Case("diversity of a quasi column", policy(require("model = 'l-diversity'\nl = 2\nsensitive = 'city'\n")), POLICY, "whose role is quasi"),
    Case("hierarchical t without a hierarchy", policy(require("model = 't-closeness'\nt = 0.5\ndistance = 'hierarchical'\n")), POLICY, "hierarchy"),
    Case("continuous on text", policy(FULL.replace('city = { role = "quasi"', 'city = { type = "continuous", role = "quasi"')), DATA, "'city' is to be continuous"),
    Case("date on text", policy(FULL.replace('city = { role = "quasi"', 'city = { type = "date", role = "quasi"')), DATA, "'city' is to be a date"),
    Case("order leaves values out", policy(FULL.replace('city = { role', 'city = { order = ["Ayr", "Bath"], role')), POLICY, "leaves out 2"),
    Case("hierarchy leaves values out", policy(CITY_ROLES + K3, city="Ayr;coast;*\nBath;inland;*\n"), DATA, "2 values of column 'city'.*'Cork'"),
    Case("hierarchy with two parents", policy(CITY_ROLES + K3, city=CITIES + "Ayr;inland;*\n"), DATA, r"city.csv, line \d"),
    Case("hierarchy in a circle", policy(CITY_ROLES + K3, city="Ayr;Bath;*\nBath;Ayr;*\nCork;Ayr;x\n"), DATA, "city.csv"),
    Case("ragged hierarchy", policy(CITY_ROLES + K3, city=CITIES + "Derry;*\n"), DATA, "city.csv, line 5"),
    Case("empty hierarchy", policy(CITY_ROLES + K3, city=""), DATA, "city.csv"),
    Case("no hierarchy file", policy(CITY_ROLES + K3), DATA, "no hierarchy file .*city.csv"),
    Case("folder for hierarchy", policy(CITY_ROLES.replace("city.csv", ".") + K3), DATA, "hierarchy"),
    Case("automatic hierarchy of words", policy(CITY_ROLES.replace("city.csv", "auto") + K3), POLICY, "no automatic hierarchy"),
]  # fmt: skip

BAD_OUTPUTS = [
    Case("output not empty", prepared(lambda f: write(f / "out" / "mine.txt", "mine")), OTHER, "out is not empty"),
    Case("output is a file", prepared(lambda f: write(f / "out", "mine")), OTHER, "not a folder"),
    Case("output is a dangling link", prepared(lambda f: (f / "out").symlink_to("nowhere")), OTHER, "not a folder"),
    Case("parent is a file", prepared(lambda f: write(f / "mine", "mine"), out="mine/out"), OTHER, "mine"),
    Case("parent cannot be written", prepared(lambda f: None, out="/proc/out"), OTHER, "/proc"),
    Case("name too long", prepared(lambda f: None, out="o" * 300), OTHER, "choose another"),
]  # fmt: skip

CASES = BAD_DATA + BAD_OPTIONS + BAD_POLICIES + BAD_OUTPUTS
IN_A_PROCESS = {"long row", "unknown key", "k beyond the table", "output not empty"}  # a case of each exit code


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {str(p): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_refused_with_one_sentence_and_nothing_written(case: Case, tmp_path: Path, run_here: RunHere) -> None:
    arguments = case.build(tmp_path)
    before = snapshot(tmp_path)
    assert_refused(run_here(*arguments, cwd=tmp_path), case, tmp_path)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("case", [c for c in CASES if c.name in IN_A_PROCESS], ids=lambda c: c.name)
def test_refused_in_a_process_of_its_own(case: Case, tmp_path: Path) -> None:
    arguments = case.build(tmp_path)
    before = snapshot(tmp_path)
    assert_refused(run_command(*arguments, cwd=tmp_path), case, tmp_path)
    assert snapshot(tmp_path) == before


def test_the_sample_of_processes_exists() -> None:
    assert {c.name for c in CASES} > IN_A_PROCESS
    assert len({c.name for c in CASES}) == len(CASES) >= 70
    assert {c.name for c in GOOD} > IN_TEXT


ODD_NAMES = [["age", 'say "zip"', "ci\nty", "=krank", " Ü, ñ 漢 "], *(r[1:] + ["x"] for r in people()[1:])]


def quoted(rows: list[list[str]], line_end: str = "\n") -> str:
    return "".join(",".join('"' + c.replace('"', '""') + '"' for c in row) + line_end for row in rows)


GOOD = [
    Case("all rows equal", table(text_of(people(name=["a"], age=["40"], zip=["1"], city=["Ayr"], disease=["flu"]))), 0),
    Case("all numbers equal, averaged", table(text_of(people(age=["40"])), *ROLES, "--method", "mdav"), 0),
    Case("every quasi cell missing", table(text_of(people(age=["NA"], zip=["?"], city=[""]))), 0),
    Case("every quasi cell missing, averaged", table(text_of(people(age=["NA"], zip=["?"], city=[""])), *ROLES, "--method", "mdav"), 0),
    Case("a whole column missing", table(text_of(people(city=[""]))), 0),
    Case("a whole column missing that may hide any", table(text_of(people(age=["NA"])), *ROLES, "--missing", "any"), 0),
    Case("most cells missing", table(text_of(people(age=["31", "", "NA", "nan"], zip=["", "1"], disease=["flu", "", "cold"]))), 0),
    Case("nan as text is a missing value", table(text_of(people(age=["31", "nan", "45", "60"]))), 0),
    Case("huge numbers", table(text_of(people(age=["1e308", "-1e308", "5", "1e-308"]))), 0),
    Case("huge numbers, averaged", table(text_of(people(age=["1e308", "-1e308", "5", "1e-308"])), *ROLES, "--method", "mdav"), 0),
    Case("Windows line ends", table(text_of(people(), line_end="\r\n")), 0),
    Case("old line ends", table(text_of(people(), line_end="\r")), 0),
    Case("Latin-1", table(text_of(people(city=["Ayr", "Zürich"])).encode("latin-1")), 0, "Windows-1252"),
    Case("UTF-16 with a mark", table(text_of(people()).encode("utf-16")), 0, "UTF-16"),
    Case("UTF-8 with a mark", table(text_of(people()).encode("utf-8-sig")), 0),
    Case("semicolons", table(text_of(people(), delimiter=";")), 0),
    Case("odd names", table(quoted(ODD_NAMES), "--quasi", 'age,"say ""zip"""', "--others", "sensitive", "-k", "3", "--singled-out", "1"), 0),
    Case("one column", table("age\n" + "31\n32\n33\n" * 4, "--quasi", "age", "-k", "3"), 0),
    Case("k is the whole table", usual(*ROLES, "-k", "24"), 0),
    Case("hierarchical t with a hierarchy", policy(
        CITY_ROLES.replace('disease = { role = "sensitive"', 'disease = { role = "sensitive", hierarchy = "disease.csv"')
        + K3 + "[[require]]\nmodel = 't-closeness'\nt = 0.6\ndistance = 'hierarchical'\n",
        city=CITIES, disease=f"flu;a;*\ncold;a;*\ngout;b;*\nulcer;b;*\n{SECRET};b;*\n"), 0),
]  # fmt: skip


IN_TEXT = {"all rows equal", "most cells missing", "Latin-1", "odd names", "k is the whole table"}


@pytest.mark.parametrize(
    ("case", "as_json"),
    [
        pytest.param(c, j, id=f"{c.name}-{'json' if j else 'text'}")
        for c in GOOD
        for j in (True, False)
        if j or c.name in IN_TEXT
    ],
)
def test_odd_but_sound_data_is_released(case: Case, as_json: bool, tmp_path: Path, run_here: RunHere) -> None:
    arguments = case.build(tmp_path)
    ended = run_here(*arguments, *(["--json"] if as_json else []), cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    assert ended.stderr == ""
    assert re.search(case.says, ended.stdout)
    if as_json:
        found = json.loads(ended.stdout)
        assert found["records"]["in"] == found["records"]["out"]
        for guarantee in found["guarantees"]:
            guarantee.pop("worst")  # names classes by their published labels
        assert SECRET not in str(found)
    else:
        assert SECRET not in ended.stdout
    original = next(p for p in tmp_path.iterdir() if p.name.startswith("people"))
    checked = run_here("check", "out/publish", "--original", original.name, cwd=tmp_path)
    assert checked.code == 0, checked.stdout + checked.stderr
    assert leftovers(tmp_path) == []


@contextmanager
def as_nobody(run_here: RunHere, tmp_path: Path) -> Iterator[Path]:
    """A folder that everybody may enter, as a user who may not do everything."""
    # Once before, so that all is loaded: another user may not be able to read the installation.
    write(tmp_path / "people.csv", text_of(people()))
    assert run_here(*anonymize("people.csv", *ROLES), cwd=tmp_path).code == 0
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if is_root:
            os.seteuid(0)
        folder.chmod(0o700)
        shutil.rmtree(folder)


def test_data_that_may_not_be_read(run_here: RunHere, tmp_path: Path) -> None:
    with as_nobody(run_here, tmp_path) as folder:
        write(folder / "people.csv", text_of(people())).chmod(0)
        ended = run_here(*anonymize("people.csv", *ROLES), cwd=folder)
        assert_refused(ended, Case("", lambda f: [], DATA, "no permission"), folder)
        assert not (folder / "out").exists()


def test_a_folder_that_may_not_be_written(run_here: RunHere, tmp_path: Path) -> None:
    with as_nobody(run_here, tmp_path) as folder:
        write(folder / "people.csv", text_of(people()))
        folder.chmod(0o555)
        ended = run_here(*anonymize("people.csv", *ROLES), cwd=folder)
        assert_refused(ended, Case("", lambda f: [], OTHER, "cannot write to .*ermission denied"), folder)
        assert not (folder / "out").exists()


@contextmanager
def tiny_disk(folder: Path) -> Iterator[Path | None]:
    """A file system of 64 kB mounted here, or None where that is not allowed."""
    place = folder / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    try:
        yield place if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz", "people.parquet"])
def test_a_full_disk(tmp_path: Path, run_here: RunHere, name: str) -> None:
    rows = people(5000)
    if name.endswith("parquet"):
        pandas = pytest.importorskip("pandas")
        pandas.DataFrame(rows[1:], columns=rows[0]).to_parquet(tmp_path / name)
    else:
        text = text_of(rows).encode()
        write(tmp_path / name, gzip.compress(text) if name.endswith("gz") else text)
    with tiny_disk(tmp_path) as disk:
        if disk is None:
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, 1 << 14))  # noqa: E731
            ended = run_command(*anonymize(name, *ROLES, out="disk/out"), cwd=tmp_path, preexec=limit)
            reason = os.strerror(errno.EFBIG)
        else:
            ended = run_here(*anonymize(name, *ROLES, out="disk/out"), cwd=tmp_path)
            reason = os.strerror(errno.ENOSPC)
        assert_refused(ended, Case("", lambda f: [], OTHER, f"{reason}; nothing was published"), tmp_path)
        assert list((tmp_path / "disk").iterdir()) == []


@pytest.mark.slow
def test_a_cluster_that_is_not_there(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    write(tmp_path / "people.csv", text_of(people()))
    ended = run_command(*anonymize("people.csv", *ROLES, "--cluster", f"tcp://127.0.0.1:{port}"), cwd=tmp_path)
    assert_refused(ended, Case("", lambda f: [], OTHER, "does not answer"), tmp_path)
    assert not (tmp_path / "out").exists()
