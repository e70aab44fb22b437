"""`shoal harden` as a user runs it: reached, not reached, taken up again, and with mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.data.samples.proteins import protein_families
from shoal.harden.harden import Hardening
from tests.e2e.command import Ended, write

RunHere = Callable[..., Ended]
N = 300
POLICY = """\
kind = "table"
[columns]
age = { role = "quasi" }
sex = { role = "quasi" }
weight = { role = "insensitive" }
[[require]]
model = "k-anonymity"
k = 3
"""
HARDEN = ("harden", "people.csv", "-p", "policy.toml", "--risk", "0.3", "--steps", "20")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    rng = np.random.default_rng(4)
    rows = zip(rng.integers(20, 70, N), rng.integers(0, 2, N), rng.normal(70, 10, N), strict=True)
    lines = [f"{age},{'fm'[sex]},{weight:.2f}" for age, sex, weight in rows]
    write(tmp_path / "people.csv", "\n".join(["age,sex,weight", *lines, ""]))
    write(tmp_path / "policy.toml", POLICY)
    return tmp_path


def test_a_policy_with_reasons_that_makes_a_release(here: Path, run_here: RunHere) -> None:
    ended = run_here(*HARDEN, cwd=here)
    assert (ended.code, ended.stderr) == (0, "")
    assert "No attack adds more than 0.3 at its upper bound" in ended.stdout
    line = ended.stdout.splitlines()[-1].split()
    assert line == ["shoal", "anonymize", "people.csv", "-p", "hardened.toml", "-o", "out/"]
    text = (here / "hardened.toml").read_text()
    assert (here / "hardened.toml").stat().st_mode & 0o777 == 0o600
    assert shoal.Policy.read(here / "hardened.toml").columns["weight"].role in ("quasi", "identifying")
    (reason,) = [one for one in text.splitlines() if one.startswith("weight = ")]
    assert "# was insensitive; " in reason
    assert run_here(*line[1:], cwd=here).code == 0
    values = (here / "people.csv").read_text().splitlines()[1:]
    kept = [p.read_text() for p in (here / "harden").rglob("*.json")]
    assert len(kept) > 2
    assert not [v for v in values if any(v in one for one in (*kept, text, ended.stdout))]

    again = run_here(*HARDEN, "-o", "again.toml", "--json", cwd=here)
    told = json.loads(again.stdout)
    assert told["reached"] is True
    assert told["policy"] == text
    assert {n: v for n, v in told.items() if n != "out"} == json.loads((here / "harden" / "harden.json").read_text())


def test_what_is_not_reached_is_exit_code_4_and_the_nearest_is_written_when_asked(
    here: Path, run_here: RunHere
) -> None:
    asked = ("harden", "people.csv", "-p", "policy.toml", "--risk", "0.001", "--steps", "3")
    ended = run_here(*asked, cwd=here)
    assert ended.code == 4
    assert "No policy was found with which no attack adds more than 0.001" in ended.stdout
    assert "To go on: " in ended.stdout
    assert "even if the release told nothing" in ended.stdout
    assert not (here / "hardened.toml").exists()
    assert run_here(*asked, "--best", cwd=here).code == 4
    assert (here / "hardened.toml").read_text().startswith("# THIS POLICY DOES NOT REACH THE RISK OF 0.001.")


def test_an_interrupt_keeps_what_was_finished(here: Path, run_here: RunHere, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Hardening._attempt
    done: list[int] = []

    def interrupted(self: Hardening, *asked: object) -> object:
        if len(done) == 1:
            raise KeyboardInterrupt
        done.append(1)
        return made(self, *asked)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Hardening, "_attempt", interrupted)
        ended = run_here(*HARDEN, cwd=here)
    assert ended.code == 130
    assert "interrupted; the same command goes on from harden" in ended.stderr
    assert len(list((here / "harden" / "steps").iterdir())) == 1
    assert not (here / "hardened.toml").exists()


@pytest.mark.parametrize(
    ("asked", "code", "says"),
    [
        (("harden", "people.csv", "--risk", "2"), 2, "the risk is 2"),
        (("harden", "people.csv", "-p", "none.toml"), 2, "there is no policy file none.toml"),
        (("harden", "none.csv"), 3, "none.csv"),
        (("harden", "people.csv", "-o", "policy.toml"), 1, "policy.toml exists"),
        (("harden", "people.csv", "--folder", "people.csv"), 1, "is not a folder"),
        (("harden", "people.csv", "--hold-out", "0.001"), 2, "leaves fewer than 10 on one side"),
    ],
)
def test_mistakes_are_one_sentence(here: Path, run_here: RunHere, asked: tuple[str, ...], code: int, says: str) -> None:
    ended = run_here(*asked, cwd=here)
    assert ended.code == code
    assert says in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert ended.stdout == ""
    assert not (here / "harden").exists()


def test_strings_are_hardened_too(tmp_path: Path, run_here: RunHere) -> None:
    made = protein_families(150, n_families=1, mean_length=30.0, seed=1).texts()
    write(tmp_path / "proteins.fasta", "".join(f">P{i}\n{s}\n" for i, s in enumerate(made)))
    ended = run_here("harden", "proteins.fasta", "--risk", "0.7", "--json", cwd=tmp_path)
    told = json.loads(ended.stdout)
    assert (ended.code, told["reached"]) == (0, True)
    assert shoal.read_policy(tmp_path / "hardened.toml") == shoal.StringPolicy()
