"""The published order of buckets and of the rows inside them."""

from __future__ import annotations

import numpy as np

from shoal.tables.publish.slices.permute import number_buckets, permuted


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
