"""The tests of `cli/standard_streams.py`."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from shoal.scratch import SPILL
from tests.e2e.command import call_here

pytestmark = pytest.mark.unattacked

PEOPLE = "age,zip,disease\n" + "".join(f"{30 + i % 7},4810{i % 3},{'flu' if i % 2 else 'gout'}\n" for i in range(24))
ROLES = ("--quasi", "age,zip", "--sensitive", "disease", "-k", "3", "--seed", "5")


@pytest.fixture(autouse=True)
def _own_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))


def pipe_in(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_what_goes_through_pipes_is_what_a_folder_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    made = call_here("anonymize", "people.csv", *ROLES, "-o", "out", "--no-report", cwd=tmp_path)
    assert made.code == 0, made.stderr
    pipe_in(monkeypatch, PEOPLE.encode())
    piped = call_here("anonymize", "-", *ROLES, "-o", "-", cwd=tmp_path)
    assert piped.code == 0, piped.stderr
    assert piped.stdout == (tmp_path / "out" / "publish" / "data.csv").read_text()
    assert "holds  Every record shares" in piped.stderr
    assert "Give away" not in piped.stderr
    assert not list((tmp_path / "scratch").glob(f"{SPILL}*"))
    pipe_in(monkeypatch, PEOPLE.encode())
    assert call_here("check", "out/publish", "--original", "-", cwd=tmp_path).code == 0


def test_quiet_prints_the_data_alone(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    piped = call_here("anonymize", "people.csv", *ROLES, "-o", "-", "-q", cwd=tmp_path)
    assert (piped.code, piped.stderr) == (0, "")
    assert piped.stdout.startswith("age,zip,disease\n3")


def test_a_profile_of_what_is_piped_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe_in(monkeypatch, gzip.compress(PEOPLE.encode()))
    found = call_here("profile", "-", "--no-sweep", "--json", "-o", "p.toml", cwd=tmp_path)
    assert json.loads(found.stdout)["rows"] == 24


def test_nothing_that_failed_reaches_the_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe_in(monkeypatch, PEOPLE.encode())
    ended = call_here("anonymize", "-", "--quasi", "age,zip", "-k", "50", "-o", "-", cwd=tmp_path)
    assert (ended.code, ended.stdout) == (4, "")
    assert not list((tmp_path / "scratch").glob(f"{SPILL}*"))


@pytest.mark.parametrize("option", ["--json", "--open", "--force", "--keep=rows"])
def test_what_needs_a_folder_is_refused(tmp_path: Path, option: str) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    ended = call_here("anonymize", "people.csv", *ROLES, "-o", "-", option, cwd=tmp_path)
    assert (ended.code, ended.stdout) == (2, "")
    assert f"{option.partition('=')[0]} does not go with -o -" in ended.stderr


def test_bad_input_is_called_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe_in(monkeypatch, b"age,zip\n31,48103\n47\n")
    ended = call_here("profile", "-", cwd=tmp_path)
    assert (ended.code, ended.stderr) == (
        3,
        "shoal: standard input, line 3: has 1 field where the header has 2; mend the line, or name the delimiter if ',' is not it\n",
    )
    pipe_in(monkeypatch, b"")
    assert "shoal: standard input: is empty" in call_here("profile", "-", cwd=tmp_path).stderr
    ended = call_here("profile", "-", "-", cwd=tmp_path)
    assert "standard input (-) can be read once" in ended.stderr
