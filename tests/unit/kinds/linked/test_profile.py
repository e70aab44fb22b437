"""Linked tables as they stand, and a policy that works unedited."""

from __future__ import annotations

import pytest

import shoal
from tests.linked_samples import clinic, written


@pytest.mark.parametrize("seed", [1, 2])
def test_the_policy_works_unedited(tmp_path, seed) -> None:
    paths = written(tmp_path, clinic(60, seed))
    found = shoal.profile(paths, shoal.LinkedPolicy(link="id"))
    (tmp_path / "policy.toml").write_text(found.to_toml())
    release = shoal.anonymize(paths, shoal.read_policy(tmp_path / "policy.toml"), seed=1)
    assert release.guarantees[0].achieved >= 5
    assert all(a.role in ("quasi", "identifying") for a in release.attributes["labs"].values())


def test_what_is_shown(tmp_path) -> None:
    paths = written(tmp_path, clinic(60))
    found = shoal.profile(paths, shoal.LinkedPolicy(link="id"))
    assert found.shown()[0] == "3 tables of 60 persons, linked by 'id'"
    assert any("have to be left out" in line for line in found.shown() if isinstance(line, str))
    told = found.to_dict()
    assert (told["persons"], list(told["tables"])) == (60, ["patients", "labs", "visits"])
    assert 0 < told["suppression"] < 1
