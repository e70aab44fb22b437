"""The tests of `kernels/strings/rules.py`."""

from __future__ import annotations

import numpy as np

from shoal.kernels.strings.rules import count_pairs, first_matches


def test_pairs_are_counted_and_the_first_rule_decides():
    rng = np.random.default_rng(0)
    records = [sorted(rng.permutation(8)[: rng.integers(0, 6)].tolist()) for _ in range(50)]
    labels = rng.integers(0, 2, 50).astype(np.int32)
    items = np.array([a for record in records for a in record], np.int32)
    starts = np.concatenate([[0], np.cumsum([len(r) for r in records])]).astype(np.int64)
    found = count_pairs(items, starts, labels, 6, 2)
    for c in range(2):
        for a in range(6):
            for b in range(6):
                held = sum(a in r and b in r for r, y in zip(records, labels, strict=True) if y == c)
                assert found[c, a, b] == (held if a < b else 0)
    singles = rng.permutation(8).astype(np.int32) + 36
    pairs = rng.permutation(36).reshape(6, 6).astype(np.int32)
    ranks = first_matches(items, starts, singles, pairs, 99)
    for record, rank in zip(records, ranks.tolist(), strict=True):
        held = [singles[a] for a in record] + [pairs[a, b] for a in record for b in record if a < b < 6]
        assert rank == min(held, default=99)
