"""The tests of `kernels/strings/window_lists.py`: against a slow, obvious twin."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.strings.window_lists import find_unsupported, index_group
from tests.unit.kernels.strings.test_generate import flat, some_strings

N_SYMBOLS = 5
SHAPES = [
    (9, 9, 9, 1),
    (1, 5, 3, 1),
    (4, 12, 4, 0),
    (20, 40, 12, 2),
]  # lengths from and to, bins, and how far they reach


def bin_of(place: int, length: int, n_bins: int) -> int:
    return (2 * place + 1) * n_bins // (2 * length)


def in_window(members: list[list[int]], at: int, n_bins: int, reach: int) -> list[tuple[int, int]]:
    """Members and places whose bin is near a bin."""
    return [
        (j, u) for j, m in enumerate(members) for u in range(len(m)) if abs(bin_of(u, len(m), n_bins) - at) <= reach
    ]


def slow_rare(members: list[list[int]], n_bins: int, reach: int, support: int) -> list[list[bool]]:
    """Of each symbol whether too few members have it about there."""
    out = []
    for m in members:
        near = [in_window(members, bin_of(u, len(m), n_bins), n_bins, reach) for u in range(len(m))]
        out.append([len({j for j, v in w if members[j][v] == m[u]}) < support for u, w in enumerate(near)])
    return out


@pytest.mark.parametrize(("shortest", "longest", "n_bins", "reach"), SHAPES)
@pytest.mark.parametrize("support", [1, 2, 4])
def test_unsupported_symbols_are_those_that_few_members_have_near(
    shortest: int, longest: int, n_bins: int, reach: int, support: int
) -> None:
    strings = some_strings(3, 13, shortest, longest, N_SYMBOLS)
    symbols, starts = flat(strings)
    group_starts = np.array([0, 6, 13])
    is_unsupported = np.empty(len(symbols), np.bool_)
    n_shown, n_telling = np.empty(2, np.int64), np.empty(2, np.int64)
    bins, reaches = np.full(2, n_bins), np.full(2, reach)
    find_unsupported(
        symbols, starts, group_starts, bins, reaches, support, N_SYMBOLS, is_unsupported, n_shown, n_telling
    )
    expected, shown = [], []
    for group in range(2):
        members = strings[group_starts[group] : group_starts[group + 1]]
        expected += [is_rare for row in slow_rare(members, n_bins, reach, support) for is_rare in row]
        windows = [in_window(members, at, n_bins, reach) for at in range(n_bins)]
        held = [[len({j for j, u in w if members[j][u] == x}) >= support for x in range(N_SYMBOLS)] for w in windows]
        shown.append((sum(map(sum, held)), sum(map(any, held))))
    assert is_unsupported.tolist() == expected
    assert list(zip(n_shown.tolist(), n_telling.tolist(), strict=True)) == shown


@pytest.mark.parametrize(("shortest", "longest", "n_bins", "reach"), SHAPES)
def test_windows_hold_what_is_near_their_bin(shortest: int, longest: int, n_bins: int, reach: int) -> None:
    strings = some_strings(4, 9, shortest, longest, N_SYMBOLS)
    symbols, starts = flat(strings)
    begin, end = 2, 9
    members = strings[begin:end]
    made = index_group(symbols, starts, begin, end, n_bins, reach)
    window_starts, befores, rows, places, carriers, symbol_starts, held, n_holders = (list(part) for part in made)
    for at in range(n_bins):
        window = in_window(members, at, n_bins, reach)
        before = {(j, u): members[j][u - 1] if u else -1 for j, u in window}
        low, high = window_starts[at], window_starts[at + 1]
        found = [(rows[i], places[i] - starts[begin + rows[i]]) for i in range(low, high)]
        assert found == sorted(window, key=lambda one: (before[one], one[0]))  # of a member as they stand
        assert befores[low:high] == [before[one] for one in found]
        for i in range(low, high):
            is_first = i == low or befores[i] != befores[i - 1]
            expected = len({j for j, u in window if before[j, u] == befores[i]}) if is_first else 0
            assert carriers[i] == expected
        holders = {x: len({j for j, u in window if members[j][u] == x}) for x in range(N_SYMBOLS)}
        own = slice(symbol_starts[at], symbol_starts[at + 1])
        assert list(zip(held[own], n_holders[own], strict=True)) == [(x, n) for x, n in holders.items() if n]
