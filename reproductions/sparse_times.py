"""Figs 13 and 14 of the paper: time of k-variance anonymity against non-zeros and against the number of records."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reproductions.sparse_readings import KEY
from shoal.data.samples.quest import Quest, generate_baskets, labelled_records
from shoal.data.sparse.records import Sparse
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.sparse.anonymize import anonymize_sparse

K = 10
NON_ZEROS = (10, 20, 30, 40, 50)
NUMBERS = (100_000, 200_000, 500_000, 1_000_000)


@dataclass(frozen=True)
class Timed:
    """One run with the default policy but neighbours by partition, after a run that compiles.

    `x` is what stands on the figure's axis: the non-zeros of a record on average, or the number of records.
    """

    figure: int
    x: float
    n_records: int
    seconds: float
    cpu_seconds: float
    recall: float


def growth(rows: Sequence[Timed]) -> float:
    """The exponent of processor time against x, by least squares of logarithms."""
    return float(np.polyfit(np.log([r.x for r in rows]), np.log([r.cpu_seconds for r in rows]), 1)[0])


def time_non_zeros(mean_size: int, n_records: int) -> Timed:
    """A projection of C50.I6 on the first attributes, which are numbered at random: x non-zeros on average."""
    whole = labelled_records(f"C{NON_ZEROS[-1]}.I6.D{n_records}", seed=1)
    records = first_attributes(whole, whole.n_items * mean_size // NON_ZEROS[-1])
    return _run(13, float(records.sizes.mean()), records)


def time_records(n_records: int, most: int = NUMBERS[-1]) -> Timed:
    """A sample of T20.I6 with `most` records: the generator draws them one after another, so the first ones."""
    whole = generate_baskets(Quest.named("T20.I6.D1K", n_transactions=most), seed=1).sparse()
    return _run(14, n_records, whole.take(np.arange(n_records)))


def first_attributes(records: Sparse, n_items: int) -> Sparse:
    """The same records without the attributes from `n_items` on."""
    kept = records.items < n_items
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])[records.starts]
    labels = records.labels
    return Sparse(starts, records.items[kept], records.weights[kept], records.names[:n_items], labels, records.classes)


def _run(figure: int, x: float, records: Sparse) -> Timed:
    policy = SparsePolicy.of(k=K, neighbours="partition")
    anonymize_sparse(records.take(np.arange(1000)), policy, KEY)
    start, work = time.perf_counter(), time.process_time()
    made = anonymize_sparse(records, policy, KEY)
    spent, worked = time.perf_counter() - start, time.process_time() - work
    assert made.neighbours is not None
    recall = 1.0 if made.neighbours.recall is None else made.neighbours.recall
    return Timed(figure, x, len(records), spent, worked, recall)
