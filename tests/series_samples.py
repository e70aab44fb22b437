"""People who come and go, and what an attacker makes of several releases of them, by brute force."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, combinations
from typing import Any

import numpy as np

import shoal

ILLNESSES = ("cold", "flu", "gout", "ulcer", "asthma")
QUASI = ["age", "town"]


def people(ids: Iterable[int], year: int = 0) -> dict[str, list[Any]]:
    """Rows of some persons, who grow older, and some of whom move."""
    rng = np.random.default_rng(5)
    age, town, moves = rng.integers(20, 70, 400), rng.integers(0, 40, 400), rng.integers(0, 9, 400)
    illness = rng.permutation(np.arange(400) % len(ILLNESSES))
    some = list(ids)
    return {
        "id": [f"p{i}" for i in some],
        "age": [int(age[i]) + year for i in some],
        "town": [int(town[i]) + (year if moves[i] == 0 else 0) for i in some],
        "illness": [ILLNESSES[illness[i]] for i in some],
    }


def policy(*, k: int = 3, l: int = 0, **more: Any) -> shoal.Policy:  # noqa: E741  the paper's name
    """One of several releases."""
    asked = {"l": l} if l else {"accept": {"unprotected": "a test"}}
    more = {"suppression": 0.95, "releases": "several", "singled_out": 1.0, **more}
    return shoal.Policy.of(quasi=QUASI, sensitive=["illness"], person="id", k=k, **asked, **more)


def classes(release: Any, ids: list[str], quasi: Sequence[str] = tuple(QUASI)) -> dict[str, tuple[str, ...]]:
    """The published labels of each person, counterfeits apart."""
    columns = [release.table[n] for n in quasi]
    texts = [np.array(c.texts(), dtype=object)[c.codes] for c in columns]
    found = {}
    for i, row in enumerate(release._rows.tolist()):
        if row < len(ids):
            labels = tuple(str(t[i]) for t in texts)
            assert found.setdefault(ids[row], labels) == labels  # all rows of a person stand in one class
    return found


def values(release: Any) -> dict[tuple[str, ...], list[str]]:
    """The sensitive values beside each combination of labels."""
    columns = [release.table[n] for n in (*QUASI, "illness")]
    cells = zip(*(np.array(c.texts(), dtype=object)[c.codes].tolist() for c in columns), strict=True)
    found: dict[tuple[str, ...], list[str]] = {}
    for *labels, value in cells:
        found.setdefault(tuple(labels), []).append(value)
    return found


def _subsets(places: list[int]) -> Iterable[tuple[int, ...]]:
    return chain.from_iterable(combinations(places, n) for n in range(1, len(places) + 1))


def fewest_candidates(releases: list[dict[str, tuple[str, ...]]]) -> int:
    """Over every person and every set of releases that it is in: how many stood in the same classes."""
    fewest = 10**9
    for person in {p for r in releases for p in r}:
        there = [i for i, r in enumerate(releases) if person in r]
        for some in _subsets(there):
            alike = [{q for q, label in releases[i].items() if label == releases[i][person]} for i in some]
            fewest = min(fewest, len(set.intersection(*alike)))
    return fewest


def fewest_values(releases: list[dict[str, tuple[str, ...]]], held: list[dict[tuple[str, ...], list[str]]]) -> int:
    """Over every person and every set of releases that it is in: how many sensitive values stay possible."""
    fewest = 10**9
    for person in {p for r in releases for p in r}:
        there = [i for i, r in enumerate(releases) if person in r]
        for some in _subsets(there):
            left = set.intersection(*(set(held[i][releases[i][person]]) for i in some))
            fewest = min(fewest, len(left))
    return fewest
