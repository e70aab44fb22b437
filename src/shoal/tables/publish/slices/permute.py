"""Permutation: what ties the slices of a bucket together is a secret that is forgotten."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask, Rows, Words
from shoal.data.tables.table import count_codes
from shoal.engine.seeds import spawn_seeds


def number_buckets(labels: Codes, contents: Sequence[Ints], weights: Codes | None = None) -> Codes:
    """Number buckets by what they publish: the least and the greatest content of each slice, then all of it.

    Parameters
    ----------
    labels : int32 array (n_rows,)
        Buckets 0 .. b - 1.
    contents : sequence of int64 arrays (n_rows,)
        The published content of each record in each slice, numbered in its order.
    weights : int32 array (n_rows,), optional
        How many records each row stands for; else each is one.

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
    keys.append(count_codes(labels, weights))
    # Two buckets that still agree are told apart by all of their content, scattered and summed.
    for content in contents:
        scattered = _scatter(content[order].astype(np.uint64))
        if weights is not None:
            scattered *= weights[order].astype(np.uint64)
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


class Permuted:
    """The records of every slice in the order in which they are published; buckets ascending, and some of them at once.

    Inside a bucket a slice is sorted by its content and then permuted by a random permutation of its own, so that not
    even who knows the seed learns from the order which contents of two slices belong together. A random number belongs
    to a place in that order, and to no record: it is the same however the records came, how many rows they are held as,
    and which buckets are asked for at once.

    Parameters
    ----------
    buckets : int32 array (n_rows,)
        Buckets 0 .. b - 1.
    contents : sequence of int64 arrays (n_rows,)
        The published content of each record in each slice, numbered in its order.
    seed : int or None
        None takes the operating system's entropy.
    weights : int32 array (n_rows,), optional
        How many records each row stands for; else each is one.
    spelled : sequence of sequences of int arrays (n_rows,), optional
        Of each slice, what tells apart contents of one number that are spelled in two ways.
    """

    def __init__(
        self,
        buckets: Codes,
        contents: Sequence[Ints],
        seed: int | None,
        weights: Codes | None = None,
        spelled: Sequence[Sequence[Codes]] = (),
    ) -> None:
        self._weights = weights
        self._seeds = spawn_seeds(seed, len(contents))
        ties: list[Sequence[Codes]] = [*spelled, *([()] * (len(contents) - len(spelled)))]
        self._orders = [_sorted([*more, content, buckets]) for content, more in zip(contents, ties, strict=True)]
        self.sizes = count_codes(buckets, weights)
        self._ends = np.concatenate([[0], np.cumsum(self.sizes)])
        self._row_ends = np.concatenate([[0], np.cumsum(count_codes(buckets))])

    def rows(self, first: int = 0, last: int | None = None, among: Mask | None = None) -> list[Rows]:
        """For each slice, the row whose content stands in each published row of some buckets.

        Parameters
        ----------
        first, last : int
            From which bucket on, and before which to end.
        among : bool array (n_buckets,), optional
            Which of these are wanted; else all.
        """
        last = len(self.sizes) if last is None else last
        bucket = np.repeat(np.arange(first, last), self.sizes[first:last])
        found = []
        for order, seed in zip(self._orders, self._seeds, strict=True):
            some = order[self._row_ends[first] : self._row_ends[last]]
            records = some if self._weights is None else np.repeat(some, self._weights[some])
            numbers, within = _numbers(seed, int(self._ends[first]), int(self._ends[last])), bucket
            if among is not None:
                wanted = among[bucket]
                records, numbers, within = records[wanted], numbers[wanted], bucket[wanted]
            found.append(records[np.lexsort([numbers, within])])
        return found

    def runs(self, n_records: int) -> list[tuple[int, int]]:
        """Runs of buckets that follow each other and have up to so many records, or of one that has more."""
        found, first, n_buckets = [], 0, len(self.sizes)
        while first < n_buckets:
            last = int(np.searchsorted(self._ends, self._ends[first] + n_records, side="right")) - 1
            found.append((first, max(first + 1, last)))
            first = found[-1][1]
        return found


def _sorted(keys: Sequence[Codes | Ints]) -> Rows:
    return np.lexsort(keys)


def _numbers(seed: np.random.SeedSequence, begin: int, end: int) -> Floats:
    """Some of the numbers that a generator draws, by their places, without those before."""
    generator = np.random.PCG64(seed)
    generator.advance(begin)
    return np.random.Generator(generator).random(end - begin)


def permuted(buckets: Codes, contents: Sequence[Ints], seed: int | None) -> list[Rows]:
    """For each slice, which record's content stands in each published row; see `Permuted`."""
    return Permuted(buckets, contents, seed).rows()
