"""The tests of `strings/growth.py`."""

from __future__ import annotations

import numpy as np

from shoal.data.samples.haplotypes import haplotypes
from shoal.data.strings.strings import Strings
from shoal.strings import Condensation
from shoal.strings.groups import StringGrouping
from shoal.strings.growth import told_by_groups
from shoal.strings.windows import STRINGS_A_SHARE_OF_COLUMNS


def letters(n: int, length: int) -> Strings:
    """Strings that have nothing in common but their length."""
    rng = np.random.default_rng(0)
    return Strings.of(["".join(row) for row in rng.choice(list("ACGT"), (n, length))])


def test_windows_tell_of_symbols_that_enough_members_have() -> None:
    grouping = StringGrouping(np.zeros(4, np.int32), 0.0, ())
    for texts, support, expected in (
        (["aac", "abc", "abd", "abc"], 1, 4 * 2 / 4),
        (["aac", "abc", "abd", "abc"], 2, 0.0),
        (["aac", "ab", "abd", "abc"], 1, 2 * 3 / 4),  # two bins: a, b, and b, c, d with a in the middle
    ):
        strings = Strings.of(texts)
        n_symbols = len(strings.alphabet)
        found = told_by_groups(strings.symbols, strings.starts, grouping, support, 0.05, n_symbols)
        assert found == expected


def test_groups_grow_where_strings_have_nothing_in_common() -> None:
    grown = Condensation(k=10, support=2, seed=1, workers=1).fit(letters(600, 40))
    sizes = np.bincount(grown.labels_)
    assert sizes.min() >= 40
    assert sizes.mean() >= 40 * 3 * STRINGS_A_SHARE_OF_COLUMNS
    alike = Condensation(k=10, seed=1, workers=1).fit(haplotypes(200, seed=1))
    assert np.bincount(alike.labels_).min() < 20


def test_too_few_strings_end_in_one_group() -> None:
    assert Condensation(k=10, support=2, seed=1, workers=1, block_strings=30).fit(letters(50, 60)).n_groups_ == 1
