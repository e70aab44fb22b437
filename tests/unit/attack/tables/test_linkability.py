"""The tests of `attack/tables/linkability.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attack.tables.linkability import Linkability, _chance


def test_two_files_meet_in_raw_records(raw, rng):
    result = Linkability().run(raw, rng)
    assert result.main.value > 0.8
    assert result.control.value < 0.2
    assert result.succeeds


def test_two_files_do_not_meet_in_large_groups(coarse, rng):
    result = Linkability().run(coarse, rng)
    assert not result.succeeds
    assert result.main.value < 0.1


def test_chance_of_meeting():
    rng = np.random.default_rng(1)
    met = [len({*rng.permutation(20)[:4]} & {*rng.permutation(20)[:4]}) > 0 for _ in range(4000)]
    assert _chance(20, 4) == pytest.approx(np.mean(met), abs=0.03)
    assert _chance(20, 1) == pytest.approx(1 / 20)
    assert _chance(5, 4) == 1
