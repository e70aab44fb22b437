"""Simple ways to protect trajectories, to compare with: the mean path of a group, (k, delta), swapping at meetings."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.data.trajectories.grid import Grid3D
from shoal.data.trajectories.trajectories import Trajectories
from shoal.trajectories.boxing import UNITS
from shoal.trajectories.glove import ways

N_STATIONS = 10
MEETING = Grid3D(0.001, 60)
SEEN = Grid3D(0.001, 900)


def mean_path(data: Trajectories, groups: Ints) -> tuple[Floats, Floats]:
    """Microaggregation: every trip becomes the mean of its group at ten stations; how far and how long each is moved.

    The same path stands for all k of a group, so four points never single out fewer than k persons; but a mean is where
    nobody was.
    """
    members = np.flatnonzero(groups >= 0)
    path = ways(data.take(members), N_STATIONS)
    n = np.bincount(groups[members])
    means = np.stack([np.stack([np.bincount(groups[members], path[:, s, a]) / n for a in range(3)], axis=1)
                      for s in range(N_STATIONS)], axis=1)  # fmt: skip
    moved = np.abs(path - means[groups[members]])
    metres = np.hypot(moved[:, :, 0], moved[:, :, 1]) * UNITS[0]
    return metres.ravel(), (moved[:, :, 2] * UNITS[1] / 60).ravel()


def moved_within(data: Trajectories, groups: Ints, delta: float) -> tuple[Floats, Floats, Floats, Floats]:
    """(k, delta)-anonymity: every trip is moved towards the mean of its group until it lies within half of delta.

    O. Abul, F. Bonchi, M. Nanni, "Never Walk Alone", ICDE 2008, at ten stations, on groups of GLOVE. As there, all of a
    group get the same times. The stations before and after, and how far and how long each was moved.
    """
    members = np.flatnonzero(groups >= 0)
    path, mine = ways(data.take(members), N_STATIONS), groups[members]
    n = np.bincount(mine)[:, None, None]
    means = np.zeros((len(n), *path.shape[1:]))
    np.add.at(means, mine, path)
    off = path - (means / n)[mine]
    metres = np.hypot(off[:, :, 0], off[:, :, 1]) * UNITS[0]
    left = np.minimum(1, (delta / 2) / np.maximum(metres, 1e-9))
    shown = (means / n)[mine]
    shown[:, :, :2] += off[:, :, :2] * left[:, :, None]
    return path, shown, (metres * (1 - left)).ravel(), (np.abs(off[:, :, 2]) * UNITS[1] / 60).ravel()


def nearest_is_own(path: Floats, shown: Floats, n_attacks: int, rng: np.random.Generator) -> float:
    """How often the published trip nearest to four known stations of a trip, in place and time, is its own alone."""
    n_found = 0
    chosen = rng.permutation(len(path))[:n_attacks].tolist()
    for trip in chosen:
        at = rng.permutation(path.shape[1])[:4]
        off = np.abs(shown[:, at] - path[trip, at]).sum(axis=(1, 2))
        n_found += off[trip] == off.min() and int((off == off.min()).sum()) == 1
    return n_found / len(chosen)


def swapped(data: Trajectories, rng: np.random.Generator) -> Ints:
    """SwapMob: persons who meet, within a cell of 0.001 degrees and a minute, swap what follows; who has each point.

    J. Salas, D. Megias, V. Torra, "SwapMob: swapping trajectories for mobility anonymization", PSD 2018.
    """
    person = data.persons[data.owners].astype(np.int64)
    cells = MEETING.cells(data.latitude, data.longitude, data.time)
    order = np.lexsort((rng.random(len(person)), *cells.T[[1, 0, 2]]))
    holder = np.arange(int(person.max()) + 1)
    now = np.empty(len(person), np.int64)
    same = np.concatenate([(np.diff(cells[order], axis=0) == 0).all(axis=1), [False]])
    for place, (point, meets) in enumerate(zip(order.tolist(), same.tolist(), strict=True)):
        now[point] = holder[person[point]]
        if meets:
            other = order[place + 1]
            if person[other] != person[point]:
                holder[[person[point], person[other]]] = holder[[person[other], person[point]]]
    return now


def found_whole(data: Trajectories, published: Ints, n_attacks: int, rng: np.random.Generator) -> float:
    """How often four points of a trip stand on one published trajectory, and on no other: by cells and quarters."""
    cells = np.unique(SEEN.cells(data.latitude, data.longitude, data.time), axis=0, return_inverse=True)[1].reshape(-1)
    pairs = np.unique(np.stack([cells, published], axis=1), axis=0)
    starts = np.searchsorted(pairs[:, 0], np.arange(int(cells.max()) + 2))
    n_found = 0
    for trip in rng.permutation(len(data))[:n_attacks].tolist():
        known = np.unique(cells[rng.permutation(np.arange(data.starts[trip], data.starts[trip + 1]))[:4]])
        who, counts = np.unique(
            np.concatenate([pairs[starts[c] : starts[c + 1], 1] for c in known]), return_counts=True
        )
        n_found += len(who[counts == len(known)]) == 1
    return n_found / min(n_attacks, len(data))
