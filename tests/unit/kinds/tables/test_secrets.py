"""The tests of `kinds/tables/secrets.py`."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.data.samples.clinic import clinic

pytestmark = pytest.mark.unattacked
NAMES = ("age", "sex", "zip", "diagnosis")


def released(**asked: object) -> shoal.TableRelease:
    table = clinic(120)
    people = {name: table[name] for name in NAMES} | {"whose": [f"p{i // 2}" for i in range(120)]}
    settings = {"quasi": NAMES[:3], "sensitive": ["diagnosis"], "k": 4, "singled_out": 1.0, **asked}
    left = {"identifying": ["whose"]} if "whose" not in (asked.get("person"), asked.get("provider")) else {}
    return shoal.anonymize(people, shoal.Policy.of(**settings, **left), seed=1)


def kept(folder: Path) -> list[dict[str, str]]:
    with folder.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_rows_tie_each_published_row_to_its_own(tmp_path: Path) -> None:
    release = released()
    release.save(tmp_path / "out", keep=["rows"], report=False)
    lines = (tmp_path / "out" / "private" / "rows.csv").read_text().splitlines()[1:]
    original = np.array([int(line.split(",")[-1]) for line in lines]) - 1
    assert sorted(original.tolist()) == list(range(120))
    assert list(release.data["diagnosis"]) == clinic(120)["diagnosis"][original].tolist()


def test_a_mapping_counts_every_record_once(tmp_path: Path) -> None:
    released().save(tmp_path / "out", keep=["mapping"], report=False)
    for i in (1, 2, 3):
        rows = kept(tmp_path / "out" / "private" / f"mapping-{i}.csv")
        assert sum(int(list(row.values())[-1]) for row in rows) == 120


def test_rows_tell_whose_a_row_is_so_that_persons_are_not_listed_too(tmp_path: Path) -> None:
    release = released(person="whose")
    release.save(tmp_path / "out", keep=["persons"], report=False)
    assert (tmp_path / "out" / "private" / "persons.csv").exists()
    release.save(tmp_path / "both", keep=["rows", "persons"], report=False)
    assert {p.name for p in (tmp_path / "both" / "private").iterdir()} == {"rows.csv"}


@pytest.mark.parametrize(
    ("asked", "keep", "why"),
    [
        ({}, "key", "there is no key to keep"),
        ({}, "ledger", "ask for it before it is made"),
        ({}, "persons", "no persons were counted"),
        ({}, "providers", "no provider is named"),
        ({"publish": "condense"}, "rows", "a published row stands for no record"),
    ],
)
def test_what_a_release_does_not_have_is_not_kept(
    tmp_path: Path, asked: dict[str, object], keep: str, why: str
) -> None:
    with pytest.raises(shoal.PolicyError, match=why):
        released(**asked).save(tmp_path / "out", keep=[keep], report=False)
    assert not (tmp_path / "out").exists()
