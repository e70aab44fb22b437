"""Baskets that are published as they are, as pseudo-baskets, and as others' baskets."""

from __future__ import annotations

from functools import cache

import numpy as np

from shoal.attack.sparse.case import BasketCase
from shoal.data.sparse.records import Sparse
from shoal.sparse.pseudo_baskets import pseudo_baskets


@cache
def people(n: int = 600) -> tuple[Sparse, Sparse]:
    """Members and others: a habit of four items of one of five kinds, and some of 60 others."""
    rng = np.random.default_rng(4)
    habits = [rng.choice(np.arange(60, 80), 4, replace=False) for _ in range(5)]
    rows = [[f"i{x:02d}" for x in {*habits[rng.integers(5)], *rng.integers(0, 60, 5)}] for _ in range(n)]
    records = Sparse.of(rows)
    return records.take(np.arange(n // 2)), records.take(np.arange(n // 2, n))


@cache
def raw() -> BasketCase:
    members, others = people()
    return BasketCase(members, members, others)


@cache
def dealt() -> BasketCase:
    members, others = people()
    return BasketCase(pseudo_baskets(members, 10, seed=1).baskets, members, others)
