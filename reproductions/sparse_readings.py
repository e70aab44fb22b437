"""Sketches of one set for many k: the neighbours are searched once, for the largest.

What comes out equals `shoal.sparse.anonymize_sparse` for each k; a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.sparse.anonymize import component_caps
from shoal.sparse.coarse import coarse_counts
from shoal.sparse.k_variance import Edges, edges_of, k_variance_counts
from shoal.sparse.neighbours import nearest
from shoal.sparse.rounding import step_of
from shoal.sparse.sketch import sketch_records
from shoal.utility.sparse.originals import matrix_of, pair_products

KEY = bytes(range(32))
MOST_COMPONENTS = 512


@dataclass(frozen=True)
class Reading:
    """How Definition 3 is read, and what else holds the number of components down."""

    name: str
    variance: Literal["paper", "exact", "smaller"]
    delta: float
    is_guarded: bool

    def policy(self, k: int | None, delta: float | None = None) -> SparsePolicy:
        """As a policy; without k, delta-anonymity alone."""
        method: dict[str, Any] = {"recovery_cap": True, "coarse_counts": True}
        if not self.is_guarded:
            method = {"recovery_cap": False, "coarse_counts": False, "max_components": MOST_COMPONENTS}
        asked = {"delta": self.delta if delta is None else delta, "method": method}
        if k is None:
            return SparsePolicy.of(model="delta", **asked)
        return SparsePolicy.of(publish="sketch", k=k, variance=self.variance, **asked)


PRINTED = Reading("as printed", "paper", 0.2, False)
EXACT = Reading("exact variance", "exact", 0.2, False)
DEFAULT = Reading("default", "smaller", 0.5, True)
READINGS = (PRINTED, EXACT, DEFAULT)


class Prepared:
    """Records in the order of their content, with their neighbours and edges when these are first asked for."""

    def __init__(self, records: Sparse, most_k: int) -> None:
        self.records = records
        self._most_k = most_k
        self._edges: dict[str, Edges] = {}

    def counts(self, policy: SparsePolicy) -> npt.NDArray[np.int64]:
        """How many components each record gets."""
        counts, _ = component_caps(self.records, policy, step_of(self.records))
        asked = policy.k_variance
        if asked is not None:
            if asked.variance not in self._edges:
                self._edges[asked.variance] = edges_of(self.records, self._nearest, asked.threshold, asked.variance)
            both = self._edges[asked.variance]
            first = Edges(*(np.ascontiguousarray(a[:, : asked.k]) for a in (both.neighbours, both.allowed)))
            counts, _ = k_variance_counts(first, self._distances(asked.k), counts)
        return coarse_counts(counts) if policy.method.coarse_counts else counts

    def sketches(self, policy: SparsePolicy) -> Sketches:
        """One for each record; those of suppressed ones are empty."""
        return sketch_records(self.records, self.counts(policy), KEY)

    @cached_property
    def _nearest(self) -> npt.NDArray[np.int32]:
        return nearest(self.records, self._most_k, how="exact").indices

    def _distances(self, k: int) -> npt.NDArray[np.float64]:
        """To the k-th neighbour, by the formula of the search, so that ties fall alike."""
        matrix, squares = matrix_of(self.records), self.records.squares
        other = self._nearest[:, k - 1]
        products = pair_products(matrix, np.stack([np.arange(len(other)), other], axis=1))
        # The search divides for sets, and multiplies by the inverse where there are weights.
        signed = products * np.abs(products)
        scores = signed / squares[other] if self.records.is_binary else signed * (1.0 / squares[other])
        return np.maximum(1.0 - np.sign(scores) * np.sqrt(np.abs(scores) / squares), 0.0)
