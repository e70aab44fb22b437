"""The tests of `strings/pool.py`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.arrays import Codes, Ints, Mask
from shoal.data.samples.proteins import protein_families
from shoal.errors import Infeasible
from shoal.kernels.strings.windows import SymbolRuns
from shoal.strings import Condensation, generate, pool
from shoal.strings.pool import REACH, ClassSymbols, Part, count_class, make_pool, near_pairs


def written_out(runs: SymbolRuns) -> list[list[int]]:
    """The symbols of each list."""
    counts = np.diff(runs.ends, prepend=0)
    return [
        np.repeat(runs.symbols[a:b], counts[a:b]).tolist()
        for a, b in zip(runs.starts[:-1], runs.starts[1:], strict=True)
    ]


def test_the_class_tells_places_only_where_it_has_strings_enough() -> None:
    """Forty strings of four places; rare pairs of two symbols have their place, those of many have not."""
    rng = np.random.default_rng(0)
    for n_symbols, n_bins in ((2, 20), (8, 5), (30, 1)):
        symbols = rng.integers(0, n_symbols, 160).astype(np.int32)
        symbols[:n_symbols] = np.arange(n_symbols)
        starts = np.arange(0, 161, 4)
        found = make_pool(symbols, starts, np.zeros(160, np.bool_), n_symbols, 41)
        later = [int(place) for place in range(160) if place % 4]
        assert min(40 // len({int(symbols[place]) for place in later}), 20) == n_bins
        bins = [(2 * (place % 4) + 1) * n_bins // 8 for place in later]
        expected = [
            sorted(int(symbols[p]) for p, b in zip(later, bins, strict=True) if b == own) for own in range(n_bins)
        ]
        assert written_out(found.left) == expected
        assert written_out(found.left_first) == [sorted(symbols[::4].tolist())]
    symbols = np.tile(np.arange(50, dtype=np.int32), 2)
    few = make_pool(symbols, np.arange(0, 101, 2), np.zeros(100, np.bool_), 50, 3)
    assert len(written_out(few.left_first)[0]) == 50
    least = make_pool(symbols[:98], np.arange(0, 99, 2), np.zeros(98, np.bool_), 50, 3)
    assert len(written_out(least.left_first)[0]) in (0, 49)


def test_a_pair_counts_once_a_string() -> None:
    symbols, starts = np.array([0, 1, 0, 1, 0, 1, 1, 0], np.int32), np.array([0, 4, 6, 8])
    is_rare = np.arange(8) == 6
    found = make_pool(symbols, starts, is_rare, 2, 2)
    assert found.pairs.tolist() == [1, 2]  # 01 in two strings, 10 in two
    assert make_pool(symbols, starts, is_rare, 2, 3).pairs.tolist() == []
    assert written_out(found.after) == [[1, 1, 1], [0, 0]]
    assert written_out(found.every) == [[0, 0, 0, 0, 1, 1, 1, 1]]
    assert written_out(found.left_first) == [[1]]
    assert all_of(found.left) == []
    assert sorted(all_of(make_pool(symbols, starts, is_rare, 2, 3).left)) == [0, 0, 1, 1, 1]


@pytest.mark.parametrize(("n_symbols", "longest"), [(2, 60), (30, 6)])
def test_pairs_of_small_and_of_large_alphabets_equal_a_plain_count(n_symbols: int, longest: int) -> None:
    """Two symbols fill a table, thirty are sorted."""
    rng = np.random.default_rng(n_symbols)
    texts = [rng.integers(0, n_symbols, rng.integers(1, longest + 1)).tolist() for _ in range(40)]
    starts = np.concatenate([[0], np.cumsum([len(t) for t in texts])]).astype(np.int64)
    symbols = np.array([s for t in texts for s in t], np.int32)
    holders: dict[int, set[int]] = {}
    for row, text in enumerate(texts):
        for a, b in zip(text, text[1:]):  # noqa: B905, RUF007
            holders.setdefault(a * n_symbols + b, set()).add(row)
    support = 15 if n_symbols == 2 else 2
    found = make_pool(symbols, starts, np.zeros(len(symbols), np.bool_), n_symbols, support)
    assert found.pairs.tolist() == sorted(pair for pair, held in holders.items() if len(held) >= support)
    left = [
        text[t]
        for text in texts
        for t in range(1, len(text))
        if len(holders[text[t - 1] * n_symbols + text[t]]) < support
    ]
    assert sorted(all_of(found.left)) == sorted(left)


@pytest.mark.parametrize(("settings", "fewest"), [({}, 6), ({"rare": 1}, 5), ({"rare": 9}, 9), ({"support": 1}, 1)])
def test_pairs_of_a_class_are_those_of_k_strings(
    settings: dict[str, int], fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def noted(symbols: Codes, starts: Ints, is_rare: Mask, n_symbols: int, n: int, *more: int) -> ClassSymbols:
        asked.append(n)
        return make_pool(symbols, starts, is_rare, n_symbols, n, *more)

    monkeypatch.setattr(generate, "make_pool", noted)
    Condensation(k=6, seed=1, workers=1).set_params(**settings).fit_transform(protein_families(60, seed=1))
    assert set(asked) == {fewest}


@pytest.mark.parametrize(("n_symbols", "longest"), [(3, 60), (300, 6)])
def test_near_pairs_are_those_that_most_strings_have(n_symbols: int, longest: int) -> None:
    """Three symbols fill a table, three hundred are sorted; no more pairs than strings are taken."""
    rng = np.random.default_rng(n_symbols)
    share = 1 / np.arange(1, n_symbols + 1) ** 1.5
    texts = [rng.choice(n_symbols, rng.integers(1, longest), p=share / share.sum()).tolist() for _ in range(400)]
    symbols, starts = np.concatenate(texts).astype(np.int32), np.cumsum([0, *map(len, texts)]).astype(np.int64)
    holders: dict[int, set[int]] = {}
    for row, text in enumerate(texts):
        for u in range(len(text)):
            for v in range(max(u - REACH, 0), u):
                holders.setdefault(text[v] * n_symbols + text[u], set()).add(row)
    counts = sorted((len(held) for held in holders.values()), reverse=True)
    for support, n_strings in ((3, 400), (40, 400), (1, 400)):
        least = max(support, counts[n_strings] + 1 if len(counts) > n_strings else 0)
        expected = sorted(pair for pair, held in holders.items() if len(held) >= least)
        assert near_pairs(symbols, starts, n_symbols, support, REACH).tolist() == expected
        assert len(expected) <= n_strings


def test_places_are_drawn_after_the_nearest_symbol_that_they_often_follow() -> None:
    """``a`` and ``b`` stand two places apart in all strings, whatever stands between and after."""
    rng = np.random.default_rng(3)
    texts = [[0, int(rng.integers(2, 30)), 1, int(rng.integers(2, 30))] for _ in range(200)]
    symbols, starts = np.concatenate(texts).astype(np.int32), np.arange(0, 801, 4)
    none = make_pool(symbols, starts, np.zeros(800, np.bool_), 30, 20)
    assert (written_out(none.apart), len(none.shares)) == ([], 0)
    assert len(all_of(none.left)) == 600
    found = make_pool(symbols, starts, np.zeros(800, np.bool_), 30, 20, reach=REACH)
    assert written_out(found.apart)[1] == [1] * 200
    assert found.shares[1] == pytest.approx(200 / (200 * 400 / 800))  # half of all symbols have one two places on
    assert found.shares[0] == 0.0
    assert 1 not in all_of(found.left)
    assert written_out(make_pool(symbols, starts, np.zeros(800, np.bool_), 30, 20, order=1, reach=REACH).apart) == []


def all_of(runs: SymbolRuns) -> list[int]:
    """The symbols of all lists."""
    return [symbol for some in written_out(runs) for symbol in some]


def some_class(seed: int, n_symbols: int, n: int) -> tuple[Codes, Ints, Mask]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, n)
    symbols = np.minimum(rng.geometric(0.2, int(sizes.sum())) - 1, n_symbols - 1).astype(np.int32)
    return symbols, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), rng.random(len(symbols)) < 0.3


@given(st.integers(0, 99), st.sampled_from([3, 12, 400]), st.integers(1, 3), st.integers(1, 5), st.integers(1, 30))
def test_strings_counted_part_by_part_are_those_counted_at_once(
    seed: int, n_symbols: int, order: int, support: int, n_at_once: int
) -> None:
    """Four hundred symbols have more pairs than a table is filled of."""
    symbols, starts, is_rare = some_class(seed, n_symbols, 60)

    def parts() -> Iterator[Part]:
        for low in range(0, 60, n_at_once):
            rows = starts[low : low + n_at_once + 1]
            yield symbols[rows[0] : rows[-1]], rows - rows[0], is_rare[rows[0] : rows[-1]]

    found = count_class(parts, len(symbols), n_symbols, support, order, REACH)
    whole = make_pool(symbols, starts, is_rare, n_symbols, support, order, REACH)
    for one, other in zip(found, whole, strict=True):
        pairs = zip(one, other, strict=True) if isinstance(one, SymbolRuns) else [(one, other)]
        assert all(np.array_equal(a, b) for a, b in pairs)


def test_tables_and_sorted_pairs_count_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    some = some_class(1, 30, 200)
    filled = make_pool(*some, 30, 4, reach=REACH)
    monkeypatch.setattr(pool, "FEWEST_CELLS", 1)
    monkeypatch.setattr(pool, "MOST_CELLS", 1)
    monkeypatch.setattr(pool, "MOST_WAITING", 10)
    monkeypatch.setattr(pool, "PLACES_AT_ONCE", 50)
    for one, other in zip(filled, make_pool(*some, 30, 4, reach=REACH), strict=True):
        pairs = zip(one, other, strict=True) if isinstance(one, SymbolRuns) else [(one, other)]
        assert all(np.array_equal(a, b) for a, b in pairs)
    with pytest.raises(Infeasible, match="different pairs of symbols"):
        count_class(lambda: [some], len(some[0]), 30, 4, most_pairs=5)
