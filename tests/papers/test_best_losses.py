"""How little the groups can lose on the two reference tables of the microaggregation literature."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from shoal.engine.blocks import run_blocks
from shoal.tables.microaggregation.improve import improve
from shoal.tables.partition.base import rank_array
from shoal.tables.partition.mdav import MDAV

# 100 SSE / SST on standardised columns. A plain search by moves and swaps, from the groups of MDAV, loses:
PLAIN = {
    "census": {3: 5.249, 4: 6.763, 5: 8.201, 10: 12.340},
    "tarragona": {3: 14.894, 4: 17.376, 5: 20.753, 10: 30.794},
}
# What `best` must not exceed:
LIMITS = {
    "census": {3: 4.70, 4: 6.08, 5: 7.30, 10: 11.40},
    "tarragona": {3: 14.48, 4: 17.12, 5: 20.16, 10: 30.13},
}
# The least that was known to us before, found by annealing for much longer:
LEAST = {
    "census": {3: 4.688, 4: 6.068, 5: 7.281, 10: 11.377},
    "tarragona": {3: 14.470, 4: 17.112, 5: 20.153, 10: 30.117},
}
CASES = [(name, k) for name in PLAIN for k in PLAIN[name]]


def read(folder: Path, name: str) -> npt.NDArray[np.float64]:
    X = np.loadtxt(folder / name / f"{name}.csv", delimiter=",", skiprows=1)
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def loss_of(X: npt.NDArray[np.float64], labels: npt.NDArray[np.int32], k: int) -> float:
    sizes = np.bincount(labels)
    assert k <= sizes.min() <= sizes.max() < 2 * k
    means = np.array([X[labels == group].mean(axis=0) for group in range(len(sizes))])
    return float(100 * ((X - means[labels]) ** 2).sum() / (X**2).sum())


@pytest.mark.parametrize(("name", "k"), CASES)
def test_balanced_effort_loses_less_than_a_plain_search(shared_data: Path, name: str, k: int) -> None:
    X = read(shared_data, name)
    labels = improve(rank_array(X), MDAV(k).fit_predict(X), k, "balanced")
    loss = loss_of(X, labels, k)
    assert loss < PLAIN[name][k]
    assert loss < LEAST[name][k] * 1.06


# One of the eight cells, about half a minute, and none with little room (Census 10, Tarragona 5): where another processor
# rounds otherwise, the search takes another path, as with another seed.
# `python -m reproductions.best_losses` does all eight.
@pytest.mark.slow
@pytest.mark.parametrize(("name", "k"), [("census", 3)])
def test_best_effort_keeps_its_limits(shared_data: Path, name: str, k: int) -> None:
    X = read(shared_data, name)
    with ThreadPoolExecutor(2) as threads:
        labels = improve(
            rank_array(X),
            MDAV(k).fit_predict(X),
            k,
            "best",
            seed=0,
            run=lambda job, blocks: run_blocks(job, blocks, executor=threads),
        )
    loss = loss_of(X, labels, k)
    # Below this the loss itself would be computed wrongly.
    assert LEAST[name][k] * 0.994 < loss <= LIMITS[name][k]
