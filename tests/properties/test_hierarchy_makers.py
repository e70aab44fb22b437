"""The automatic hierarchies are valid trees that cover whatever they are given."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from shoal.data.tables.hierarchy import Hierarchy, calendar, intervals, prefixes
from shoal.data.tables.table import encode_cells, spell

floats = hnp.arrays(np.float64, st.integers(1, 40), elements=st.floats(allow_nan=False))
near_floats = hnp.arrays(np.float64, st.integers(1, 40), elements=st.integers(-400, 400).map(lambda i: i / 100))
integers = hnp.arrays(np.int64, st.integers(1, 40), elements=st.integers(-(2**63), 2**63 - 1))
small_integers = hnp.arrays(np.int64, st.integers(1, 40), elements=st.integers(-50, 120))
codes = st.lists(st.text(st.sampled_from('0123*;a \n"é'), min_size=1, max_size=6), min_size=1, max_size=20)


def assert_contiguous(tree: Hierarchy) -> None:
    ids = tree.ancestors(tree.leaf_order())
    assert (np.diff(ids, axis=0) >= 0).all()
    assert ids[:, 0].tolist() == list(range(len(tree.leaves)))
    assert not ids[:, -1].any()


@given(st.one_of(floats, near_floats, integers, small_integers))
@example(np.array([-0.0]))
@settings(max_examples=300, deadline=None)
def test_intervals_cover_and_tell_the_truth(values: np.ndarray) -> None:
    tree = intervals(values)
    column = encode_cells("x", values)
    tree.require_all(spell(column.values), "x")
    assert tree.height <= 7
    assert_contiguous(tree)
    number = float if values.dtype.kind == "f" else Decimal
    for leaf, *labels, root in tree.rows:
        assert root == "*"
        for label in labels:
            if label != leaf:
                low, high = label[1:-1].split("..")
                assert number(low) <= number(leaf) < number(high)


@given(hnp.arrays("datetime64[D]", st.integers(1, 30), elements=st.dates().map(np.datetime64)))
@settings(deadline=None)
def test_calendars_cover(days: np.ndarray) -> None:
    tree = calendar(days)
    tree.require_all(spell(np.unique(days).astype("datetime64[us]")), "day")
    assert tree.height == 5
    assert_contiguous(tree)


@given(codes)
@settings(deadline=None)
def test_prefixes_cover_and_survive_a_file(given_codes: list[str]) -> None:
    tree = prefixes(given_codes)
    tree.require_all(given_codes, "code")
    assert_contiguous(tree)
    with TemporaryDirectory() as folder:
        tree.write(Path(folder) / "tree.csv")
        assert Hierarchy.read(Path(folder) / "tree.csv") == tree
