"""Sliced tables as the method would make them, and ways to cut columns into slices."""

from __future__ import annotations

import numpy as np

from tests.unit.check.slices.slow_slices import GROUPS, Case


def honest(form, seed, n_buckets=4):
    """Buckets by age and job, so that every record fits its own only, and labels of whole buckets."""
    rng = np.random.default_rng([seed, 9])
    records, buckets = [], []
    for b in range(n_buckets):
        buckets.append(list(range(len(records), len(records) + 6)))
        for i in range(6):
            records.append({"age": str(20 + 10 * b + i), "job": f"j{b}{rng.integers(2)}", "zip": "xy"[i % 2]})
            records[-1]["pay"] = f"p{(i + b) % 3}"
    inside = [[records[j] for j in members] for members in buckets]

    def label(i, j, name, value):
        held = sorted({r[name] for r in inside[j // 6]})
        if form != "screen" or len(held) == 1:
            return value
        return f"[{held[0]}..{held[-1]}]" if name == "age" else "{" + ", ".join(held) + "}"

    return Case(records, buckets, GROUPS[form], label), rng


SPLITS = [
    *GROUPS.values(),
    [["age"], ["zip"], ["job", "pay"]],
    [["age", "pay"], ["zip", "pay"], ["job", "pay"]],
    [["age", "pay"], ["zip"], ["job", "pay"]],
    [["age", "zip", "job", "pay"]],
]
