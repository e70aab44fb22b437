"""The tests of `attack/tables/cells.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attack.tables.case import TableCase
from shoal.attack.tables.cells import read_view
from shoal.attack.tables.inference import rightness
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table, encode_cells
from tests.unit.attack.tables.views import ATTRIBUTES, column, view_of


@pytest.fixture(params=["labels", "plain"])
def view(request):
    return view_of(request.param)


def test_labels_that_cover_several_values_count_in_part():
    original = Table.of([encode_cells("q", np.arange(4)), encode_cells("s", np.array(list("abcd"), dtype=object))])
    shown = np.array(["{a, b}", "{a, b}", "c", "*"], dtype=object)
    published = original.with_columns({"s": encode_cells("s", shown)})
    attributes = {"q": Attribute("q", "continuous", "quasi"), "s": Attribute("s", "nominal", "sensitive")}
    case = TableCase(published, original, None, ["q"], ["s"], attributes)
    view = read_view(case, ["s"])
    codes = view.labels[0].codes.astype(np.int64)
    assert rightness(view.labels[0], codes, view.original[:, 0]).sum() == pytest.approx(0.5 + 0.5 + 1 + 0.25)


def test_numbers_are_right_within_a_twentieth():
    original = Table.of([encode_cells("s", np.array([100.0, 100.0, 100.0, 0.0, -10.0, np.nan]))])
    published = Table.of([encode_cells("s", np.array([104.0, 106.0, 96.0, 0.0, -10.2, np.nan]))])
    case = TableCase(published, original, None, [], ["s"], {"s": Attribute("s", "continuous", "sensitive")})
    view = read_view(case, ["s"])
    read = view.labels[0]
    each = [
        rightness(read, read.codes[i : i + 1].astype(np.int64), view.original[i : i + 1, 0]).sum() for i in range(6)
    ]
    assert each == [1, 0, 1, 1, 1, 1]


def test_a_label_without_people_covers_nobody():
    original = Table.of([column("n", ["1", "2", "3"])])
    published = Table.of([column("n", ["[7..9]", "gibberish", "[2..9]"])])
    view = read_view(TableCase(published, original, None, ["n"], (), ATTRIBUTES), ["n"])
    read = view.labels[0]
    covered = [[bool(read.covers(np.array([c]), np.array([x]))[0]) for x in (1.0, 2.0, 3.0)] for c in read.codes]
    assert covered == [[False] * 3, [False] * 3, [False, True, True]]
