"""The tests of `kinds/strings/learning.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.data.samples.proteins import protein_families
from shoal.data.strings.strings import Strings
from shoal.kinds.strings.learning import learn_classes
from shoal.kinds.strings.policy import StringPolicy

POLICY = StringPolicy.of(k=10)


@pytest.fixture(scope="module")
def families() -> Strings:
    return protein_families(120, n_families=2, mean_length=40, unevenness=0.2, seed=5)


def test_learning_needs_classes_and_strings(families: Strings) -> None:
    assert learn_classes(replace(families, labels=None, classes=()), POLICY) == ()
    assert learn_classes(families.take(np.arange(30)), POLICY) == ()
    found = learn_classes(families, POLICY)
    assert found[0].n_test == 24
    assert found[0].before.value > found[0].baseline
