"""Templates of strings in a file are those of held ones."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from shoal.data import ragged_rows
from shoal.data.strings import on_disk
from shoal.data.strings.strings import Strings
from shoal.errors import Infeasible
from shoal.strings.groups import split_by_nearness
from shoal.strings.templates import Templates, convert_lengths
from shoal.strings.templates_on_disk import TemplatesOnDisk, templates_on_disk
from tests.unit.data.strings.test_on_disk import put


def some(n: int, even: bool) -> Strings:
    rng = np.random.default_rng(n)
    return Strings.of(["".join(rng.choice(list("abcd"), 9 if even else rng.integers(5, 12))) for _ in range(n)])


def same(one: Templates, other: Templates) -> bool:
    names = ("starts", "features", "weights", "feature_symbols", "position_starts", "lengths")
    return one.length == other.length and all(np.array_equal(getattr(one, x), getattr(other, x)) for x in names)


@pytest.mark.parametrize("even", [False, True])
def test_they_are_those_of_held_strings(even: bool) -> None:
    strings = some(90, even)
    held = convert_lengths(strings.symbols, strings.starts)
    with patch.object(on_disk, "SYMBOLS_AT_ONCE", 100), patch.object(ragged_rows, "ENTRIES_OF_A_RANGE", 150):
        found = templates_on_disk(put(strings), 10**6)
        assert isinstance(found, TemplatesOnDisk)
        rows = np.random.default_rng(1).permutation(90)[:40]
        part, places = found.part(rows)
        blocks = split_by_nearness(found, 25, np.random.SeedSequence(1))
        by_blocks = found.by_blocks(blocks)
        assert same(found.whole(), held)
        for source, wanted in ((found, rows), (part, places), (by_blocks, rows)):
            assert same(source.take(wanted), held.take(rows))
        assert np.array_equal(by_blocks.lengths, held.lengths)
        again, places = by_blocks.part(rows)
        assert same(again.take(places), held.take(rows))
    expected = split_by_nearness(held, 25, np.random.SeedSequence(1))
    assert [block.tolist() for block in blocks] == [block.tolist() for block in expected]
    assert isinstance(templates_on_disk(put(strings), 10**6), Templates)  # of few strings


def test_what_does_not_fit_is_refused() -> None:
    strings = some(90, False)
    with patch.object(on_disk, "SYMBOLS_AT_ONCE", 100), patch.object(ragged_rows, "ENTRIES_OF_A_RANGE", 150):
        with pytest.raises(Infeasible, match="8 symbols of 4 different ones need a table"):
            templates_on_disk(put(strings), 20)
        found = templates_on_disk(put(strings), 400)
        with pytest.raises(Infeasible, match="groups grow to all 90 strings"):
            found.whole()
        with pytest.raises(Infeasible, match="grouped together have"):
            found.by_blocks([np.arange(90)])
