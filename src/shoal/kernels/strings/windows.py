"""Pseudo-strings of groups, symbol by symbol from what the members have about the same place after the same symbols.

The occurrences of a window (`shoal.kernels.strings.window_lists`) are sorted by the symbol before them and then by
member, so that those after one symbol are a run, in which members ascend.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask, Signs, Words
from shoal.kernels.bisect import first_not_below
from shoal.kernels.compile import compiled, compiled_beside, compiled_by_element
from shoal.kernels.strings.generate import uniform, uniforms
from shoal.kernels.strings.hash import Unwanted, is_unwanted
from shoal.kernels.strings.window_lists import bin_of, index_group

DEALT_FROM = 16
"""Of so many occurrences the one that was dealt least often is looked for."""
MOST_ANEW = 8
"""How often a symbol after an earlier one is drawn that does not stand between the two."""


class SymbolRuns(NamedTuple):
    """Lists of symbols, each ascending, in runs of equal ones: so long lists take as much as they have symbols."""

    symbols: Codes  # of the runs, list after list
    ends: Ints  # how many symbols there are up to the end of each run, in all lists before it too
    starts: Ints  # where the runs of each list begin


@compiled
def n_listed(runs: SymbolRuns, first: int, end: int) -> int:
    """How many symbols the lists from one to before another hold."""
    low, high = runs.starts[first], runs.starts[end]
    if high == low:
        return 0
    return int(runs.ends[high - 1] - (runs.ends[low - 1] if low > 0 else 0))


@compiled
def listed(runs: SymbolRuns, first: int, end: int, share: float) -> int:
    """The symbol at a share of the way, from 0 to below 1, through these lists, which hold some."""
    low, high = runs.starts[first], runs.starts[end]
    before = runs.ends[low - 1] if low > 0 else 0
    place = before + int(share * (runs.ends[high - 1] - before))
    return int(runs.symbols[first_not_below(runs.ends, low, high, place + 1)])


@compiled
def count_pairs(symbols: Codes, starts: Ints, n_symbols: int, reach: int, counts: Ints) -> None:
    """Count on how many strings have each pair of symbols within `reach` places: ``first * n_symbols + second``."""
    last = np.full(n_symbols * n_symbols, -1, np.int32)
    for row in range(len(starts) - 1):
        for u in range(starts[row] + 1, starts[row + 1]):
            for v in range(max(u - reach, starts[row]), u):
                pair = symbols[v] * n_symbols + symbols[u]
                if last[pair] != row:
                    last[pair] = row
                    counts[pair] += 1


@compiled
def mark_few(symbols: Codes, starts: Ints, n_symbols: int, pairs: Ints, is_few: Mask) -> None:
    """Mark the places whose pair with the symbol before is none of some pairs, which ascend."""
    firsts = np.empty(n_symbols + 1, np.int64)
    for symbol in range(n_symbols + 1):
        firsts[symbol] = first_not_below(pairs, 0, len(pairs), symbol * n_symbols)
    for row in range(len(starts) - 1):
        for u in range(starts[row] + 1, starts[row + 1]):
            before = symbols[u - 1]
            pair = before * n_symbols + symbols[u]
            i = first_not_below(pairs, firsts[before], firsts[before + 1], pair)
            is_few[u] = i == firsts[before + 1] or pairs[i] != pair


@compiled
def distances_back(symbols: Codes, starts: Ints, n_symbols: int, is_few: Mask, pairs: Ints, reach: int) -> Signs:
    """How many places before each stands the nearest symbol that it is drawn after; 0 where there is none.

    It is the one before unless the pair with that is one of few strings, and else the nearest one within `reach` places
    with which the pair is among `pairs`, ascending.
    """
    back = np.zeros(len(symbols), np.int8)
    for row in range(len(starts) - 1):
        for u in range(starts[row] + 1, starts[row + 1]):
            if not is_few[u]:
                back[u] = 1
                continue
            for v in range(u - 2, max(u - reach, starts[row]) - 1, -1):
                pair = symbols[v] * n_symbols + symbols[u]
                i = first_not_below(pairs, 0, len(pairs), pair)
                if i < len(pairs) and pairs[i] == pair:
                    back[u] = u - v
                    break
    return back


@compiled
def _draw_apart(
    out: Codes,
    at: int,
    t: int,
    apart: SymbolRuns,
    shares: Floats,
    reach: int,
    state: Words,
    group: int,
) -> int:
    """A symbol of the class after one that stands before the last, as often as there; -1 where none is drawn.

    It is none of the symbols between the two: whether one comes again so soon, its own followers tell.
    """
    point = uniform(state, group) * (1.0 - shares[out[at - 1] * reach])
    for back in range(2, min(reach, t) + 1):
        cell = out[at - back] * reach + back - 1
        if point < shares[cell]:
            for _ in range(MOST_ANEW):
                symbol = listed(apart, cell, cell + 1, uniform(state, group))
                is_between = False
                for i in range(at - back + 1, at):
                    is_between |= out[i] == symbol
                if not is_between:
                    return symbol
            return -1
        point -= shares[cell]
    return -1


def _deal_by_numbers(occurrences: Any, low: int, high: int, n_dealt: Any, origin: int, state: Words, group: int) -> int:
    """See `_deal`, with Python's own numbers."""
    given, dealt = memoryview(occurrences), memoryview(n_dealt)
    if high - low <= DEALT_FROM:
        counts = [dealt[place - origin] for place in given[low:high]]
        fewest = min(counts)
        left = int(uniform(state, group) * counts.count(fewest))
        picked = [place for place, n in zip(given[low:high], counts, strict=True) if n == fewest][left]
    else:
        drawn = [given[low + int(share * (high - low))] for share in uniforms(state, group, DEALT_FROM)]
        picked = min(drawn, key=lambda place: dealt[place - origin])
    dealt[picked - origin] += 1
    return int(picked)


