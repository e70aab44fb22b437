"""The slow twin of full-domain recoding, and trees at random."""

from __future__ import annotations

from collections import Counter

import numpy as np

from shoal.tables.encoding import Ranked


def random_tree(rng, name: str, n_rows: int) -> Ranked:
    """Random values under a random tree; sometimes a level changes nothing, sometimes a value is missing."""
    n_values = int(rng.integers(1, 9))
    level = np.arange(n_values)
    levels = [level]
    for _ in range(int(rng.integers(0, 4))):
        level = rng.integers(0, level.max() + 1, level.max() + 1)[level] if rng.random() < 0.8 else level
        level = np.unique(level, return_inverse=True)[1]
        levels.append(level)
    levels.append(np.zeros(n_values, dtype=int))
    ancestors = np.column_stack(levels).astype(np.int32)
    positions = np.arange(float(n_values))
    has_missing = bool(rng.random() < 0.3)
    if has_missing:
        ancestors = np.vstack([ancestors, np.full(ancestors.shape[1], 99, dtype=np.int32)])
        ancestors[-1, -1] = 0
        positions = np.append(positions, np.nan)
    skewed = np.minimum(rng.geometric(0.4, n_rows) - 1, len(positions) - 1)
    return Ranked(name, "tree", skewed.astype(np.int32), positions, ancestors, has_missing)


def slow_penalty(attribute: Ranked, rank: int, level: int) -> float:
    assert attribute.ancestors is not None
    if level == attribute.ancestors.shape[1] - 1 and attribute.has_missing:
        return 1.0 if attribute.n_values > 1 else 0.0
    present = attribute.ancestors[: attribute.n_values - attribute.has_missing]
    if len(present) < 2 or rank >= len(present):
        return 0.0
    below = int((present[:, level] == present[rank, level]).sum())
    return (below - 1) / (len(present) - 1)


def slow_node(ranked: list[Ranked], levels, k: int, missing: str = "value"):
    """Classes by tuples, then each loss by its formula: suppressed rows, losses, the key of each row."""
    n_rows, n_columns = len(ranked[0].ranks), len(ranked)
    keys = [tuple(int(r.ancestors[r.ranks[i], h]) for r, h in zip(ranked, levels, strict=True)) for i in range(n_rows)]
    sizes = Counter(keys)
    suppressed = {i for i in range(n_rows) if sizes[keys[i]] < k}
    if missing == "any":
        for r, h in zip(ranked, levels, strict=True):
            if r.has_missing and h < r.ancestors.shape[1] - 1:
                suppressed |= {i for i in range(n_rows) if r.ranks[i] == r.n_values - 1}
    cells = 0.0
    for i in range(n_rows):
        for r, h in zip(ranked, levels, strict=True):
            cells += 1.0 if i in suppressed else slow_penalty(r, int(r.ranks[i]), h)
    published = Counter(keys[i] for i in range(n_rows) if i not in suppressed)
    losses = {
        "gcp": cells / n_rows / n_columns,
        "discernibility": sum(s * s for s in published.values()) + len(suppressed) * n_rows,
        "class size": (n_rows - len(suppressed)) / len(published) / k if published else np.inf,
    }
    return suppressed, losses, keys
