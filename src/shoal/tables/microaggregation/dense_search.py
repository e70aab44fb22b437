"""Better groups of a table so small that the distances of all pairs of its records are held.

Nothing is compiled for a small table: so the search of `shoal.kernels.tables.annealing` and `local_search`, a record
after the other, gives way to one in which all records propose a move at once, a few array operations a round. The
moves, the loss and the bounds on sizes are the same; who proposes what, and so the groups, are not. Whether a table is
small is a matter of its number of rows alone (`MOST_DENSE`), so that the same table always gets the same groups.

With T[g, x] the sum of the distances of record x from the members of group g, and P[g] that of all pairs in it, a group
of s records loses P / s. It loses P - T[x] more pairs without x, and P + T[x] with it, so that any move costs a few
look-ups, whatever the columns are. Rounds make only moves that share no group: of two that do, the first proposed.

References
----------
S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing", Science 220, 1983.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask
from shoal.tables.microaggregation.merge_runs import number_groups

MOST_DENSE = 1_000
"""Rows: eight megabytes of distances."""
MOST_DENSE_BEST = 12
"""Rows of which the best groups are sought in this way: from 20 on, the compiled search finds better ones. By trial."""
FEWEST_ROUNDS, MOST_ROUNDS = 50, 150
"""At each temperature; between these, ten for each record of a group of k, as larger groups are fewer."""
ROWS_AT_ONCE = 128
"""Records whose moves are compared in one step of the descent."""
TRIES_A_PASS = 2_000
"""Of the merging with other partitions: some tenths of a second where loops are interpreted."""
MOST_DESCENTS = 10_000
"""Rounds of it: many more than there ever are, so that gains by rounding alone end."""

Total = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def distances(points: Floats, weights: Floats, n_metric: int) -> Total:
    """The squared distances of all pairs of records, as `shoal.kernels.tables.box_tree` has them."""
    found = np.zeros((len(points), len(points)))
    for j, column in enumerate(points.T):
        apart = column[:, None] - column
        found += apart * apart if j < n_metric else weights[j] * (apart != 0.0)
    return found


def nearest_of(apart: Total, n_listed: int) -> Codes:
    """The nearest other records of each record, nearest first; of equally near ones the first."""
    others = apart.copy()
    np.fill_diagonal(others, np.inf)
    return np.argsort(others, axis=1, kind="stable")[:, :n_listed].astype(np.int32)


class DenseGroups:
    """A partition into groups of k to 2k-1 records, with what tells the cost of any move."""

    def __init__(self, apart: Total, labels: Codes, k: int) -> None:
        self.apart, self.k = apart, k
        self.labels = labels.astype(np.intp)
        self.fill()

    def fill(self) -> None:
        """Make everything from the labels; also ends the drift of the sums."""
        n_rows, n_slots = len(self.labels), len(self.labels) // self.k
        self.sizes = np.bincount(self.labels, minlength=n_slots)
        order = np.argsort(self.labels, kind="stable")
        starts = np.cumsum(self.sizes) - self.sizes
        self.members = np.full((n_slots, 2 * self.k - 1), -1, np.intp)
        self.place = np.empty(n_rows, np.intp)
        self.place[order] = np.arange(n_rows) - np.repeat(starts, self.sizes)
        self.members[self.labels, self.place] = np.arange(n_rows)
        self.totals = np.zeros((n_slots, n_rows))
        held = np.flatnonzero(self.sizes)
        self.totals[held] = np.add.reduceat(self.apart[order], starts[held], axis=0)
        self.pairs = np.zeros(n_slots)
        np.add.at(self.pairs, self.labels, self.totals[self.labels, np.arange(n_rows)])
        self.pairs /= 2.0

    def numbered(self) -> Codes:
        """The group of each record, as `shoal.tables.microaggregation.merge_runs` numbers them."""
        return number_groups(self.labels.astype(np.int32))

    def loss(self) -> float:
        """Of all groups."""
        return float((self.pairs / np.maximum(self.sizes, 1)).sum())

    def swap_changes(self, x: Ints, z: Ints) -> Floats:
        """How the loss changes if x and z, of different groups, change places."""
        a, b, between = self.labels[x], self.labels[z], self.apart[x, z]
        of_a = (self.totals[a, z] - self.totals[a, x] - between) / self.sizes[a]
        of_b = (self.totals[b, x] - self.totals[b, z] - between) / self.sizes[b]
        return np.asarray(of_a + of_b)

    def entering(self, x: Ints, g: Ints) -> Floats:
        """How much more groups lose with a record each."""
        sizes, pairs = self.sizes[g], self.pairs[g]
        return np.asarray((pairs + self.totals[g, x]) / (sizes + 1) - pairs / np.maximum(sizes, 1))

    def leaving(self, x: Ints) -> Floats:
        """How much less the groups of some records lose without them."""
        g = self.labels[x]
        sizes, pairs = self.sizes[g], self.pairs[g]
        return np.asarray(pairs / sizes - (pairs - self.totals[g, x]) / np.maximum(sizes - 1, 1))

    def move(self, x: Ints, z: Ints, b: Ints) -> None:
        """Change x and z, or move x alone to b where z is -1; no two of these moves share a group."""
        labels, members, place, totals = self.labels, self.members, self.place, self.totals
        a, is_swap = labels[x], z >= 0
        others = z[is_swap]
        between = np.zeros(len(x))
        between[is_swap] = self.apart[x[is_swap], others]
        step = self.apart[x]
        step[is_swap] -= self.apart[others]
        lost, won = totals[a, x], totals[b, x]
        lost[is_swap] -= totals[a[is_swap], others] - between[is_swap]
        won[is_swap] -= totals[b[is_swap], others] + between[is_swap]
        self.pairs[a] -= lost
        self.pairs[b] += won
        totals[a] -= step
        totals[b] += step
        to_a, to_b = place[x], place[others]
        members[a[is_swap], to_a[is_swap]] = others
        members[b[is_swap], to_b] = x[is_swap]
        place[others], place[x[is_swap]] = to_a[is_swap], to_b
        labels[others] = a[is_swap]
        lone, left, right, hole = x[~is_swap], a[~is_swap], b[~is_swap], to_a[~is_swap]
        last = members[left, self.sizes[left] - 1]
        members[left, hole], place[last] = last, hole
        members[left, self.sizes[left] - 1] = -1
        members[right, self.sizes[right]], place[lone] = lone, self.sizes[right]
        self.sizes[left] -= 1
        self.sizes[right] += 1
        labels[x] = b

    def move_one(self, x: int, g: int) -> None:
        """Move a record to another group, or to a slot where none was."""
        a, step = self.labels[x], self.apart[x]
        self.pairs[a] -= self.totals[a, x]
        self.pairs[g] += self.totals[g, x]
        self.totals[a] -= step
        self.totals[g] += step
        left, hole, size = self.sizes[a] - 1, self.place[x], self.sizes[g]
        last = self.members[a, left]
        self.members[a, hole], self.place[last] = last, hole
        self.members[a, left] = -1
        self.members[g, size], self.place[x] = x, size
        self.sizes[a], self.sizes[g], self.labels[x] = left, size + 1, g


def _first_of_their_groups(a: Ints, b: Ints, n_slots: int) -> Mask:
    """Which of some moves come first in both of their groups."""
    first = np.empty(n_slots, np.intp)
    order = np.arange(len(a))[::-1]
    first[a[order]] = order
    mine = first[a] == np.arange(len(a))
    first[np.concatenate([a, b])] = len(a)
    both = np.stack([a, b], axis=1)[::-1].reshape(-1)
    first[both] = np.repeat(order, 2)
    return np.asarray(mine & (first[a] == np.arange(len(a))) & (first[b] == np.arange(len(a))))


def descend(groups: DenseGroups, least: float, is_over: Callable[[], bool] = lambda: False) -> None:
    """Swap and relocate for as long as that lowers the loss by more than ``least``.

    The best of all moves of a record is known. Who stands in a group that changed is asked again, and in the end
    everyone, as others may move into such a group.
    """
    n_rows = len(groups.labels)
    asked = np.arange(n_rows)
    for _ in range(MOST_DESCENTS):
        if is_over():
            return
        best, way, goal = _best_moves(groups, asked)
        gaining = np.flatnonzero(best < -least)
        if not len(gaining):
            if len(asked) == n_rows:
                return
            asked = np.arange(n_rows)
            continue
        gaining = gaining[np.argsort(best[gaining], kind="stable")]
        x, z, b = asked[gaining], way[gaining], goal[gaining]
        is_made = _first_of_their_groups(groups.labels[x], b, len(groups.sizes))
        changed = np.concatenate([groups.labels[x[is_made]], b[is_made]])
        groups.move(x[is_made], z[is_made], b[is_made])
        rows = groups.members[changed]
        asked = np.unique(np.concatenate([x[~is_made], rows[rows >= 0]]))


def _best_moves(groups: DenseGroups, rows: Ints) -> tuple[Floats, Ints, Ints]:
    """The best move of each of some records: its change, the record it changes places with or -1, and the group."""
    labels, totals, sizes, pairs = groups.labels, groups.totals, groups.sizes, groups.pairs
    own, size = totals[labels, np.arange(len(labels))], sizes[labels]
    is_closed = (sizes >= 2 * groups.k - 1) | (sizes == 0)
    losses = pairs / np.maximum(sizes, 1)
    found = []
    for at in range(0, len(rows), ROWS_AT_ONCE):
        x = rows[at : at + ROWS_AT_ONCE]
        a, here, between = labels[x], np.arange(len(x)), groups.apart[x]
        change = (totals[a] - own[x, None] - between) / sizes[a, None]
        change += (totals[labels[None, :], x[:, None]] - own - between) / size
        change[labels == a[:, None]] = np.inf
        z = change.argmin(axis=1)
        of_swap = change[here, z]
        entering = (pairs[:, None] + totals[:, x]) / (sizes + 1)[:, None] - losses[:, None]
        entering[is_closed] = np.inf
        entering[a, here] = np.inf
        g = entering.argmin(axis=0)
        of_move = np.where(sizes[a] > groups.k, entering[g, here] - groups.leaving(x), np.inf)
        is_move = of_move < of_swap
        found.append((np.minimum(of_move, of_swap), np.where(is_move, -1, z), np.where(is_move, g, labels[z])))
    best, way, goal = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return best, way, goal


def regroup(groups: DenseGroups, near: Codes, form_limits: Floats, dissolve_limits: Floats) -> int:
    """Form groups and dissolve others where that changes the loss by less than a limit.

    A new group takes a record and the k-1 nearest of its neighbours that can be spared. Of a dissolved group each
    record goes to the group where it costs least. What either costs is estimated for all records and groups at once;
    what seems worth it is then reckoned exactly, one after the other, and done. Returns how many times groups changed.

    Parameters
    ----------
    groups : DenseGroups
    near : int32 array (n_rows, n_listed)
    form_limits : float64 array (n_rows,)
        For the group to form around each record.
    dissolve_limits : float64 array (n_slots,)
        For each group.
    """
    n_made = 0
    estimates = _cost_of_dissolving(groups)
    for g in np.flatnonzero(estimates < dissolve_limits).tolist():
        n_made += _dissolve(groups, g, float(dissolve_limits[g]))
    unused = np.flatnonzero(groups.sizes == 0).tolist()
    if unused:
        estimates = _cost_of_forming(groups, near)
        rows = np.flatnonzero(estimates < form_limits)
        for x in rows[np.argsort(estimates[rows] - form_limits[rows], kind="stable")].tolist():
            if unused and _form(groups, near, x, unused[-1], float(form_limits[x])):
                unused.pop()
                n_made += 1
    return n_made


def _cost_of_dissolving(groups: DenseGroups) -> Floats:
    """For each group, as if its records did not meet again; infinite where there is none."""
    sizes, pairs = groups.sizes, groups.pairs
    entering = (pairs[:, None] + groups.totals) / (sizes + 1)[:, None] - (pairs / np.maximum(sizes, 1))[:, None]
    entering[(sizes >= 2 * groups.k - 1) | (sizes == 0)] = np.inf
    entering[groups.labels, np.arange(len(groups.labels))] = np.inf
    costs = np.bincount(groups.labels, entering.min(axis=0), minlength=len(sizes))
    return np.asarray(np.where(sizes == 0, np.inf, costs - pairs / np.maximum(sizes, 1)))


def _dissolve(groups: DenseGroups, g: int, limit: float) -> bool:
    sizes, pairs, full = groups.sizes.copy(), groups.pairs.copy(), 2 * groups.k - 1
    rows = groups.members[g, : sizes[g]].copy()
    if not len(rows):
        return False
    totals, goals = groups.totals[:, rows], []
    change = -pairs[g] / sizes[g]
    is_open = (sizes > 0) & (sizes < full)
    is_open[g] = False
    for i, row in enumerate(rows.tolist()):
        costs = np.where(is_open, (pairs + totals[:, i]) / (sizes + 1) - pairs / np.maximum(sizes, 1), np.inf)
        to = int(costs.argmin())
        change += costs[to]
        if not change < np.inf:
            return False
        pairs[to] += totals[to, i]
        totals[to] += groups.apart[row, rows]
        sizes[to] += 1
        is_open[to] = sizes[to] < full
        goals.append(to)
    if change < limit:
        for row, to in zip(rows, goals, strict=True):
            groups.move_one(row, to)
    return bool(change < limit)


def _cost_of_forming(groups: DenseGroups, near: Codes) -> Floats:
    """Around each record, as if each of those taken had a group of its own; infinite where too few can be spared."""
    k, n_rows = groups.k, len(groups.labels)
    is_spare = groups.sizes[groups.labels] > k
    takes = is_spare[near]
    takes &= np.cumsum(takes, axis=1) < k
    around = np.flatnonzero(is_spare & (takes.sum(axis=1) == k - 1))
    costs = np.full(n_rows, np.inf)
    if len(around):
        rows = np.column_stack([around, near[around][takes[around]].reshape(len(around), k - 1)])
        gains = groups.leaving(np.arange(n_rows))[rows].sum(axis=1)
        costs[around] = groups.apart[rows[:, :, None], rows[:, None, :]].sum(axis=(1, 2)) / (2 * k) - gains
    return costs


def _form(groups: DenseGroups, near: Codes, x: int, slot: int, limit: float) -> bool:
    spare = (groups.sizes - groups.k).tolist()
    rows: list[int] = []
    for row in (x, *near[x].tolist()):
        g = groups.labels[row]
        if len(rows) < groups.k and spare[g] > 0:
            spare[g] -= 1
            rows.append(row)
        elif row == x:
            return False
    if len(rows) < groups.k:
        return False
    taken = np.array(rows)
    within = groups.apart[np.ix_(taken, taken)]
    change = within.sum() / (2 * len(rows))
    labels = groups.labels[taken]
    for g in np.unique(labels):
        mine = labels == g
        left = groups.pairs[g] - groups.totals[g, taken[mine]].sum() + within[np.ix_(mine, mine)].sum() / 2
        change += left / (groups.sizes[g] - mine.sum()) - groups.pairs[g] / groups.sizes[g]
    if change < limit:
        for row in rows:
            groups.move_one(row, slot)
    return bool(change < limit)


def anneal(groups: DenseGroups, near: Codes, warmth: Floats, rng: np.random.Generator) -> None:
    """Some rounds in which every record proposes a relocation or a swap, and then some in which groups come and go.

    A move of record x that changes the loss by c is made with probability ``min(1, exp(-c / warmth[x]))``, if no
    earlier one of its round has to do with the same groups.
    """
    n_rows, k, full = len(groups.labels), groups.k, 2 * groups.k - 1
    everyone = np.arange(n_rows)
    for _ in range(min(max(FEWEST_ROUNDS, 10 * k), MOST_ROUNDS)):
        a, b = groups.labels, groups.labels[near[everyone, rng.integers(near.shape[1], size=n_rows)]]
        of_b = groups.sizes[b]
        has_room = (groups.sizes[a] > k) & (of_b < full)
        at = (rng.random(n_rows) * (of_b + has_room)).astype(np.intp)
        z = np.where(at < of_b, groups.members[b, np.minimum(at, of_b - 1)], -1)
        change = groups.swap_changes(everyone, z)
        alone = np.flatnonzero(z < 0)
        change[alone] = groups.entering(alone, b[alone]) - groups.leaving(alone)
        x = np.flatnonzero((change < warmth * rng.exponential(size=n_rows)) & (a != b))
        x = np.roll(x, -int(np.searchsorted(x, rng.integers(n_rows))))  # another one is the first in each round
        x = x[_first_of_their_groups(a[x], b[x], len(groups.sizes))]
        groups.move(x, z[x], b[x])
    limits = warmth * rng.exponential(size=n_rows)
    regroup(groups, near, limits, limits[groups.members[:, 0]])
    groups.fill()
