"""The tests of `tables/publish/copies.py`."""

from __future__ import annotations

import numpy as np

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Column, encode_cells
from shoal.tables.encoding import rank
from shoal.tables.groups import Groups
from shoal.tables.publish.condense import Condensed, condense
from shoal.tables.publish.copies import N_TRIES


def objects(cells: list[str | None]) -> np.ndarray:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def made(columns: list[Column], types: list[str], labels, seed: int = 1, **more: object) -> Condensed:
    ranked = [rank(c, Attribute(c.name, t, "quasi")) for c, t in zip(columns, types, strict=True)]  # type: ignore[arg-type]
    return condense(columns, ranked, Groups.of(np.asarray(labels)), np.random.default_rng(seed), **more)  # type: ignore[arg-type]


def texts(column: Column) -> list[str | None]:
    return [None if m else column.texts()[c] for c, m in zip(column.codes, column.missing, strict=True)]


def test_copies_that_every_draw_repeats_are_replaced_or_reported() -> None:
    # Three of the four combinations that the group can draw are originals.
    columns = [encode_cells("v", objects(["a", "a", "b"])), encode_cells("w", objects(["p", "q", "p"]))]
    found = made(columns, ["nominal", "nominal"], [0, 0, 0])
    assert found.copies.n_left == 0
    assert set(zip(texts(found.columns["v"]), texts(found.columns["w"]), strict=True)) == {("b", "q")}
    # All that the group can draw are originals.
    columns = [encode_cells("v", objects(["a", "b"]))]
    found = made(columns, ["nominal"], [0, 0])
    assert found.copies.n_left == found.copies.n_copies == 2
    # The one combination that is no original is so rare that tries run out; the others take it over.
    cells = [("a", "p")] * 1 + [("a", f"q{i}") for i in range(60)] + [("b", "p")]
    columns = [encode_cells("v", objects([c[0] for c in cells])), encode_cells("w", objects([c[1] for c in cells]))]
    report = made(columns, ["nominal", "nominal"], [0] * len(cells)).copies
    assert N_TRIES < 60
    assert report.n_replaced > 0
    assert report.n_left == 0
