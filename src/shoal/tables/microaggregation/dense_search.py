"""Better groups of a table so small that the distances of all pairs of its records are held.

Nothing is compiled for a small table: so the search of `shoal.kernels.tables.annealing` and `local_search`, a record
after the other, gives way to one in which all records propose a move at once, a few array operations a round. The
moves, the loss and the bounds on sizes are the same; who proposes what, and so the groups, are not. Whether a table is
small is a matter of its number of rows alone (`MOST_DENSE`), so that the same table always gets the same groups.

With T[g, x] the sum of the distances of record x from the members of group g, and P[g] that of all pairs in it, a group
of s records loses P / s. It loses P - T[x] more pairs without x, and P + T[x] with it, so that any move costs a few
look-ups, whatever the columns are. Rounds make only moves that share no group: of two that do, a random one.

An array operation over few records costs as much as one over some hundreds. So of fewer than a thousand records several
copies are searched side by side (`copies_of`), each with groups of its own, and what they find is put together.

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
MOST_DENSE_BEST = 100
"""Rows of which the best groups are sought in this way; of 200, the compiled search found better ones. By trial."""
MOST_COPIES = 25
HOTTEST, REHEATED, COLDEST = 3.0, 1.5, 0.5
"""As in `shoal.tables.microaggregation.improve`; hotter or colder rounds gained less than more of these. By trial."""
N_HEATS = 30
FEWEST_ROUNDS, MOST_ROUNDS = 100, 300
"""At each temperature; between these, twenty for each record of a group of k, as larger groups are fewer."""
MOST_CELLS = 128_000
"""Of records and others whose moves are compared in one step of the descent."""
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


def copies_of(n_rows: int, n_together: int) -> int:
    """How many copies of a table are searched side by side, so that about so many records are."""
    return max(1, min(n_together // n_rows, MOST_COPIES))


class DenseGroups:
    """Partitions of copies of a table into groups of k to 2k-1 records, with what tells the cost of any move.

    Rows and groups of the copies are numbered one after the other; all copies start from the same groups.
    """

    def __init__(self, apart: Total, labels: Codes, k: int, n_copies: int = 1) -> None:
        n_rows = len(apart)
        self.apart, self.k, self.n_copies, self.n_slots = apart, k, n_copies, n_rows // k
        self.records = np.tile(np.arange(n_rows), n_copies)
        self.offsets = np.repeat(np.arange(n_copies) * n_rows, n_rows)  # of the rows of each row's copy
        self.labels = np.tile(labels.astype(np.intp), n_copies) + np.repeat(np.arange(n_copies), n_rows) * self.n_slots
        self.fill()

    def fill(self) -> None:
        """Make everything from the labels; also ends the drift of the sums."""
        n_rows, n_slots = len(self.labels), self.n_copies * self.n_slots
        self.sizes = np.bincount(self.labels, minlength=n_slots)
        order = np.argsort(self.labels, kind="stable")
        starts = np.cumsum(self.sizes) - self.sizes
        self.members = np.full((n_slots, 2 * self.k - 1), -1, np.intp)
        self.place = np.empty(n_rows, np.intp)
        self.place[order] = np.arange(n_rows) - np.repeat(starts, self.sizes)
        self.members[self.labels, self.place] = np.arange(n_rows)
        self.totals = np.zeros((n_slots, len(self.apart)))
        held = np.flatnonzero(self.sizes)
        self.totals[held] = np.add.reduceat(self.apart[self.records[order]], starts[held], axis=0)
        self.pairs = np.zeros(n_slots)
        np.add.at(self.pairs, self.labels, self.totals[self.labels, self.records])
        self.pairs /= 2.0

    def numbered(self) -> list[Codes]:
        """The group of each record, as `shoal.tables.microaggregation.merge_runs` numbers them, in each copy."""
        return [number_groups(labels) for labels in self.labels.astype(np.int32).reshape(self.n_copies, -1)]

    def loss(self) -> float:
        """Of all groups."""
        return float((self.pairs / np.maximum(self.sizes, 1)).sum())

    def between(self, x: Ints, z: Ints) -> Floats:
        """Distances of pairs of rows."""
        return self.apart.reshape(-1).take(self.records.take(x) * len(self.apart) + self.records.take(z))

    def sums(self, g: Ints, x: Ints) -> Floats:
        """Sums of the distances of rows from the members of groups."""
        return self.totals.reshape(-1).take(g * len(self.apart) + self.records.take(x))

    def swap_changes(self, x: Ints, z: Ints) -> Floats:
        """How the loss changes if x and z, of different groups, change places."""
        a, b, between = self.labels.take(x), self.labels.take(z), self.between(x, z)
        of_a = (self.sums(a, z) - self.sums(a, x) - between) / self.sizes.take(a)
        of_b = (self.sums(b, x) - self.sums(b, z) - between) / self.sizes.take(b)
        return np.asarray(of_a + of_b)

    def entering(self, x: Ints, g: Ints) -> Floats:
        """How much more groups lose with a record each."""
        sizes, pairs = self.sizes[g], self.pairs[g]
        return np.asarray((pairs + self.sums(g, x)) / (sizes + 1) - pairs / np.maximum(sizes, 1))

    def leaving(self, x: Ints) -> Floats:
        """How much less the groups of some records lose without them."""
        g = self.labels[x]
        sizes, pairs = self.sizes[g], self.pairs[g]
        return np.asarray(pairs / sizes - (pairs - self.sums(g, x)) / np.maximum(sizes - 1, 1))

    def move(self, x: Ints, z: Ints, b: Ints) -> None:
        """Change x and z, or move x alone to b where z is -1; no two of these moves share a group."""
        labels, members, place, totals = self.labels, self.members, self.place, self.totals
        a, is_swap = labels[x], z >= 0
        mine, others, left, right = x[is_swap], z[is_swap], a[is_swap], b[is_swap]
        between = self.between(mine, others)
        step = self.apart[self.records[x]]
        step[is_swap] -= self.apart[self.records[others]]
        lost, won = self.sums(a, x), self.sums(b, x)
        lost[is_swap] -= self.sums(left, others) - between
        won[is_swap] -= self.sums(right, others) + between
        self.pairs[a] -= lost
        self.pairs[b] += won
        totals[a] -= step
        totals[b] += step
        to_a, to_b = place[mine], place[others]
        members[left, to_a], members[right, to_b] = others, mine
        place[others], place[mine] = to_a, to_b
        labels[others] = left
        if len(mine) < len(x):
            self._place_alone(x[~is_swap], b[~is_swap])
        labels[x] = b

    def _place_alone(self, x: Ints, b: Ints) -> None:
        """Enter records with the members of other groups, whose last ones take their places in theirs."""
        members, place, a = self.members, self.place, self.labels[x]
        hole, last = place[x], members[a, self.sizes[a] - 1]
        members[a, hole], place[last] = last, hole
        members[a, self.sizes[a] - 1] = -1
        members[b, self.sizes[b]], place[x] = x, self.sizes[b]
        self.sizes[a] -= 1
        self.sizes[b] += 1

    def move_one(self, x: int, g: int) -> None:
        """Move a record to another group, or to a slot where none was."""
        a, record = self.labels[x], self.records[x]
        self.pairs[a] -= self.totals[a, record]
        self.pairs[g] += self.totals[g, record]
        self.totals[a] -= self.apart[record]
        self.totals[g] += self.apart[record]
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
    n_copies, n_records, n_slots = groups.n_copies, len(groups.apart), groups.n_slots
    is_closed = (sizes >= 2 * groups.k - 1) | (sizes == 0)
    losses = pairs / np.maximum(sizes, 1)
    of_copy = labels.reshape(n_copies, n_records)
    own, size = (each.reshape(n_copies, n_records) for each in (totals[labels, groups.records], sizes[labels]))
    n_at_once, found = max(1, MOST_CELLS // n_records), []
    for at in range(0, len(rows), n_at_once):
        x = rows[at : at + n_at_once]
        record, copy = groups.records[x], x // n_records
        a, here, between, theirs = labels[x], np.arange(len(x)), groups.apart[record], of_copy[copy]
        change = (totals[a] - totals[a, record][:, None] - between) / sizes[a, None]
        change += (totals[theirs, record[:, None]] - own[copy] - between) / size[copy]
        change[theirs == a[:, None]] = np.inf
        z = change.argmin(axis=1)
        of_swap = change[here, z]
        g = copy[:, None] * n_slots + np.arange(n_slots)
        entering = (pairs[g] + totals[g, record[:, None]]) / (sizes + 1)[g] - losses[g]
        entering[is_closed[g]] = np.inf
        entering[here, a - copy * n_slots] = np.inf
        to = entering.argmin(axis=1)
        of_move = np.where(sizes[a] > groups.k, entering[here, to] - groups.leaving(x), np.inf)
        is_move = of_move < of_swap
        goal = np.where(is_move, to + copy * n_slots, theirs[here, z])
        found.append((np.minimum(of_move, of_swap), np.where(is_move, -1, z + copy * n_records), goal))
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
    unused: list[list[int]] = [[] for _ in range(groups.n_copies)]
    for g in np.flatnonzero(groups.sizes == 0).tolist():
        unused[g // groups.n_slots].append(g)
    if any(unused):
        estimates = _cost_of_forming(groups, near)
        rows = np.flatnonzero(estimates < form_limits)
        for x in rows[np.argsort(estimates[rows] - form_limits[rows], kind="stable")].tolist():
            free = unused[x // len(groups.apart)]
            if free and _form(groups, near, x, free[-1], float(form_limits[x])):
                free.pop()
                n_made += 1
    return n_made


def _cost_of_dissolving(groups: DenseGroups) -> Floats:
    """For each group, as if its records did not meet again; infinite where there is none."""
    sizes, pairs = groups.sizes, groups.pairs
    entering = (pairs[:, None] + groups.totals) / (sizes + 1)[:, None] - (pairs / np.maximum(sizes, 1))[:, None]
    entering[(sizes >= 2 * groups.k - 1) | (sizes == 0)] = np.inf
    entering[groups.labels, groups.records] = np.inf
    least = entering.reshape(groups.n_copies, groups.n_slots, -1).min(axis=1).reshape(-1)
    costs = np.bincount(groups.labels, least, minlength=len(sizes))
    return np.asarray(np.where(sizes == 0, np.inf, costs - pairs / np.maximum(sizes, 1)))


def _dissolve(groups: DenseGroups, g: int, limit: float) -> bool:
    first = g // groups.n_slots * groups.n_slots
    slots, full = slice(first, first + groups.n_slots), 2 * groups.k - 1
    sizes, pairs = groups.sizes[slots].copy(), groups.pairs[slots].copy()
    rows = groups.members[g, : groups.sizes[g]].copy()
    if not len(rows):
        return False
    records = groups.records[rows]
    totals, goals = groups.totals[slots][:, records], []
    change = -groups.pairs[g] / groups.sizes[g]
    is_open = (sizes > 0) & (sizes < full)
    is_open[g - first] = False
    for i, record in enumerate(records.tolist()):
        costs = np.where(is_open, (pairs + totals[:, i]) / (sizes + 1) - pairs / np.maximum(sizes, 1), np.inf)
        to = int(costs.argmin())
        change += costs[to]
        if not change < np.inf:
            return False
        pairs[to] += totals[to, i]
        totals[to] += groups.apart[record, records]
        sizes[to] += 1
        is_open[to] = sizes[to] < full
        goals.append(first + to)
    if change < limit:
        for row, to in zip(rows, goals, strict=True):
            groups.move_one(row, to)
    return bool(change < limit)


def _cost_of_forming(groups: DenseGroups, near: Codes) -> Floats:
    """Around each record, as if each of those taken had a group of its own; infinite where too few can be spared."""
    k, n_rows = groups.k, len(groups.labels)
    is_spare = groups.sizes[groups.labels] > k
    theirs = near[groups.records] + groups.offsets[:, None]
    takes = is_spare[theirs]
    takes &= np.cumsum(takes, axis=1) < k
    around = np.flatnonzero(is_spare & (takes.sum(axis=1) == k - 1))
    costs = np.full(n_rows, np.inf)
    if len(around):
        rows = np.column_stack([around, theirs[around][takes[around]].reshape(len(around), k - 1)])
        gains = groups.leaving(np.arange(n_rows))[rows].sum(axis=1)
        records = groups.records[rows]
        costs[around] = groups.apart[records[:, :, None], records[:, None, :]].sum(axis=(1, 2)) / (2 * k) - gains
    return costs


def _form(groups: DenseGroups, near: Codes, x: int, slot: int, limit: float) -> bool:
    spare: dict[int, int] = {}
    rows: list[int] = []
    for row in (x, *(near[groups.records[x]] + groups.offsets[x]).tolist()):
        g = int(groups.labels[row])
        left = spare.get(g, int(groups.sizes[g]) - groups.k)
        if left > 0:
            spare[g] = left - 1
            rows.append(row)
        if len(rows) in (0, groups.k):  # no group around x without it
            break
    if len(rows) < groups.k:
        return False
    taken = np.array(rows)
    records, labels = groups.records[taken], groups.labels[taken]
    within = groups.apart[records[:, None], records]
    change = within.sum() / (2 * len(rows))
    for g in np.unique(labels):
        mine = labels == g
        left_over = groups.pairs[g] - groups.totals[g, records[mine]].sum() + within[mine][:, mine].sum() / 2
        change += left_over / (groups.sizes[g] - mine.sum()) - groups.pairs[g] / groups.sizes[g]
    if change < limit:
        for row in rows:
            groups.move_one(row, slot)
    return bool(change < limit)


def anneal(groups: DenseGroups, near: Codes, warmth: Floats, rng: np.random.Generator, n_ways: int = 1) -> None:
    """Some rounds in which every record proposes a relocation or a swap, and then some in which groups come and go.

    A move of record x that changes the loss by c is made with probability ``min(1, exp(-c / warmth[x]))``, if no
    earlier one of its round has to do with the same groups. Where few are made, a record proposes several in a round,
    and there are fewer rounds.

    Parameters
    ----------
    groups : DenseGroups
    near : int32 array (n_records, n_listed)
    warmth : float64 array (n_records,)
    rng : Generator
    n_ways : int
        Proposals of a record in a round.
    """
    n_rows, k, full = len(groups.labels), groups.k, 2 * groups.k - 1
    warmth, listed = np.tile(warmth, groups.n_copies), near.astype(np.intp).reshape(-1)
    x = np.tile(np.arange(n_rows), n_ways)
    offsets, first_listed = groups.offsets[x], groups.records[x] * near.shape[1]
    n_rounds = min(max(FEWEST_ROUNDS, 20 * k), MOST_ROUNDS) // n_ways
    picks = rng.integers(near.shape[1], size=(n_rounds, len(x)))
    parts, limits = rng.random((n_rounds, len(x))), rng.exponential(size=(n_rounds, len(x))) * warmth[x]
    for i in range(n_rounds):
        a, b = groups.labels.take(x), groups.labels.take(listed.take(first_listed + picks[i]) + offsets)
        of_b = groups.sizes.take(b)
        at = (parts[i] * (of_b + ((groups.sizes.take(a) > k) & (of_b < full)))).astype(np.intp)
        z = groups.members.reshape(-1).take(b * full + np.minimum(at, of_b - 1))
        change = groups.swap_changes(x, z)
        alone = np.flatnonzero(at == of_b)
        z[alone] = -1
        change[alone] = groups.entering(x[alone], b[alone]) - groups.leaving(x[alone])
        made = np.flatnonzero((change < limits[i]) & (a != b))
        made = made[np.argsort(rng.random(len(made)), kind="stable")]
        made = made[_first_of_their_groups(a[made], b[made], len(groups.sizes))]
        groups.move(x[made], z[made], b[made])
    limits = warmth * rng.exponential(size=n_rows)
    regroup(groups, near, limits, limits[groups.members[:, 0]])
