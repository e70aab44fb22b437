"""What the windows of a group of strings hold.

A string is cut into bins of equal width; the window of a bin is the bin and `reach` others to either side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.arrays import Codes, Ints, Mask
from shoal.kernels.compile import compiled, compiled_beside
from shoal.kernels.stable_order import stable_order


@compiled
def bin_of(place: int, length: int, n_bins: int) -> int:
    """The bin in which the middle of a place lies."""
    return (2 * place + 1) * n_bins // (2 * length)


def _windows_by_arrays(starts: Ints, begin: int, end: int, n_bins: int, reach: int) -> tuple[Ints, Ints, Ints]:
    """See `_list_windows`."""
    lengths = np.diff(starts[begin : end + 1])
    rows, places = np.repeat(np.arange(begin, end), lengths), np.arange(starts[begin], starts[end])
    own = (2 * (places - starts[rows]) + 1) * n_bins // (2 * lengths[rows - begin])  # see bin_of
    first, last = np.maximum(own - reach, 0), np.minimum(own + reach, n_bins - 1)
    sizes = last - first + 1
    at = np.repeat(np.arange(len(places)), sizes)
    windows = np.arange(len(at)) + np.repeat(first - np.cumsum(sizes) + sizes, sizes)
    order = np.argsort(windows, kind="stable")
    return np.searchsorted(windows[order], np.arange(n_bins + 1)), places[at[order]], rows[at[order]]


@compiled_beside(_windows_by_arrays)
def _list_windows(starts: Ints, begin: int, end: int, n_bins: int, reach: int) -> tuple[Ints, Ints, Ints]:
    """Where the occurrences of each window of one group begin, and of each its place among all symbols and its row.

    In a window, rows and their places ascend.
    """
    window_starts = np.zeros(n_bins + 1, np.int64)
    for row in range(begin, end):
        length = starts[row + 1] - starts[row]
        for u in range(length):
            own = bin_of(u, length, n_bins)
            for b in range(max(own - reach, 0), min(own + reach, n_bins - 1) + 1):
                window_starts[b + 1] += 1
    for b in range(n_bins):
        window_starts[b + 1] += window_starts[b]
    places, rows = np.empty(window_starts[n_bins], np.int64), np.empty(window_starts[n_bins], np.int64)
    fill = window_starts[:-1].copy()
    for row in range(begin, end):
        length = starts[row + 1] - starts[row]
        for u in range(length):
            own = bin_of(u, length, n_bins)
            for b in range(max(own - reach, 0), min(own + reach, n_bins - 1) + 1):
                places[fill[b]], rows[fill[b]] = starts[row] + u, row
                fill[b] += 1
    return window_starts, places, rows


def _unsupported_by_arrays(
    symbols: Codes,
    starts: Ints,
    group_starts: Ints,
    n_bins: Ints,
    reaches: Ints,
    support: int,
    n_symbols: int,
    is_unsupported: Mask,
    n_shown: Ints,
    n_telling: Ints,
) -> None:
    """See `find_unsupported`."""
    for group, (B, reach) in enumerate(zip(n_bins.tolist(), reaches.tolist(), strict=True)):
        begin, end = group_starts[group], group_starts[group + 1]
        windows, places, rows = _windows_by_arrays(starts, begin, end, B, reach)
        cells = np.repeat(np.arange(B), np.diff(windows)) * n_symbols + symbols[places]
        held, counts = np.unique(np.unique(cells * (end - begin) + rows - begin) // (end - begin), return_counts=True)
        shown = held[counts >= support]
        n_shown[group], n_telling[group] = len(shown), len(np.unique(shown // n_symbols))
        windows, places, _ = _windows_by_arrays(starts, begin, end, B, 0)
        own = np.repeat(np.arange(B), np.diff(windows)) * n_symbols + symbols[places]
        is_unsupported[places] = counts[np.searchsorted(held, own)] < support


@compiled_beside(_unsupported_by_arrays)
def find_unsupported(
    symbols: Codes,
    starts: Ints,
    group_starts: Ints,
    n_bins: Ints,
    reaches: Ints,
    support: int,
    n_symbols: int,
    is_unsupported: Mask,
    n_shown: Ints,
    n_telling: Ints,
) -> None:
    """Which symbols too few members have about their place, and how many different ones enough members have.

    Parameters
    ----------
    symbols, starts, group_starts, n_bins, reaches, support
        As in `generate_from_windows`.
    n_symbols : int
        Of the alphabet.
    is_unsupported : bool array (len(symbols),)
        Filled: whether fewer than `support` members have the symbol in the window of its own bin.
    n_shown, n_telling : int64 arrays (n_groups,)
        Filled: over the windows of the group, how many different symbols `support` members have there, and how many
        windows have one.
    """
    counts, seen_window = np.empty(n_symbols, np.int64), np.empty(n_symbols, np.int64)
    seen_member = np.empty(n_symbols, np.int64)
    for group in range(len(group_starts) - 1):
        B = n_bins[group]
        window_starts, places, rows = _list_windows(
            starts, group_starts[group], group_starts[group + 1], B, reaches[group]
        )
        seen_window[:] = -1
        n_shown[group], n_telling[group] = 0, 0
        for b in range(B):
            is_telling = False
            for i in range(window_starts[b], window_starts[b + 1]):
                symbol = symbols[places[i]]
                if seen_window[symbol] != b:
                    seen_window[symbol], seen_member[symbol], counts[symbol] = b, -1, 0
                if seen_member[symbol] != rows[i]:
                    seen_member[symbol] = rows[i]
                    counts[symbol] += 1
                    if counts[symbol] == support:
                        n_shown[group] += 1
                        is_telling = True
            n_telling[group] += is_telling
            for i in range(window_starts[b], window_starts[b + 1]):
                start = starts[rows[i]]
                if bin_of(places[i] - start, starts[rows[i] + 1] - start, B) == b:
                    is_unsupported[places[i]] = counts[symbols[places[i]]] < support


def _index_by_arrays(symbols: Codes, starts: Ints, begin: int, end: int, n_bins: int, reach: int) -> Any:
    """See `index_group`; as arrays of Python's own numbers."""
    symbols, starts = np.asarray(symbols), np.asarray(starts)
    window_starts, places, rows = _windows_by_arrays(starts, begin, end, n_bins, reach)
    windows = np.repeat(np.arange(n_bins), np.diff(window_starts))

    def in_runs(keys: Ints) -> tuple[Ints, Ints, Ints]:
        """The order by keys, where runs of equal ones begin, and how many members are in each."""
        order = np.lexsort((keys, windows))
        is_new = np.ones(len(order), np.bool_)
        is_new[1:] = (np.diff(keys[order]) != 0) | (np.diff(windows) != 0)
        is_another = is_new.copy()
        is_another[1:] |= np.diff(rows[order]) != 0
        runs = np.flatnonzero(is_new)
        return order, runs, np.add.reduceat(is_another, runs, dtype=np.int64)

    held = symbols[places].astype(np.int64)
    order, runs, n_holders = in_runs(held)
    symbol_starts, held = np.searchsorted(windows[runs], np.arange(n_bins + 1)), held[order[runs]]
    befores = np.where(places > starts[rows], symbols[places - 1], np.int64(-1))
    order, runs, n_carriers = in_runs(befores)
    carriers = np.zeros(len(places), np.int64)
    carriers[runs] = n_carriers
    befores, members, places = befores[order], rows[order] - begin, places[order]
    made = window_starts, befores, members, places, carriers, symbol_starts, held, n_holders
    return tuple(part.data for part in made)


