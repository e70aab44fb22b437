"""MDAV, k = 5, against a plain compiled scan and anonypyx, and how its time grows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.data import NUMERIC, people, write_csv
from benchmarks.harness import Case, Outcome, Setting, growth, timed
from benchmarks.losses import of_averaging
from benchmarks.peers import ANONYPYX
from benchmarks.plain_mdav import plain_mdav
from shoal.tables.partition.mdav import MDAV

K = 5
Matrix = npt.NDArray[np.float64]


def ours(X: Matrix) -> npt.NDArray[np.int32]:
    """Our labels."""
    labels: npt.NDArray[np.int32] = MDAV(K).fit_predict(X)
    return labels


def cases(setting: Setting) -> Iterator[Case]:
    """Adult whole, its first rows, Gaussian noise, and growing parts of Adult."""
    data = people(setting.quick)
    X = data.matrix()
    yield against_the_scan("mdav", X, f"{data.about} x {X.shape[1]} numbers", at_least=5)

    part = data.take(slice(0, 5000))
    few = part.matrix()
    yield Case(
        "mdav against anonypyx",
        f"MDAV, k = {K}, groups alone",
        f"{part.about} (the first) x {few.shape[1]} numbers",
        [
            timed("shoal", lambda: ours(few), numbers=lambda labels: of_averaging(few, labels)),
            ANONYPYX.contestant(
                lambda: write_csv(part.select(NUMERIC), setting.folder / "mdav.csv"),
                numbers=lambda found: of_averaging(few, found["labels"]),
                k=K,
            ),
        ],
    )

    noise = np.random.default_rng(8).normal(size=(setting.rows(100_000), 8))
    yield against_the_scan("mdav, Gaussian", noise, f"Gaussian, {len(noise):,} rows x 8 numbers")
    yield growing(setting, data.origin, X)


def against_the_scan(name: str, X: Matrix, about: str, at_least: float | None = None) -> Case:
    """Ours and the plain scan, which finds the same groups."""

    def quality(labels: Any) -> dict[str, float]:
        return of_averaging(X, labels)

    few = X[:500]
    return Case(
        name,
        f"MDAV, k = {K}, groups alone",
        about,
        [
            timed("shoal", lambda: ours(X), numbers=quality, warm_up=lambda: ours(few)),
            timed(
                "plain compiled scan",
                lambda: plain_mdav(X, K),
                numbers=quality,
                warm_up=lambda: plain_mdav(few, K),
                is_rival=True,
                at_least=at_least,
            ),
        ],
    )


def growing(setting: Setting, origin: str, X: Matrix) -> Case:
    """The time of 1,000 to 30,000 rows, drawn at random."""
    order = np.random.default_rng(3).permutation(len(X))
    sizes = [100, 200, 400] if setting.quick else [1_000, 3_000, 10_000, 30_000]
    parts = {f"{n:,} rows": np.ascontiguousarray(X[order[:n]]) for n in sizes}

    def summary(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
        return growth(sizes, [outcomes[name].seconds for name in parts])

    return Case(
        "mdav growth",
        f"MDAV, k = {K}, growing parts",
        f"{origin} x {X.shape[1]} numbers",
        [timed(name, partial(ours, part)) for name, part in parts.items()],
        summary,
    )
