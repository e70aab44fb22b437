"""The tests of `kinds/tables/manifest.py`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import shoal
from shoal.kinds.tables.manifest import parse_records
from shoal.told_counts import contradictions, total
from tests.unit.tables.publish.slices.people import people


def test_what_anybody_can_count_is_told_exactly() -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        parse_records({"records": {"in": 5, "out": {"from": 1, "to": 9}, "suppressed": 0}})


def test_old_manifests_tell_all_numbers_exactly() -> None:
    records = parse_records({"records": {"in": 10, "out": 8, "suppressed": 2}})
    assert contradictions(records, 5, None, "rows") == []
    assert total([1, 2]) == 3


def test_a_manifest_cannot_change_what_a_column_is(tmp_path: Path) -> None:
    columns = {"pay": {"role": "sensitive", "type": "continuous"}}
    policy = shoal.Policy.of(quasi=["age", "town"], others="identifying", k=5, t=0.4, publish="screen", columns=columns)
    policy = policy.changed(slices=2)
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
