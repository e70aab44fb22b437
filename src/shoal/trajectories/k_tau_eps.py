"""k^(tau, eps)-anonymity: who knows any tau of somebody's time finds k persons, and learns at most eps more.

Every person has a published trajectory of their own, whose boxes lie in periods of tau each. In a period k times k
persons share their boxes: k rows of k. A row has already shared the period before; each column, with one of every row,
goes on together into the next. So whatever two periods in a row somebody knows, k published trajectories are the same
in both; and these were apart before, and are apart afterwards. A window of tau touches two periods at most, so what it
tells besides is the rest of those two: eps = tau.

**Guarantee.** For every published trajectory and every window of tau, at least k trajectories have the same boxes in
the window, or none, as it has none; the time outside it for which all of them have the same boxes is at most eps.
**Not protected.** Against one who knows more than a window of tau, such as single points all over a day, nothing is
promised: use k-anonymity of whole trajectories for that. What all k share within the window and eps is told.

How we depart from the paper: its hiding sets slide over time for any tau and eps; ours stand on periods, so that eps is
tau, and k times k persons are needed at once. A row that cannot go on (somebody has no point in the period, or nobody
is near) is left out for that period as a whole, since that one of them goes on alone would tell them apart; and where
few are without a box in a window, others are left out there too (`shoal.trajectories.left_out_periods`).

References
----------
M. Gramaglia, M. Fiore, A. Tarable, A. Banchs, "Preserving mobile subscriber privacy in open datasets of spatiotemporal
trajectories", INFOCOM 2017.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from shoal.arrays import Ints, Mask
from shoal.data.ragged import ragged_places
from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.grid import Grid3D
from shoal.data.trajectories.trajectories import Trajectories
from shoal.kernels.trajectories.cuts import first_boxes
from shoal.progress import Progress
from shoal.trajectories.boxing import GroupedPoints, LargestBox, hulls, in_time
from shoal.trajectories.glove import PRICES, by_content, near_groups
from shoal.trajectories.left_out_periods import SharedPeriods

N_ROUNDS = 3


@dataclass
class _Periods:
    """What was shared so far, by periods: nobody is to meet again all of a set that hides them.

    Attributes
    ----------
    shared : list of int64 array (n,)
        The group of k times k of each person, -1 where nothing is published.
    sets : list of int64 array (n,)
        Sets of k that hide one another: rows that begin, and columns. Numbered over all periods, -1 outside.
    """

    shared: list[Ints] = field(default_factory=list)
    sets: list[Ints] = field(default_factory=list)
    n_sets: int = 0

    def has_met(self, members: Ints) -> Mask:
        """Of sets of persons, a row each, whether all of one have shared a period before."""
        met = np.zeros(len(members), bool)
        for shared in self.shared:
            own = shared[members]
            met |= (own[:, 0] >= 0) & (own == own[:, :1]).all(axis=1)
        return met

    def meets_again(self, groups: Ints, k: int, now: Ints) -> Mask:
        """Of groups of persons, whether all of an earlier set stand in one; the sets of `now` are rows of theirs."""
        n_groups = int(groups.max(initial=-1)) + 1
        again = np.zeros(n_groups, bool)
        for sets in self.sets:
            known = np.flatnonzero((sets >= 0) & (groups >= 0) & (sets != now))
            pairs, counts = np.unique(np.stack([groups[known], sets[known]], axis=1), axis=0, return_counts=True)
            again[pairs[counts >= k, 0]] = True
        return again

    def number(self, sets: Ints) -> Ints:
        """Numbers over all periods of sets that are numbered from 0 on, -1 outside."""
        made = np.where(sets >= 0, sets + self.n_sets, -1)
        self.n_sets += int(sets.max(initial=-1)) + 1
        return made


@dataclass(frozen=True)
class KTauEps:
    """What is asked of the method: k persons, minutes of tau, the limits of a box, and its grid."""

    k: int
    tau: float
    metres: float
    minutes: float
    grid: Grid3D

    def group(self, data: Trajectories, progress: Progress | None = None) -> tuple[TrajectoryBoxes, Ints]:
        """The boxes to publish, and the published trajectory of each original one; negative where it is left out."""
        order = by_content(data, self.grid.cells(data.latitude, data.longitude, data.time))
        ordered = data.take(order)
        owners, cells = ordered.owners, self.grid.cells(ordered.latitude, ordered.longitude, ordered.time)
        period = ordered.time // period_seconds(self.tau, self.grid)
        of_box = np.full(len(cells), -1, np.int64)
        past = _Periods()
        alone = -1 - np.arange(len(data))
        rows, last = np.full(len(data), -1, np.int64), alone
        n_boxes, n_shared = 0, 0
        whole = range(int(period.min()), int(period.max()) + 1)
        for done, p in enumerate(whole):
            if progress is not None:
                progress("hiding trajectories", done, len(whole))
            points = np.flatnonzero(period == p)
            is_here = np.bincount(owners[points], minlength=len(data)) > 0
            goes_on = (rows >= 0) & ~np.isin(rows, rows[(rows >= 0) & ~is_here])
            begun = past.number(self._begin(ordered, points, is_here & (rows < 0), last, past))
            now = np.where(goes_on, rows, begun)
            shared, columns, boxes = self._share(
                ordered, points, cells, now, np.where(goes_on, last, alone), past, is_next=period == p + 1
            )
            of_box[points] = np.where(boxes >= 0, boxes + n_boxes, -1)
            n_boxes += int(boxes.max(initial=-1)) + 1
            rows = past.number(columns)
            past.shared.append(shared)
            past.sets += [np.where(shared >= 0, begun, -1), rows]
            last = np.where(shared >= 0, shared + n_shared, last)
            n_shared += int(shared.max(initial=-1)) + 1
        of_box = self._left_out(np.stack(past.shared), period - whole[0], owners, cells, of_box)
        boxes_of, labels = _published(ordered, cells, of_box, n_boxes, self.grid)
        groups = np.empty(len(data), np.int64)
        groups[order] = labels
        return boxes_of, groups

    def _left_out(self, shared: Ints, period: Ints, owners: Ints, cells: Ints, of_box: Ints) -> Ints:
        """The box of each point, -1 also where its period is left out, so that no window tells anybody apart."""
        shown = np.flatnonzero(of_box >= 0)
        if not len(shown):
            return of_box
        n_tau = period_seconds(self.tau, self.grid) // self.grid.slot
        sides = hulls(cells[shown], of_box[shown], int(of_box.max()) + 1)
        numbers = np.where(shared >= 0, shared + 1 + np.arange(len(shared))[:, None] * (int(shared.max()) + 1), 0)
        unit = np.unique(numbers[period[shown], owners[shown]], return_inverse=True)[1].reshape(-1)
        lists = np.unique(np.column_stack([unit, sides[of_box[shown]]]), axis=0)
        kinds = _kinds_of_lists(lists[:, 0], lists[:, 1:])
        slots = np.zeros((int(kinds.max()) + 1, n_tau), bool)
        for own, (first, last) in zip(kinds[lists[:, 0]].tolist(), lists[:, 5:].tolist(), strict=True):
            slots[own, first % n_tau : last % n_tau + 1] = True
        tokens = np.full(shared.shape, -1, np.int64)
        tokens[period[shown], owners[shown]] = kinds[unit]
        is_kept = (
            SharedPeriods(tokens, slots, _with_a_box_in_common(kinds[lists[:, 0]], lists[:, 1:])).thinned(self.k)[
                period, owners
            ]
            >= 0
        )
        return np.asarray(np.where(is_kept, of_box, -1))

    def _begin(self, data: Trajectories, points: Ints, is_free: Mask, last: Ints, past: _Periods) -> Ints:
        """Rows of k who begin in a period, -1 for the others."""
        rows = np.full(len(data), -1, np.int64)
        free = np.flatnonzero(is_free)
        if len(free) < self.k * self.k:
            return rows
        found, begun_by = near_groups(_some(data, points, free), self.k, self._limits, last[free])
        rows[free] = found
        return _without(rows, past.has_met(_members(rows, self.k)) if len(begun_by) else np.zeros(0, bool))

    def _share(
        self, data: Trajectories, points: Ints, cells: Ints, now: Ints, before: Ints, past: _Periods, is_next: Mask
    ) -> tuple[Ints, Ints, Ints]:
        """The group of k rows of each person, the columns that go on, and the box of each point; -1 for the others."""
        n, k = len(data), self.k
        shared, columns = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
        boxes = np.full(len(points), -1, np.int64)
        left, n_shared, n_boxes = np.unique(now[now >= 0]), 0, 0
        for _ in range(N_ROUNDS):
            if len(left) < k:
                break
            row = np.where(np.isin(now, left), np.searchsorted(left, now), -1)
            members = _members(row, k)
            found, begun_by = near_groups(_joined(data, points, members), k, self._limits, before[members[:, 0]])
            if not len(begun_by):
                break
            groups = np.full(n, -1, np.int64)
            groups[members] = found[:, None]
            of_box = self._cut(data, points, cells, groups)
            has_box = np.bincount(groups[data.owners[points]][of_box >= 0], minlength=len(begun_by)) > 0
            made, fails = self._columns(data, found, members, is_next, past)
            fails |= ~has_box | past.meets_again(groups, k, now)
            is_kept = (groups >= 0) & ~fails[groups]
            shared[is_kept] = groups[is_kept] + n_shared
            columns[is_kept] = made[is_kept] + n_shared * k
            mine = is_kept[data.owners[points]] & (of_box >= 0)
            boxes[mine] = of_box[mine] + n_boxes
            n_shared, n_boxes = n_shared + len(begun_by), n_boxes + int(of_box.max(initial=-1)) + 1
            is_left = (found < 0) | fails[found]
            is_left[begun_by[fails]] = False
            left = left[is_left]
        _, numbers = np.unique(columns[columns >= 0], return_inverse=True)
        columns[columns >= 0] = numbers
        return shared, columns, boxes

    def _columns(
        self, data: Trajectories, found: Ints, members: Ints, is_next: Mask, past: _Periods
    ) -> tuple[Ints, Mask]:
        """One of each row of a group in a column, near one another in the next period; and groups where none will do.

        Those without a point in the next period stand together, so that few columns end.
        """
        n, k = len(data), self.k
        after = np.bincount(data.owners[is_next], minlength=n)
        north = np.bincount(data.owners[is_next], data.latitude[is_next], n) / np.maximum(after, 1)
        order = np.lexsort((np.arange(n)[members], north[members], after[members] == 0), axis=1)
        sorted_rows = np.take_along_axis(members, order, axis=1)
        columns, fails = np.full(n, -1, np.int64), np.ones(int(found.max(initial=-1)) + 1, bool)
        which = np.flatnonzero(found >= 0)
        grids = sorted_rows[which[np.argsort(found[which], kind="stable")]].reshape(-1, k, k)
        for shift in range(k):
            todo = np.flatnonzero(fails)
            turned = grids[todo].copy()
            turned[:, -1] = np.roll(turned[:, -1], shift, axis=1)
            sets = turned.transpose(0, 2, 1)
            met = past.has_met(sets.reshape(-1, k)).reshape(-1, k).any(axis=1)
            columns[sets] = (todo[:, None] * k + np.arange(k))[:, :, None]
            fails[todo] = met
        return columns, fails

    def _cut(self, data: Trajectories, points: Ints, cells: Ints, groups: Ints) -> Ints:
        """The box of each point of a period, numbered over all groups, -1 where it is left out."""
        made = np.full(len(points), -1, np.int64)
        who = data.owners[points]
        mine = np.flatnonzero(groups[who] >= 0)
        mine = mine[np.argsort(groups[who[mine]], kind="stable")]
        group = groups[who[mine]]
        members = _within(group, who[mine])
        share = (data.time[points[mine]] % period_seconds(self.tau, self.grid)) / period_seconds(self.tau, self.grid)
        labels = GroupedPoints(cells[points[mine]], share, members, group).cut(self.grid, self._limits, PRICES[-1])
        shown = labels >= 0
        made[mine[shown]] = np.unique(np.stack([group[shown], labels[shown]], axis=1), axis=0, return_inverse=True)[
            1
        ].reshape(-1)
        return made

    @property
    def _limits(self) -> LargestBox:
        return LargestBox(self.metres, 60 * self.minutes)


def period_seconds(tau: float, grid: Grid3D) -> int:
    """Tau in seconds, a whole number of slots."""
    return max(round(60 * tau / grid.slot), 1) * grid.slot


def _some(data: Trajectories, points: Ints, persons: Ints) -> Trajectories:
    """Some trajectories, with some of their points."""
    return _joined(data, points, persons[:, None])


def _joined(data: Trajectories, points: Ints, members: Ints) -> Trajectories:
    """The points of each row of persons, in order of time, as one trajectory."""
    row = np.full(len(data), -1, np.int64)
    row[members] = np.arange(len(members))[:, None]
    of_row = row[data.owners[points]]
    mine = points[of_row >= 0]
    order = np.lexsort((data.time[mine], of_row[of_row >= 0]))
    starts = np.concatenate([[0], np.cumsum(np.bincount(of_row[of_row >= 0], minlength=len(members)))])
    mine = mine[order]
    return Trajectories(
        data.latitude[mine], data.longitude[mine], data.time[mine], starts, np.arange(len(members), dtype=np.int32)
    )


def _members(groups: Ints, k: int) -> Ints:
    """The persons of groups of k, a row each."""
    inside = np.flatnonzero(groups >= 0)
    return inside[np.argsort(groups[inside], kind="stable")].reshape(-1, k)


def _without(groups: Ints, fails: Mask) -> Ints:
    """The groups that do not fail, numbered anew."""
    made = np.where((groups >= 0) & ~fails[groups] if len(fails) else np.zeros(len(groups), bool), groups, -1)
    made[made >= 0] = np.unique(made[made >= 0], return_inverse=True)[1]
    return made


def _within(groups: Ints, who: Ints) -> Ints:
    """Persons numbered from 0 on within their groups."""
    pairs, inverse = np.unique(np.stack([groups, who], axis=1), axis=0, return_inverse=True)
    first = np.searchsorted(pairs[:, 0], pairs[:, 0])
    return np.asarray((np.arange(len(pairs)) - first)[inverse.reshape(-1)])


def _kinds_of_lists(owners: Ints, boxes: Ints) -> Ints:
    """A number for each owner of boxes, which are sorted: the same where all boxes are."""
    starts = np.searchsorted(owners, np.arange(int(owners[-1]) + 2))
    known: dict[bytes, int] = {}
    whole = np.ascontiguousarray(boxes)
    return np.array(
        [known.setdefault(whole[low:high].tobytes(), len(known)) for low, high in pairwise(starts.tolist())], np.int64
    )


def _with_a_box_in_common(owners: Ints, boxes: Ints) -> Ints:
    """A number for each owner of boxes: the same where a box is, and so on from one owner to the next."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    same = np.unique(boxes, axis=0, return_inverse=True)[1].reshape(-1)
    n = int(owners.max()) + 1
    ends = owners.astype(np.int32), (n + same).astype(np.int32)  # older versions of scipy take no others
    links = coo_array((np.ones(len(same), bool), ends), shape=(n + len(same), n + len(same)))
    return np.asarray(connected_components(links, directed=False)[1][:n], np.int64)


