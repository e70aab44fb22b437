"""Slices of distinct rows, a run of buckets at a time, beside slices of all records."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import shoal
from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.table import Column, Table
from shoal.tables.publish.slices import in_runs
from shoal.tables.publish.slices.in_runs import slice_in_runs
from shoal.tables.publish.slices.slice_table import slice_table

ROLES = {"quasi": ["age", "job"], "sensitive": ["ill"], "k": 4}


def drawn(seed: int, n_rows: int = 80) -> Table:
    """Distinct rows, each of a few records."""
    rng = np.random.default_rng(seed)
    cells = np.unique(np.column_stack([rng.integers(0, n, n_rows) for n in (9, 3, 4)]), axis=0).astype(np.int32)
    rng.shuffle(cells)
    columns = [
        Column(name, cells[:, i].copy(), np.arange(10 * i, 10 * i + 10)) for i, name in enumerate(("age", "job", "ill"))
    ]
    return Table({c.name: c.compact() for c in columns}, weights=rng.integers(1, 4, len(cells)).astype(np.int32))


def each(table: Table) -> Table:
    """Every record a row, in another order."""
    rows = np.repeat(np.arange(table.n_rows), table.weights)
    return Table({n: c.take(np.random.default_rng(1).permutation(rows)) for n, c in table.columns.items()})


@pytest.mark.parametrize("publish", ["bucketize", "slice"])
@pytest.mark.parametrize("seed", range(3))
def test_runs_of_buckets_are_what_all_records_give(seed: int, publish: str) -> None:
    table, policy = drawn(seed), shoal.Policy.of(**ROLES, publish=publish)
    whole = slice_table(each(table), attributes_of(table, policy), form=publish, k=4, require=policy.require, seed=7)
    expected = np.column_stack([c.codes for c in whole.table.columns.values()])
    for run_records in (1, 9, 50, 10_000):
        made = slice_in_runs(table, policy, 7, run_records=run_records)
        shown = np.concatenate(list(made.pieces()))
        assert list(made.columns) == whole.table.names
        assert np.array_equal(shown[:, :-1], expected)
        assert (shown[:, -1] == 1).all()
        assert made.n_records == len(expected) == made.sizes.sum()
        assert np.array_equal(np.concatenate(list(made.pieces())), shown), "they can be written again"


def test_a_sample_is_of_whole_buckets_with_their_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_runs, "SAMPLE_RECORDS", 40)
    table, policy = drawn(4), shoal.Policy.of(**ROLES, publish="bucketize")
    made = slice_in_runs(table, policy, 7, run_records=20)
    sample, original = made.sample, made.original
    shown = np.concatenate(list(made.pieces()))
    there = np.isin(shown[:, 0], sample.groups)
    assert 0 < there.sum() == original.n_records <= 40
    assert np.array_equal(shown[there, :-1], np.column_stack([c.codes for c in sample.table.columns.values()]))
    # Each slice is that of the records that it says, each of them once and all in their bucket.
    for part, rows in zip(made.layout.slices, sample.sources, strict=True):
        assert np.array_equal(np.sort(rows), np.arange(original.n_rows))
        assert np.array_equal(sample.groups[rows], sample.groups)
        for name in part.columns:
            assert np.array_equal(original[name].codes[rows], sample.table[name].codes)
    buckets = Counter(made.buckets[np.repeat(np.arange(made.table.n_rows), made.table.weights)].tolist())
    assert all(buckets[b] == n for b, n in Counter(sample.groups.tolist()).items())


def test_buckets_are_drawn_evenly_and_large_ones_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_runs, "SAMPLE_RECORDS", 10)
    among, n_large = in_runs._drawn(np.array([4, 50, 4, 4, 11]))
    assert n_large == 2
    assert among.sum() == 2
    assert not among[[1, 4]].any()
    among, n_large = in_runs._drawn(np.array([40, 30, 50]))
    assert among.tolist() == [False, True, False]
    assert n_large == 2
