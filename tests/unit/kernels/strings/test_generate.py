"""The tests of `kernels/strings/generate.py`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from shoal.kernels.strings.generate import generate_strings, uniform
from shoal.kernels.strings.hash import BASES, Unwanted
from shoal.strings.templates import Templates, convert_lengths


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


class SlowRandom:
    """xorshift64* on Python's integers."""

    def __init__(self, word: int) -> None:
        self.word = word

    def uniform(self) -> float:
        self.word ^= self.word >> 12
        self.word = (self.word ^ (self.word << 25)) & MASK
        self.word ^= self.word >> 27
        return (((self.word * 0x2545F4914F6CDD1D) & MASK) >> 11) * 2.0**-53


def slow_draw(templates: Templates, rows: list[int], order: int, support: int, random: SlowRandom) -> list[int]:
    out: list[int] = []
    for r in range(templates.length):
        weights = dict.fromkeys(rows, 1.0)
        for back in range(1, min(order - 1, r) + 1):
            longer = {j: w * templates.frequencies(j, r - back).get(out[r - back], 0.0) for j, w in weights.items()}
            longer = {j: w for j, w in longer.items() if w > 0}
            if len(longer) < support:
                break
            weights = longer
        left = random.uniform() * sum(weights.values())
        for picked in weights:
            left -= weights[picked]
            if left < 0:
                break
        shares = templates.frequencies(picked, r)
        symbol = next(iter(shares))
        if len(shares) > 1:
            left = random.uniform()
            for symbol, share in shares.items():  # noqa: B007 - as above
                left -= share
                if left < 0:
                    break
        out.append(symbol)
    return out


@pytest.mark.parametrize(("order", "support"), [(1, 1), (2, 1), (2, 2), (3, 2), (4, 3)])
@pytest.mark.parametrize("shortest", [5, 8])
def test_generation_draws_what_the_slow_one_draws(order: int, support: int, shortest: int) -> None:
    templates = convert_lengths(*flat(some_strings(5, 14, shortest, 8, 4)))
    length, group_starts = templates.length, np.array([0, 6, 14])
    state = np.array([123456789, 2**63 + 99], dtype=np.uint64)
    randoms = [SlowRandom(int(w)) for w in state]
    sizes = np.where(np.arange(14) % 3 == 0, length - 2, length)
    out_starts = np.concatenate([[0], np.cumsum(sizes)])
    keys = np.arange(11, 15, dtype=np.uint64)

    def slow_rows(forbidden: set[int]) -> tuple[list[list[int]], list[bool], int]:
        drawn, kept, n_rejected = [], [], 0
        for row in range(14):
            group = int(row >= 6)
            for _ in range(3):
                whole = slow_draw(
                    templates, list(range(*group_starts[group : group + 2])), order, support, randoms[group]
                )
                size = int(sizes[row])
                string = [whole[(2 * t + 1) * length // (2 * size)] for t in range(size)]
                is_new = slow_fingerprint(string, keys.tolist(), int(BASES[0])) not in forbidden
                n_rejected += not is_new
                if is_new:
                    break
            drawn.append(string)
            kept.append(is_new)
        return drawn, kept, n_rejected

    def fast_rows(forbidden: set[int]) -> tuple[list[list[int]], list[bool], int]:
        out, is_kept = np.empty(out_starts[-1], np.int32), np.empty(14, np.bool_)
        unwanted = Unwanted(np.array(sorted(forbidden), dtype=np.uint64), keys, BASES[0])
        n_rejected = generate_strings(
            templates.starts, templates.features, templates.weights, templates.feature_symbols,
            templates.position_starts, group_starts, order, support, 3, unwanted, state, out_starts, out, is_kept,
        )  # fmt: skip
        return (
            [out[a:b].tolist() for a, b in pairwise(out_starts)],
            is_kept.tolist(),
            n_rejected,
        )

    fast, slow = fast_rows(set()), slow_rows(set())
    assert fast == slow
    assert all(fast[1])
    # What was drawn once is now an original.
    forbidden = {slow_fingerprint(s, keys.tolist(), int(BASES[0])) for s in fast[0][::2]}
    assert fast_rows(forbidden) == slow_rows(forbidden)


def test_copies_are_given_up_in_the_end() -> None:
    templates = convert_lengths(*flat([[0, 1, 0]] * 4))
    keys = np.array([3, 4], dtype=np.uint64)
    original = np.array([slow_fingerprint([0, 1, 0], [3, 4], int(BASES[0]))], dtype=np.uint64)
    out, is_kept = np.empty(12, np.int32), np.ones(4, np.bool_)
    n_rejected = generate_strings(
        templates.starts, templates.features, templates.weights, templates.feature_symbols, templates.position_starts,
        np.array([0, 4]), 2, 1, 5, Unwanted(original, keys, BASES[0]), np.array([9], dtype=np.uint64),
        np.arange(0, 15, 3), out, is_kept,
    )  # fmt: skip
    assert n_rejected == 20
    assert not is_kept.any()


def test_random_numbers_are_even() -> None:
    state = np.array([7], dtype=np.uint64)
    drawn = np.array([uniform(state, 0) for _ in range(20_000)])
    assert (drawn >= 0).all()
    assert (drawn < 1).all()
    counts = np.bincount((drawn * 20).astype(int), minlength=20)
    assert ((counts - 1000.0) ** 2 / 1000.0).sum() < 43.8  # chi-square, 19 degrees of freedom, 0.1 %
