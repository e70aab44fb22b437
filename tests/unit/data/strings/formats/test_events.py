"""A table of events: one string a person, in the order of time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.data.strings.files import read_strings, read_strings_back, write_strings
from shoal.data.strings.format import FORMATS
from shoal.errors import DataError, PolicyError

pytestmark = pytest.mark.unattacked

EVENTS = "user,t,page,plan\nann,3,pay,a\nbob,1,home,b\nann,1,home,a\nann,2,cart,a\nbob,1,help,b\ncy,5,=home,b\n"


def table(folder: Path, text: str = EVENTS) -> Path:
    path = folder / "events.csv"
    path.write_text(text)
    return path


def test_events_are_sorted_by_person_and_time_and_ties_stay(tmp_path: Path) -> None:
    strings = read_strings(table(tmp_path), column="page", person=["user"], time="t", class_column="plan")
    assert strings.texts() == [["home", "cart", "pay"], ["home", "help"], ["=home"]]
    assert [strings.classes[c] for c in strings.labels.tolist()] == ["a", "b", "b"]  # type: ignore[union-attr]
    assert read_strings(table(tmp_path), column="page", person=["user"]).texts()[0] == ["pay", "home", "cart"]


def test_times_may_be_dates(tmp_path: Path) -> None:
    text = "u,when,x\n1,2024-05-02 10:00,b\n1,2024-05-02 09:59,a\n1,2025-01-01 00:00,c\n"
    assert read_strings(table(tmp_path, text), column="x", person=["u"], time="when").texts() == [["a", "b", "c"]]


def test_times_of_several_zones_are_put_in_order(tmp_path: Path) -> None:
    text = "u,when,x\n1,2024-05-02T10:00+02:00,a\n1,2024-05-02T09:00Z,b\n1,2024-05-02T06:30-03:00,c\n"
    assert read_strings(table(tmp_path, text), column="x", person=["u"], time="when").texts() == [["a", "b", "c"]]


def test_what_is_written_reads_back_and_names_nobody(tmp_path: Path) -> None:
    strings = read_strings(table(tmp_path), column="page", person=["user"], time="t", class_column="plan")
    write_strings(strings, tmp_path / "data.csv")
    text = (tmp_path / "data.csv").read_text()
    assert text.splitlines()[:2] == ["user,page,plan", "pseudo_000001,home,a"]
    assert "'=home" in text
    back = read_strings_back(tmp_path / "data.csv", strings.source)
    assert (back.texts(), back.classes) == (strings.texts(), strings.classes)
    assert FORMATS["events"].beside(tmp_path / "data.csv", strings.source) == []
    (tmp_path / "named.csv").write_text(text.replace("pseudo_000002", "bob"))
    assert FORMATS["events"].beside(tmp_path / "named.csv", strings.source) == [
        "the names of persons in the data cannot come from a release"
    ]
    assert FORMATS["events"].beside(tmp_path / "events.csv", strings.source) == [
        "the data has a column 't' that the manifest does not know"
    ]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("u,x\n1,a\n,b\n", {"column": "x"}, "is empty in 1 rows"),
        ("u,t,x\n1,noon,a\n", {"column": "x", "time": "t"}, "neither numbers nor dates"),
        (
            "u,t,x\n1,2024-05-02T10:00+02:00,b\n1,2024-05-02T09:00,a\n",
            {"column": "x", "time": "t"},
            "some times name a time zone and others do not",
        ),
        ("u,x\n1,a\n", {"column": "y"}, "'y'"),
        ("u,x,c\n1,a,p\n1,b,q\n", {"column": "x", "class_column": "c"}, "events of several classes"),
        ("u,x\n1,a\n", {"column": "x", "alphabet": ["b"]}, "not in the alphabet"),
    ],
)
def test_what_cannot_be_told_is_refused(tmp_path: Path, text: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_strings(table(tmp_path, text), person=["u"], **options)


def test_options_that_do_not_go_together(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="events need the columns"):
        read_strings(table(tmp_path), person=["user"])
    with pytest.raises(PolicyError, match="are for a table of events"):
        read_strings(table(tmp_path), format="column", column="page", time="t")


def test_a_release_of_events_is_checked_against_the_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [f"p{p},{t},{'abcd'[rng.integers(0, 4)]}" for p in range(60) for t in range(12)]
    path = table(tmp_path, "who,t,what\n" + "\n".join(np.array(rows)[rng.permutation(len(rows))]) + "\n")
    policy = shoal.StringPolicy.of(k=5, person="who", time="t", column="what")
    release = shoal.anonymize(path, policy, seed=2)
    release.save(tmp_path / "out", keep=("groups",), report=False)
    assert shoal.check(tmp_path / "out", path).findings == ()
    assert (tmp_path / "out" / "publish" / "data.csv").read_text().startswith("who,what\npseudo_000001,")


@pytest.mark.parametrize("reading", [{"column": "x", "delimiter": ">"}, {"column": "x", "person": ["u"], "time": "t"}])
def test_a_release_of_parquet_is_checked(tmp_path: Path, reading: dict[str, Any]) -> None:
    """Its manifest names no delimiter, and none is asked for."""
    rng = np.random.default_rng(4)
    cells = [str(c) for c in rng.choice(list("abc"), 240)]
    columns: dict[str, list[Any]] = {"u": [i // 6 for i in range(240)], "t": [*range(240)], "x": cells}
    if "delimiter" in reading:
        columns = {"x": [">".join(cells[6 * i : 6 * i + 6]) for i in range(40)]}
    pq.write_table(pa.table(columns), path := tmp_path / "data.parquet")
    asked = {"kind": "strings", "input": reading, "require": [{"model": "k-anonymity", "k": 5}]}
    shoal.anonymize(path, asked, seed=1).save(tmp_path / "out", keep=("groups",), report=False)
    checked = shoal.check(tmp_path / "out/publish", original=path, private=tmp_path / "out/private")
    assert checked.holds
    assert not checked.findings
