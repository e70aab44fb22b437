"""What a release was made from: checksums of files, and the command, without its seed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import shoal
from shoal.cli.app import shoal as shoal_command
from shoal.manifest import checksum
from shoal.provenance import command_line, source_checksums, source_files


def test_checksums_are_of_files_alone(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"age\n31\n")
    digest = hashlib.sha256(b"age\n31\n").hexdigest()
    for source in (path, str(path), {"people": path, "visits": tmp_path / "no.csv"}):
        assert source_checksums(source_files(source)) == {"people.csv": digest}
    for other in (tmp_path, {"age": [31]}, ["ACGT"], "sqlite:people.db?table=x", "a\0b", "-"):
        assert source_files(other) == ()


def test_a_file_that_was_written_to_since_has_no_checksum(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"age\n31\n")
    files = source_files(path)
    path.write_bytes(b"age\n31\n32\n")
    assert source_checksums(files) == {}
    path.unlink()
    assert source_checksums(files) == {}


@pytest.mark.parametrize("words", [["--seed", "17"], ["--seed=17"], ["--seed", "17", "--seed", "17"]])
def test_a_command_tells_no_seed(words: list[str]) -> None:
    assert "17" not in command_line(["a.csv", *words, "-k", "5"])
    assert command_line(["a.csv", *words, "-k", "5"]).endswith("-k 5")


def test_the_report_says_what_it_was_made_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "age,disease\n" + "".join(f"{30 + i},{'flu' if i % 2 else 'cold'}\n" for i in range(8))
    (tmp_path / "people.csv").write_text(text, "utf-8")
    options = ("--quasi", "age", "--sensitive", "disease", "-k", "4", "-l", "2", "--seed", "918273645")
    made = CliRunner().invoke(shoal_command, ["anonymize", "people.csv", *options, "-o", "out"])
    assert made.exit_code == 0, made.output
    private, publish = tmp_path / "out" / "private", tmp_path / "out" / "publish"
    told = json.loads((private / "report.json").read_text("utf-8"))["report"]["provenance"]
    assert told["sources"] == [["people.csv", hashlib.sha256(text.encode()).hexdigest()]]
    assert dict(told["published"]) == {p.name: checksum(p) for p in publish.iterdir()}
    assert told["command"].startswith("shoal anonymize people.csv --quasi age")
    assert "--seed SEED" in told["command"]
    for path in (*private.iterdir(), *publish.iterdir()):
        assert "918273645" not in path.read_text("utf-8")
    again = tmp_path / "again.toml"
    again.write_text(told["policy"], "utf-8")
    assert shoal.read_policy(again).columns["age"].role == "quasi"
    assert "people.csv (original)" in (private / "report.html").read_text("utf-8")
    assert dict(told["sources"])["people.csv"] not in "".join(p.read_text("utf-8") for p in publish.iterdir())
