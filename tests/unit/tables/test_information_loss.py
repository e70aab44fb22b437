"""Information loss: the words of the definition, and points whose boxes have the same widths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.tables.encoding import Kind, Ranked
from shoal.tables.information_loss import group_losses, information_loss, width_points

TREE = np.array([[0, 10, 20, 30], [1, 10, 20, 30], [2, 11, 20, 30], [3, 12, 21, 30], [4, 12, 21, 30], [5, 13, 22, 30]])


def attribute(kind: Kind, ranks: np.ndarray, has_missing: bool, name: str) -> Ranked:
    positions = np.array([-3.0, 0.5, 1.0, 4.0, 4.5, 100.0]) if kind == "number" else np.arange(6.0)
    if has_missing:
        positions[-1] = np.nan
    ancestors = TREE.astype(np.int32) if kind == "tree" else None
    return Ranked(name, kind, ranks.astype(np.int32), positions, ancestors, has_missing)


def defined_width(attribute: Ranked, ranks: list[int]) -> float:
    """Pair by pair: the two that are farthest apart decide."""
    if attribute.kind == "category":
        return float(len(set(ranks)) > 1)
    if attribute.kind == "tree":
        return next(h for h in range(4) if len({int(TREE[r, h]) for r in ranks}) == 1) / 3
    missing = {attribute.has_missing and r == 5 for r in ranks}
    if missing == {True, False}:
        return 1.0
    if missing == {True}:
        return 0.0
    values = attribute.positions[: 6 - attribute.has_missing]
    if attribute.kind == "order":
        values = np.arange(len(values), dtype=float)
    return float((values[max(ranks)] - values[min(ranks)]) / (values[-1] - values[0]))


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["number", "order", "category", "tree"]), st.booleans()), min_size=1, max_size=5
    ),
    st.integers(1, 30),
    st.integers(1, 6),
    st.integers(0, 2**32),
)
def test_losses_are_as_defined(kinds: list[tuple[Kind, bool]], n_rows: int, n_groups: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = [attribute(k, rng.integers(0, 6, n_rows), m, str(j)) for j, (k, m) in enumerate(kinds)]
    labels = np.unique(rng.integers(0, n_groups, n_rows), return_inverse=True)[1]
    losses = group_losses(table, labels)
    data = width_points(table)
    for g, loss in enumerate(losses):
        rows = np.flatnonzero(labels == g)
        width = sum(defined_width(a, a.ranks[rows].tolist()) for a in table)
        assert loss == pytest.approx(len(rows) * width, abs=1e-9)
        box = data.points[rows].max(axis=0) - data.points[rows].min(axis=0)
        assert (data.weights * np.minimum(box, 1.0)).sum() == pytest.approx(width, abs=1e-6)
    assert information_loss(table, labels) == pytest.approx(losses.sum())


def test_equal_steps_of_whole_numbers_have_equal_widths() -> None:
    age = Ranked("age", "number", np.arange(74, dtype=np.int32), np.arange(17.0, 91.0))
    assert len(set(np.diff(width_points([age]).points[:, 0]))) == 1


@pytest.mark.parametrize("values", [[0.0, 1e-320], [-1.7e308, 0.0, 1.7e308], [5.0], [1e15, 1e15 + 1]])
def test_widths_of_extreme_numbers_are_from_0_to_1(values: list[float]) -> None:
    numbers = Ranked("x", "number", np.arange(len(values), dtype=np.int32), np.array(values))
    points = width_points([numbers]).points[:, 0]
    assert np.isfinite(points).all()
    assert points.min() == 0
    assert points.max() == pytest.approx(float(len(values) > 1), abs=1e-6)
    assert information_loss([numbers], np.zeros(len(values), np.int32)) == pytest.approx(
        len(values) * (len(values) > 1)
    )
