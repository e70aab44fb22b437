"""Every command as a user runs it: what it prints, what it writes, and what it keeps to itself."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import pty
import random
import re
import select
import signal
import stat
import subprocess
import time
from pathlib import Path

import click
import pytest

from shoal.cli.app import shoal
from tests.e2e.command import (
    ROLES,
    SECRET,
    RunHere,
    call_here,
    command_line,
    environment,
    leftovers,
    people,
    run_command,
    start_command,
    text_of,
    write,
)

COMMANDS = sorted(shoal.commands)
PATIENCE = 600.0  # seconds, on the busiest machine


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def make_demo_small(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("shoal.cli.demo.N_PROTEINS", 160)
    patch.setattr("shoal.cli.demo.N_BASKETS", 200)
    patch.setattr("shoal.cli.demo.N_TRAVELLERS", 60)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        make_demo_small(patch)
        ended = call_here("demo", "-o", "shown", "--rows", "400", cwd=folder)
    assert ended.code == 0, ended.stderr
    assert ended.stderr == ""
    assert "shoal check shown/publish" in ended.stdout
    return folder / "shown"


def test_the_demo_makes_all_folders(demo: Path) -> None:
    assert sorted(p.name for p in demo.iterdir()) == [
        "baskets",
        "input",
        "private",
        "publish",
        "strings",
        "trajectories",
    ]
    assert sorted(p.name for p in (demo / "strings").iterdir()) == ["input", "private", "publish"]
    assert sorted(files_of(demo / "strings" / "publish")) == ["data.fasta", "datasheet.html", "manifest.json"]
    assert sorted(files_of(demo / "baskets" / "publish")) == ["data.dat", "datasheet.html", "manifest.json"]
    for report in (demo / "private", demo / "strings" / "private", demo / "baskets" / "private"):
        assert "On members" in (report / "report.html").read_text(encoding="utf-8")
    assert sorted(files_of(demo / "publish")) == ["data.csv", "datasheet.html", "manifest.json"]
    assert sorted(files_of(demo / "private")) == ["attacks.json", "report.html", "report.json"]
    assert "policy.toml" in files_of(demo / "input")


def test_private_things_are_the_owners_alone(demo: Path) -> None:
    assert mode(demo / "private") == 0o700
    assert {mode(p) for p in (demo / "private").iterdir()} == {0o600}


@pytest.mark.parametrize("page", ["publish/datasheet.html", "private/report.html"])
def test_pages_have_no_script_and_fetch_nothing(demo: Path, page: str) -> None:
    text = (demo / page).read_text(encoding="utf-8")
    assert len(text) < 1_000_000
    assert not re.search(r"<script|javascript:|\son\w+\s*=", text, re.IGNORECASE)
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", text, re.IGNORECASE)
    assert not re.search(r"url\(\s*[\"']?(https?:)?//|@import", text, re.IGNORECASE)


def test_the_published_folder_tells_nothing_of_its_maker(demo: Path) -> None:
    with (demo / "input" / "clinic.csv").open(encoding="utf-8", newline="") as file:
        originals = list(csv.DictReader(file))
    for name, content in files_of(demo / "publish").items():
        text = content.decode("utf-8")
        assert str(demo.parent) not in text, name
        assert "clinic.csv" not in text, name
        assert "seed" not in text.lower(), name
        shown = [r["name"] for r in originals if r["name"] in text]
        assert not shown, f"{len(shown)} names in {name}"
        shown = list({r["patient_id"] for r in originals} & set(re.findall(r"\w+", text)))
        assert not shown, f"{len(shown)} keys in {name}"


def test_the_demo_does_not_overwrite(demo: Path, run_here: RunHere) -> None:
    before = files_of(demo)
    ended = run_here("demo", "-o", demo)
    assert (ended.code, files_of(demo)) == (1, before)


def test_the_demo_holds_in_a_check(demo: Path, run_here: RunHere) -> None:
    plain = run_here("check", demo / "publish")
    assert plain.code == 0
    assert "give the original with --original" in plain.stdout
    compared = run_here(
        "check", demo, "--original", demo / "input" / "clinic.csv", "-p", demo / "input" / "policy.toml"
    )
    assert compared.code == 0, compared.stdout
    assert "give the original" not in compared.stdout
    assert compared.stdout.count("  holds  ") == plain.stdout.count("  holds  ") == 2


def test_a_profile_becomes_a_policy_and_a_release(demo: Path, tmp_path: Path, run_here: RunHere) -> None:
    clinic = demo / "input" / "clinic.csv"
    shown = run_here("profile", clinic, cwd=tmp_path)
    assert shown.code == 0
    assert "policy.toml" in shown.stdout
    assert re.search(r"diagnosis +quasi", shown.stdout)
    written = (tmp_path / "policy.toml").read_text()

    again = run_here("profile", clinic, cwd=tmp_path)
    assert again.code == 0
    assert "was left as it is" in again.stdout
    assert run_here("profile", clinic, "-o", "policy.toml", cwd=tmp_path).code == 1
    assert (tmp_path / "policy.toml").read_text() == written

    made = run_here("anonymize", clinic, "-p", "policy.toml", "-o", "out", cwd=tmp_path)
    assert made.code == 0, made.stderr
    assert run_here("check", "out/publish", "--original", clinic, "-p", "policy.toml", cwd=tmp_path).code == 0


def test_a_profile_of_oddly_named_columns_is_a_policy(tmp_path: Path, run_here: RunHere) -> None:
    names = ["=age", 'a "b"', "c'd\\e", "new\nline", "tab\there", "Ü 漢", "x.y", "\x7fdel", "# no"]
    rows = [names, *([str(20 + i)] * 8 + [f"{i % 5}0-{i % 5}9\x7f"] for i in range(30))]
    write(tmp_path / "odd.csv", "".join(",".join('"' + c.replace('"', '""') + '"' for c in r) + "\n" for r in rows))
    shown = run_here("profile", "odd.csv", cwd=tmp_path)
    assert shown.code == 0, shown.stderr
    assert "\x7f" not in shown.stdout
    made = run_here("anonymize", "odd.csv", "-p", "policy.toml", "--quasi", "=age", "-o", "out", cwd=tmp_path)
    assert made.code == 0, made.stderr
    checked = run_here("check", "out/publish", "--original", "odd.csv", "-p", "policy.toml", cwd=tmp_path)
    assert "'=age' is" in checked.stdout, "the policy of the profile gives it another role"


def test_options_and_a_policy_give_the_same_release(tmp_path: Path, run_here: RunHere) -> None:
    write(tmp_path / "people.csv", text_of(people(60)))
    write(
        tmp_path / "policy.toml",
        """
        [columns]
        age = { role = "quasi" }
        zip = { role = "quasi" }
        city = { role = "quasi" }
        disease = { role = "sensitive" }
        name = { role = "identifying" }
        "*" = { role = "insensitive" }
        [[require]]
        model = "k-anonymity"
        k = 4
        [[require]]
        model = "l-diversity"
        l = 2
        [method]
        partition = "mdav"
        """,
    )
    options = (*ROLES, "-k", "4", "-l", "2", "--method", "mdav", "--workers", "2")
    assert run_here("anonymize", "people.csv", *options, "--seed", "7", "-o", "a", cwd=tmp_path).code == 0
    assert run_here("anonymize", "people.csv", "-p", "policy.toml", "--seed", "7", "-o", "b", cwd=tmp_path).code == 0
    assert files_of(tmp_path / "a" / "publish") == files_of(tmp_path / "b" / "publish")


def test_every_command_speaks_json(tmp_path: Path, run_here: RunHere, monkeypatch: pytest.MonkeyPatch) -> None:
    make_demo_small(monkeypatch)
    write(tmp_path / "people.csv", text_of(people(60)))
    runs = {
        "demo": ("-o", "shown", "--rows", "60"),
        "profile": ("people.csv",),
        "anonymize": ("people.csv", *ROLES, "-o", "out"),
        "check": ("out/publish", "--original", "people.csv"),
    }
    assert set(runs) <= set(COMMANDS)
    for command, arguments in runs.items():
        ended = run_here(command, *arguments, "--json", cwd=tmp_path)
        assert (ended.code, ended.stderr) == (0, ""), command
        assert isinstance(json.loads(ended.stdout), dict), command


@pytest.mark.parametrize(
    ("name", "delimiter", "expected"),
    [
        ("people.csv", ",", "data.csv"),
        ("people.txt", ";", "data.csv"),
        ("people.tsv", "\t", "data.tsv"),
        ("people.csv.gz", ",", "data.csv.gz"),
        ("people.tsv.gz", "\t", "data.tsv.gz"),
    ],
)
def test_text_comes_back_as_it_came(
    name: str, delimiter: str, expected: str, tmp_path: Path, run_here: RunHere
) -> None:
    text = text_of(people(), delimiter).encode()
    write(tmp_path / name, gzip.compress(text) if name.endswith("gz") else text)
    assert run_here("anonymize", name, *ROLES, "-k", "3", "-o", "out", cwd=tmp_path).code == 0
    content = (tmp_path / "out" / "publish" / expected).read_bytes()
    published = gzip.decompress(content) if expected.endswith("gz") else content
    assert published.split(b"\n")[0].decode() == delimiter.join(["age", "zip", "city", "disease"])
    assert published.count(b"\n") == 25


def test_parquet_comes_back_as_parquet(tmp_path: Path, run_here: RunHere) -> None:
    pandas = pytest.importorskip("pandas")
    header, *rows = people()
    frame = pandas.DataFrame(rows, columns=header).astype({"age": "int64"})
    frame["weight"] = 1.5
    frame.to_parquet(tmp_path / "people.parquet")
    options = (*ROLES, "-k", "3", "--method", "mdav")
    assert run_here("anonymize", "people.parquet", *options, "-o", "out", cwd=tmp_path).code == 0
    published = pandas.read_parquet(tmp_path / "out" / "publish" / "data.parquet")
    assert list(published.columns) == ["age", "zip", "city", "disease", "weight"]
    assert published["age"].dtype.kind in "if"
    assert published["weight"].tolist() == [1.5] * 24


def test_cells_that_a_spreadsheet_would_run_are_written_safe(tmp_path: Path, run_here: RunHere) -> None:
    write(
        tmp_path / "people.csv", text_of(people(remark=["=cmd()", "@x", "-1", "+a", "fine"], disease=["=1+1", "flu"]))
    )
    options = (*ROLES, "-k", "3", "--singled-out", "1", "-o", "out")
    assert run_here("anonymize", "people.csv", *options, cwd=tmp_path).code == 0
    rows = csv.DictReader(io.StringIO((tmp_path / "out" / "publish" / "data.csv").read_text()))
    remarks = {(r["remark"], r["disease"]) for r in rows}
    assert {r for r, _ in remarks} == {"'=cmd()", "'@x", "-1", "'+a", "fine"}
    assert {d for _, d in remarks} == {"'=1+1", "flu"}
    assert run_here("check", "out/publish", "--original", "people.csv", cwd=tmp_path).code == 0


def test_secrets_are_kept_in_private_only(tmp_path: Path, run_here: RunHere) -> None:
    write(tmp_path / "people.csv", text_of(people()))
    asked = ("anonymize", "people.csv", *ROLES, "--seed", "1")
    assert run_here(*asked, "-o", "a", cwd=tmp_path).code == 0
    kept = run_here(*asked, "-o", "b", "--keep", "groups,mapping", cwd=tmp_path)
    assert kept.code == 0
    assert files_of(tmp_path / "a" / "publish") == files_of(tmp_path / "b" / "publish")
    private = tmp_path / "b" / "private"
    names = sorted(files_of(private))
    assert names == [
        "attacks.json",
        "groups.csv",
        "mapping-1.csv",
        "mapping-2.csv",
        "mapping-3.csv",
        "report.html",
        "report.json",
    ]
    assert {mode(p) for p in private.iterdir()} == {0o600}
    with (private / "groups.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(r["original_row"]) for r in rows] == list(range(1, 25))
    assert SECRET in (private / "mapping-2.csv").read_text() + (private / "mapping-3.csv").read_text()
    assert SECRET not in (private / "report.html").read_text()
    assert SECRET not in (private / "report.json").read_text()


def test_identifying_cells_are_nowhere(tmp_path: Path, run_here: RunHere) -> None:
    names = [f"Qx{i}qx" for i in range(60)]
    write(tmp_path / "secret_folder_71" / "people.csv", text_of(people(60, name=names)))
    arguments = ("secret_folder_71/people.csv", *ROLES, "--seed", "918273645", "-o", "out")
    ended = run_here("anonymize", *arguments, cwd=tmp_path)
    assert ended.code == 0
    everything = b"".join(files_of(tmp_path / "out").values()) + ended.stdout.encode()
    assert not re.search(rb"Qx\d|\dqx", everything)
    for content in files_of(tmp_path / "out" / "publish").values():
        assert b"secret_folder_71" not in content
        assert b"people.csv" not in content
        assert b"918273645" not in content
        assert b"seed" not in content


def test_the_manifest_names_no_value_that_is_not_published(tmp_path: Path, run_here: RunHere) -> None:
    """A value of a suppressed record, or one that only the hierarchy has, is not in the data either."""
    write(tmp_path / "people.csv", text_of(people(60)))
    leaves = ["flu", "cold", "gout", "ulcer", SECRET, "Malaria77"]
    write(tmp_path / "disease.csv", "".join(f"{leaf};{leaf[0]};*\n" for leaf in leaves))
    options = (*ROLES, "--hierarchy", "disease=disease.csv", "-t", "0.5")
    assert run_here("anonymize", "people.csv", *options, "-o", "out", cwd=tmp_path).code == 0
    column = json.loads((tmp_path / "out" / "publish" / "manifest.json").read_text())["columns"]["disease"]
    assert sorted(row[0] for row in column["hierarchy"]) == sorted(leaves[:-1])
    assert run_here("check", "out/publish", "--original", "people.csv", cwd=tmp_path).code == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_explained_and_every_command_has_an_example(command: str, run_here: RunHere) -> None:
    made = shoal.commands[command]
    for parameter in made.get_params(click.Context(made, help_option_names=["-h", "--help"])):
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{command} {parameter.opts}"
    ended = run_here(command, "--help")
    assert ended.code == 0
    assert re.search(rf"Examples?:\n +shoal {command} ", ended.stdout)
    assert run_here(command, "-h").stdout == ended.stdout


def test_version_and_bare_call(run_here: RunHere) -> None:
    from shoal import __version__

    assert run_here("--version").stdout == f"shoal {__version__}\n"
    bare = run_here()
    assert "shoal demo" in bare.stdout + bare.stderr
    assert "Traceback" not in bare.stderr


def test_no_progress_where_nobody_looks(tmp_path: Path) -> None:
    write(tmp_path / "people.csv", text_of(people(60)))
    ended = run_command("anonymize", "people.csv", *ROLES, "-o", "out", cwd=tmp_path)
    assert (ended.code, ended.stderr) == (0, "")
    assert "\x1b" not in ended.stdout


def test_progress_on_a_terminal(tmp_path: Path) -> None:
    write(tmp_path / "people.csv", text_of(people(2000)))
    outer, inner = pty.openpty()
    arguments = ["anonymize", "people.csv", *ROLES, "-o", "out"]
    process = subprocess.Popen(
        command_line(arguments),
        cwd=tmp_path,
        env=environment(TERM="xterm-256color", COLUMNS="100"),
        stdin=inner,
        stdout=subprocess.DEVNULL,
        stderr=inner,
    )
    os.close(inner)
    shown = b""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and (process.poll() is None or select.select([outer], [], [], 0.2)[0]):
        if select.select([outer], [], [], 0.2)[0]:
            try:
                piece = os.read(outer, 4096)
            except OSError:  # Linux says so when the other end closes
                break
            if not piece:
                break
            shown += piece
    os.close(outer)
    assert process.wait(PATIENCE) == 0
    assert b"\x1b[" in shown
    assert re.search(rb"reading|grouping records|writing the release", shown)


def test_a_reader_that_stops_reading_is_no_crash(tmp_path: Path) -> None:
    write(tmp_path / "people.csv", text_of(people(60)))
    process = start_command("profile", "people.csv", "--json", cwd=tmp_path)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(PATIENCE) in (0, 1)
    assert "Traceback" not in said
    assert "Exception" not in said


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_it_with_nothing_written(number: signal.Signals, tmp_path: Path) -> None:
    """At eight moments of the run; each is either refused with code 130 or came when all was written."""
    draw = random.Random(5)
    rows = (f"{draw.randint(17, 90)},{draw.randint(10000, 10999)},{draw.choice('abcd')}" for _ in range(40_000))
    write(tmp_path / "many.csv", "\n".join(["age,zip,disease", *rows, ""]))
    arguments = ("anonymize", "many.csv", "--quasi", "age,zip", "--sensitive", "disease", "-l", "2", "-o")
    durations = []
    for warm in ("warm-1", "warm-2"):
        began = time.monotonic()
        assert run_command(*arguments, warm, cwd=tmp_path).code == 0
        durations.append(time.monotonic() - began)
    codes = []
    for i in range(8):
        process = start_command(*arguments, f"out-{i}", cwd=tmp_path)
        time.sleep(0.3 + (durations[-1] - 0.3) * i / 8)
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE)
        code = 128 - process.returncode if process.returncode < 0 else process.returncode
        codes.append(code)
        is_early = code == 130 and "_run_module_as_main" in said and "shoal: interrupted" not in said
        if process.returncode == -signal.SIGTERM or is_early:  # a busy machine had not come to the program's first line
            assert is_early or not said
            assert not (tmp_path / f"out-{i}").exists()
            continue
        if code == 130:  # as a shell counts it; 130 too if Python passes the signal on at its end
            assert "shoal: interrupted; nothing was written" in said
            assert not (tmp_path / f"out-{i}").exists()
        else:
            assert code == 0, said
            assert (tmp_path / f"out-{i}" / "publish" / "manifest.json").exists()
        assert "Traceback" not in said or code == 130
        assert leftovers(tmp_path) == []
    assert codes.count(130) >= 3
