"""Columns as ranks, in the order that their attribute has."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import encode_cells
from shoal.tables.encoding import rank

PLACES = Hierarchy((("rome", "south", "*"), ("oslo", "north", "*"), ("bari", "south", "*")))


def column(*cells: str | None):
    return encode_cells("x", np.array(cells, dtype=object))


@pytest.mark.parametrize(
    ("attribute", "cells", "ranks", "kind"),
    [
        (Attribute("x", "continuous", "quasi"), ("10", "9", "10", None), [1, 0, 1, 2], "number"),
        (Attribute("x", "ordinal", "quasi", order=("low", "high")), ("high", "low", None), [1, 0, 2], "order"),
        (Attribute("x", "nominal", "quasi"), ("b", "a", None), [1, 0, 2], "category"),
        (Attribute("x", "date", "quasi"), ("2020-02-01", "2019-12-31"), [1, 0], "number"),
    ],
)
def test_ranks_follow_the_attribute_and_missing_is_last(attribute, cells, ranks, kind) -> None:
    found = rank(column(*cells), attribute)
    assert found.kind == kind
    assert found.ranks.tolist() == ranks
    assert found.has_missing == (None in cells)
    assert found.n_values == len(set(cells))
    assert found.take(np.array([1, 0])).ranks.tolist() == [ranks[1], ranks[0]]


def test_leaves_of_a_hierarchy_stand_beside_each_other() -> None:
    found = rank(column("rome", "oslo", "bari"), Attribute("x", "nominal", "quasi", hierarchy=PLACES))
    assert found.kind == "tree"
    assert found.ancestors is not None
    rome, oslo, bari = found.ancestors[found.ranks, 1].tolist()
    assert rome == bari != oslo
    assert abs(int(found.ranks[0]) - int(found.ranks[2])) == 1


def test_by_sense_spellings_of_one_thing_share_a_rank() -> None:
    nominal = Attribute("x", "nominal", "sensitive")
    assert rank(column("Flu", "flu ", "cold"), nominal).n_values == 3
    assert rank(column("Flu", "flu ", "cold"), nominal, by_sense=True).n_values == 2


@pytest.mark.parametrize("by_sense", [False, True])
@pytest.mark.parametrize("type_", ["nominal", "prefix"])
def test_one_long_text_does_not_make_all_as_long(by_sense: bool, type_: str) -> None:
    """As an array of texts of one width does: this one would take 120 GB."""
    texts = [f"t{i:05}" for i in range(30_000)]
    cells = np.array([*texts, "x" * 1_000_000], dtype=object)
    found = rank(encode_cells("code", cells), Attribute("code", type_, "quasi"), by_sense=by_sense)  # type: ignore[arg-type]  # a type by its name
    assert found.ranks.tolist() == list(range(30_001))
