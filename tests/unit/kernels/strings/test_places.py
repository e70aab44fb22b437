"""The tests of `kernels/strings/places.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.strings.places import place_agreement
from tests.unit.kernels.strings.test_generate import flat, some_strings


def test_agreement_is_that_of_the_slow_twin() -> None:
    targets, others = some_strings(1, 6, 3, 9, 4), some_strings(2, 12, 2, 11, 4)
    weights = np.array([0.5, 1.0, 1.5, 3.0])
    found = place_agreement(*flat(targets), *flat(others), weights, 3)
    for target, score in zip(targets, found, strict=True):
        n = len(target)
        agreements = sorted(
            sum(weights[s] for t, s in enumerate(target) if other[(2 * t + 1) * len(other) // (2 * n)] == s) / n
            for other in others
        )
        assert score == pytest.approx(np.mean(agreements[-3:]))
