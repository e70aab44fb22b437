"""Buckets that are made without holding all records are, to the byte, those that are made with them."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import shoal
from shoal.data.tables.frames import from_frame
from shoal.data.tables.table import Source
from shoal.data.tables.write import write_table
from shoal.errors import ShoalError
from shoal.tables.publish.slices import in_runs
from tests.properties.test_sliced_releases import policies, tables

pytestmark = pytest.mark.unattacked


def outcome(path: Path, policy: shoal.Policy, seed: int, out: Path) -> Any:
    """What is published and claimed, or why nothing is."""
    try:
        release = shoal.anonymize(path, policy, seed=seed)
    except ShoalError as error:
        return type(error), str(error)
    release.save(out, report=False)
    files = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in (out / "publish").iterdir()}
    return files, release.guarantees, release.findings


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), policies(), st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 3))
def test_held_and_bounded_are_the_same_bytes(
    table: dict[str, list[str]], policy: shoal.Policy, seed: int, run_records: int, n_times: int
) -> None:
    method = policy.method.model_copy(update={"strict": True})
    if method.publish == "screen":
        method = method.model_copy(update={"publish": "bucketize", "slices": "best"})
    policy = policy.changed(method=method.model_dump())
    several = {name: column * n_times for name, column in table.items()}
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as shorter:
        shorter.setattr(in_runs, "RUN_RECORDS", run_records)
        path = Path(name) / "people.parquet"
        write_table(replace(from_frame(several), source=Source("people", "parquet")), path)
        held = outcome(path, policy, seed, Path(name) / "held")
        event("made" if isinstance(held[0], dict) else held[0].__name__)
        assert outcome(path, policy.changed(memory="1GB"), seed, Path(name) / "bounded") == held
