"""Commands that do the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.studio.session import Session
from shoal.studio.words import as_command


def test_the_command_can_be_pasted_and_holds_no_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my people.csv").write_text("age\n1\n", encoding="utf-8")
    session = Session.begin(tmp_path / "s", [tmp_path / "my people.csv"])
    monkeypatch.chdir(tmp_path)
    assert as_command(session) == "shoal anonymize 'my people.csv' -p s/policy.toml -o out"
    assert " --hold-out 0.123456789 " in as_command(session, None, 0.123456789)
    told = as_command(session, 4242, 0.1, tmp_path / "done")
    assert told == "shoal anonymize 'my people.csv' -p s/policy.toml --seed SEED --hold-out 0.1 -o done"
