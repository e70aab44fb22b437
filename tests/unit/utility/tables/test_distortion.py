"""Minimal distortion and ILoss against their definitions, cell by cell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import encode_cells
from shoal.errors import DataError
from shoal.tables.encoding import rank
from shoal.tables.groups import Groups
from shoal.tables.publish.generalise import generalise
from shoal.utility.tables.distortion import iloss, minimal_distortion
from shoal.utility.tables.grouping import Grouping
from shoal.utility.tables.scale import Scale, scale_of

TREE = Hierarchy((("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*"), ("e", "y", "*")))
KINDS = {"nominal": list("abcd"), "continuous": ["1", "2.5", "10", "-3", "1.0"], "tree": list("abcde")}


def objects(cells: list[str | None]) -> np.ndarray:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def grouped(groups: list[int], n_rows: int) -> Grouping:
    return Grouping.of(n_rows, np.arange(len(groups)), np.array(groups, dtype=np.int32))[0]


def scaled(cells: list[str | None], kind: str, name: str = "x") -> Scale:
    more = {"hierarchy": TREE} if kind == "tree" else {}
    type_ = "nominal" if kind == "tree" else kind
    return scale_of(encode_cells(name, objects(cells)), Attribute(name, type_, "quasi", **more))  # type: ignore[arg-type]


def slow_cell(members: list[str | None], whole: list[str | None], kind: str) -> tuple[float, float]:
    """Level share and ILoss of one cell of a group, by the definition."""
    present = {m for m in members if m is not None}
    is_holed = None in members
    if kind == "tree":
        if not present:
            return 0.0, 0.0
        heights = [h for h in range(3) if len({TREE.label(p, h) for p in present}) == 1]
        height = 2 if is_holed else heights[0]
        label = TREE.label(next(iter(present)), height)
        under = sum(TREE.label(leaf, height) == label for leaf in TREE.leaves)
        return height / 2, (under - 1) / len(TREE.leaves)
    level = float(len(set(members)) > 1)
    if kind == "nominal":
        return level, (len(set(members)) - 1) / len(set(whole))
    domain = {float(w) for w in whole if w is not None}
    size = len(domain) + (None in whole)
    covered = sum(min(map(float, present)) <= d <= max(map(float, present)) for d in domain) if present else 0
    return level, (covered + is_holed - 1) / size


@settings(max_examples=80, deadline=None)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    data=st.data(),
    groups=st.lists(st.integers(0, 4), min_size=1, max_size=25),
    n_suppressed=st.integers(0, 3),
)
def test_agreement_with_the_definitions(kind: str, data: st.DataObject, groups: list[int], n_suppressed: int) -> None:
    n_rows = len(groups) + n_suppressed
    cells = data.draw(st.lists(st.sampled_from([*KINDS[kind], None]), min_size=n_rows, max_size=n_rows))
    scale, made = scaled(cells, kind), grouped(groups, n_rows)
    slow = [slow_cell([cells[j] for j, h in enumerate(groups) if h == g], cells, kind) for g in groups]
    distortion, loss = minimal_distortion([scale], made), iloss([scale], made)
    assert distortion.penalty == sum(level > 0 for level, _ in slow) + n_suppressed
    assert distortion.by_level == pytest.approx(sum(level for level, _ in slow) + n_suppressed)
    if kind == "tree":
        domain = 5
    elif kind == "nominal":
        domain = len(set(cells))
    else:
        domain = len({float(c) for c in cells if c is not None}) + (None in cells)
    assert loss.total == pytest.approx(sum(lost for _, lost in slow) + n_suppressed * (domain - 1) / domain)
    assert 0 <= loss.mean < 1
    assert loss.mean == pytest.approx(loss.total / n_rows)


def test_two_attributes_and_weights_by_hand() -> None:
    made = grouped([0, 0, 1, 1], 5)
    scales = [scaled(["a", "b", "c", "c", "e"], "tree", "t"), scaled(["1", "2", "3", "4", "4"], "continuous", "n")]
    found = minimal_distortion(scales, made)
    assert found.penalty == 2 + 1 + 4 + 1
    assert found.share == pytest.approx(0.8)
    assert found.by_level == pytest.approx(2 * 0.5 + 1 + 4 + 1)
    assert found.attributes == pytest.approx({"t": 0.6, "n": 1.0})
    tree, number = (2 * 1 + 4) / 5, (2 * 1 + 2 * 1 + 3) / 4
    loss = iloss(scales, made, weights={"t": 3.0})
    assert loss.total == pytest.approx(3 * tree + number)
    assert loss.mean == pytest.approx((3 * tree + number) / (5 * 4))
    assert loss.attributes == pytest.approx({"t": tree / 5, "n": number / 5})


def test_labels_above_the_least_are_charged() -> None:
    cells: list[str | None] = ["a", "b", "c", "c", None, None]
    made, scale = grouped([0, 0, 1, 1, 2, 2], 6), scaled(cells, "tree")
    # As our own publication writes it, nothing changes.
    ranked = rank(scale.column, scale.attribute)
    column = generalise(scale.column, ranked, Groups.of(made.labels), TREE, missing="value")
    least = minimal_distortion([scale], made)
    assert minimal_distortion([scale], made, {"x": column}) == least
    assert least.by_level == pytest.approx(2 * 0.5)
    # A recoding of the whole domain to height 1 also changes the c, and not the missing ones.
    recoded = encode_cells("x", objects(["x", "x", "y", "y", None, None]))
    assert minimal_distortion([scale], made, {"x": recoded}).by_level == pytest.approx(4 * 0.5)
    assert iloss([scale], made, published={"x": recoded}).total == pytest.approx((2 * 1 + 2 * 2) / 5)
    everything = encode_cells("x", objects(["*"] * 6))
    assert minimal_distortion([scale], made, {"x": everything}).share_by_level == 1.0
    assert iloss([scale], made, published={"x": everything}).mean == pytest.approx(4 / 5)


def test_weights_that_make_no_sense_are_refused() -> None:
    made, scale = grouped([0, 0], 2), scaled(["a", "b"], "tree")
    with pytest.raises(DataError, match="not a quasi-identifier"):
        iloss([scale], made, weights={"y": 1.0})
    with pytest.raises(DataError, match="negative"):
        iloss([scale], made, weights={"x": -1.0})
