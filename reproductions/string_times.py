"""Figs 14 and 15 of the paper: time against the length of strings and against their number."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.data.samples.quest import Quest, generate_baskets
from shoal.strings import Condensation

K = 40
BLOCKS = 12_288  # strings; the default since is half of it
LENGTHS = (10, 20, 30, 40, 50)
NUMBERS = (5_000, 10_000, 20_000, 40_000, 80_000, 160_000)


@dataclass(frozen=True)
class Timed:
    """One run of `fit_transform` with the default settings, after a run that compiles."""

    figure: int
    itemset: int
    x: int
    seconds: float
    cpu_seconds: float


def measure_times(lengths: Sequence[int] = LENGTHS, numbers: Sequence[int] = NUMBERS) -> Iterator[Timed]:
    """T(x).I4.D10K and T(x).I6.D10K, then T20.I4.D(x) and T20.I6.D(x)."""
    _run(20, 4, 1000)
    for itemset in (4, 6):
        for x in lengths:
            yield Timed(14, itemset, x, *_run(x, itemset, 10_000))
        for x in numbers:
            yield Timed(15, itemset, x, *_run(20, itemset, x))


def growth(rows: Sequence[Timed]) -> float:
    """The exponent of processor time against x, by least squares of logarithms."""
    return float(np.polyfit(np.log([r.x for r in rows]), np.log([r.cpu_seconds for r in rows]), 1)[0])


def of_many_blocks(rows: Sequence[Timed]) -> list[Timed]:
    """The runs of so many strings that most segments are split before they are grouped."""
    return [r for r in rows if r.x > 3 * BLOCKS]


def _run(mean_size: int, itemset: int, n: int) -> tuple[float, float]:
    strings = generate_baskets(Quest(n, mean_size, itemset), seed=1).strings()
    start, work = time.perf_counter(), time.process_time()
    Condensation(K, block_strings=BLOCKS, support=3, lengths="template", seed=1, generator="template").fit_transform(
        strings
    )
    return time.perf_counter() - start, time.process_time() - work
