"""Invented patients, with laboratory values and visits, and what is to be counted of releases of them by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import shoal

QUASI = {"patients": ["age", "sex"], "visits": ["ward"]}
MOVED = {"labs": ["taken"], "visits": ["seen"]}


def clinic(n: int = 40, seed: int = 1) -> dict[str, pd.DataFrame]:
    """Patients, one row each; labs and visits, none to several rows each."""
    rng = np.random.default_rng(seed)
    names = np.array([f"m{i:03d}" for i in rng.permutation(n)])
    labs, visits = np.repeat(np.arange(n), rng.integers(0, 4, n)), np.repeat(np.arange(n), rng.integers(0, 3, n))

    def days(rows: Any) -> Any:
        return (np.datetime64("2020-01-01") + rng.integers(0, 500, len(rows))).astype(str)

    return {
        "patients": pd.DataFrame({"id": names, "age": rng.integers(20, 80, n), "sex": rng.choice(["f", "m"], n)}),
        "labs": pd.DataFrame({"taken": days(labs), "id": names[labs], "value": rng.choice(["low", "high"], len(labs))}),
        "visits": pd.DataFrame(
            {"id": names[visits], "ward": rng.choice(["a", "b", "c"], len(visits)), "seen": days(visits)}
        ),
    }


def policy(**asked: Any) -> shoal.LinkedPolicy:
    """Some quasi-identifiers in two tables, dates that move in two."""
    usual = {
        "link": "id",
        "quasi": ["age", "sex", "ward"],
        "sensitive": ["value"],
        "shift": ["taken", "seen"],
        "k": 3,
        "suppression": 0.6,
        "accept": {"known_history": "a test"},
    }
    return shoal.LinkedPolicy.of(**{**usual, **asked})


def written(folder: Path, frames: Mapping[str, pd.DataFrame]) -> dict[str, Path]:
    """The tables as files."""
    paths = {}
    for name, frame in frames.items():
        paths[name] = folder / f"{name}.csv"
        frame.to_csv(paths[name], index=False)
    return paths


def smallest_crowd(frames: Mapping[str, pd.DataFrame], link: str, quasi: Mapping[str, Sequence[str]]) -> int:
    """How many persons share all quasi-identifiers of all their rows in all tables, at least."""
    main = next(iter(frames.values()))
    known = {who: [] for who in main[link]}  # type: dict[str, list[Any]]
    for name, columns in quasi.items():
        rows: dict[str, list[Any]] = {who: [] for who in known}
        for row in frames[name].to_dict("records"):
            rows[row[link]].append(tuple(str(row[c]) for c in columns))
        for who in known:
            known[who].append(tuple(sorted(rows[who])))
    return min(Counter(tuple(found) for found in known.values()).values())
