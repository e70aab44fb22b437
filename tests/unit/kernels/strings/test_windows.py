"""The tests of `kernels/strings/windows.py`: against a slow, obvious twin."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from shoal.kernels.strings.hash import BASES, Unwanted, fingerprints
from shoal.kernels.strings.windows import (
    DEALT_FROM,
    MOST_ANEW,
    SymbolRuns,
    count_pairs,
    distances_back,
    generate_from_windows,
    listed,
    mark_few,
    n_listed,
)
from shoal.strings.pool import MOST_BINS_OF_CLASS, REACH, make_pool
from shoal.strings.windows import WindowSettings, bins_of, bins_of_lengths, count_needed, find_rare
from tests.unit.kernels.strings.test_generate import SlowRandom, flat, some_strings
from tests.unit.kernels.strings.test_window_lists import bin_of, in_window, slow_rare

N_SYMBOLS = 5


def slow_shares(members: list[list[int]], n_bins: int, reach: int, support: int) -> int:
    """In every window the symbols that enough members have, less one."""
    n = 0
    for at in range(n_bins):
        window = in_window(members, at, n_bins, reach)
        holders = [len({j for j, u in window if members[j][u] == symbol}) for symbol in range(N_SYMBOLS)]
        n += max(sum(h >= support for h in holders) - 1, 0)
    return n


def slow_back(pool: list[list[int]], support: int, reach: int) -> list[list[int]]:
    """How far before each symbol that one stands that it is drawn after; 0 for none."""
    near = [
        {(p[v], p[u]) for u in range(len(p)) for v in range(max(u - reach, 0), u)} if reach > 1 else set() for p in pool
    ]
    beside = [set(pairwise(p)) for p in pool]
    counts = Counter(pair for pairs in near for pair in pairs)
    told = {pair for pair, n in counts.items() if n >= support}
    if len(told) > len(pool):
        told = {pair for pair in told if counts[pair] > sorted(counts.values(), reverse=True)[len(pool)]}
    out = []
    for p in pool:
        back = [0] * len(p)
        for u in range(1, len(p)):
            far = [u - v for v in range(u - 2, max(u - reach, 0) - 1, -1) if (p[v], p[u]) in told]
            back[u] = 1 if sum((p[u - 1], p[u]) in b for b in beside) >= support else min(far, default=0)
        out.append(back)
    return out


def list_left(
    pool: list[list[int]], is_rare: list[list[bool]], back: list[list[int]], order: int
) -> list[tuple[int, int]]:
    """Places but the first that are drawn after none of the symbols before, or without contexts rare ones."""
    return [
        (i, u)
        for i, string in enumerate(pool)
        for u in range(1, len(string))
        if (is_rare[i][u] if order == 1 else back[i][u] == 0)
    ]


def slow_apart(out: list[int], pool: list[list[int]], back: list[list[int]], random: SlowRandom) -> int | None:
    """A symbol after an earlier one, drawn as often as there is one so far after that one in the pool."""
    symbols = [s for p in pool for s in p]

    def drawn_after(symbol: int, distance: int) -> list[int]:
        return sorted(
            p[u]
            for p, b in zip(pool, back, strict=True)
            for u in range(len(p))
            if b[u] == distance and p[u - distance] == symbol
        )

    n_followed = sum(p[u] == out[-1] for p in pool for u in range(len(p) - 1))
    point = random.uniform() * (1.0 - len(drawn_after(out[-1], 1)) / n_followed)
    for distance in range(2, min(REACH, len(out)) + 1):
        found = drawn_after(out[-distance], distance)
        n_there = symbols.count(out[-distance]) * (sum(max(len(p) - distance, 0) for p in pool) / len(symbols))
        share = len(found) / n_there if found else 0.0
        if point < share:
            for _ in range(MOST_ANEW):
                symbol = found[int(random.uniform() * len(found))]
                if symbol not in out[-distance + 1 :]:
                    return symbol
            return None
        point -= share
    return None


def slow_string(
    members: list[list[int]],
    pool: list[list[int]],
    is_rare: list[list[bool]],
    kept: list[int],
    size: int,
    bins: tuple[int, int],
    settings: tuple[int, int, bool],
    random: SlowRandom,
    n_dealt: Counter[tuple[int, int]],
) -> list[int]:
    """One pseudo-string that begins with what is kept, by lists; `is_rare` is of the pool."""
    n_bins, reach = bins
    order, support, by_group = settings
    out = list(kept)
    pairs = [{(p[v - 1], p[v]) for v in range(1, len(p))} for p in pool]
    back = slow_back(pool, support, REACH if by_group else 1)
    places = [(i, u) for i, p in enumerate(pool) for u in range(len(p))]
    for t in range(len(kept), size):
        window = in_window(members, bin_of(t, size, n_bins), n_bins, reach)
        window.sort(key=lambda ju: (members[ju[0]][ju[1] - 1] if ju[1] else -1, ju))

        def is_held(symbol: int, window: list[tuple[int, int]] = window) -> bool:
            return len({j for j, u in window if members[j][u] == symbol}) >= support

        def draw(places: list[tuple[int, int]], n_bins: int = 1) -> int:
            drawn = sorted((bin_of(u, len(pool[i]), n_bins), pool[i][u]) for i, u in places)
            return drawn[int(random.uniform() * len(drawn))][1]

        def deal(places: list[tuple[int, int]]) -> int:
            if len(places) <= DEALT_FROM:
                fewest = min(n_dealt[ju] for ju in places)
                left = [ju for ju in places if n_dealt[ju] == fewest]
                j, u = left[int(random.uniform() * len(left))]
            else:
                some = [places[int(random.uniform() * len(places))] for _ in range(DEALT_FROM)]
                j, u = min(some, key=lambda ju: n_dealt[ju])
            n_dealt[j, u] += 1
            return members[j][u]

        picked, is_lost, is_tried = None, False, False
        for depth in range(min(order - 1, t), 0, -1) if by_group else ():
            found = [(j, u) for j, u in window if u >= depth and members[j][u - depth : u] == out[t - depth :]]
            if len({j for j, _ in found}) >= support:
                picked = deal(found)
                if not is_held(picked):
                    picked, is_lost = None, True
                break
        if picked is None and t > 0 and order > 1:
            after = [(i, u) for i, u in places if u > 0 and pool[i][u - 1] == out[-1]]
            rare = [(i, u) for i, u in after if is_rare[i][u]]
            if after:
                picked, is_tried = draw(rare if is_lost and rare else after), True
                if sum((out[-1], picked) in p for p in pairs) < support:
                    picked = slow_apart(out, pool, back, random) if by_group else None
        if picked is None and by_group and not is_tried:
            beginnings = [(j, u) for j, u in window if u == 0] if t == 0 else []
            picked = deal(beginnings or window)
            if not is_held(picked):
                picked = None
        if picked is None:
            left = [(i, 0) for i, r in enumerate(is_rare) if r[0]] if t == 0 else []
            if t == 0 and not any(map(any, is_rare)):
                left = [(i, 0) for i in range(len(pool))]
            width = 1
            if left and len({pool[i][u] for i, u in left}) <= len(pool):
                near = left
            else:
                left = list_left(pool, is_rare, back, order)
                width = max(min(len(pool) // max(len({pool[i][u] for i, u in left}), 1), MOST_BINS_OF_CLASS), 1)
                near = [iu for iu in left if bin_of(iu[1], len(pool[iu[0]]), width) == bin_of(t, size, width)]
            picked = draw(near or left or places, width if near or left else 1)
        out.append(picked)
    return out


@pytest.mark.parametrize(
    ("order", "support", "by_group"),
    [(1, 2, True), (2, 1, True), (2, 3, True), (2, 5, True), (3, 6, True), (4, 2, True), (2, 2, False)],
)
@pytest.mark.parametrize(("shortest", "longest", "window"), [(9, 9, 0.05), (1, 5, 0.3), (4, 12, 0.1), (20, 40, 0.05)])
@pytest.mark.parametrize("refused", [False, True])
def test_windows_draw_what_the_slow_ones_draw(
    order: int, support: int, by_group: bool, shortest: int, longest: int, window: float, refused: bool
) -> None:
    strings = some_strings(3, 14, shortest, longest, N_SYMBOLS)
    symbols, starts = flat(strings)
    group_starts = np.array([0, 6, 14])
    settings = WindowSettings(window, support)
    bins = bins_of(symbols, starts, group_starts, settings, N_SYMBOLS)
    is_rare = find_rare(symbols, starts, group_starts, settings, N_SYMBOLS) & by_group
    expected_rare = [
        row
        for group in range(2)
        for row in slow_rare(
            strings[group_starts[group] : group_starts[group + 1]], bins[0][group], bins[1][group], support
        )
    ]
    assert (is_rare == (np.concatenate(expected_rare) & by_group)).all()
    pool = make_pool(symbols, starts, is_rare, N_SYMBOLS, support, order, REACH if by_group else 1)
    keys = np.arange(1, N_SYMBOLS + 1).astype(np.uint64)
    n_longer = 2 if refused else 0
    sizes = np.array([len(s) for s in strings[:6]] + [shortest] * 8)
    out_starts = np.concatenate([[0], np.cumsum(sizes + n_longer)]).astype(np.int64)
    out, is_kept, lengths = np.empty(out_starts[-1], np.int32), np.empty(14, np.bool_), sizes.astype(np.int64)

    def generate(originals: npt.NDArray[np.uint64]) -> int:
        return int(
            generate_from_windows(
                symbols,
                starts,
                group_starts,
                *bins,
                order,
                support,
                by_group,
                *pool,
                2,
                n_longer,
                Unwanted(originals, keys, BASES[0]),
                np.array([11, 99], np.uint64),
                out_starts,
                out,
                lengths,
                is_kept,
            )
        )

    assert generate(np.zeros(0, np.uint64)) == 0
    assert is_kept.all()
    first = [out[a : a + n].tolist() for a, n in zip(out_starts[:-1], lengths, strict=True)]
    banned = [] if not refused else first[:3] + first[7:10]
    lengths[:] = sizes
    n_rejected = generate(np.unique(fingerprints(*flat(banned), keys, BASES[0])) if banned else np.zeros(0, np.uint64))
    seen = 0
    for group, seed in enumerate((11, 99)):
        random, n_dealt = SlowRandom(seed), Counter[tuple[int, int]]()
        rows = range(int(group_starts[group]), int(group_starts[group + 1]))
        n_bins = int(bins[0][group])
        for row in rows:
            size, kept = int(sizes[row]), []
            for _ in range(2 * (n_longer + 1)):
                drawn = slow_string(
                    [strings[r] for r in rows],
                    strings,
                    [[x and by_group for x in r] for r in expected_rare],
                    kept,
                    size,
                    (n_bins, int(bins[1][group])),
                    (order, support, by_group),
                    random,
                    n_dealt,
                )
                if drawn not in banned:
                    break
                seen += 1
                kept = []
                if size < sizes[row] + n_longer:
                    while len(kept) < size and bin_of(len(kept), size, n_bins) == bin_of(len(kept), size + 1, n_bins):
                        kept.append(drawn[len(kept)])
                    size += 1
                else:
                    size = int(sizes[row])
            assert is_kept[row] == (drawn not in banned)
            if is_kept[row]:
                assert out[out_starts[row] : out_starts[row] + lengths[row]].tolist() == drawn
    assert n_rejected == seen
    assert (seen > 0) == refused


@pytest.mark.parametrize(("shortest", "longest"), [(9, 9), (4, 12), (25, 40)])
def test_shares_are_counted_as_the_slow_way_counts(shortest: int, longest: int) -> None:
    strings = some_strings(5, 14, shortest, longest, N_SYMBOLS)
    symbols, starts = flat(strings)
    group_starts = np.array([0, 6, 14])
    bins = bins_of_lengths(np.diff(starts), group_starts, 0.05)
    found, is_aligned = count_needed(symbols, starts, group_starts, *bins, 3, N_SYMBOLS)
    for group in range(2):
        members = strings[group_starts[group] : group_starts[group + 1]]
        n_shares = slow_shares(members, int(bins[0][group]), int(bins[1][group]), 3)
        assert found[group] == (4 if shortest == longest else 2) * n_shares
        assert is_aligned[group] == (shortest == longest and n_shares < bins[0][group])


@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_those_of_a_plain_count(seed: int) -> None:
    rng = np.random.default_rng(seed)
    strings = [rng.integers(0, 4, rng.integers(1, 9)).tolist() for _ in range(30)]
    symbols, starts = flat(strings)
    inside = np.delete(np.arange(len(symbols)), starts[:-1])
    held = [set(pairwise(s)) for s in strings]
    counts = np.zeros(16, np.int64)
    for rows in (slice(0, 11), slice(11, 30)):
        count_pairs(*flat(strings[rows]), 4, 1, counts)
    assert counts.tolist() == [sum((a, b) in pairs for pairs in held) for a in range(4) for b in range(4)]
    is_few = np.zeros(len(symbols), np.bool_)
    mark_few(symbols, starts, 4, np.flatnonzero(counts >= 9), is_few)
    assert np.flatnonzero(is_few).tolist() == [p for p in inside if counts[symbols[p - 1] * 4 + symbols[p]] < 9]
    counts[:] = 0
    count_pairs(symbols, starts, 4, REACH, counts)
    back = distances_back(symbols, starts, 4, is_few, np.flatnonzero(counts >= 9), REACH)
    assert back.tolist() == [b for row in slow_back(strings, 9, REACH) for b in row]


@pytest.mark.parametrize("seed", range(4))
def test_lists_give_what_lists_written_out_give(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lists = [sorted(rng.integers(0, 5, n).tolist()) for n in rng.integers(0, 9, 6)]
    symbols, ends, starts, total = [], [], [0], 0
    for some in lists:
        for symbol, n in sorted(Counter(some).items()):
            total += n
            symbols.append(symbol)
            ends.append(total)
        starts.append(len(symbols))
    runs = SymbolRuns(np.array(symbols, np.int32), np.array(ends, np.int64), np.array(starts, np.int64))
    for first in range(len(lists)):
        for end in range(first, len(lists) + 1):
            whole = [symbol for some in lists[first:end] for symbol in some]
            assert n_listed(runs, first, end) == len(whole)
            for share in (0.0, 0.3, 0.7, 0.999999) if whole else ():
                assert listed(runs, first, end, share) == whole[int(share * len(whole))]