@compiled_beside(_index_by_arrays)
def index_group(
    symbols: Codes, starts: Ints, begin: int, end: int, n_bins: int, reach: int
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints]:
    """The windows of one group.

    Returns where the occurrences of each window begin; of each occurrence the symbol before it (-1 at the start of a
    string), its member and its place among `symbols`, and at the first one of a run after the same symbol how many
    members are in it; where the symbols of each window begin, the symbols themselves, ascending, and how many members
    have each there.
    """
    largest = np.int64(-1)  # typed: a literal one would compile the order a second time
    for place in range(starts[begin], starts[end]):
        largest = max(largest, symbols[place])
    window_starts, found, rows = _list_windows(starts, begin, end, n_bins, reach)
    total = window_starts[n_bins]
    befores, members, places = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int64)
    carriers, symbol_starts = np.zeros(total, np.int64), np.zeros(n_bins + 1, np.int64)
    held_symbols, n_holders = np.empty(total, np.int64), np.empty(total, np.int64)
    n_held = 0
    for b in range(n_bins):
        low, high = window_starts[b], window_starts[b + 1]
        keys = np.empty(high - low, np.int64)
        for way in range(2):  # by the symbol itself, then by the one before; members ascend already
            for i in range(low, high):
                place = found[i]
                if way == 0:
                    keys[i - low] = symbols[place]
                else:
                    keys[i - low] = symbols[place - 1] if place > starts[rows[i]] else -1
            order = _stable_order(keys, largest)
            first = low
            for i in range(low, high):
                at = low + order[i - low]
                key, row = keys[order[i - low]], rows[at]
                is_new = i == low or key != keys[order[i - low - 1]]
                is_another = is_new or row != rows[low + order[i - low - 1]]
                if way == 0:
                    if is_new:
                        held_symbols[n_held], n_holders[n_held] = key, 0
                        n_held += 1
                    n_holders[n_held - 1] += is_another
                else:
                    if is_new:
                        first = i
                    carriers[first] += is_another
                    befores[i], members[i], places[i] = key, row - begin, found[at]
        symbol_starts[b + 1] = n_held
    return window_starts, befores, members, places, carriers, symbol_starts, held_symbols[:n_held], n_holders[:n_held]


@compiled
def _stable_order(keys: Ints, largest: int) -> Ints:
    """The order that sorts keys from -1 on, equal ones as they stand; by counting where there are many of few."""
    if len(keys) < largest + 2:
        return stable_order(keys)
    ends = np.zeros(largest + 3, np.int64)
    for key in keys:
        ends[key + 2] += 1
    for key in range(largest + 2):
        ends[key + 1] += ends[key]
    order = np.empty(len(keys), np.int64)
    for i in range(len(keys)):
        order[ends[keys[i] + 1]] = i
        ends[keys[i] + 1] += 1
    return order
