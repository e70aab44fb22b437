"""The tests of `check/slices/matching.py`."""

from __future__ import annotations

import gc
import weakref

import numpy as np

from shoal.check.slices.matching import Finder, match_records, matching
from shoal.check.slices.sliced import sliced_of
from shoal.data.tables.slices import SlicedTable
from shoal.data.tables.table import MARKERS
from tests.unit.check.slices.honest_slices import SPLITS
from tests.unit.check.slices.slow_slices import ATTRIBUTES, GROUPS, random_case


def test_matching_buckets_are_counted_one_by_one():
    for seed in range(40):
        rng = np.random.default_rng([seed, 2])
        case = random_case(
            rng, SPLITS[seed % len(SPLITS)], n_buckets=12, sizes=(2, 30), generalise=seed % 3 > 0, n_values=5
        )
        found = matching(SlicedTable(case.published(rng), case.layout, ATTRIBUTES), case.original)
        expected = [case.matching(r) for r in case.records]
        assert found.n_matching[found.of_record].tolist() == expected


def test_crowded_buckets_go_through_the_index():
    """One bucket with hundreds of regions, as a requirement that allows no cut leaves it."""
    rng = np.random.default_rng(5)
    case = random_case(rng, GROUPS["screen"], n_buckets=2, sizes=(300, 301), n_values=5)
    table = case.published(rng)
    found = matching(SlicedTable(table, case.layout, ATTRIBUTES), case.original)
    for i, part in enumerate(found.sliced.parts):
        assert part.n_regions > 40
        counted = found.rows_of(i)
        for pair in range(0, len(found.tuples), 7):
            record = case.records[int(np.flatnonzero(found.of_record == found.tuples[pair])[0])]
            members = case.buckets[int(found.buckets[pair])]
            assert counted[pair] == sum(case.covered(i, j, record) for j in members)


def test_what_looks_tuples_up_is_gone_with_its_last_name():
    """A large original is looked up in pieces, and what did one piece must not stand beside the next."""
    rng = np.random.default_rng(5)
    case = random_case(rng, GROUPS["screen"], n_buckets=2, sizes=(300, 301), n_values=5)
    published = SlicedTable(case.published(rng), case.layout, ATTRIBUTES)
    finder = Finder(sliced_of(published, MARKERS), case.original, ATTRIBUTES, "value", MARKERS)
    match_records(finder)
    slices = [weakref.ref(s) for s in finder._slices]
    gc.disable()
    try:
        del finder
        assert [s() for s in slices] == [None] * len(slices)
    finally:
        gc.enable()
