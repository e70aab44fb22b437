"""People with the same quasi-identifiers in several tables."""

from __future__ import annotations

import numpy as np

from shoal.attack.tables.case import TableCase
from shoal.attack.tables.people import joint_keys, twins_of
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.frames import from_frame

ATTRIBUTES = {name: Attribute(name, "nominal", "quasi") for name in "ab"}


def tables(seed: int):
    rng = np.random.default_rng(seed)
    return [from_frame({name: [f"v{v}" for v in rng.integers(0, 4, n)] for name in "ab"}) for n in (30, 12)]


def test_keys_are_equal_where_all_cells_are_spelled_alike() -> None:
    for seed in range(5):
        both = tables(seed)
        keys = np.concatenate(joint_keys(both, ["a", "b"])).tolist()
        cells = [pair for t in both for pair in zip(*(t[name].cells().tolist() for name in "ab"), strict=True)]
        for i, key in enumerate(keys):
            assert [other == key for other in keys] == [other == cells[i] for other in cells]


def test_twins_are_found_or_are_none() -> None:
    for seed in range(5):
        original, control = tables(seed)
        cells = [list(zip(*(t[n].cells().tolist() for n in "ab"), strict=True)) for t in (original, control)]
        people = np.array([i for i, cell in enumerate(cells[0]) if cells[0].index(cell) == i][::2])
        found = twins_of(TableCase(original, original, control, "ab", (), ATTRIBUTES), people)
        place = {cells[0][row]: i for i, row in enumerate(people)}
        assert found.tolist() == [place.get(cell, -1) for cell in cells[1]]
    assert len(twins_of(TableCase(original, original, None, "ab", (), ATTRIBUTES), people)) == 0
