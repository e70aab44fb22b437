"""From buckets to groups: near persons, each sensitive value of the signature as often as the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Ints, Mask
from shoal.kernels.tables.balanced_split import split_bucket
from shoal.releases.carry import CarriedBoxes

if TYPE_CHECKING:
    from shoal.kernels.tables.width_tree import WidthPoints


def split_buckets(points: WidthPoints, buckets: Ints, values: Ints, is_person: Mask, k: int) -> Ints:
    """The group of each row; -1 where a bucket holds fewer than k persons.

    Parameters
    ----------
    points : WidthPoints
        The quasi-identifiers; counterfeits lie where a person of their bucket lies.
    buckets, values : int64 arrays (n_rows,)
        In each bucket every value that occurs is equally frequent.
    is_person : bool array (n_rows,)
        Which rows are no counterfeits.
    """
    labels = np.full(len(buckets), -1, dtype=np.int64)
    order = np.lexsort((np.arange(len(buckets)), values, buckets))
    ends = np.flatnonzero(np.diff(buckets[order], append=-1))
    n_groups, begin = 0, 0
    for end in (ends + 1).tolist():
        some = order[begin:end]
        n_values = len(np.unique(values[some]))
        begin = end
        if int(is_person[some].sum()) < k:
            continue
        rows = np.ascontiguousarray(some.reshape(n_values, -1))
        n_groups = split_bucket(points.points, points.weights, rows, -(-k // n_values), n_groups, labels)
    return _with_persons(labels, points, buckets, is_person, k)


def _with_persons(labels: Ints, points: WidthPoints, buckets: Ints, is_person: Mask, k: int) -> Ints:
    """Join groups of fewer than k persons to the nearest of their bucket, until there is none."""
    while True:
        n_groups = int(labels.max(initial=-1)) + 1
        sizes = np.bincount(labels[(labels >= 0) & is_person], minlength=n_groups)
        small = np.flatnonzero((sizes < k) & (np.bincount(labels[labels >= 0], minlength=n_groups) > 0))
        if not len(small):
            return labels
        boxes = CarriedBoxes(points.points, points.points, points.weights).of_groups(labels, n_groups)
        with np.errstate(invalid="ignore"):  # of groups that were joined to others nothing is asked
            middles = (boxes.low + boxes.high) / 2 * points.weights
        bucket = np.full(n_groups, -1, dtype=np.int64)
        bucket[labels[labels >= 0]] = buckets[labels >= 0]
        for group in small.tolist():  # few: counterfeits are
            beside = np.flatnonzero(bucket == bucket[group])
            beside = beside[beside != group]
            gaps = np.abs(middles[beside] - middles[group]).sum(axis=1)
            nearest = int(beside[gaps.argmin()])
            labels[labels == group] = nearest
            bucket[group] = -1
            if sizes[nearest] < k:  # which is looked at again
                break
