"""Tables of the same persons."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from shoal.data.linked.linked import Linked, name_files
from shoal.data.tables.frames import from_frame
from shoal.errors import DataError, PolicyError

PATIENTS = from_frame({"id": ["b", "a", "c"], "age": [1, 2, 3]})
LABS = from_frame({"id": ["a", "x", "a", "b"], "value": [1, 2, 3, 4]})


def test_persons_are_those_of_the_main_table() -> None:
    linked = Linked.of({"patients": PATIENTS, "labs": LABS}, "id")
    assert linked.names == ["a", "b", "c"]
    assert linked.persons["patients"].tolist() == [1, 0, 2]
    assert linked.persons["labs"].tolist() == [0, -1, 0, 1]
    assert (len(linked), linked.main, linked.n_rows) == (3, "patients", 7)
    assert (linked.n_strangers("patients"), linked.n_strangers("labs")) == (0, 1)


def test_persons_are_taken_with_all_their_rows() -> None:
    some = Linked.of({"patients": PATIENTS, "labs": LABS}, "id").take(np.array([0, 2]))
    assert some.names == ["a", "c"]
    assert some.tables["labs"]["value"].cells().tolist() == [1, 3]


def test_numbers_are_the_same_however_they_are_typed() -> None:
    whole, halves = from_frame({"id": [7, 8]}), from_frame({"id": [7.0, 8.0, 7.0]})
    assert Linked.of({"a": whole, "b": halves}, "id").n_strangers("b") == 0


@pytest.mark.parametrize(
    ("tables", "error", "what"),
    [
        ({"patients": PATIENTS}, DataError, "nothing to be linked with"),
        (
            {"patients": PATIENTS, "labs": from_frame({"di": ["a"], "x": [1]})},
            PolicyError,
            "'labs' has no column 'id'.*'di'",
        ),
        (
            {"patients": PATIENTS, "labs": from_frame({"id": ["a", None]})},
            DataError,
            "missing in 1 of 2 rows of 'labs'",
        ),
        ({"patients": from_frame({"id": [None, "a"]}), "labs": LABS}, DataError, "1 of 2 rows of 'patients'"),
        (
            {"patients": from_frame({"id": ["x7", "x8"]}), "labs": from_frame({"id": ["y7"]})},
            DataError,
            "no row of 'labs' is of anybody in 'patients'",
        ),
        (
            {"patients": from_frame({"id": ["7", "8"]}), "labs": from_frame({"id": ["007"]})},
            DataError,
            "a key of 'id' can be told from others only by spelling",
        ),
        (
            {"patients": from_frame({"id": ["a", "A", "b", "B "]}), "labs": LABS},
            DataError,
            "2 keys of 'id' can be told",
        ),
    ],
)
def test_what_cannot_be_linked_is_refused(tables, error, what) -> None:
    with pytest.raises(error, match=what):
        Linked.of(tables, "id")


def test_files_are_told_apart_by_their_names() -> None:
    assert list(name_files([Path("x/patients.csv"), Path("labs.csv.gz")])) == ["patients", "labs"]
    with pytest.raises(DataError, match="given twice"):
        name_files([Path("a.csv"), Path("./a.csv")])
    with pytest.raises(DataError, match="have the same name"):
        name_files([Path("x/a.csv"), Path("y/a.csv")])
