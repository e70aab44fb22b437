"""Published labels of every kind beside people, and the slow distance between them."""

from __future__ import annotations

import numpy as np

from shoal.attack.tables.case import TableCase
from shoal.attack.tables.cells import View, _extent, read_view
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table, encode_cells

ATTRIBUTES = {
    "n": Attribute("n", "continuous", "quasi"),
    "c": Attribute("c", "nominal", "quasi"),
    "z": Attribute("z", "prefix", "quasi"),
}


def column(name, cells):
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return encode_cells(name, array)


def view_of(labels: str) -> View:
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
    if labels == "plain":
        shown = [["3", "17", "8.5", None], ["a", "c", "f", None], ["4810", "5000", None]]
    published = Table.of(
        [column(n, [s[i] for i in rng.integers(0, len(s), 40)]) for n, s in zip("ncz", shown, strict=True)]
    )
    return read_view(TableCase(published, original, None, "ncz", (), ATTRIBUTES), "ncz")


def slow_distance(view: View, person: int, row: int, cover_only: bool) -> float:
    total = 0.0
    for place, read in enumerate(view.labels):
        x, label = view.original[person, place], read.codes[row]
        low, high = read.low[label], read.high[label]
        listed = read.listed[read.begins[label] : read.begins[label + 1]]
        if np.isnan(x):
            covered = bool(read.may_miss[label])
        else:
            covered = bool(low <= x <= high and (not len(listed) or x in listed))
        scale = 1 / _extent(view, place)
        if read.is_plain:
            if not read.is_number or np.isnan(x) or low > high:
                total += 0 if covered else 1
            else:
                total += abs(x - low) * scale
        elif not covered:
            gap = 1.0
            if read.is_number and not np.isnan(x) and low <= high:
                gap = max(low - x, x - high, 0) * scale
            total += len(view.labels) + gap
        elif not cover_only and not np.isnan(x):
            if read.is_number:
                points = np.linspace(low, high, 2_001)
                total += float(np.abs(points - x).mean()) * scale
            else:
                total += 1 - 1 / read.sizes[label]
    return total
