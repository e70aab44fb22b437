"""Sketches of sparse records beside the random projections of scikit-learn, as many components for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import Case, Setting, timed
from shoal.data.samples.quest import Quest, generate_baskets
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.sparse.mining.estimates import mean_squares
from shoal.sparse.sketch import sketch_records

KEY = bytes(range(32))
AT_LEAST = 5


def cases(setting: Setting) -> Iterator[Case]:
    """Baskets of 20 among 1,000 items; and long records of a large vocabulary, as of texts."""
    n = setting.rows(200_000)
    baskets = generate_baskets(Quest.named("T20.I6.D1K", n_transactions=n), seed=0).sparse()
    yield case_of("sketch", baskets, 64, f"T20.I6.D{n:,}, 1,000 items")
    n = setting.rows(20_000)
    texts = generate_baskets(Quest(n, 100, 6, n_itemsets=20_000, n_items=50_000), seed=0).sparse()
    yield case_of("sketch of long records", texts, 128, f"{n:,} records of 100 among 50,000 items on average")


def case_of(name: str, records: Sparse, n_components: int, data: str) -> Case:
    """All records sketched by equally many components; drawing the signs or the matrix is part of it."""
    matrix = records.to_csr()
    squares = records.squares

    def of_ours(made: Sketches) -> dict[str, float]:
        return {"correlation of squared lengths": correlation(mean_squares(made), squares)}

    def of_theirs(made: Any) -> dict[str, float]:
        return {"correlation of squared lengths": correlation((np.asarray(made) ** 2).sum(axis=1), squares)}

    rivals: dict[str, Callable[[], Any]] = {
        "GaussianRandomProjection": partial(gaussian, matrix, n_components),
        "SparseRandomProjection, density auto": partial(signs, matrix, n_components, "auto"),
        "SparseRandomProjection, density 1": partial(signs, matrix, n_components, 1.0),
    }
    counts = np.full(len(records), n_components)
    return Case(
        name,
        f"{n_components} components of every record, with the drawing of signs or of the matrix",
        f"{data}; made by the package's Quest generator",
        [
            timed("shoal", lambda: sketch_records(records, counts, KEY), numbers=of_ours),
            *(timed(n, call, numbers=of_theirs, is_rival=True, at_least=AT_LEAST) for n, call in rivals.items()),
        ],
    )


def correlation(estimated: Any, true: Any) -> float:
    """How well lengths are kept; about alike for all, as they have the same number of components."""
    return float(np.corrcoef(estimated, true)[0, 1])


def gaussian(matrix: Any, n_components: int) -> Any:
    """A dense matrix of normal numbers."""
    projections = import_module("sklearn.random_projection")
    return projections.GaussianRandomProjection(n_components, random_state=0).fit_transform(matrix)


def signs(matrix: Any, n_components: int, density: float | str) -> Any:
    """A matrix of signs and zeros; of signs alone at density 1."""
    projections = import_module("sklearn.random_projection")
    made = projections.SparseRandomProjection(n_components, density=density, dense_output=True, random_state=0)
    return made.fit_transform(matrix)
