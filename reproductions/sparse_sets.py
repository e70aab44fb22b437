"""The data sets of the reproductions of sketches: texts and baskets, two thirds for training and one for testing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from reproductions.string_sets import DATA
from shoal.data.samples.quest import labelled_records
from shoal.data.sparse.files import read_sparse
from shoal.data.sparse.records import Sparse
from shoal.sparse.content_order import canonical_order

SEED = 1
WEIGHTS = {"texts, binary": "binary", "texts, counts": "counts", "texts, tf-idf": "tfidf"}
TEXTS = tuple(WEIGHTS)
BINARY, COUNTS, TF_IDF = TEXTS


@dataclass(frozen=True)
class SparseSet:
    """Two parts, each in an order of its content; they are anonymised apart."""

    name: str
    train: Sparse
    test: Sparse

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        return self.train.classes


@lru_cache(maxsize=1)
def read_set(name: str, most: int | None = None) -> SparseSet:
    """A set by its name: one of `TEXTS`, or such as C20.I4.D200K; at most so many of its records."""
    records = _texts(WEIGHTS[name]) if name in WEIGHTS else labelled_records(name, seed=SEED)
    rows = np.random.default_rng(SEED).permutation(len(records))[:most]
    n_test = len(rows) // 3
    return SparseSet(name, _ordered(records.take(rows[n_test:])), _ordered(records.take(rows[:n_test])))


@lru_cache(maxsize=2)
def _texts(weights: str) -> Sparse:
    path = DATA / "newsgroups20" / "20news_bydate.csv.gz"
    records = read_sparse(path, format="text", column="text", class_column="group", weights=weights)
    return records.take(np.flatnonzero(records.sizes > 0))


def _ordered(records: Sparse) -> Sparse:
    return records.take(canonical_order(records))
