"""What people expect of every command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from shoal.cli import habits
from shoal.cli.app import shoal as command_line

PEOPLE = "age,sex\n" + "".join(f"{30 + i},{'mf'[i % 2]}\n" for i in range(8))
ASKED = ["anonymize", "people.csv", "--quasi", "age,sex", "-k", "2"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    try:
        runner = CliRunner(mix_stderr=False)  # as click did before 8.2 only on demand
    except TypeError:
        runner = CliRunner()
    return lambda *words: runner.invoke(command_line, list(words), standalone_mode=False)


def test_every_command_that_prints_can_be_quiet_verbose_and_read_by_machines() -> None:
    for name, command in command_line.commands.items():
        if name != "completion":
            found = {spelling for p in command.params for spelling in p.opts}
            assert {"-q", "--quiet", "-v", "--verbose", "--json"} <= found, name


def test_quiet_prints_nothing_but_errors(run) -> None:
    done = run(*ASKED, "-o", "out", "-q")
    assert done.exception is None
    assert done.output == ""
    assert Path("out/publish/manifest.json").exists()
    assert "exists" in str(run(*ASKED, "-o", "people.csv", "-q").exception)


def test_quiet_machines_still_get_their_answer(run) -> None:
    assert run(*ASKED, "-o", "out", "-q", "--json").output.startswith("{")


def test_verbose_prints_each_step_once(run) -> None:
    lines = run(*ASKED, "-o", "out", "-v").stderr.splitlines()
    steps = [line.partition(" s  ")[2] for line in lines if " s  " in line]
    assert steps[0] == "reading"
    assert steps[-1] == "writing the release"
    assert len(steps) == len(set(steps))


def test_a_release_is_replaced_only_on_demand_and_only_by_a_whole_one(run) -> None:
    assert run(*ASKED, "-o", "out").exception is None
    first = Path("out/publish/data.csv").read_bytes()
    assert "not empty" in str(run(*ASKED, "-o", "out").exception)
    bad = run("anonymize", "people.csv", "--quasi", "age,sex", "-k", "9", "-o", "out", "--force")
    assert bad.exception is not None
    assert Path("out/publish/data.csv").read_bytes() == first
    done = run("anonymize", "people.csv", "--quasi", "age,sex", "-k", "4", "-o", "out", "--force")
    assert done.exception is None
    assert Path("out/publish/data.csv").read_bytes() != first
    assert sorted(p.name for p in Path().iterdir()) == ["out", "people.csv"]


def test_nothing_but_a_release_is_replaced(run) -> None:
    Path("mine").mkdir()
    Path("mine/letter.txt").write_text("dear")
    assert "holds no release" in str(run(*ASKED, "-o", "mine", "--force").exception)
    assert run(*ASKED, "-o", "out").exception is None
    Path("out/letter.txt").write_text("dear")
    assert "such as letter.txt" in str(run(*ASKED, "-o", "out", "--force").exception)
    Path("link").symlink_to("out")
    assert run(*ASKED, "-o", "link", "--force").exception is not None
    assert Path("out/letter.txt").read_text() == "dear"


def test_the_report_is_opened(run, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(click, "launch", lambda path: opened.append(path) or 0)
    assert run(*ASKED, "-o", "out", "--open").exception is None
    assert opened == [str(Path("out/private/report.html"))]
    assert "leave one of both out" in str(run(*ASKED, "-o", "new", "--open", "--no-report").exception.message)


def test_where_no_browser_can_be_started_that_is_said(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(click, "launch", lambda path: 3)
    assert "open out/private/report.html yourself" in run(*ASKED, "-o", "out", "--open").stderr


@pytest.mark.parametrize("shell", habits.SHELLS)
def test_a_shell_is_told_how_to_complete(run, shell: str) -> None:
    assert habits.COMPLETION in run("completion", shell).output


@pytest.mark.parametrize(
    ("line", "word"),
    [("shoal ano", "anonymize"), ("shoal anonymize --method mon", "mondrian"), ("shoal anonymize --for", "--force")],
)
def test_words_are_completed(line: str, word: str) -> None:
    words = line.split()
    asked = {habits.COMPLETION: "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", "from shoal.cli.app import main; main()"],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"plain,{word}" in done.stdout.split("\n")
