"""The tests of `attack/strings/membership.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attack.attack import run_attacks
from shoal.attack.strings import STRING_ATTACKS
from shoal.attack.strings.case import StringCase
from shoal.data.samples.proteins import protein_families
from shoal.data.strings.strings import Strings


@pytest.fixture(scope="module")
def strings() -> tuple[Strings, Strings]:
    """Some to make releases from, and others of the same families."""
    made = protein_families(1600, n_families=3, mean_length=80.0, unevenness=0.3, seed=3)
    return made.take(np.arange(800)), made.take(np.arange(800, 1600))


def test_membership_needs_others(strings) -> None:
    found = run_attacks(list(STRING_ATTACKS.values()), StringCase(strings[0], strings[0]), seed=1)
    assert [name for name, _ in found.skipped] == [
        "membership",
        "place-membership",
        "fragment-membership",
        "share-tracing",
        "shadow-membership",
        "several-releases",
        "holes",
        "echoes",
    ]
    assert all(r.control is None for r in found.results)
