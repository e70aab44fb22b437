"""The tests of `attack/tables/cells.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attack.cases import TableCase
from shoal.attack.tables.cells import read_view
from shoal.attack.tables.inference import score
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table, encode_cells


def test_labels_that_cover_several_values_count_in_part():
    original = Table.of([encode_cells("q", np.arange(4)), encode_cells("s", np.array(list("abcd"), dtype=object))])
    shown = np.array(["{a, b}", "{a, b}", "c", "*"], dtype=object)
    published = original.with_columns({"s": encode_cells("s", shown)})
    attributes = {"q": Attribute("q", "continuous", "quasi"), "s": Attribute("s", "nominal", "sensitive")}
    case = TableCase(published, original, None, ["q"], ["s"], attributes)
    view = read_view(case, ["s"])
    codes = view.labels[0].codes.astype(np.int64)
    assert score(view.labels[0], codes, view.original[:, 0]) == pytest.approx(0.5 + 0.5 + 1 + 0.25)


def test_numbers_are_right_within_a_twentieth():
    original = Table.of([encode_cells("s", np.array([100.0, 100.0, 100.0, 0.0, -10.0, np.nan]))])
    published = Table.of([encode_cells("s", np.array([104.0, 106.0, 96.0, 0.0, -10.2, np.nan]))])
    case = TableCase(published, original, None, [], ["s"], {"s": Attribute("s", "continuous", "sensitive")})
    view = read_view(case, ["s"])
    read = view.labels[0]
    each = [score(read, read.codes[i : i + 1].astype(np.int64), view.original[i : i + 1, 0]) for i in range(6)]
    assert each == [1, 0, 1, 1, 1, 1]


ATTRIBUTES = {
    "n": Attribute("n", "continuous", "quasi"),
    "c": Attribute("c", "nominal", "quasi"),
    "z": Attribute("z", "prefix", "quasi"),
}


def column(name, cells):
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return encode_cells(name, array)


@pytest.fixture(params=["labels", "plain"])
def view(request):
    """40 published records and 50 people, with missing cells; labels of every kind, or none."""
    rng = np.random.default_rng(8)
    numbers = [None, *(str(i) for i in range(1, 21))]
    letters = [None, *"abcdef"]
    codes = [None, "4810", "4811", "4920", "5000"]
    original = Table.of(
        [
            column("n", [numbers[i] for i in rng.integers(0, 21, 50)]),
            column("c", [letters[i] for i in rng.integers(0, 7, 50)]),
            column("z", [codes[i] for i in rng.integers(0, 5, 50)]),
        ]
    )
    shown = [
        ["3", "[2..9]", "[5..5]", "[1..20] or missing", "*", None],
        ["a", "{a, c}", "{b, e, f}", "*", "d or missing", None],
        ["4810", "48**", "4***", "*", "5000", None],
    ]
    if request.param == "plain":
        shown = [["3", "17", "8.5", None], ["a", "c", "f", None], ["4810", "5000", None]]
    published = Table.of(
        [column(n, [s[i] for i in rng.integers(0, len(s), 40)]) for n, s in zip("ncz", shown, strict=True)]
    )
    return read_view(TableCase(published, original, None, "ncz", (), ATTRIBUTES), "ncz")


def test_a_label_without_people_covers_nobody():
    original = Table.of([column("n", ["1", "2", "3"])])
    published = Table.of([column("n", ["[7..9]", "gibberish", "[2..9]"])])
    view = read_view(TableCase(published, original, None, ["n"], (), ATTRIBUTES), ["n"])
    read = view.labels[0]
    covered = [[bool(read.covers(np.array([c]), np.array([x]))[0]) for x in (1.0, 2.0, 3.0)] for c in read.codes]
    assert covered == [[False] * 3, [False] * 3, [False, True, True]]
