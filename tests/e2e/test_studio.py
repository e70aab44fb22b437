"""The studio makes what the command line makes, to the byte, of every kind of data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from shoal.cli.studio import demo_samples
from shoal.kind import ColumnPlace
from shoal.studio.jobs import begin
from shoal.studio.screens import names_key
from shoal.studio.session import LOOKED, Session
from shoal.studio.words import SCREENS
from shoal.studio.work import PUBLISHED
from tests.e2e.command import call_here
from tests.linked_samples import clinic, written
from tests.unit.studio.client import PEOPLE, Client, at_once

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
    copied = begin(session, "publish", {"out": str(tmp_path / "studio")}, at_once)
    assert copied.state == "done", copied.told
    assert session.kept(PUBLISHED)["holds"] is True, session.kept(PUBLISHED)
    ended = call_here(
        "anonymize", data / file, "-p", session.folder / "policy.toml", "--seed", "77", "-o", tmp_path / "shell"
    )
    assert ended.code == 0, ended.stderr
    assert files(tmp_path / "studio" / "publish") == files(tmp_path / "shell" / "publish")
    assert set(files(tmp_path / "studio" / "private")) == set(files(tmp_path / "shell" / "private"))


def test_linked_tables_from_files_to_a_checked_release(tmp_path: Path) -> None:
    """As a person does it: files chosen, the main one and the link said, a role changed, made, attacked, written."""
    written(tmp_path, clinic(24))
    client = Client(tmp_path)
    page = client.post("/open", {"place": ["labs.csv", "patients.csv", "visits.csv"]})
    assert "it is not said what links them" in page.words
    assert '<option value="id">id</option>' in page.text
    page = client.post("/labs-1/open", {"do": "read", "main": "patients.csv", "link": "id", "step": "1"})
    assert "First rows patients id age sex" in page.words
    session = client.session("labs-1")
    assert list(session.source) == ["patients", "labs", "visits"]
    places = [ColumnPlace(*place) for place in session.kept(LOOKED)["names"]]
    asked = {f"columns/{places.index(ColumnPlace('value', 'labs'))}/role": "sensitive", "step": str(session.last)}
    page = client.post("/labs-1/columns", {**asked, "names": names_key(session)})
    assert 'value = { role = "sensitive"' in page.text.replace("&#34;", '"')
    for place in ("taken", "seen"):
        index = next(i for i, one in enumerate(places) if one.name == place)
        fields = {f"columns/{index}/role": "insensitive", f"columns/{index}/shift": "person"}
        page = client.post("/labs-1/columns", {**fields, "step": str(session.last)})
        assert page.status == 200, page.words
    fields = {"require/0:k-anonymity/k": "3", "method/suppression": "0.6", "accept": "known_history=a test"}
    client.post("/labs-1/requirements", {**fields, "step": str(session.last)})
    index = places.index(ColumnPlace("age", "patients"))
    page = client.post("/labs-1/hierarchies", {"do": "bands", "column": str(index)})
    assert "It knows all" in page.words
    page = client.post("/labs-1/hierarchies", {"do": "no_hierarchy", "column": str(index)})
    page = client.post("/labs-1/result", {"do": "make", "seed": "2"})
    assert "What holds" in page.words, page.words
    assert "visits, before" in page.words
    refused = client.post("/labs-1/attacks", {"do": "attack", "control/1": "labs.csv"})
    assert "choose one for each, or for none" in refused.words
    page = client.post("/labs-1/release", {"do": "publish", "out": "studio"})
    assert "Written and checked." in page.words, page.words
    for screen in SCREENS:
        assert client.get(f"/labs-1/{screen}").status == 200
    paths = [tmp_path / f"{name}.csv" for name in session.source]
    command = ("anonymize", *paths, "-p", session.folder / "policy.toml", "--seed", "2", "-o", tmp_path / "shell")
    ended = call_here(*command)
    assert ended.code == 0, ended.stderr
    assert files(tmp_path / "studio" / "publish") == files(tmp_path / "shell" / "publish")


def test_samples_are_of_four_kinds() -> None:
    assert [sample.kind for sample in demo_samples().values()] == [None, None, "sparse", "trajectories"]
