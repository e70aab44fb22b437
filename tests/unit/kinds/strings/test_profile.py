"""The tests of `kinds/strings/profile.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from shoal.data.samples.proteins import protein_families
from shoal.data.strings.strings import Strings
from shoal.errors import DataError
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.strings.profile import profile_of


@pytest.fixture(scope="module")
def families() -> Strings:
    return protein_families(120, n_families=2, mean_length=40, unevenness=0.2, seed=5)


def test_a_profile_proposes_k_by_the_number_of_strings(families: Strings) -> None:
    found = profile_of(families, StringPolicy())
    assert (found.n_strings, found.policy.k, dict(found.classes)) == (120, 20, dict.fromkeys(families.classes, 60))
    few = profile_of(families.take(np.arange(15)), StringPolicy())
    assert few.policy.k == 5
    with pytest.raises(DataError, match="nothing to profile"):
        profile_of(Strings.of(["", ""]), StringPolicy())


def test_a_profile_is_a_policy(families: Strings, tmp_path: Path) -> None:
    odd = StringPolicy.of(column='a "b"\n', alphabet=["x", "\x7f"], label="k=(.)\\d")
    (tmp_path / "policy.toml").write_text(profile_of(families, odd).to_toml(), encoding="utf-8")
    assert StringPolicy.read(tmp_path / "policy.toml") == odd.changed(k=20)
