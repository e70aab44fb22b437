"""The tests of `strings/windows.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.samples.proteins import protein_families
from shoal.data.strings.strings import Strings
from shoal.errors import PolicyError
from shoal.strings import Condensation
from shoal.strings.generate import N_LONGER
from shoal.strings.rare_symbols import without_rare_symbols
from shoal.strings.windows import WindowSettings, bins_of, bins_of_lengths, join
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
