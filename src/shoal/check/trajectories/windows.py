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
    sides, kinds = np.unique(boxes.sides, axis=0, return_inverse=True)
    held = np.unique(boxes.owners * len(sides) + kinds.reshape(-1))  # each box of a trajectory once
    owners, kinds = held // len(sides), held % len(sides)
    first, last = sides[kinds, 4], sides[kinds, 5]
    fewest, most, n_windows, n_few, n_long = len(boxes), 0, 0, 0, 0
    for start in range(int(first.min()) - n_tau + 1, int(last.max()) + 1):
        inside = np.flatnonzero((last >= start) & (first < start + n_tau))
        candidates = _alike(owners[inside], kinds[inside], boxes.n_trajectories, len(sides))
        counts = np.bincount(candidates)
        fewest = min(fewest, int(counts.min()))
        n_windows += boxes.n_trajectories
        n_few += int(counts[counts < k].sum())
        whose, common = _common(candidates[owners], kinds, counts, len(sides))
        whose, slots = _slots(sides[common], whose)
        outside = (slots < start) | (slots >= start + n_tau)
        learned = np.bincount(whose[outside], minlength=len(counts))
        most = max(most, int(learned.max()))
        n_long += int(counts[learned > n_eps].sum())
    return Windows(fewest, most, n_windows, n_few, n_long)


def _alike(owners: Ints, kinds: Ints, n: int, n_kinds: int) -> Ints:
    """A number for each trajectory, the same where all their boxes here are, or where they have none.

    Boxes are sorted by their owners, and those of one by their kind.
    """
    nth = np.arange(len(owners)) - np.searchsorted(owners, owners)
    alike = np.zeros(n, np.int64)
    for place in range(int(nth.max(initial=-1)) + 1):
        here = nth == place
        kind = np.full(n, n_kinds, np.int64)  # which is none
        kind[owners[here]] = kinds[here]
        alike = np.unique(alike * (n_kinds + 1) + kind, return_inverse=True)[1].reshape(-1)
    return alike


def _common(candidates: Ints, kinds: Ints, counts: Ints, n_kinds: int) -> tuple[Ints, Ints]:
    """The boxes that all of the same candidates have, at any time: whose, and their kinds."""
    keys, n_have = np.unique(candidates * n_kinds + kinds, return_counts=True)
    common = keys[n_have == counts[keys // n_kinds]]
    return common // n_kinds, common % n_kinds


def _slots(sides: Ints, whose: Ints) -> tuple[Ints, Ints]:
    """The slots that boxes last, each once for whom they are of."""
    long = sides[:, 5] - sides[:, 4] + 1
    slots = np.arange(int(long.sum())) - np.repeat(np.cumsum(long) - long, long) + np.repeat(sides[:, 4], long)
    earliest = int(sides[:, 4].min(initial=np.iinfo(np.int64).max))
    n_slots = int(slots.max(initial=earliest)) - earliest + 1
    keys = np.unique(np.repeat(whose, long) * n_slots + slots - earliest)
    return keys // n_slots, keys % n_slots + earliest
