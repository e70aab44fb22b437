"""Permutation: what ties the slices of a bucket together is a secret that is forgotten."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Codes, Ints, Rows, Words
from shoal.engine.seeds import spawn_seeds


def number_buckets(labels: Codes, contents: Sequence[Ints]) -> Codes:
    """Number buckets by what they publish: the least and the greatest content of each slice, then all of it.

    Parameters
    ----------
    labels : int32 array (n_rows,)
        Buckets 0 .. b - 1.
    contents : sequence of int64 arrays (n_rows,)
        The published content of each record in each slice, numbered in its order.

    Returns
    -------
    int32 array (n_rows,)
        The same buckets, numbered anew.
    """
    sizes = np.bincount(labels)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    order = np.argsort(labels, kind="stable")
    keys = []
    for content in contents:
        inside = content[order]
        keys += [np.minimum.reduceat(inside, starts), np.maximum.reduceat(inside, starts)]
    keys.append(sizes)
    for (
        content
    ) in contents:  # two buckets that still agree are told apart by all of their content, scattered and summed
        scattered = _scatter(content[order].astype(np.uint64))
        keys.append(np.add.reduceat(scattered, starts))
    place = np.empty(len(sizes), dtype=np.int32)
    place[np.lexsort(keys[::-1])] = np.arange(len(sizes))
    return place[labels]


def _scatter(numbers: Words) -> Words:
    """Spread neighbouring numbers over all of 64 bits (a mixer of shifts and odd factors)."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def permuted(buckets: Codes, contents: Sequence[Ints], seed: int | None) -> list[Rows]:
    """For each slice, which record's content stands in each published row; buckets ascending.

    Inside a bucket a slice is sorted by its content and then permuted by a random permutation of its own, so that not
    even who knows the seed learns from the order which contents of two slices belong together.

    Parameters
    ----------
    seed : int or None
        None takes the operating system's entropy.
    """
    orders = []
    for content, spawned in zip(contents, spawn_seeds(seed, len(contents)), strict=True):
        by_content = np.lexsort((content, buckets))
        shuffle = np.random.default_rng(spawned).random(len(buckets))
        orders.append(by_content[np.lexsort((shuffle, buckets[by_content]))])
    return orders
