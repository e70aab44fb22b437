"""Whose records pseudonyms say are of one person, and whether that is so."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.check.tables.pseudonyms import apart, compare_pseudonyms
from shoal.data.tables.frames import from_frame
from shoal.manifest import checksum


def test_pseudonyms_are_taken_off() -> None:
    table = from_frame({"who": ["q", "p", "q"], "age": [1, 2, 3]})
    left, whose = apart(table, "who")
    assert left.names == ["age"]
    assert whose is not None
    assert whose.tolist() == [1, 0, 1]
    assert apart(table, None) == (table, None)
    assert apart(table, "absent") == (table, None)


@pytest.mark.parametrize(
    ("pseudonyms", "persons", "found"),
    [
        ([0, 1, 0], [5, 3, 5], ()),
        ([0, 0, 0], [5, 3, 5], ("1 pseudonym of several persons",)),
        ([0, 1, 2], [5, 3, 5], ("1 person of several pseudonyms",)),
        ([0, 0, 1], [5, 3, 5], ("1 pseudonym of several persons", "1 person of several pseudonyms")),
    ],
)
def test_pseudonyms_and_persons_are_paired_off(pseudonyms, persons, found) -> None:
    assert compare_pseudonyms(np.array(pseudonyms), np.array(persons)).findings == found


def test_without_the_rows_it_is_said_that_nobody_looked() -> None:
    assert "one person" in compare_pseudonyms(np.array([0]), None).not_compared[0]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    who = np.repeat(np.arange(30), 2)
    frame = pd.DataFrame({"who": who, "born": 1950 + who, "ill": rng.choice(["flu", "gout"], 60)})
    frame.to_csv(tmp_path / "visits.csv", index=False)
    policy = shoal.Policy.of(
        quasi=["born"], sensitive=["ill"], person="who", person_knowledge="history", keep_person=True, k=3
    )
    shoal.anonymize(tmp_path / "visits.csv", policy, seed=1).save(tmp_path / "out", keep="rows", report=False)
    return tmp_path


def test_a_published_folder_is_recounted_by_its_pseudonyms(out: Path) -> None:
    alone = shoal.check(out / "out")
    assert alone.holds
    assert "all records of a person" in alone.guarantees[0].sentence
    whole = shoal.check(out / "out", out / "visits.csv", private=out / "out" / "private")
    assert whole.holds
    assert not [p for p in whole.not_compared if "pseudonym" in p]


def rewritten(out: Path, edit) -> Path:
    """The folder with other pseudonyms, and a checksum that fits."""
    folder = out / "out" / "publish"
    data = pd.read_csv(folder / "data.csv")
    data = edit(data)
    data.to_csv(folder / "data.csv", index=False)
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["checksums"]["data.csv"] = checksum(folder / "data.csv")
    path.write_text(json.dumps(manifest))
    return folder


def test_pseudonyms_that_tie_other_records_are_found(out: Path) -> None:
    def swap(data: pd.DataFrame) -> pd.DataFrame:
        one, other = data.index[data["born"] != data["born"].shift()][:2]
        data.loc[[one, other], "who"] = data.loc[[other, one], "who"].to_numpy()
        return data

    folder = rewritten(out, swap)
    assert not shoal.check(folder).guarantees[0].holds
    found = shoal.check(folder, out / "visits.csv", private=out / "out" / "private")
    assert any("of several persons" in finding for finding in found.findings)


def test_a_pseudonym_of_its_own_for_every_row_is_found_beside_the_original(out: Path) -> None:
    def split(data: pd.DataFrame) -> pd.DataFrame:
        return data.assign(who=[f"p{i}" for i in range(len(data))])

    folder = rewritten(out, split)
    found = shoal.check(folder, out / "visits.csv", private=out / "out" / "private")
    assert "30 persons of several pseudonyms" in found.findings


def test_a_missing_column_of_pseudonyms_is_found(out: Path) -> None:
    folder = rewritten(out, lambda data: data.drop(columns="who"))
    assert any("lacks the column 'who' of pseudonyms" in finding for finding in shoal.check(folder).findings)
