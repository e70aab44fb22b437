"""Random numbers that do not depend on where a block runs, or on which blocks ran before it."""

from __future__ import annotations

import numpy as np

from shoal.errors import PolicyError


def spawn_seeds(seed: int | np.random.SeedSequence | None, n: int, first: int = 0) -> list[np.random.SeedSequence]:
    """Spawn one independent seed for each of n steps or blocks.

    Parameters
    ----------
    seed : int, SeedSequence or None
        A whole number from the user; a seed spawned before, for steps within a step; or None for the
        operating system's entropy. The same seed always spawns the same ones, however often it is asked.
    n : int
        How many.
    first : int
        The number of the first one, where those before it are spawned elsewhere.

    Examples
    --------
    >>> spawn_seeds(7, 2)[1].generate_state(1) == spawn_seeds(7, 3)[1].generate_state(1)
    array([ True])
    """
    if isinstance(seed, np.random.SeedSequence):
        # SeedSequence.spawn counts its children; a copy starts at the first one again.
        return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key, n_children_spawned=first).spawn(n)
    if seed is not None and seed < 0:
        raise PolicyError("the seed is negative; give a whole number from 0 on, or none")
    return np.random.SeedSequence(seed, n_children_spawned=first).spawn(n)
