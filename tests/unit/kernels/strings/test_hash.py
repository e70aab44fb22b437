"""The tests of `kernels/strings/hash.py`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels.strings.hash import BASES, count_holders, fingerprints, holds


def some_strings(seed: int, n: int, shortest: int, longest: int, n_symbols: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, n_symbols, rng.integers(shortest, longest + 1)).tolist() for _ in range(n)]


def flat(strings: list[list[int]]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    starts = np.concatenate([[0], np.cumsum([len(s) for s in strings])]).astype(np.int64)
    return np.array([x for s in strings for x in s], dtype=np.int32), starts


MASK = 2**64 - 1


def slow_fingerprint(string: list[int], keys: list[int], basis: int) -> int:
    word = basis
    for symbol in string:
        word = ((word ^ keys[symbol]) * 0xD6E8FEB86659FD93) & MASK
        word ^= word >> 32
    return word


def test_fingerprints_and_holders() -> None:
    strings = [*some_strings(1, 20, 0, 6, 3), [], [2]]
    symbols, starts = flat(strings)
    keys = np.array([5, 2**63 + 1, 77], dtype=np.uint64)
    words = fingerprints(symbols, starts, keys, BASES[1])
    assert words.tolist() == [slow_fingerprint(s, keys.tolist(), int(BASES[1])) for s in strings]
    ascending = np.sort(words)
    assert all(holds(ascending, w) for w in words)
    assert not holds(ascending, np.uint64(12345))
    assert not holds(ascending[:0], words[0])
    assert count_holders(symbols, starts, 4).tolist() == [sum(x in s for s in strings) for x in range(4)]
