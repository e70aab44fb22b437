"""The published order of buckets and of the rows inside them."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.tables.publish.slices.permute import Permuted, number_buckets, permuted


def drawn(seed: int, n: int = 60):
    rng = np.random.default_rng(seed)
    return rng.permutation(np.arange(n) // 6).astype(np.int32), [rng.integers(0, 9, n) for _ in range(2)]


def test_the_numbers_of_buckets_depend_on_their_content_alone() -> None:
    for seed in range(5):
        labels, contents = drawn(seed)
        numbered = number_buckets(labels, contents)
        assert len({*zip(labels.tolist(), numbered.tolist(), strict=True)}) == 10
        renamed = np.random.default_rng(seed).permutation(10).astype(np.int32)[labels]
        assert np.array_equal(number_buckets(renamed, contents), numbered)
        least = [min(contents[0][numbered == b]) for b in range(10)]
        assert least == sorted(least)


def test_every_slice_is_permuted_inside_its_buckets() -> None:
    buckets, contents = drawn(1)
    orders = permuted(buckets, contents, seed=4)
    for order in orders:
        assert np.array_equal(np.sort(order), np.arange(60))
        assert np.array_equal(buckets[order], np.sort(buckets))
    assert not np.array_equal(*orders)
    assert all(np.array_equal(a, b) for a, b in zip(orders, permuted(buckets, contents, seed=4), strict=True))


def test_who_knows_the_seed_learns_no_more_than_the_content() -> None:
    """The same contents in another order of records: the same rows are published."""
    buckets, contents = drawn(2)
    turned = np.random.default_rng(3).permutation(60)
    one = permuted(buckets, contents, seed=4)
    other = permuted(buckets[turned], [c[turned] for c in contents], seed=4)
    for content, a, b in zip(contents, one, other, strict=True):
        assert np.array_equal(content[a], content[turned][b])


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_stand_for_several_records_are_permuted_as_these_are(seed: int) -> None:
    buckets, contents = drawn(seed)
    weights = np.random.default_rng(seed).integers(1, 4, len(buckets)).astype(np.int32)
    each = np.random.default_rng(9).permutation(np.repeat(np.arange(len(buckets)), weights))
    numbered = number_buckets(buckets, contents, weights)
    singly = [c[each] for c in contents]
    assert np.array_equal(numbered[each], number_buckets(buckets[each], singly))
    whole = permuted(numbered[each], singly, seed=4)
    for n_records in (1, 7, 30, 1000):
        some = Permuted(numbered, contents, 4, weights)
        runs = some.runs(n_records)
        assert [first for first, _ in runs] == [0, *(last for _, last in runs[:-1])]
        assert runs[-1][1] == 10
        assert all(last - first == 1 or some.sizes[first:last].sum() <= n_records for first, last in runs)
        parts = [some.rows(first, last) for first, last in runs]
        for content, own, rows, order in zip(contents, singly, zip(*parts, strict=True), whole, strict=True):
            assert np.array_equal(content[np.concatenate(rows)], own[order])


def test_buckets_may_be_drawn_alone() -> None:
    buckets, contents = drawn(5)
    whole, among = Permuted(buckets, contents, seed=2), np.arange(10) % 3 == 1
    for all_rows, some in zip(whole.rows(), whole.rows(among=among), strict=True):
        assert np.array_equal(all_rows[among[buckets[all_rows]]], some)


def test_without_a_seed_no_two_draws_are_alike_but_one_is_the_same_throughout() -> None:
    buckets, contents = drawn(6)
    one, other = (Permuted(buckets, contents, seed=None) for _ in range(2))
    assert not np.array_equal(one.rows()[0], other.rows()[0])
    assert np.array_equal(one.rows()[1], np.concatenate([one.rows(b, b + 1)[1] for b in range(10)]))
