"""Files of Stata, SPSS and SAS: their labels survive a release, and no others are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.data.tables.files import read_table
from shoal.data.tables.write import file_name, read_back, write_table
from shoal.errors import DataError

pytestmark = pytest.mark.unattacked

pandas: Any = pytest.importorskip("pandas")
pyreadstat: Any = pytest.importorskip("pyreadstat")

LABELS = {"age": "Age in years", "sex": "Sex of the patient", "ill": "Main diagnosis", "kids": "Children"}
VALUES = {
    "sex": {1: "male", 2: "female"},
    "ill": {1: "flu", 2: "cold", 3: "none", 9: "held by nobody"},
    "kids": {99: "not known"},
}
FORMATS = {"dta": ("read_dta", "write_dta"), "sav": ("read_sav", "write_sav"), "xpt": ("read_xport", "write_xport")}


def survey(path: Path, n: int = 60) -> Path:
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame(
        {
            "age": rng.integers(20, 80, n).astype(float),
            "sex": rng.integers(1, 3, n).astype(float),
            "ill": rng.integers(1, 4, n).astype(float),
            "kids": np.where(rng.random(n) < 0.1, 99.0, rng.integers(0, 4, n)),
            "town": rng.choice(["Ulm", "Bern", ""], n),
        }
    )
    more = {} if path.suffix == ".xpt" else {"variable_value_labels": VALUES}
    getattr(pyreadstat, FORMATS[path.suffix[1:]][1])(frame, str(path), column_labels=LABELS, **more)
    return path


@pytest.mark.parametrize("ending", ["dta", "sav"])
def test_labels_are_what_people_read_and_come_back_as_codes(tmp_path: Path, ending: str) -> None:
    table = read_table(survey(tmp_path / f"x.{ending}"))
    assert set(table["sex"].values) == {"male", "female"}
    assert table["kids"].values.dtype.kind == "f"  # some codes have no label
    assert file_name(table) == f"data.{ending}"
    write_table(table, tmp_path / f"data.{ending}")
    frame, meta = getattr(pyreadstat, FORMATS[ending][0])(str(tmp_path / f"data.{ending}"))
    assert set(frame["sex"]) == {1, 2}
    assert {n: t for n, t in meta.column_names_to_labels.items() if t} == LABELS
    told = {n: {int(code): text for code, text in of.items()} for n, of in meta.variable_value_labels.items()}
    assert told == VALUES | {"ill": {1: "flu", 2: "cold", 3: "none"}}
    back = read_back(tmp_path / f"data.{ending}", table.names, markers=("",))
    assert [back[n].cells().tolist() for n in back.names] == [table[n].cells().tolist() for n in table.names]


@pytest.mark.parametrize("ending", ["dta", "sav", "xpt"])
def test_no_time_stands_in_what_is_written(tmp_path: Path, ending: str) -> None:
    table = read_table(survey(tmp_path / f"x.{ending}"))
    write_table(table, tmp_path / "one")
    data = (tmp_path / "one").read_bytes()
    stamps = {"dta": b"01 Jan 2000 00:00", "sav": b"01 Jan 0000:00:00", "xpt": b"01JAN00:00:00:00"}
    assert stamps[ending] in data


@pytest.mark.parametrize("ending", ["dta", "sav", "xpt"])
def test_a_release_keeps_the_labels_and_passes_the_check(tmp_path: Path, ending: str) -> None:
    path = survey(tmp_path / f"x.{ending}")
    policy = shoal.Policy.of(quasi=["age", "sex", "kids", "town"], sensitive=["ill"], k=4, l=2)
    release = shoal.anonymize(path, policy, seed=1)
    release.save(tmp_path / "out", report=False)
    assert shoal.check(tmp_path / "out", path).findings == ()
    _, meta = getattr(pyreadstat, FORMATS[ending][0])(str(tmp_path / "out" / "publish" / f"data.{ending}"))
    assert {n: t for n, t in meta.column_names_to_labels.items() if t} == LABELS
    assert ending == "xpt" or set(meta.variable_value_labels["ill"].values()) == {"flu", "cold", "none"}


@pytest.mark.parametrize(("ending", "text"), [("xpt", "05MAR20:12:30:00"), ("sav", "01 Mar 2012:30:00")])
def test_a_cell_that_looks_like_the_time_of_writing_stays(tmp_path: Path, ending: str, text: str) -> None:
    frame = pandas.DataFrame({"when": [text, "x"], "n": [1.0, 2.0]})
    getattr(pyreadstat, FORMATS[ending][1])(frame, str(tmp_path / f"x.{ending}"))
    table = read_table(tmp_path / f"x.{ending}")
    write_table(table, tmp_path / f"data.{ending}")
    assert text in read_table(tmp_path / f"data.{ending}")["when"].values


def test_a_label_that_is_spelled_like_a_missing_value_leaves_codes(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"x": [1.0, 2.0, 1.0]})
    pyreadstat.write_dta(frame, str(tmp_path / "x.dta"), variable_value_labels={"x": {1: "NA", 2: "yes"}})
    assert read_table(tmp_path / "x.dta")["x"].cells().tolist() == [1.0, 2.0, 1.0]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"<stata_dta><header>broken", "Stata"),
        (b"$FL2@(#) broken", "SPSS"),
        (b"HEADER RECORD*******LIBRARY broken", "SAS"),
        (bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011") + b"\0" * 50, "SAS"),
    ],
)
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, content: bytes, name: str) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(DataError, match=f"the {name} file is damaged"):
        read_table(tmp_path / "x")