@compiled_beside(_deal_by_numbers)
def _deal(occurrences: Ints, low: int, high: int, n_dealt: Ints, origin: int, state: Words, group: int) -> int:
    """One of the occurrences from low to high that were dealt least often; of many, of some drawn at random.

    `n_dealt` tells how often each symbol of the group was, from the place `origin` on, and is counted on.
    """
    picked, fewest, n_fewest = -1, 0, 0
    if high - low <= DEALT_FROM:
        for i in range(low, high):
            n = n_dealt[occurrences[i] - origin]
            if n_fewest == 0 or n < fewest:
                fewest, n_fewest = n, 0
            n_fewest += n == fewest
        left = int(uniform(state, group) * n_fewest)
        for i in range(low, high):
            if n_dealt[occurrences[i] - origin] == fewest:
                picked = occurrences[i]
                left -= 1
                if left < 0:
                    break
    else:
        for _ in range(DEALT_FROM):
            place = occurrences[low + int(uniform(state, group) * (high - low))]
            if picked < 0 or n_dealt[place - origin] < n_dealt[picked - origin]:
                picked = place
    n_dealt[picked - origin] += 1
    return picked


@compiled
def _follow(
    symbols: Codes,
    starts: Ints,
    begin: int,
    low: int,
    high: int,
    members: Ints,
    places: Ints,
    out: Codes,
    at: int,
    depth: int,
    chosen: Ints,
) -> tuple[int, int]:
    """Occurrences from low to high that have the last `depth` symbols before them: how many, and of how many members.

    They are put into `chosen`.
    """
    n_chosen, n_carriers, last = 0, 0, -1
    for i in range(low, high):
        place, start = places[i], starts[begin + members[i]]
        if place - start < depth:
            continue
        is_same = True
        for back in range(2, depth + 1):
            if symbols[place - back] != out[at - back]:
                is_same = False
                break
        if is_same:
            chosen[n_chosen] = place
            n_chosen += 1
            if members[i] != last:
                last = members[i]
                n_carriers += 1
    return n_chosen, n_carriers


