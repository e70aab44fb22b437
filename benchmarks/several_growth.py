"""Two releases of the same persons, a tenth of whom change: ``python -m benchmarks.several_growth [PERSONS ...]``.

Prints CPU seconds of the second release, groups carried over and m-invariant, with its check and without a report;
kernels are compiled before. Reading files and writing the folder are not measured, hashing persons is.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import shoal

SIZES = (10_000, 100_000, 1_000_000)
CHANGE, K, M, SEED = 0.1, 5, 3, 3
QUASI = ("age", "zip", "sex", "job", "income", "children")


def persons(ids: Any, n_all: int) -> dict[str, Any]:
    """The rows of some persons, the same whenever they come."""
    rng = np.random.default_rng(0)
    return {
        "id": ids,
        "age": rng.integers(18, 90, n_all)[ids],
        "zip": rng.integers(10_000, 11_000, n_all)[ids],
        "sex": rng.integers(0, 2, n_all)[ids],
        "job": rng.integers(0, 14, n_all)[ids],
        "income": rng.gamma(3.0, 10_000, n_all).round(-2)[ids],
        "children": rng.poisson(1.2, n_all)[ids],
        "illness": rng.integers(0, 12, n_all)[ids],
    }


def policy(m: int) -> shoal.Policy:
    """Groups carried over, or m-invariance."""
    asked: dict[str, Any] = {"l": m} if m else {"accept": {"unprotected": "measured"}}
    return shoal.Policy.of(
        quasi=QUASI,
        sensitive=["illness"],
        person="id",
        k=K,
        releases="several",
        suppression=0.5,
        singled_out=1,
        **asked,
    )


def second_release(n: int, m: int, folder: Path) -> tuple[float, dict[str, int]]:
    """CPU seconds of the release that follows, and its numbers of records."""
    n_all = n + int(CHANGE * n)
    first = shoal.anonymize(persons(np.arange(n), n_all), policy(m), seed=SEED)
    folder.mkdir()
    first._keep(folder, ["ledger"])
    data = persons(np.arange(n_all - n, n_all), n_all)
    start = time.process_time()
    second = shoal.anonymize(data, policy(m), seed=SEED, after=folder)
    return time.process_time() - start, second.records


def measured(sizes: Sequence[int]) -> Iterator[tuple[int, str, float, dict[str, int]]]:
    """For each size and way the CPU seconds and the numbers of records."""
    with TemporaryDirectory() as place:
        for m in (0, M):
            second_release(1000, m, Path(place) / f"warm-{m}")
            for n in sizes:
                way = f"m-invariance with m = {m}" if m else "groups carried over"
                yield n, way, *second_release(n, m, Path(place) / f"{n}-{m}")


if __name__ == "__main__":
    for n, way, seconds, records in measured([int(size) for size in sys.argv[1:]] or SIZES):
        print(f"{n:,} persons, {way}: {seconds:.1f} s CPU, {records}", flush=True)
