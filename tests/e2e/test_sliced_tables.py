"""Bucketized, sliced and screened tables by the command line alone: made, checked, and spoiled."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest

from shoal.manifest import checksum
from tests.e2e.command import NOT_VERIFIED, RunHere, call_here, people, text_of, write

pytestmark = pytest.mark.unattacked

FORMS = ("bucketize", "slice", "screen")
NAMES = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
    "capital-loss,hours-per-week,native-country,salary-class"
)
ADULT = """
[columns]
occupation = { role = "sensitive" }
"*" = { role = "quasi" }
[[require]]
model = "k-anonymity"
k = 5
[[require]]
model = "l-diversity"
kind = "entropy"
l = 8
[limits]
singled_out = 1.0
[method]
publish = "FORM"
"""
DIABETES = """
[columns]
race = { role = "quasi" }
gender = { role = "quasi" }
age = { role = "quasi" }
weight = { role = "quasi" }
admission_type_id = { role = "quasi" }
discharge_disposition_id = { role = "quasi" }
admission_source_id = { role = "quasi" }
payer_code = { role = "quasi" }
diag_1 = { role = "sensitive" }
encounter_id = { role = "identifying" }
patient_nbr = { role = "identifying" }
"*" = { role = "insensitive" }
[[require]]
model = "k-anonymity"
k = 5
[[require]]
model = "l-diversity"
kind = "probabilistic"
l = 4
[limits]
singled_out = 1.0
[method]
publish = "FORM"
"""
SURVEY = """
[columns]
urbrur = { role = "quasi" }
relat = { role = "quasi" }
sex = { role = "quasi" }
age = { role = "quasi" }
hhcivil = { role = "quasi" }
water = { role = "sensitive" }
income = { role = "sensitive" }
ori_hid = { role = "identifying" }
"*" = { role = "insensitive" }
[[require]]
model = "k-anonymity"
k = 5
[[require]]
model = "l-diversity"
l = 2
[[require]]
model = "t-closeness"
t = 0.3
sensitive = "income"
[limits]
singled_out = 1.0
[method]
publish = "FORM"
"""


def adult(folder: Path, shared_data: Path) -> Path:
    text = gzip.decompress((shared_data / "adult" / "adult.data.gz").read_bytes()).decode()
    rows = [line.replace(", ", ",") for line in text.splitlines() if line and "?" not in line]
    assert len(rows) == 30_162
    return write(folder / "data.csv", "\n".join([NAMES, *rows, ""]))


def diabetes(folder: Path, shared_data: Path) -> Path:
    packed = shared_data / "diabetes130" / "diabetic_data.csv.gz"
    lines = gzip.decompress(packed.read_bytes()).splitlines(keepends=True)
    return write(folder / "data.csv", b"".join(lines[:40_001]))


def survey(folder: Path, shared_data: Path) -> Path:
    return write(folder / "data.csv", (shared_data / "sdcmicro_testdata" / "testdata.csv").read_bytes())


def resealed(publish: Path, rows: list[list[str]]) -> None:
    """Other rows in the file, with a checksum that fits them: the content has to give it away."""
    with (publish / "data.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    manifest = json.loads((publish / "manifest.json").read_text(encoding="utf-8"))
    manifest["checksums"]["data.csv"] = checksum(publish / "data.csv")
    (publish / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def read_rows(publish: Path) -> list[list[str]]:
    with (publish / "data.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def swap_rows(publish: Path) -> None:
    """The first row of the first bucket and another one of the last change places."""
    rows = read_rows(publish)
    assert rows[0][0] == "bucket"
    sensitive = next(i for i, c in enumerate(rows[0]) if c.startswith(("occupation", "diag_1", "water", "disease")))
    last = rows[-1][0]
    assert rows[1][0] != last
    there = next(i for i, r in enumerate(rows) if r[0] == last and r[sensitive] != rows[1][sensitive])
    rows[1], rows[there] = [rows[1][0], *rows[there][1:]], [last, *rows[1][1:]]
    resealed(publish, rows)


COMPARE = ("--original", "data.csv", "--json")
EACH = (COMPARE, (*COMPARE, "-p", "policy.toml"), (*COMPARE, "--private", "out/private"))
BOTH = (COMPARE, (*COMPARE, "-p", "policy.toml", "--private", "out/private"))


def made_checked_and_spoiled(folder: Path, policy: str, form: str, run, ways=EACH) -> None:
    method = f'"{form}"' if form != "screen" else f'"{form}"\nslices = 3'  # the best may be a single bucket
    write(folder / "policy.toml", policy.replace('"FORM"', method))
    asked = ("anonymize", "data.csv", "-p", "policy.toml", "-o", "out", "--seed", "1", "--keep", "groups", "--json")
    made = run(*asked)
    assert made.code == 0, made.stderr
    result = json.loads(made.stdout)
    assert result["records"]["in"] == result["records"]["out"]
    assert all(g["holds"] for g in result["guarantees"])
    publish = folder / "out" / "publish"
    for options in ways:
        checked = run("check", "out/publish", *options)
        assert checked.code == 0, checked.stdout + checked.stderr
        found = json.loads(checked.stdout)
        assert found["holds"]
        claimed = {(g["model"], g["sensitive"]) for g in found["guarantees"]}
        assert claimed == {(g["model"], g["sensitive"]) for g in result["guarantees"]}
    swap_rows(publish)
    for options in ways:
        checked = run("check", "out/publish", *options)
        assert checked.code == NOT_VERIFIED, options
        found = json.loads(checked.stdout)
        assert found["findings"] or not all(g["holds"] for g in found["guarantees"])
        assert found["findings"] or "--private" not in options
        assert not any("checksum" in sentence for sentence in found["findings"])


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("make", "policy"), [(adult, ADULT), (diabetes, DIABETES)], ids=["adult", "diabetes130"])
def test_large_tables(tmp_path: Path, shared_data: Path, make, policy: str, form: str) -> None:
    make(tmp_path, shared_data)
    made_checked_and_spoiled(tmp_path, policy, form, lambda *a: call_here(*a, cwd=tmp_path), BOTH)


@pytest.mark.parametrize("form", FORMS)
def test_a_survey(tmp_path: Path, shared_data: Path, run_here: RunHere, form: str) -> None:
    survey(tmp_path, shared_data)
    made_checked_and_spoiled(tmp_path, SURVEY, form, lambda *a: run_here(*a, cwd=tmp_path))


ROLES = (
    "--quasi", "age,zip,city", "--sensitive", "disease", "--identifying", "name", "--others", "insensitive",
)  # fmt: skip


@pytest.fixture
def small(tmp_path: Path) -> Path:
    write(tmp_path / "people.csv", text_of(people(60)))
    return tmp_path


@pytest.mark.parametrize("slices", ["2", "age,zip;city", "best"])
@pytest.mark.parametrize("form", FORMS)
def test_slices_by_options(small: Path, run_here: RunHere, form: str, slices: str) -> None:
    options = () if form == "bucketize" or slices == "best" else ("--slices", slices)
    made = run_here(
        "anonymize", "people.csv", "-o", "out", *ROLES, "-k", "3", "-l", "2", "--publish", form, *options, cwd=small
    )
    assert made.code == 0, made.stderr
    checked = run_here("check", "out/publish", "--original", "people.csv", cwd=small)
    assert checked.code == 0, checked.stdout


def test_a_changed_cell_and_a_lost_row_are_caught(small: Path, run_here: RunHere) -> None:
    asked = (*ROLES, "-k", "3", "-l", "2", "--publish", "slice", "--slices", "2", "--seed", "1")
    assert run_here("anonymize", "people.csv", "-o", "out", *asked, cwd=small).code == 0
    publish = small / "out" / "publish"
    rows = read_rows(publish)
    at = rows[0].index("disease")
    other = next(r[at] for r in rows[1:] if r[at] != rows[1][at])
    resealed(publish, [rows[0], [*rows[1][:at], other, *rows[1][at + 1 :]], *rows[2:]])
    checked = run_here("check", "out/publish", "--original", "people.csv", cwd=small)
    assert checked.code == NOT_VERIFIED
    assert "checksum" not in checked.stdout
    resealed(publish, rows[:-1])
    checked = run_here("check", "out/publish", "--original", "people.csv", cwd=small)
    assert checked.code == NOT_VERIFIED
    assert "checksum" not in checked.stdout


TAXONOMY = "Ayr;isles;*\nBath;isles;*\nCork;isles;*\nDax;land;*\nEsch;land;*\nZanzibar77;land;*\n"


def test_labels_of_a_taxonomy_need_the_policy(tmp_path: Path, run_here: RunHere) -> None:
    cities = ["Ayr", "Bath", "Cork", "Dax", "Esch", "Dax"]
    write(tmp_path / "people.csv", text_of(people(60, city=cities)))
    write(tmp_path / "city.csv", TAXONOMY)
    write(
        tmp_path / "policy.toml",
        '[columns]\nname = { role = "identifying" }\nage = { role = "quasi" }\nzip = { role = "quasi" }\n'
        'city = { role = "quasi", hierarchy = "city.csv" }\ndisease = { role = "sensitive" }\n'
        '[[require]]\nmodel = "k-anonymity"\nk = 5\n[[require]]\nmodel = "l-diversity"\nl = 3\n'
        '[method]\npublish = "screen"\nslices = 1\n',
    )
    made = run_here("anonymize", "people.csv", "-p", "policy.toml", "-o", "out", "--seed", "1", cwd=tmp_path)
    assert made.code == 0, made.stderr
    rows = read_rows(tmp_path / "out" / "publish")
    assert {"isles", "land"} & {r[rows[0].index("city")] for r in rows}
    checked = run_here("check", "out/publish", "--original", "people.csv", "-p", "policy.toml", cwd=tmp_path)
    assert checked.code == 0, checked.stdout
    checked = run_here("check", "out/publish", "--original", "people.csv", cwd=tmp_path)
    assert checked.code == NOT_VERIFIED
    assert "not verified  the labels of 'city' cannot be read" in checked.stdout
    assert "give the policy with -p" in checked.stdout
    assert "Nothing is wrong with what was checked" in checked.stdout


def test_ranges_of_words_need_the_policy(tmp_path: Path, run_here: RunHere) -> None:
    """Low, middle, high: no order that the words tell."""
    grades = ["low", "middle", "high", "top", "low"]
    write(tmp_path / "people.csv", text_of(people(60, city=grades)))
    write(
        tmp_path / "policy.toml",
        '[columns]\nname = { role = "identifying" }\nage = { role = "quasi" }\nzip = { role = "quasi" }\n'
        'city = { role = "quasi", type = "ordinal", order = ["low", "middle", "high", "top", "Zanzibar77"] }\n'
        'disease = { role = "sensitive" }\n'
        '[[require]]\nmodel = "k-anonymity"\nk = 5\n[[require]]\nmodel = "l-diversity"\nl = 3\n'
        '[method]\npublish = "screen"\nslices = 1\n',
    )
    made = run_here("anonymize", "people.csv", "-p", "policy.toml", "-o", "out", "--seed", "1", cwd=tmp_path)
    assert made.code == 0, made.stderr
    assert ".." in (tmp_path / "out" / "publish" / "data.csv").read_text()
    checked = run_here("check", "out/publish", "--original", "people.csv", "-p", "policy.toml", cwd=tmp_path)
    assert checked.code == 0, checked.stdout
    checked = run_here("check", "out/publish", "--original", "people.csv", cwd=tmp_path)
    assert checked.code == NOT_VERIFIED
    assert "Nothing is wrong with what was checked" in checked.stdout


# Table 1c of the paper on screening, as it is printed; the policy of tests/papers/test_screening_table.py.
TABLE_1A = """\
sex,zip,age,occupation,salary
F,40178,26,nurse,10000
F,40277,30,nurse,12000
M,40276,32,police,8000
F,40175,51,cook,9000
F,40385,28,engineer,20000
M,40485,43,engineer,23000
M,40286,50,clerk,8000
M,40267,48,clerk,11000
"""
TABLE_1C = """\
1;[26..32];*;10000;402**;{engineer, nurse};12000
1;[26..32];*;12000;402**;{nurse, police};8000
1;[26..32];*;8000;403**;{engineer, police};20000
1;[26..32];*;20000;401**;{engineer, police};10000
2;[43..51];*;9000;402**;{clerk, cook};11000
2;[43..51];*;23000;404**;{clerk, engineer};23000
2;[43..51];*;8000;402**;{clerk, engineer};8000
2;[43..51];*;11000;401**;{cook, engineer};9000
"""


def test_the_printed_table_1c_is_refused(tmp_path: Path, run_here: RunHere) -> None:
    write(tmp_path / "people.csv", TABLE_1A)
    write(
        tmp_path / "policy.toml",
        '[columns]\nsex = { role = "quasi" }\nzip = { role = "quasi", type = "prefix" }\nage = { role = "quasi" }\n'
        'occupation = { role = "quasi" }\nsalary = { role = "sensitive", type = "nominal" }\n'
        '[[require]]\nmodel = "k-anonymity"\nk = 2\n'
        '[[require]]\nmodel = "l-diversity"\nkind = "probabilistic"\nl = 2\n'
        '[method]\npublish = "screen"\nslices = [["age", "sex"], ["zip", "occupation"]]\n',
    )
    made = run_here("anonymize", "people.csv", "-p", "policy.toml", "-o", "out", "--seed", "1", cwd=tmp_path)
    assert made.code == 0, made.stderr
    publish = tmp_path / "out" / "publish"
    header = read_rows(publish)[0]
    assert header == ["bucket", "age", "sex", "salary@1", "zip", "occupation", "salary@2"]
    resealed(publish, [header, *(line.split(";") for line in TABLE_1C.splitlines())])
    checked = run_here("check", "out/publish", "--original", "people.csv", cwd=tmp_path)
    assert checked.code == NOT_VERIFIED
    assert "checksum" not in checked.stdout
    assert "a combination of quasi-identifiers stands in 1 row only (required: 2)" in checked.stdout
    assert "no bucket could hold 1 record of the original" in checked.stdout
