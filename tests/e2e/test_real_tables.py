"""Tables of the real world from file to checked release, by the command line alone."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import call_here, write

ADULT_QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]


def shoal(folder: Path, *arguments: str | Path, code: int = 0) -> dict[str, Any]:
    ended = call_here(*arguments, "--json", cwd=folder)
    assert ended.code == code, ended.stderr
    assert ended.stderr == ""
    found = json.loads(ended.stdout)
    assert isinstance(found, dict)
    return found


def release(folder: Path, data: Path, *options: str) -> dict[str, Any]:
    """Profile, anonymize under that policy or the one in the options, and check with and without the original."""
    made = shoal(folder, "anonymize", data, "-o", "out", "--keep", "groups", *options)
    assert all(g["holds"] for g in made["guarantees"])
    alone = shoal(folder, "check", "out")
    compared = shoal(folder, "check", "out/publish", "--original", data, "--private", "out/private")
    assert alone["holds"]
    assert not alone["findings"]
    assert compared["holds"]
    assert compared["compared_with_original"]
    size = (folder / "out" / "private" / "report.html").stat().st_size
    assert size < 1_000_000
    return made


def gcp(made: dict[str, Any]) -> float:
    return float(next(loss["value"] for loss in made["utility"]["losses"] if loss["name"] == "GCP"))


def rows_of(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def roles_of(profile: dict[str, Any]) -> dict[str, list[str]]:
    roles: dict[str, list[str]] = {}
    for column in profile["columns"]:
        roles.setdefault(column["role"], []).append(column["name"])
    return roles


def smallest_class(rows: list[dict[str, str]], quasi: list[str]) -> int:
    return min(Counter(tuple(r[n] for n in quasi) for r in rows).values())


@pytest.fixture
def adult(shared_data: Path) -> Path:
    return shared_data / "adult" / "arx_adult.csv.gz"


@pytest.mark.slow
def test_adult_by_its_profile(adult: Path, tmp_path: Path) -> None:
    found = shoal(tmp_path, "profile", adult)
    assert found["rows"] == 30_162
    assert roles_of(found) == {"quasi": [*ADULT_QUASI, "salary-class"]}
    made = release(tmp_path, adult, "-p", "policy.toml", "--sensitive", "salary-class")
    assert made["records"] == {"in": 30_162, "out": 30_162, "suppressed": 0}
    assert gcp(made) < 0.05
    rows = rows_of(tmp_path / "out" / "publish" / "data.csv.gz", ";")
    assert smallest_class(rows, ADULT_QUASI) == 5
    originals = rows_of(adult, ";")
    assert Counter(r["salary-class"] for r in rows) == Counter(r["salary-class"] for r in originals)


@pytest.mark.slow
def test_adult_with_hierarchies(adult: Path, tmp_path: Path) -> None:
    folder = adult.parent / "hierarchies"
    lines = [
        f'{name} = {{ role = "quasi", hierarchy = {json.dumps(str(folder / f"adult_hierarchy_{name}.csv"))} }}'
        for name in ADULT_QUASI
    ]
    require = '[[require]]\nmodel = "k-anonymity"\nk = 5\n[[require]]\nmodel = "l-diversity"\nl = 2\n'
    write(tmp_path / "policy.toml", "\n".join(["[columns]", *lines, 'salary-class = { role = "sensitive" }', require]))
    made = release(tmp_path, adult, "-p", "policy.toml")
    assert gcp(made) < 0.3
    rows = rows_of(tmp_path / "out" / "publish" / "data.csv.gz", ";")
    assert smallest_class(rows, ADULT_QUASI) >= 5
    for name in ADULT_QUASI:
        labels = {
            cell for row in csv.reader((folder / f"adult_hierarchy_{name}.csv").open(), delimiter=";") for cell in row
        }
        assert {r[name] for r in rows} <= labels


@pytest.mark.slow
def test_diabetes_by_its_profile(shared_data: Path, tmp_path: Path) -> None:
    data = shared_data / "diabetes130" / "diabetic_data.csv.gz"
    found = shoal(tmp_path, "profile", data)
    roles = roles_of(found)
    assert roles["identifying"] == ["encounter_id", "patient_nbr"]
    assert {"race", "gender", "age", "weight", "diag_1", "A1Cresult", "readmitted"} < set(roles["quasi"])
    assert '\nperson = "patient_nbr"' in (tmp_path / "policy.toml").read_text()
    made = release(tmp_path, data, "-p", "policy.toml")
    assert made["records"]["out"] == 101_766
    rows = rows_of(tmp_path / "out" / "publish" / "data.csv.gz")
    assert smallest_class(rows, roles["quasi"]) >= 5
    assert "encounter_id" not in rows[0]
    assert len(rows[0]) == 48


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["value", "any"])
def test_diabetes_under_both_meanings_of_missing(shared_data: Path, tmp_path: Path, missing: str) -> None:
    data = shared_data / "diabetes130" / "diabetic_data.csv.gz"
    quasi = ["race", "gender", "age", "weight"]
    release(tmp_path, data, "--quasi", ",".join(quasi), "--others", "identifying", "-k", "10", "--missing", missing)
    rows = rows_of(tmp_path / "out" / "publish" / "data.csv.gz")
    assert smallest_class(rows, quasi) >= 10
    assert any(r["weight"] == "?" for r in rows) == (missing == "value")


HARDER = [
    ("--sensitive", "relat", "-l", "3"),
    ("--sensitive", "relat", "-t", "0.3"),
    ("--method", "mdav", "--publish", "aggregate"),
]


@pytest.mark.parametrize(
    "options",
    [
        pytest.param((), marks=pytest.mark.unattacked, id="plain"),
        *(pytest.param(o, marks=pytest.mark.slow, id=" ".join(o)) for o in HARDER),
    ],
)
def test_a_household_survey(shared_data: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    data = shared_data / "sdcmicro_testdata" / "testdata.csv"
    roles = roles_of(shoal(tmp_path, "profile", data))
    assert len(roles["quasi"]) == 13
    assert roles["insensitive"] == ["sampling_weight"]  # one number in all records
    assert roles["identifying"] == ["ori_hid"]
    assert '\nperson = "ori_hid"' in (tmp_path / "policy.toml").read_text()
    made = release(tmp_path, data, "-p", "policy.toml", *options)
    assert made["records"]["out"] == 4580
    rows = rows_of(tmp_path / "out" / "publish" / "data.csv")
    assert smallest_class(rows, [n for n in roles["quasi"] if n not in options]) >= 5


def test_the_worked_example_of_eight_records(shared_data: Path, tmp_path: Path) -> None:
    """Sample frequencies 2 2 2 1 1 1 1 2 by the keys: four records are unique."""
    data = shared_data / "sdcmicro_testdata" / "francdat.csv"
    keys = ["Key1", "Key2", "Key3", "Key4"]
    made = release(tmp_path, data, "--quasi", ",".join(keys), "--others", "identifying", "-k", "2")
    assert made["risk"]["before"]["n_unique"] == 4
    assert made["risk"]["after"]["n_unique"] == 0
    assert smallest_class(rows_of(tmp_path / "out" / "publish" / "data.csv"), keys) >= 2
