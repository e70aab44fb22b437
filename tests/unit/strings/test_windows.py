"""The tests of `strings/windows.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.arrays import Codes, Ints, Mask
from shoal.data.samples.proteins import protein_families
from shoal.data.strings.strings import Strings
from shoal.errors import PolicyError
from shoal.strings import Condensation, generate
from shoal.strings.generate import N_LONGER
from shoal.strings.rare_symbols import without_rare_symbols
from shoal.strings.windows import (
    REACH,
    ClassStrings,
    WindowSettings,
    bins_of,
    bins_of_lengths,
    join,
    make_pool,
    near_pairs,
)
from shoal.utility.strings.composition import compare_composition
from shoal.utility.strings.k_mers import compare_k_mers


def test_bins_are_places_where_lengths_agree_and_few_where_strings_are_short() -> None:
    lengths = np.array([100, 100, 100, 400, 6, 9, 25, 30])
    n_bins, reaches = bins_of_lengths(lengths, np.array([0, 2, 4, 6, 8]), 0.05)
    assert n_bins.tolist() == [100, 30, 6, 25]
    assert reaches.tolist() == [0, 1, 0, 1]


def test_windows_are_wide_where_members_are_too_few_for_what_they_would_tell() -> None:
    """Ten places with two symbols each are ten shares, for which forty members are needed."""
    some = ["ab" * 5, "ab" * 5, "ba" * 5, "ba" * 5]
    strings = Strings.of(some * 3 + ["a" * 10] * 4 + some)
    group_starts = np.array([0, 12, 16, 20])
    n_bins, reaches = bins_of(strings.symbols, strings.starts, group_starts, WindowSettings(0.05, 2), 2)
    assert n_bins.tolist() == [9, 10, 1]  # of twelve members, windows of three of nine bins; of four, the whole string
    assert reaches.tolist() == [1, 0, 0]


def test_windows_of_aligned_strings_are_never_wide() -> None:
    """Nine of ten columns vary; four members are too few for that, but what stands beside a column is no substitute."""
    strings = Strings.of(["abababababa"[1:], "abababababa"[:10]] * 2)
    assert bins_of(strings.symbols, strings.starts, np.array([0, 4]), WindowSettings(0.05, 2), 2)[0].tolist() == [1]
    strings = Strings.of(["aababababa", "abababababa"[:10]] * 2)
    assert bins_of(strings.symbols, strings.starts, np.array([0, 4]), WindowSettings(0.05, 2), 2)[0].tolist() == [10]


def test_the_class_tells_places_only_where_it_has_strings_enough() -> None:
    """Forty strings of four places; rare pairs of two symbols have their place, those of many have not."""
    rng = np.random.default_rng(0)
    for n_symbols, n_bins in ((2, 20), (8, 5), (30, 1)):
        symbols = rng.integers(0, n_symbols, 160).astype(np.int32)
        symbols[:n_symbols] = np.arange(n_symbols)
        starts = np.arange(0, 161, 4)
        pool = make_pool(symbols, starts, np.zeros(160, np.bool_), n_symbols, 41)
        assert len(pool.left) == 120
        left = len(np.unique(symbols[pool.left]))
        assert len(pool.left_starts) - 1 == min(40 // left, 20) == n_bins
        bins = np.repeat(np.arange(n_bins), np.diff(pool.left_starts))
        assert (bins == (2 * (pool.left % 4) + 1) * n_bins // 8).all()
        assert len(pool.left_first) == 40
    symbols = np.tile(np.arange(50, dtype=np.int32), 2)
    few = make_pool(symbols, np.arange(0, 101, 2), np.zeros(100, np.bool_), 50, 3)
    assert len(few.left_first) == 50
    assert len(make_pool(symbols[:98], np.arange(0, 99, 2), np.zeros(98, np.bool_), 50, 3).left_first) in (0, 49)


def test_a_pair_counts_once_a_string() -> None:
    symbols, starts = np.array([0, 1, 0, 1, 0, 1, 1, 0], np.int32), np.array([0, 4, 6, 8])
    is_rare = np.arange(8) == 6
    pool = make_pool(symbols, starts, is_rare, 2, 2)
    assert pool.pairs.tolist() == [1, 2]  # 01 in two strings, 10 in two
    assert make_pool(symbols, starts, is_rare, 2, 3).pairs.tolist() == []
    assert symbols[pool.after[pool.after_starts[0] : pool.after_starts[1]]].tolist() == [1, 1, 1]
    assert pool.left_first.tolist() == [6]
    assert pool.left.tolist() == []
    assert sorted(make_pool(symbols, starts, is_rare, 2, 3).left.tolist()) == [1, 2, 3, 5, 7]


@pytest.mark.parametrize("seed", range(5))
def test_a_group_deals_as_many_symbols_of_each_kind_as_it_has(seed: int) -> None:
    """One group of sixteen, in columns; two members or more have each pair, so that nothing comes from the class."""
    texts = ["abab", "abba", "baab", "baba", "aabb", "bbaa", "aaaa", "bbbb"] * 2
    condensation = Condensation(k=16, support=2, rare=2, copies="allow", seed=seed, workers=1)
    made = condensation.fit_transform(texts)
    for place in range(4):
        assert sorted(text[place] for text in made) == sorted(text[place] for text in texts)
    for place in range(1, 4):
        pairs = [sorted(text[place - 1 : place + 1] for text in some) for some in (made, texts)]
        assert pairs[0] == pairs[1]
    assert sorted(made) != sorted(texts)


def test_strings_begin_as_members_begin() -> None:
    rng = np.random.default_rng(2)
    texts = ["m" + "".join(rng.choice(list("abc"), n)) for n in rng.integers(20, 40, 60)]
    assert {text[0] for text in Condensation(k=20, seed=1, workers=1).fit_transform(texts)} == {"m"}


def test_symbols_keep_their_shares_where_strings_are_short_and_many_are_rare() -> None:
    rng = np.random.default_rng(0)
    share = 1 / np.arange(1, 41)
    texts = [
        [f"p{i}" for i in rng.choice(40, int(n), p=share / share.sum())]
        for n in np.minimum(rng.geometric(0.4, 1500), 9)
    ]
    strings = Strings.of(texts)
    condensation = Condensation(k=10, seed=1, workers=1)
    made = condensation.fit_transform(strings)
    assert len(made) > 0.95 * len(strings)
    bare, _, _ = without_rare_symbols(strings, 10)
    assert compare_composition(bare, made).difference < 0.12  # two halves of the strings: 0.14
    assert made.lengths.max() <= strings.lengths.max() + N_LONGER


def test_pairs_are_kept_better_than_by_templates_and_nothing_stutters() -> None:
    strings = protein_families(200, n_families=2, mean_length=80, seed=1)
    moved = {}
    for generator in ("window", "template"):
        made = Condensation(k=20, seed=1, workers=1, generator=generator).fit_transform(strings)
        moved[generator] = compare_k_mers(strings, made, 2).total_variation
    assert moved["window"] < 0.6 * moved["template"]


def test_a_seed_settles_it_whatever_the_order_of_rows() -> None:
    strings = protein_families(120, n_families=2, mean_length=40, seed=2)
    rows = np.random.default_rng(0).permutation(len(strings))
    one, two = (
        Condensation(k=10, seed=4, workers=w).fit_transform(s) for w, s in ((1, strings), (2, strings.take(rows)))
    )
    assert one.texts() == two.texts()


@pytest.mark.parametrize(("name", "value"), [("window", 0), ("window", 0.6), ("generator", "windows"), ("window", "x")])
def test_what_is_not_possible_is_refused(name: str, value: object) -> None:
    with pytest.raises(PolicyError, match=name):
        Condensation(k=2, **{name: value}).fit(["ab", "ba"] * 5)


def test_windows_of_named_places_are_never_wide() -> None:
    strings = Strings.of(["ab" * 5, "ab" * 5, "ba" * 5, "ba" * 5])
    n_bins, reaches = bins_of(
        strings.symbols, strings.starts, np.array([0, 4]), WindowSettings(0.05, 2, is_named=True), 2
    )
    assert (n_bins.tolist(), reaches.tolist()) == ([10], [0])


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
    pool = make_pool(symbols, starts, np.zeros(len(symbols), np.bool_), n_symbols, support)
    assert pool.pairs.tolist() == sorted(pair for pair, held in holders.items() if len(held) >= support)
    left = [
        int(starts[row]) + t
        for row, text in enumerate(texts)
        for t in range(1, len(text))
        if len(holders[text[t - 1] * n_symbols + text[t]]) < support
    ]
    assert sorted(pool.left.tolist()) == left


@pytest.mark.parametrize(("settings", "fewest"), [({}, 6), ({"rare": 1}, 5), ({"rare": 9}, 9), ({"support": 1}, 1)])
def test_pairs_of_a_class_are_those_of_k_strings(
    settings: dict[str, int], fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def noted(symbols: Codes, starts: Ints, is_rare: Mask, n_symbols: int, n: int, *more: int) -> ClassStrings:
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
    assert (len(none.apart), len(none.shares)) == (0, 0)
    assert len(none.left) == 600
    pool = make_pool(symbols, starts, np.zeros(800, np.bool_), 30, 20, reach=REACH)
    after = pool.apart[pool.apart_starts[1] : pool.apart_starts[2]]
    assert after.tolist() == list(range(2, 800, 4))
    assert pool.shares[1] == pytest.approx(200 / (200 * 400 / 800))  # half of all symbols have one two places on
    assert pool.shares[0] == 0.0
    assert not np.isin(pool.left, after).any()
    assert make_pool(symbols, starts, np.zeros(800, np.bool_), 30, 20, order=1, reach=REACH).apart.tolist() == []


def test_what_stands_apart_in_many_strings_does_so_in_the_release() -> None:
    """A chain knows the symbol before alone, and loses it."""
    rng = np.random.default_rng(1)
    texts = []
    for _ in range(600):
        text = [f"p{i}" for i in rng.integers(0, 60, rng.integers(4, 9))]
        at, kind = int(rng.integers(0, len(text) - 2)), int(rng.integers(4))
        text[at], text[at + 2] = f"a{kind}", f"b{kind}"
        texts.append(text)
    kept = {}
    for generator in ("window", "markov"):
        made = Condensation(k=20, seed=1, workers=1, generator=generator).fit_transform(Strings.of(texts)).texts()
        kept[generator] = sum(
            x[0] == "a" and y == "b" + x[1:] for text in made for x, y in zip(text, text[2:], strict=False)
        )
    assert kept["window"] > 3 * kept["markov"]


def test_parts_of_one_array_are_joined_without_a_copy() -> None:
    whole = np.arange(10, dtype=np.int32)
    parts = [(whole[2:5], np.array([0, 1, 3])), (whole[5:9], np.array([0, 4]))]
    symbols, starts = join(parts)
    assert np.shares_memory(symbols, whole)
    assert (symbols.tolist(), starts.tolist()) == ([2, 3, 4, 5, 6, 7, 8], [0, 1, 3, 7])
    apart, starts = join([parts[1], parts[0]])
    assert not np.shares_memory(apart, whole)
    assert (apart.tolist(), starts.tolist()) == ([5, 6, 7, 8, 2, 3, 4], [0, 4, 5, 7])
