"""The tests of `utility/tables/grouping.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import encode_cells
from shoal.utility.tables.distortion import minimal_distortion
from shoal.utility.tables.grouping import Grouping
from shoal.utility.tables.scale import Scale, scale_of

TREE = Hierarchy((("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*"), ("e", "y", "*")))


def objects(cells: list[str | None]) -> np.ndarray:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def scaled(cells: list[str | None], kind: str, name: str = "x") -> Scale:
    more = {"hierarchy": TREE} if kind == "tree" else {}
    type_ = "nominal" if kind == "tree" else kind
    return scale_of(encode_cells(name, objects(cells)), Attribute(name, type_, "quasi", **more))  # type: ignore[arg-type]


def test_kept_rows_say_which_label_belongs_to_which_group() -> None:
    scale = scaled(["a", "b", "c", "d"], "tree")
    made, kept = Grouping.of(4, np.array([3, 2, 1, 0]), np.array([-1, -1, 7, 7]))
    column = encode_cells("x", objects(["*", "*", "x", "x"]))
    assert minimal_distortion([scale], made, {"x": column}, kept).by_level == pytest.approx(2 * 0.5 + 2)


def test_negative_groups_are_suppressed() -> None:
    made, kept = Grouping.of(3, np.arange(3), np.array([5, -1, 5]))
    assert made.n_suppressed == 1
    assert kept.tolist() == [0, 2]
    assert made.sizes.tolist() == [2]


def test_the_variety_of_groups_is_that_of_the_slow_twin_and_of_its_own_codes() -> None:
    rng = np.random.default_rng(3)
    made, _ = Grouping.of(60, rng.permutation(60)[:50], rng.integers(-1, 9, 50))
    for n_codes in (2, 7, 400):
        codes = rng.integers(0, n_codes, 60).astype(np.int32)
        slow = [len(set(codes[made.rows[made.labels == g]].tolist())) for g in range(made.n_groups)]
        assert made.variety(codes, n_codes).tolist() == slow
        assert made.variety(codes, n_codes) is made.variety(codes, n_codes)
