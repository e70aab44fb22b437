"""k^(tau, eps) from published boxes alone: every window of tau, slid by a slot of the grid over all trajectories.

For a trajectory and a window, the candidates are all trajectories with the same boxes in the window, or with none if it
has none there: who is known to have been elsewhere than all boxes of a window is one of those without. They must be k
or more; and what all of them share outside the window must last eps at most, over the whole time of the data.

References
----------
M. Gramaglia, M. Fiore, A. Tarable, A. Banchs, "Preserving mobile subscriber privacy in open datasets of spatiotemporal
trajectories", INFOCOM 2017, section 3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Ints
from shoal.data.trajectories.boxes import TrajectoryBoxes


class Windows(NamedTuple):
    """Over all windows: fewest candidates, the most slots learned, and how many windows fail of how many."""

    fewest: int
    most_slots: int
    n_windows: int
    n_few: int
    n_long: int


def slide(boxes: TrajectoryBoxes, k: int, n_tau: int, n_eps: int) -> Windows:
    """Slide a window of some slots over all trajectories."""
    owners = boxes.owners
    kinds = np.unique(boxes.sides, axis=0, return_inverse=True)[1].reshape(-1)
    first, last = boxes.sides[:, 4], boxes.sides[:, 5]
    fewest, most, n_windows, n_few, n_long = len(boxes), 0, 0, 0, 0
    for start in range(int(first.min()) - n_tau + 1, int(last.max()) + 1):
        inside = np.flatnonzero((last >= start) & (first < start + n_tau))
        who, candidates = _alike(owners[inside], kinds[inside], boxes.n_trajectories)
        counts = np.bincount(candidates)
        fewest = min(fewest, int(counts.min()))
        n_windows += len(who)
        n_few += int(counts[counts < k].sum())
        common = _common(boxes, kinds, who, candidates, counts)
        slots = _slots(boxes.sides[common[1]], common[0])
        outside = (slots[:, 1] < start) | (slots[:, 1] >= start + n_tau)
        learned = np.bincount(slots[outside, 0], minlength=len(counts))
        most = max(most, int(learned.max()))
        n_long += int(counts[learned > n_eps].sum())
    return Windows(fewest, most, n_windows, n_few, n_long)


def _alike(owners: Ints, kinds: Ints, n: int) -> tuple[Ints, Ints]:
    """All trajectories, and a number that is the same where all their boxes here are, or where they have none."""
    pairs = np.unique(np.stack([owners, kinds], axis=1), axis=0)
    who, n_boxes = np.arange(n), np.bincount(pairs[:, 0], minlength=n)
    starts = np.cumsum(n_boxes) - n_boxes
    nth = np.arange(len(pairs)) - np.repeat(starts, n_boxes)
    table = np.full((len(who), int(n_boxes.max(initial=0)) + 1), -1, np.int64)
    table[np.repeat(np.arange(len(who)), n_boxes), nth] = pairs[:, 1]
    return who, np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)


def _common(boxes: TrajectoryBoxes, kinds: Ints, who: Ints, candidates: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """The boxes that all of the same candidates have, at any time: whose, and the place of one such box."""
    of_list = np.full(boxes.n_trajectories, -1, np.int64)
    of_list[who] = candidates
    mine = np.flatnonzero(of_list[boxes.owners] >= 0)
    triples = np.stack([of_list[boxes.owners[mine]], kinds[mine], boxes.owners[mine]], axis=1)
    once, place = np.unique(triples, axis=0, return_index=True)
    _, first, n_have = np.unique(once[:, :2], axis=0, return_index=True, return_counts=True)
    is_common = n_have == counts[once[first, 0]]
    chosen = first[is_common]
    return once[chosen, 0], mine[place[chosen]]


def _slots(sides: Ints, whose: Ints) -> Ints:
    """The slots that boxes last, each once for whom they are of."""
    long = sides[:, 5] - sides[:, 4] + 1
    nth = np.arange(int(long.sum())) - np.repeat(np.cumsum(long) - long, long)
    return np.unique(np.stack([np.repeat(whose, long), np.repeat(sides[:, 4], long) + nth], axis=1), axis=0)
