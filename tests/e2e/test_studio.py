"""The studio makes what the command line makes, to the byte, of every kind of data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from shoal.cli.studio import demo_samples
from shoal.studio.jobs import begin
from shoal.studio.session import Session
from shoal.studio.work import PUBLISHED
from tests.e2e.command import call_here
from tests.unit.studio.client import PEOPLE, at_once

COLUMNS = """
[columns]
name = { role = "identifying" }
age = { role = "quasi" }
zip = { role = "quasi" }
disease = { role = "sensitive" }
"""
L_DIVERSE = '[[require]]\nmodel = "l-diversity"\nl = 2\n'
POLICIES = {
    "k": ("people.csv", f'kind = "table"\n{COLUMNS}[[require]]\nmodel = "k-anonymity"\nk = 4\n'),
    "averages": (
        "people.csv",
        f'kind = "table"\n{COLUMNS}{L_DIVERSE}[method]\npartition = "mdav"\npublish = "aggregate"\n',
    ),
    "slices": ("people.csv", f'kind = "table"\n{COLUMNS}{L_DIVERSE}[method]\npublish = "slice"\n'),
    "recoded": ("people.csv", f'kind = "table"\nmetadata = true\n{COLUMNS}[method]\npartition = "full-domain"\n'),
    "closeness": ("people.csv", f'kind = "table"\n{COLUMNS}[[require]]\nmodel = "t-closeness"\nt = 0.5\n'),
    "strings": ("words.txt", 'kind = "strings"\n[[require]]\nmodel = "k-anonymity"\nk = 5\n'),
    "baskets": (
        "lists.dat",
        'kind = "sparse"\n[[require]]\nmodel = "k-anonymity"\nk = 5\n[method]\npublish = "pseudo"\n',
    ),
    "trips": (
        "trips.csv",
        'kind = "trajectories"\n[[require]]\nmodel = "k-anonymity"\nk = 2\n[method]\nsuppression = 0.9\n',
    ),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    draws = np.random.default_rng(19)
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    words = ["".join(draws.choice(list("ACGT"), size=int(n))) for n in draws.integers(8, 14, size=80)]
    (folder / "words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    lists = [
        " ".join(f"i{i}" for i in sorted({*draws.integers(0, 12, size=int(n)).tolist()}))
        for n in draws.integers(2, 7, 80)
    ]
    (folder / "lists.dat").write_text("\n".join(lists) + "\n", encoding="utf-8")
    points = [
        f"{p},{p},2020-01-01 {8 + t:02d}:00:00,{50 + 0.001 * (p % 5) + 0.01 * t:.4f},{8 + 0.001 * (p % 3):.4f}"
        for p in range(30)
        for t in range(4)
    ]
    (folder / "trips.csv").write_text(
        "person,trip,time,latitude,longitude\n" + "\n".join(points) + "\n", encoding="utf-8"
    )
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


SLOW = ("averages", "slices", "recoded", "strings", "trips")


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in POLICIES])
def test_the_same_bytes_as_the_command_line(data: Path, tmp_path: Path, name: str) -> None:
    file, text = POLICIES[name]
    session = Session.begin(tmp_path / "s", [data / file])
    session.change(text, "typed")
    made = begin(session, "make", {"seed": 77}, at_once)
    assert made.state == "done", made.told
    written = begin(session, "publish", {"out": str(tmp_path / "studio")}, at_once)
    assert written.state == "done", written.told
    assert session.kept(PUBLISHED)["holds"] is True, session.kept(PUBLISHED)
    ended = call_here(
        "anonymize", data / file, "-p", session.folder / "policy.toml", "--seed", "77", "-o", tmp_path / "shell"
    )
    assert ended.code == 0, ended.stderr
    assert files(tmp_path / "studio" / "publish") == files(tmp_path / "shell" / "publish")
    assert set(files(tmp_path / "studio" / "private")) == set(files(tmp_path / "shell" / "private"))


def test_samples_are_of_four_kinds() -> None:
    assert [sample.kind for sample in demo_samples().values()] == [None, None, "sparse", "trajectories"]
