"""The tests of `kernels/attack/minimality.py`: each way against the cuts of the records by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table, encode_cells
from shoal.kernels.attack.minimality import is_cut, try_ways
from shoal.kernels.compile import interpreted
from shoal.kernels.tables.mondrian import cut_all, scratch_for
from shoal.kinds.tables.policy import Policy
from shoal.tables.encoding import rank
from shoal.tables.limits import limits_on_table
from shoal.tables.partition.mondrian import block_arguments

ATTRIBUTES = {
    "age": Attribute("age", "continuous", "quasi"),
    "place": Attribute("place", "nominal", "quasi"),
    "illness": Attribute("illness", "nominal", "sensitive"),
}
REQUIRED = {
    "distinct": Policy.of(k=2, l=2).require,
    "entropy": Policy.of(k=2, require=[{"model": "l-diversity", "kind": "entropy", "l": 1.5}]).require,
    "closeness": Policy.of(k=2, t=0.45).require,
}


@pytest.mark.parametrize("is_small", [False, True])
@pytest.mark.parametrize("model", REQUIRED)
@pytest.mark.parametrize("seed", range(4))
def test_ways_in_which_a_group_is_left_whole(seed: int, model: str, is_small: bool) -> None:
    rng = np.random.default_rng(seed)
    table = Table.of(
        [
            encode_cells("age", rng.integers(0, 6, 30)),
            encode_cells("place", rng.choice(["x", "y", "z"], 30).astype(object)),
            encode_cells("illness", rng.choice(["a", "b", "c"], 30).astype(object)),
        ]
    )
    ranked = [rank(table[n], ATTRIBUTES[n]) for n in ("age", "place")]
    limits = limits_on_table(table, REQUIRED[model], ATTRIBUTES, ["illness"], "value")
    space, arrays, k, _ = block_arguments(ranked, None, 2, limits, True)
    before = arrays.codes.copy()
    people = np.sort(rng.choice(30, 5, replace=False)).astype(np.int32)
    ways = rng.permuted(np.tile(np.arange(5), (40, 1)), axis=1)
    is_uncut = np.empty(40, dtype=bool)
    codes = np.ascontiguousarray(arrays.codes[:, people])
    with interpreted(is_small):
        try_ways(space, arrays, k, people, codes, ways, scratch_for(space, arrays, 5), is_uncut)

    alone, own, _, _ = block_arguments(ranked, people, 2, limits, True)
    slow = [
        len(cut_all(alone, own._replace(codes=np.ascontiguousarray(own.codes[:, way])), 2, True, 0)[1]) == 1
        for way in ways
    ]
    assert is_uncut.tolist() == slow
    assert sum(slow) < 40
    np.testing.assert_array_equal(arrays.codes, before)
    by_size = len(cut_all(alone, None, 2, True, 0)[1]) > 1
    with interpreted(is_small):
        assert is_cut(space, arrays, 2, people) == by_size
