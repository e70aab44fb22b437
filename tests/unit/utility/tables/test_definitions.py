"""The tests of `utility/tables/definitions.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table, encode_cells
from shoal.utility.tables.definitions import MEASURES
from shoal.utility.tables.measure import measure
from shoal.utility.tables.queries import query_error


def objects(*cells: str | None) -> np.ndarray:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def test_every_measure_is_there_in_its_order() -> None:
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=60), "y": rng.normal(size=60), "ill": objects(*(["flu", "cold"] * 30))}
    roles = {n: Attribute(n, "continuous", "quasi") for n in "xy"} | {"ill": Attribute("ill", "nominal", "sensitive")}
    table = Table.of([encode_cells(n, c) for n, c in columns.items()])
    groups = np.repeat(np.arange(12), 5).astype(np.int32)
    means = {n: np.array([columns[n][groups == g].mean() for g in groups]) for n in "xy"}
    release = Table.of([encode_cells(n, c) for n, c in (columns | means).items()])
    found = measure(table, release, np.arange(60), groups, roles, 5, target="ill", persons=np.arange(60) // 2)
    assert tuple(loss.name for loss in found.losses) == MEASURES
    assert all(loss.formula and loss.reference and loss.meaning for loss in found.losses)
    assert found["IL-mean"] == pytest.approx(20 * sum(found[f"IL{i}"] for i in range(1, 6)))
    assert found["CM"] == pytest.approx(12 * 2 / 60)
    asked = query_error(table, release, np.arange(60), groups, roles, n_queries=500)
    assert (found["query-error"], found["imprecision"]) == (asked.median_error, asked.imprecision)
