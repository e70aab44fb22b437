"""Seeds: the same ones for the same seed, different ones for each block."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.engine.seeds import spawn_seeds
from shoal.errors import PolicyError


def states(seeds: list[np.random.SeedSequence]) -> list[tuple[int, ...]]:
    return [tuple(s.generate_state(4).tolist()) for s in seeds]


def test_the_same_seed_spawns_the_same_ones_however_many() -> None:
    assert states(spawn_seeds(7, 3)) == states(spawn_seeds(7, 5))[:3]
    assert len(set(states(spawn_seeds(7, 50)) + states(spawn_seeds(8, 50)))) == 100


def test_later_ones_are_spawned_without_those_before() -> None:
    assert states(spawn_seeds(7, 2, 3)) == states(spawn_seeds(7, 5))[3:]
    step = spawn_seeds(7, 2)[1]
    assert states(spawn_seeds(step, 2, 3)) == states(spawn_seeds(step, 5))[3:]


def test_steps_within_a_step_do_not_depend_on_what_was_spawned_before() -> None:
    step = spawn_seeds(7, 2)[1]
    first = states(spawn_seeds(step, 3))
    assert states(spawn_seeds(step, 3)) == first
    assert not set(first) & set(states(spawn_seeds(7, 10)))


def test_no_seed_is_different_every_time() -> None:
    assert states(spawn_seeds(None, 1)) != states(spawn_seeds(None, 1))


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(PolicyError, match="negative"):
        spawn_seeds(-1, 1)
