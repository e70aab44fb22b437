"""From a pool of groups, those that hold every record once and lose least: set partitioning by prices and exchanges.

Give every record a price. A group's *margin* is its loss less the prices of its records. Whatever the prices, taking
groups out of a partition and putting others over the same records in their place changes the loss by the margins put
in less the margins taken out. With good prices (`find_prices`) no margin is far below zero and those of a good
partition are near zero, so that only few groups can take part in an exchange that gains (`exchange`): a search in depth
finds them.

References
----------
M. L. Fisher, "The Lagrangian relaxation method for solving integer programming problems", Management Science 27(1),
1981: the prices. S. Lin, B. W. Kernighan, "An effective heuristic algorithm for the traveling-salesman problem",
Operations Research 21(2), 1973: going on only while the exchanges so far gain.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask
from shoal.kernels.compile import compiled, compiled_beside

STEP = 0.3
"""How much of the way of the prices a round decides; the rest is memory."""


def _margins_by_columns(pool: Codes, losses: Floats, prices: Floats, margins: Floats) -> None:
    priced = np.append(prices, 0.0)  # the last one is that of -1
    margins[:] = losses
    for rows in pool.T:
        margins -= priced[rows]


@compiled_beside(_margins_by_columns)
def _margins(pool: Codes, losses: Floats, prices: Floats, margins: Floats) -> None:
    for g in range(len(pool)):
        margin = losses[g]
        for i in range(pool.shape[1]):
            if pool[g, i] < 0:
                break
            margin -= prices[pool[g, i]]
        margins[g] = margin


def _lower_all(pool: Codes, margins: Floats, way: Floats, value: float) -> float:
    is_cheap = margins < 0.0
    rows = pool[is_cheap]
    np.subtract.at(way, rows[rows >= 0], STEP)
    return float(np.add.accumulate(np.append(value, margins[is_cheap]))[-1])


@compiled_beside(_lower_all)
def _lower(pool: Codes, margins: Floats, way: Floats, value: float) -> float:
    """Turn the way of the prices down for the records of groups with margins below zero; return value and those."""
    for g in range(len(pool)):
        if margins[g] < 0.0:
            value += margins[g]
            for i in range(pool.shape[1]):
                if pool[g, i] < 0:
                    break
                way[pool[g, i]] -= STEP
    return value


def _total(numbers: Floats) -> float:
    """Added one after the other, so that it is the same number however it is reckoned."""
    return float(np.add.accumulate(numbers)[-1])


def find_prices(pool: Codes, losses: Floats, goal: float, n_rounds: int, prices: Floats, margins: Floats) -> float:
    """Raise the lower bound that prices give on the loss of any partition made from the pool; return the bound.

    The bound is the sum of the prices and of all margins below zero. Records in too many groups with such margins
    become cheaper and records in none dearer (subgradient, with memory), in steps in proportion to the first prices,
    which outliers need, and that shrink where the bound stalls.

    Parameters
    ----------
    pool : int32 array (n_groups, width)
        The records of each group, ascending, then -1.
    losses : float64 array (n_groups,)
    goal : float
        The loss of a partition that is known.
    n_rounds : int
    prices : float64 array (n_rows,)
        Where to begin; ends as the best prices found.
    margins : float64 array (n_groups,)
        Ends as the margins at those prices.
    """
    now, way, pace = prices.copy(), np.zeros(len(prices)), prices.copy()
    pace += 1e-3 * (_total(pace) / len(pace))
    bound, stride, n_stalled = -np.inf, 1.0, 0
    for _ in range(n_rounds):
        _margins(pool, losses, now, margins)
        way *= 1.0 - STEP
        way += STEP
        value = _lower(pool, margins, way, _total(now))
        n_stalled += 1
        if value > bound:
            if value > bound + 1e-6 * abs(bound):
                n_stalled = 0
            bound = value
            prices[:] = now
        if n_stalled > 20:
            stride *= 0.7
            n_stalled = 0
            now[:] = prices
            way[:] = 0.0
            if stride < 1e-4:
                break
            continue
        norm = _total(pace * way * way)
        if norm < 1e-12 or goal - value <= 0.0:
            break
        now += pace * way * (stride * (goal - value) / norm)
    _margins(pool, losses, prices, margins)
    return bound


@compiled
def _bare_all(pool: Codes, g: int, chosen: Codes, bare: Codes, spot: Codes, n_bare: int) -> int:
    """Leave all records of a group without one; return how many are bare now."""
    for i in range(pool.shape[1]):
        row = pool[g, i]
        if row < 0:
            break
        chosen[row] = -1
        spot[row] = n_bare
        bare[n_bare] = row
        n_bare += 1
    return n_bare


@compiled
def _cover_all(pool: Codes, g: int, chosen: Codes, bare: Codes, spot: Codes, n_bare: int) -> int:
    """Give all records of a group, which are bare, to it; return how many are bare now."""
    for i in range(pool.shape[1]):
        row = pool[g, i]
        if row < 0:
            break
        chosen[row] = g
        n_bare -= 1
        last = bare[n_bare]
        bare[spot[row]] = last
        spot[last] = spot[row]
    return n_bare


@compiled
def _net(pool: Codes, margins: Floats, chosen: Codes, is_put: Mask, g: int) -> float:
    """What putting a group in changes, with what it drives out; infinite where it meets one that was put in."""
    net: float = margins[g]
    for i in range(pool.shape[1]):
        row = pool[g, i]
        if row < 0:
            break
        old = chosen[row]
        if old < 0:
            continue
        if is_put[old]:
            return np.inf
        is_new = True
        for j in range(i):
            if chosen[pool[g, j]] == old:
                is_new = False
                break
        if is_new:
            net -= margins[old]
    return net


@compiled
def exchange(
    pool: Codes, margins: Floats, first: Ints, holding: Codes, chosen: Codes, starts: Codes, least: float, n_tries: int
) -> int:
    """Improve a partition by exchanging a few groups for others of the pool, wherever that gains; return how often.

    From each start one group is taken out. Then, again and again, the bare record with the fewest ways to go on is
    given a group of the pool, which drives out those that hold its other records, as long as all so far together gains;
    when no record is bare the exchange stands. Where there is no way on, the last group put in is taken back.

    Parameters
    ----------
    pool, margins
        As for `find_prices`.
    first, holding : int64 array (n_rows + 1,), int32 array
        ``holding[first[row] : first[row + 1]]`` are the groups that hold a record, smallest margin first.
    chosen : int32 array (n_rows,)
        The group of the partition that holds each record; changed in place.
    starts : int32 array
        The groups to take out first, in this order; those no longer chosen are passed over.
    least : float
        Gains below it do not count.
    n_tries : int
        Groups that may be put in from one start, taken back or not.
    """
    n_rows = len(chosen)
    is_put = np.zeros(len(pool), np.bool_)
    bare, spot, n_bare = np.zeros(n_rows, np.int32), np.zeros(n_rows, np.int32), 0
    # Of each level of the search: the record to cover, its next group to try, the group put in, and what was before.
    row_at, next_at = np.zeros(n_rows + 1, np.int32), np.zeros(n_rows + 1, np.int64)
    put_at, total_before, n_out_before = (
        np.zeros(n_rows + 1, np.int32),
        np.zeros(n_rows + 1),
        np.zeros(n_rows + 1, np.int64),
    )
    out = np.zeros(n_rows + 1, np.int32)
    n_gains = 0
    for s in range(len(starts)):
        begin = starts[s]
        if chosen[pool[begin, 0]] != begin:
            continue
        total, depth, n_left, n_out = -margins[begin], -1, n_tries, 0
        n_bare = _bare_all(pool, begin, chosen, bare, spot, 0)
        is_down = True  # the level below is to be opened; else the one here goes on
        while n_bare > 0:
            if is_down and n_left > 0:
                fewest, row = 1 << 30, -1
                for b in range(n_bare):
                    n_ways = 0
                    for h in range(first[bare[b]], first[bare[b] + 1]):
                        n_ways += total + _net(pool, margins, chosen, is_put, holding[h]) < -least
                        if n_ways >= fewest:
                            break
                    if n_ways < fewest:
                        fewest, row = n_ways, bare[b]
                    if fewest == 0:
                        break
                if fewest > 0:
                    depth += 1
                    row_at[depth], next_at[depth], put_at[depth] = row, first[row], -1
                    total_before[depth], n_out_before[depth] = total, n_out
            is_down = False
            if depth < 0:
                break
            if put_at[depth] >= 0:
                is_put[put_at[depth]] = False
                n_bare = _bare_all(pool, put_at[depth], chosen, bare, spot, n_bare)
                while n_out > n_out_before[depth]:
                    n_out -= 1
                    n_bare = _cover_all(pool, out[n_out], chosen, bare, spot, n_bare)
                total, put_at[depth] = total_before[depth], -1
            while not is_down and n_left > 0 and next_at[depth] < first[row_at[depth] + 1]:
                g = holding[next_at[depth]]
                next_at[depth] += 1
                net = _net(pool, margins, chosen, is_put, g)
                if total + net < -least:
                    n_left -= 1
                    total += net
                    is_put[g], put_at[depth], is_down = True, g, True
                    for i in range(pool.shape[1]):
                        if pool[g, i] < 0:
                            break
                        old = chosen[pool[g, i]]
                        if old >= 0:
                            out[n_out] = old
                            n_out += 1
                            n_bare = _bare_all(pool, old, chosen, bare, spot, n_bare)
                    n_bare = _cover_all(pool, g, chosen, bare, spot, n_bare)
            if not is_down:
                depth -= 1
        if n_bare > 0:
            n_bare = _cover_all(pool, begin, chosen, bare, spot, n_bare)
        else:
            n_gains += 1
        for level in range(depth + 1):
            is_put[put_at[level]] = False
    return n_gains
