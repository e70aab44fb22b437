"""How many of a record's nearest neighbours are still near by its sketch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.arrays import Ints
from shoal.data.sparse.sketches import Sketches
from shoal.sparse.mining.similarity import Background, similarity_blocks

N_NEAREST = 10
REACHES = (10, 50, 100)


@dataclass(frozen=True)
class NeighboursKept:
    """Of the nearest records by the originals, the share among the nearest by sketches.

    Attributes
    ----------
    n_nearest : int
        How many are nearest by the originals (cosine).
    shares : mapping of int to float
        The share of them among so many nearest by sketches.
    by_chance : mapping of int to float
        What a random ranking would give.
    n_sampled, n_against : int
        The records whose neighbours were looked at, and the published records that these were looked for among.
    """

    n_nearest: int
    shares: Mapping[int, float]
    by_chance: Mapping[int, float]
    n_sampled: int
    n_against: int

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        whole = asdict(self)
        return whole | {name: {str(n): v for n, v in whole[name].items()} for name in ("shares", "by_chance")}


def count_neighbours_kept(published: Sketches, sampled: Ints, nearest: Ints) -> NeighboursKept:
    """Count.

    Parameters
    ----------
    published : Sketches
        All that neighbours are looked for among.
    sampled : int64 array (n_sampled,)
        Rows of `published`.
    nearest : int64 array (n_sampled, n_nearest)
        Their nearest rows by the originals; from `nearest_originals`.
    """
    n_others = len(published) - 1
    reaches = [reach for reach in REACHES if reach <= n_others]
    kept = dict.fromkeys(reaches, 0.0)
    blocks = similarity_blocks(published.take(sampled), published, "cosine", Background.of(published))
    for rows, block in blocks:
        block[np.arange(len(block)), sampled[rows]] = -np.inf
        found = np.take_along_axis(block, nearest[rows], axis=1)
        limits = np.partition(block, [len(published) - reach for reach in reaches], axis=1)
        for reach in reaches:
            limit = limits[:, len(published) - reach, None]
            # Those as near as the last one share the places that are left.
            left = reach - (block > limit).sum(axis=1)
            each = left / (block == limit).sum(axis=1)
            kept[reach] += float(((found > limit) + (found == limit) * each[:, None]).sum())
    return NeighboursKept(
        nearest.shape[1],
        {reach: total / max(nearest.size, 1) for reach, total in kept.items()},
        {reach: reach / n_others for reach in reaches},
        len(sampled),
        len(published),
    )
