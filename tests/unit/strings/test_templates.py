"""The tests of `strings/templates.py`."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from shoal.strings.templates import convert_lengths


def some_strings(seed: int, n: int, shortest: int, longest: int, n_symbols: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, n_symbols, rng.integers(shortest, longest + 1)).tolist() for _ in range(n)]


def flat(strings: list[list[int]]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    starts = np.concatenate([[0], np.cumsum([len(s) for s in strings])]).astype(np.int64)
    return np.array([x for s in strings for x in s], dtype=np.int32), starts


@pytest.mark.parametrize(("seed", "length"), [(0, 7), (1, 4), (2, 11), (3, 1)])
def test_templates_are_covered_shares(seed: int, length: int) -> None:
    strings = some_strings(seed, 12, 3, 9, 3)
    templates = convert_lengths(*flat(strings), length)
    for row, string in enumerate(strings):
        own = len(string)
        for i in range(length):
            low, high = Fraction(i * own, length), Fraction((i + 1) * own, length)
            shares: dict[int, Fraction] = {}
            for t, symbol in enumerate(string):
                covered = min(high, Fraction(t + 1)) - max(low, Fraction(t))
                if covered > 0:
                    shares[symbol] = shares.get(symbol, Fraction(0)) + covered / (high - low)
            found = templates.frequencies(row, i)
            assert found.keys() == shares.keys()
            assert all(found[s] == pytest.approx(float(shares[s]), rel=1e-6) for s in shares)


def test_equal_lengths_store_no_weights() -> None:
    templates = convert_lengths(*flat(some_strings(0, 9, 6, 6, 4)))
    assert len(templates.weights) == 0
    assert len(templates.features) == 9 * 6
