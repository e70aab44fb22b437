"""The tests of `manifest.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shoal.errors import DataError
from shoal.manifest import FILE_NAME, Manifest
from shoal.told_counts import Span, contradictions

CONTENT = {
    "shoal": "0.1.0",
    "kind": "toy",
    "data": "data.csv",
    "records": {"in": 10, "out": 8, "suppressed": 2},
    "require": [{"model": "k-anonymity", "k": 5}],
    "guarantees": [],
    "method": {"name": "toy"},
    "checksums": {"data.csv": "0"},
}


def changed(**entries: Any) -> dict[str, Any]:
    return {**CONTENT, **entries}


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    manifest = Manifest.parse(CONTENT, tmp_path)
    (tmp_path / FILE_NAME).write_text(manifest.to_json())
    assert json.loads(manifest.to_json()) == CONTENT
    assert Manifest.read(tmp_path) == manifest
    assert not manifest.is_of_this_version


def test_old_manifests_tell_all_numbers_exactly(tmp_path: Path) -> None:
    assert contradictions(Manifest.parse(CONTENT, tmp_path).records, 5, None, "rows") == []


def test_ranges_are_read_and_written(tmp_path: Path) -> None:
    records = {"in": {"from": 9, "to": 12}, "out": 8, "suppressed": {"from": 1, "to": 4}}
    manifest = Manifest.parse(changed(records=records), tmp_path)
    assert manifest.records["suppressed"] == Span(1, 4)
    assert Manifest(**manifest.model_dump() | {"records": manifest.records}) == manifest
    assert json.loads(manifest.to_json())["records"] == records


@pytest.mark.parametrize(
    "spoiled",
    [
        changed(records={"in": 5, "out": {"from": 1, "to": 9}, "suppressed": 0}),  # what anybody can count
        changed(records={"in": 5, "out": 5}),
        changed(records={"in": True, "out": 5, "suppressed": 0}),
        changed(records={"in": -1, "out": 5, "suppressed": 0}),
        changed(records=[]),
        changed(data="../data.csv"),
        changed(data="a\\b.csv"),
        changed(require=[]),
        changed(header="second"),
        changed(checksums={"data.csv": 3}),
        *({n: v for n, v in CONTENT.items() if n != name} for name in ("method", "shoal", "kind", "data")),
        [],
        None,
    ],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, spoiled: Any) -> None:
    with pytest.raises(DataError, match="is not the manifest of a Shoal release"):
        Manifest.parse(spoiled, tmp_path)