def _published(
    data: Trajectories, cells: Ints, of_box: Ints, n_boxes: int, grid: Grid3D
) -> tuple[TrajectoryBoxes, Ints]:
    """The boxes of each person, in an order that the boxes tell, with the mean number of points of those who share."""
    shown = np.flatnonzero(of_box >= 0)
    sides = hulls(cells[shown], of_box[shown], n_boxes)
    pairs = np.unique(np.stack([data.owners[shown], of_box[shown]], axis=1), axis=0)
    order = in_time(sides[pairs[:, 1]], pairs[:, 0])
    who, box = pairs[order].T
    persons, numbers = np.unique(who, return_inverse=True)
    starts = np.searchsorted(numbers, np.arange(len(persons) + 1))
    secret = np.random.default_rng().permutation(len(persons))  # the order tells nothing of those who share a box
    by_boxes = np.lexsort((secret, *sides[box[starts[:-1]]].T[[1, 0, 3, 2, 5, 4]]))
    places, starts = ragged_places(starts, by_boxes)
    labels = np.full(len(data), -1, np.int64)
    labels[persons[by_boxes]] = np.arange(len(persons))
    ones = np.ones(len(persons), np.int64)
    sides = sides[box[places]]
    first = first_boxes(sides, starts, cells, labels[data.owners])
    counts = np.bincount(first[first >= 0], minlength=len(sides))
    same = np.unique(sides, axis=0, return_inverse=True)[1].reshape(-1)
    points = (np.bincount(same, counts).astype(np.int64) // np.bincount(same))[same]
    return TrajectoryBoxes(sides, points, starts, ones, ones, grid), labels
