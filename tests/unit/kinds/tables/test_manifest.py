"""The tests of `kinds/tables/manifest.py`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import shoal
from tests.unit.tables.publish.slices.people import people


def test_a_manifest_cannot_change_what_a_column_is(tmp_path: Path) -> None:
    columns = {"pay": {"role": "sensitive", "type": "continuous"}}
    policy = shoal.Policy.of(quasi=["age", "town"], others="identifying", k=5, t=0.4, publish="screen", columns=columns)
    policy = policy.changed(slices=2, singled_out=1.0)
    shoal.anonymize(people(), policy, seed=1).save(tmp_path / "out")
    assert shoal.check(tmp_path / "out", original=people(), policy=policy).holds
    path = tmp_path / "out" / "publish" / "manifest.json"
    content = json.loads(path.read_text())
    for changed in ({"pay@1": "nominal", "pay@2": "nominal"}, {"pay@1": "nominal"}):
        edited = json.loads(json.dumps(content))
        for name, kind in changed.items():
            edited["columns"][name]["type"] = kind
        path.write_text(json.dumps(edited))
        if len(changed) == 1:
            with pytest.raises(shoal.DataError, match="not the manifest"):
                shoal.check(tmp_path / "out")
        else:
            found = shoal.check(tmp_path / "out", original=people(), policy=policy)
            assert any("continuous by the policy" in finding for finding in found.findings)
