"""What a person sees on a terminal cannot steer it, and is cut off nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.cli.output import plain, print_grid, print_json, print_shown, print_verdict, write_own
from shoal.errors import ShoalError
from shoal.report.verdict import ReleaseVerdict
from shoal.shown import Grid

STEERING = "a\x1b[31mb\u202ec"


def test_nothing_that_is_shown_steers_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    class Both:
        def shown(self):
            return [f"first\n{STEERING}", Grid((STEERING,), [(STEERING,)])]

    print_shown(Both())
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert shown.startswith("first\na\\x1b[31mb\\u202ec\n")
    assert plain("caf\u00e9, plainly") == "caf\u00e9, plainly"


def test_a_table_keeps_every_cell_whole(capsys: pytest.CaptureFixture[str]) -> None:
    long = "x" * 150
    print_grid(Grid(("column", "share"), [("age", "3 %"), (long, "12 %")], right=("share",)))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 110
    assert "".join(lines).count("x") == len(long)
    assert lines[1].split() == ["age", "3", "%"]


def test_a_verdict_is_three_lines(capsys: pytest.CaptureFixture[str]) -> None:
    print_verdict(ReleaseVerdict("amber", "All.", f"Some {STEERING}.", "A tenth."))
    assert capsys.readouterr().out.splitlines() == [
        "Holds      All.",
        "Worst      Some a\\x1b[31mb\\u202ec.",
        "Cost       A tenth.",
    ]


def test_machines_get_json_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"city": "K\u00f6ln"})
    assert capsys.readouterr().out == '{\n  "city": "K\u00f6ln"\n}\n'
    with pytest.raises(ValueError, match="Out of range float"):
        print_json(float("nan"))


def test_a_file_is_the_owners_alone_or_not_there(tmp_path: Path) -> None:
    write_own(tmp_path / "policy.toml", "k = 5\n", "the policy")
    assert (tmp_path / "policy.toml").read_text() == "k = 5\n"
    assert (tmp_path / "policy.toml").stat().st_mode & 0o077 == 0
    with pytest.raises(ShoalError, match=r"the policy cannot be written to .*missing"):
        write_own(tmp_path / "missing" / "policy.toml", "k = 5\n", "the policy")
