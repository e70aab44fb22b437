"""The kernels of strings against loops that are too simple to be wrong."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.strings.generate import generate_strings, uniform
from shoal.kernels.strings.groups import (
    average,
    group_costs,
    nearest_groups,
    pass_around_centroids,
    pass_around_templates,
    similarities,
)
from shoal.kernels.strings.hash import BASES, count_holders, fingerprints, holds
from shoal.kernels.strings.lengths import greedy_runs, optimal_runs
from shoal.kernels.strings.reassign import LEAST_GAIN, reassign
from shoal.strings.groups import order_members
from shoal.strings.templates import Templates, convert_lengths

Dense = npt.NDArray[np.float64]
lists_of_lengths = st.lists(st.integers(1, 30), min_size=1, max_size=9)


def some_strings(seed: int, n: int, shortest: int, longest: int, n_symbols: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, n_symbols, rng.integers(shortest, longest + 1)).tolist() for _ in range(n)]


def flat(strings: list[list[int]]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    starts = np.concatenate([[0], np.cumsum([len(s) for s in strings])]).astype(np.int64)
    return np.array([x for s in strings for x in s], dtype=np.int32), starts


def dense(templates: Templates) -> Dense:
    """One row a template, one column a feature."""
    out = np.zeros((len(templates), templates.n_features))
    for row in range(len(templates)):
        for e in range(templates.starts[row], templates.starts[row + 1]):
            out[row, templates.features[e]] = templates.weights[e] if len(templates.weights) else 1.0
    return out


def sparse(templates: Templates) -> tuple[object, object, object, int]:
    return templates.starts, templates.features, templates.weights, templates.n_features


def slow_greedy(lengths: list[int], eps: Fraction, k: int) -> int:
    left, suppressed = sorted(lengths), 0
    while left:
        taken = [x for x in left if x <= (1 + eps) * left[0]]
        if len(taken) < k:
            suppressed += 1
            left = left[1:]
        else:
            left = left[len(taken) :]
    return suppressed


def slow_optimal(lengths: list[int], eps: Fraction, k: int) -> int:
    """Try every way to keep some lengths and to cut what is kept into runs."""
    ascending = sorted(lengths)

    def can_be_cut(kept: list[int]) -> bool:
        if not kept:
            return True
        return any(
            kept[size - 1] <= (1 + eps) * kept[0] and can_be_cut(kept[size:]) for size in range(k, len(kept) + 1)
        )

    n = len(ascending)
    for n_left_out in range(n + 1):
        for kept in combinations(range(n), n - n_left_out):
            if can_be_cut([ascending[i] for i in kept]):
                return n_left_out
    raise AssertionError("all may be left out")


@settings(max_examples=80, deadline=None)
@given(lists_of_lengths, st.sampled_from([0, 1, 5, 15, 30]), st.integers(1, 4))
def test_runs_leave_out_what_the_slow_ones_do(lengths: list[int], tenths: int, k: int) -> None:
    ascending = np.sort(np.array(lengths, dtype=np.int64))
    limits = ascending * (10 + tenths) // 10
    eps = Fraction(tenths, 10)
    greedy, optimal = greedy_runs(ascending, limits, k), optimal_runs(ascending, limits, k)
    assert (greedy < 0).sum() == slow_greedy(lengths, eps, k)
    assert (optimal < 0).sum() == slow_optimal(lengths, eps, k)
    for runs in (greedy, optimal):
        for run in range(runs.max() + 1):
            held = ascending[runs == run]
            assert len(held) >= k
            assert held[-1] <= (1 + eps) * held[0]
        kept = runs[runs >= 0]
        assert (np.diff(kept) >= 0).all()


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


def slow_similarity(one: Dense, centre: Dense) -> float:
    return float(np.minimum(one, centre).sum())


def slow_pass(table: Dense, k: int, centres: list[Dense] | None, order: list[int]) -> list[int]:
    left, labels = list(range(len(table))), [-1] * len(table)
    for label in range(len(table) // k):
        centre = centres[label] if centres is not None else table[next(r for r in order if r in left)]
        for row in sorted(left, key=lambda row: (-slow_similarity(table[row], centre), row))[:k]:
            labels[row] = label
            left.remove(row)
    return labels


def assert_closest(table: Dense, k: int, centres: list[Dense] | None, order: list[int], labels: list[int]) -> None:
    """As the slow pass, but of what rounding makes alike any may have been taken."""
    left = list(range(len(table)))
    for label in range(len(table) // k):
        centre = centres[label] if centres is not None else table[next(r for r in order if r in left)]
        taken = [r for r in left if labels[r] == label]
        left = [r for r in left if labels[r] != label]
        assert len(taken) == k
        nearest_left = max((slow_similarity(table[r], centre) for r in left), default=0.0)
        assert min(slow_similarity(table[r], centre) for r in taken) >= nearest_left - 1e-5
    assert all(labels[r] == -1 for r in left)


@pytest.mark.parametrize("shortest", [6, 9])
@pytest.mark.parametrize("seed", range(4))
def test_passes_take_the_closest(seed: int, shortest: int) -> None:
    templates = convert_lengths(*flat(some_strings(seed, 41, shortest, 9, 4)))
    table, k = dense(templates), 8
    order = np.random.default_rng(seed).permutation(41)
    labels = pass_around_templates(*sparse(templates), k, order)
    members, starts = order_members(np.where(labels < 0, 5, labels), 6)
    centres = [table[members[starts[g] : starts[g + 1]]].mean(axis=0) for g in range(6)]
    later = pass_around_centroids(*sparse(templates), k, members, starts)
    if shortest == 9:  # equal lengths and eighths: no sum is rounded, so ties are ties
        assert labels.tolist() == slow_pass(table, k, None, order.tolist())
        assert later.tolist() == slow_pass(table, k, centres, [])
    assert_closest(table, k, None, order.tolist(), labels.tolist())
    assert_closest(table, k, centres, [], later.tolist())


def slow_costs(table: Dense, length: int, labels: list[int], n_groups: int) -> list[float]:
    costs = []
    for group in range(n_groups):
        rows = [r for r, g in enumerate(labels) if g == group]
        costs.append(sum(float(np.abs(table[r] - table[rows].mean(axis=0)).sum()) for r in rows))
    return costs


@pytest.mark.parametrize("shortest", [5, 8])
def test_costs_are_eq_3_and_nearest_groups_are_near(shortest: int) -> None:
    templates = convert_lengths(*flat(some_strings(3, 30, shortest, 8, 3)))
    table = dense(templates)
    labels = (np.arange(30) % 4).astype(np.int32)
    members, starts = order_members(labels, 4)
    costs = group_costs(*sparse(templates), templates.length, members, starts)
    assert costs == pytest.approx(slow_costs(table, templates.length, labels.tolist(), 4), rel=1e-5)
    centres = [table[labels == g].mean(axis=0) for g in range(4)]
    near = nearest_groups(*sparse(templates), members, starts, labels, np.arange(30), 4)
    for row in range(30):
        others = sorted((slow_similarity(table[row], centres[g]) for g in range(4) if g != labels[row]), reverse=True)
        assert near[row, 3] == -1
        assert {*near[row, :3].tolist(), int(labels[row])} == {0, 1, 2, 3}
        assert [slow_similarity(table[row], centres[g]) for g in near[row, :3]] == pytest.approx(others, rel=1e-5)
    centre = average(*sparse(templates)[:3], np.flatnonzero(labels == 2), templates.n_features)
    assert centre == pytest.approx(centres[2], abs=1e-6)
    assert similarities(*sparse(templates)[:3], centre) == pytest.approx(
        [slow_similarity(one, centres[2]) for one in table], rel=1e-5
    )


def slow_reassign(
    table: Dense, length: int, k: int, labels: list[int], near: list[list[int]], order: list[int]
) -> list[int]:
    n_groups = max(labels) + 1

    def total(given: list[int]) -> float:
        return sum(slow_costs(table, length, given, n_groups))

    def target(row: int, given: list[int]) -> int:
        return next((g for g in near[row] if g >= 0 and g != given[row] and g in given), -1)

    for group in order:
        rows = [r for r, g in enumerate(labels) if g == group]
        targets = [target(r, labels) for r in rows]
        if not rows or min(targets) < 0:
            continue
        changed = labels.copy()
        for row, to in zip(rows, targets, strict=True):
            changed[row] = to
        if total(changed) < total(labels) - LEAST_GAIN:
            labels = changed
    for row in range(len(labels)):
        to = target(row, labels)
        if labels.count(labels[row]) <= k or to < 0:
            continue
        changed = labels.copy()
        changed[row] = to
        if total(changed) < total(labels) - LEAST_GAIN:
            labels = changed
    return labels


@pytest.mark.parametrize("seed", range(6))
def test_reassignment_makes_the_moves_of_the_slow_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = some_strings(seed, 3, 9, 12, 4)
    strings = [[int(s) if rng.random() < 0.7 else int(rng.integers(4)) for s in kinds[i % 3]] for i in range(31)]
    templates = convert_lengths(*flat(strings))
    labels = np.arange(31, dtype=np.int32) % 5
    labels[rng.permutation(31)[:9]] = 0
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    members, starts = order_members(labels, int(labels.max()) + 1)
    costs = group_costs(*sparse(templates), templates.length, members, starts)
    near = nearest_groups(*sparse(templates), members, starts, labels, np.arange(31), 3)
    order = np.argsort(-costs / np.diff(starts), kind="stable")
    expected = slow_reassign(dense(templates), templates.length, 3, labels.tolist(), near.tolist(), order.tolist())
    moved = labels.copy()
    n_moved = reassign(*sparse(templates), templates.length, 3, moved, costs, near, order)
    assert moved.tolist() == expected
    assert n_moved > 0
    assert costs == pytest.approx(
        slow_costs(dense(templates), templates.length, expected, len(costs)), rel=1e-4, abs=1e-4
    )


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
        n_rejected = generate_strings(
            templates.starts, templates.features, templates.weights, templates.feature_symbols,
            templates.position_starts, group_starts, order, support, 3, np.array(sorted(forbidden), dtype=np.uint64),
            keys, BASES[0], state, out_starts, out, is_kept,
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
        np.array([0, 4]), 2, 1, 5, original, keys, BASES[0], np.array([9], dtype=np.uint64),
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
