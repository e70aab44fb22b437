"""The tests of `strings/templates.py`."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

import shoal.strings.templates as templates_module
from shoal.strings.templates import Templates, TemplatesOnDemand, convert_lengths, templates_of


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


@pytest.mark.parametrize("shortest", [12, 9])
def test_shortened_templates_keep_the_shares_of_positions_that_vary(shortest: int) -> None:
    strings = some_strings(5, 6, shortest, 12, 3)
    for string in strings:
        string[:4] = [1, 1, 1, 1]
    templates = convert_lengths(*flat(strings), 12)
    assert templates.shortened(12) is templates
    varied = [i for i in range(12) if len({tuple(templates.frequencies(row, i)) for row in range(6)}) > 1]
    kept = [varied[int(at)] for at in np.linspace(0, len(varied) - 1, 5)]
    short = templates.shortened(5)
    assert short.length == 5
    assert [[short.frequencies(row, i) for i in range(5)] for row in range(6)] == [
        [templates.frequencies(row, i) for i in kept] for row in range(6)
    ]


def test_templates_that_do_not_vary_keep_a_position() -> None:
    short = convert_lengths(*flat([[1] * 9] * 3)).shortened(4)
    assert (short.length, len(short), short.n_features) == (1, 3, 1)


@pytest.mark.parametrize(("shortest", "longest"), [(3, 9), (6, 6), (1, 14)])
def test_templates_on_demand_are_the_same(shortest: int, longest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    symbols, starts = flat(some_strings(shortest, 40, shortest, longest, 4))
    assert isinstance(templates_of(symbols, starts), Templates)
    monkeypatch.setattr(templates_module, "MANY_STRINGS", 20)
    found, whole = templates_of(symbols, starts), convert_lengths(symbols, starts)
    assert isinstance(found, TemplatesOnDemand)
    rows = np.random.default_rng(0).permutation(40)[:25]
    for ours, theirs in ((found.whole(), whole), (found.take(rows), whole.take(rows))):
        assert ours.length == theirs.length
        for name in ("starts", "features", "weights", "feature_symbols", "position_starts", "lengths"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)


def test_a_large_alphabet_is_converted_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates_module, "MANY_STRINGS", 5)
    symbols, starts = flat(some_strings(0, 10, 3, 6, 100))
    assert isinstance(templates_of(symbols, starts), Templates)
