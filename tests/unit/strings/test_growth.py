"""The tests of `strings/growth.py`."""

from __future__ import annotations

import numpy as np

from shoal.data.samples.haplotypes import haplotypes
from shoal.data.strings.strings import Strings
from shoal.strings import Condensation
from shoal.strings.groups import StringGrouping
from shoal.strings.growth import MOST_TOLD, told_by_columns
from shoal.strings.templates import convert_lengths


def letters(n: int, length: int) -> Strings:
    """Strings that have nothing in common but their length."""
    rng = np.random.default_rng(0)
    return Strings.of(["".join(row) for row in rng.choice(list("ACGT"), (n, length))])


def test_columns_tell_of_symbols_that_enough_members_have() -> None:
    strings = Strings.of(["aac", "abc", "abd", "abc"])
    templates = convert_lengths(strings.symbols, strings.starts)
    grouping = StringGrouping(np.zeros(4, np.int32), 0.0, ())
    assert told_by_columns(templates, grouping, 1) == 2 / 4
    assert told_by_columns(templates, grouping, 2) == 0.0
    uneven = Strings.of(["aac", "ab"])
    assert told_by_columns(convert_lengths(uneven.symbols, uneven.starts), grouping, 1) == 0.0


def test_groups_grow_where_strings_have_nothing_in_common() -> None:
    grown = Condensation(k=10, support=2, seed=1, workers=1).fit(letters(400, 40))
    sizes = np.bincount(grown.labels_)
    assert sizes.min() >= 40
    assert 40 * 3 / sizes.mean() <= MOST_TOLD
    alike = Condensation(k=10, seed=1, workers=1).fit(haplotypes(200, seed=1))
    assert np.bincount(alike.labels_).min() < 20


def test_too_few_strings_end_in_one_group() -> None:
    assert Condensation(k=10, support=2, seed=1, workers=1, block_strings=30).fit(letters(50, 60)).n_groups_ == 1