@compiled_by_element
def generate_from_windows(
    symbols: Codes,
    starts: Ints,
    group_starts: Ints,
    n_bins: Ints,
    reaches: Ints,
    order: int,
    support: int,
    by_group: bool,
    every: SymbolRuns,
    after: SymbolRuns,
    rare_after: SymbolRuns,
    left_first: SymbolRuns,
    left: SymbolRuns,
    pairs: Ints,
    apart: SymbolRuns,
    shares: Floats,
    n_tries: int,
    n_longer: int,
    unwanted: Unwanted,
    state: Words,
    out_starts: Ints,
    out: Codes,
    sizes: Ints,
    is_kept: Mask,
) -> int:
    """Draw one pseudo-string for every member of every group; return how many draws were rejected.

    Each symbol is drawn by the first of these ways that gives one:

    1. from the group's occurrences in the window after the longest context that at least `support` members carry
       there, of at most ``order - 1`` symbols;
    2. from the class after the symbol before, if enough of its strings have the pair; where they
       have not, after one that stands before that one, if enough of its strings have the two so near each other;
    3. from all of the group's occurrences in the window, or at the start of a string from those that begin a member's;
    4. from the class about the same relative place.

    Of the group's occurrences the first and the third take one that was dealt least often until then, whichever of
    them dealt it.

    The first and the third give none where the drawn symbol stands in the window in fewer than `support` members, and
    neither is tried unless `by_group`. Where the first gave none for that reason, the second takes occurrences of
    which the same is true in their own group, if there are any after that symbol. Where the second gave none for its
    reason, the third is not tried. The fourth takes leftovers of the same bin of places, or of any, if there are some.

    A string that is unwanted is drawn longer by a symbol, `n_longer` times at most, and then
    anew; what stands in the same bins as before is kept.

    Parameters
    ----------
    symbols, starts, group_starts : arrays
        The members' strings, group by group.
    n_bins, reaches : int64 arrays (n_groups,)
        The bins of each group, and how many of them a window has to either side.
    every, after, rare_after, left_first, left, pairs, apart, shares
        What the class gives: see `shoal.strings.pool.ClassSymbols`.
    sizes : int64 array
        How long each pseudo-string is to be, and then is; ``out_starts`` leaves room for `n_longer` symbols more.
    unwanted, state, out_starts, out, is_kept
        As in `shoal.kernels.strings.generate.generate_strings`.
    """
    n_symbols = len(unwanted.keys)
    reach = len(shares) // n_symbols
    n_rejected = 0
    for group in range(len(group_starts) - 1):
        begin, end, B = group_starts[group], group_starts[group + 1], n_bins[group]
        windows, befores, members, places, carriers, symbol_starts, held, n_holders = index_group(
            symbols, starts, begin, end if by_group else begin, B, reaches[group]
        )
        widest = 0
        for b in range(B):
            widest = max(widest, windows[b + 1] - windows[b])
        chosen, origin = np.empty(widest, np.int64), starts[begin]
        n_dealt = np.zeros(starts[end] - origin, np.int32)
        for row in range(begin, end):
            is_kept[row] = False
            first, asked = out_starts[row], sizes[row]
            size, n_same = asked, 0
            for _ in range(n_tries * (n_longer + 1)):
                for t in range(n_same, size):
                    at, b = first + t, bin_of(t, size, B)
                    before = out[at - 1] if t > 0 else -1
                    picked, is_rare = -1, False
                    for way in range(4):
                        if way == 0 and by_group and t > 0:
                            low = first_not_below(befores, windows[b], windows[b + 1], before)
                            high = first_not_below(befores, low, windows[b + 1], before + 1)
                            for depth in range(min(order - 1, t), 0, -1):
                                if depth == 1 and high > low and carriers[low] >= support:
                                    picked = symbols[_deal(places, low, high, n_dealt, origin, state, group)]
                                if depth == 1:
                                    break
                                n_chosen, n_carriers = _follow(
                                    symbols, starts, begin, low, high, members, places, out, at, depth, chosen
                                )
                                if n_carriers >= support:
                                    picked = symbols[_deal(chosen, 0, n_chosen, n_dealt, origin, state, group)]
                                    break
                        elif way == 1 and t > 0 and order > 1:
                            following = after
                            if is_rare and n_listed(rare_after, before, before + 1) > 0:
                                following = rare_after
                            if n_listed(following, before, before + 1) > 0:
                                symbol = listed(following, before, before + 1, uniform(state, group))
                                pair = before * n_symbols + symbol
                                i = first_not_below(pairs, 0, len(pairs), pair)
                                if i < len(pairs) and pairs[i] == pair:
                                    picked = symbol
                                else:
                                    is_rare = True
                                    if reach > 1:
                                        picked = _draw_apart(out, at, t, apart, shares, reach, state, group)
                        elif way == 2 and by_group and not is_rare:
                            low, high = windows[b], windows[b + 1]
                            if t == 0 and befores[low] < 0:
                                high = first_not_below(befores, low, high, 0)
                            picked = symbols[_deal(places, low, high, n_dealt, origin, state, group)]
                        elif way == 3:
                            leftovers, low, high = left_first, 0, 1
                            if t > 0 or n_listed(left_first, 0, 1) == 0:
                                low = bin_of(t, size, len(left.starts) - 1)
                                leftovers, high = left, low + 1
                            if n_listed(leftovers, low, high) == 0:
                                low, high = 0, len(leftovers.starts) - 1
                            if n_listed(leftovers, low, high) == 0:
                                leftovers, low, high = every, 0, 1
                            picked = listed(leftovers, low, high, uniform(state, group))
                        if way in (0, 2) and picked >= 0:
                            i = first_not_below(held, symbol_starts[b], symbol_starts[b + 1], picked)
                            if n_holders[i] < support:
                                picked, is_rare = -1, True
                        if picked >= 0:
                            break
                    out[at] = picked
                if not is_unwanted(unwanted, out, first, first + size):
                    is_kept[row] = True
                    break
                n_rejected += 1
                n_same = 0
                if size < asked + n_longer:
                    while n_same < size and bin_of(n_same, size, B) == bin_of(n_same, size + 1, B):
                        n_same += 1
                    size += 1
                else:
                    size = asked
            sizes[row] = size
    return n_rejected
