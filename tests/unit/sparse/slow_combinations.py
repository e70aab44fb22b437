"""Combinations of items counted one by one, and what disassociated records may have been: obvious, slow twins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations, pairwise

import numpy as np

from shoal.data.sparse.disassociated import Disassociated
from shoal.data.sparse.records import Sparse


def random_lists(rng: np.random.Generator, n: int, n_items: int, longest: int) -> list[list[str]]:
    """Random records, some of them empty or alike; low numbers are more frequent."""
    shares = 1 / np.arange(1, n_items + 1)
    draw = [rng.choice(n_items, rng.integers(0, longest + 1), replace=False, p=shares / shares.sum()) for _ in range(n)]
    return [[f"i{j:02}" for j in sorted(row.tolist())] for row in draw]


def sets_of(records: Sparse) -> list[frozenset[str]]:
    """Records as sets of names."""
    names = [records.names[i] for i in records.items.tolist()]
    bounds = records.starts.tolist()
    return [frozenset(names[low:high]) for low, high in pairwise(bounds)]


def supports(records: Iterable[frozenset[str]], m: int) -> Counter[frozenset[str]]:
    """How many records hold each combination of up to m items."""
    return Counter(
        frozenset(chosen)
        for items in records
        for size in range(1, m + 1)
        for chosen in combinations(sorted(items), size)
    )


def rare(records: Iterable[frozenset[str]], k: int, m: int) -> set[frozenset[str]]:
    """The combinations of up to m items that fewer than k records hold."""
    return {chosen for chosen, n in supports(records, m).items() if n < k}


def highest_confidence(records: list[frozenset[str]], sensitive: Iterable[str], m: int) -> float:
    """Of rules from up to m items, or none, to a sensitive one."""
    highest = 0.0
    items = sorted(set().union(*records))
    for target in sensitive:
        for size in range(m + 1):
            for left in combinations([i for i in items if i != target], size):
                held = [r for r in records if set(left) <= r]
                if held:
                    highest = max(highest, sum(target in r for r in held) / len(held))
    return highest


def fewest_that_may_hold(published: Disassociated, cluster: int, known: frozenset[str]) -> int:
    """In how many records of a cluster known items may stand together, while no record of the cluster is empty."""
    n = int(published.sizes[cluster])
    names = published.names
    own, parts, told, has_terms = [], [], set(), False
    for chunk in range(len(published.firsts)):
        if not published.firsts[chunk] <= cluster <= published.lasts[chunk]:
            continue
        lines = [
            {names[i] for i in published.items[published.starts[line] : published.starts[line + 1]].tolist()}
            for line in range(published.chunk_starts[chunk], published.chunk_starts[chunk + 1])
        ]
        here = known & set().union(*lines)
        told |= here
        if published.is_terms[chunk]:
            has_terms = True
            continue
        fitting = sum(here <= line for line in lines)
        if here:
            parts.append(fitting)
        if published.firsts[chunk] == published.lasts[chunk]:
            own.append((len(lines), bool(here)))
    if told != known:
        return 0
    together = min([n, *parts])
    if has_terms:
        return together
    for fewer in range(together, 0, -1):
        left = sum(min(lines - fewer, n - fewer) if is_used else min(lines, n - fewer) for lines, is_used in own)
        if left >= n - fewer:
            return fewer
    return 0
