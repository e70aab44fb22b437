"""The profile of a file that is not held is that of the table, but for persons, which are not looked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest

import shoal
from shoal.errors import DataError, PolicyError
from shoal.kinds.tables import large_profile
from shoal.kinds.tables.large_profile import NO_PERSONS

pytestmark = pytest.mark.unattacked


def put(path: Path, n_rows: int) -> Path:
    rng = np.random.default_rng(5)
    columns = {
        "account": np.array([f"a{i:05}" for i in range(n_rows)], dtype=object),
        "age": rng.integers(20, 40, n_rows),
        "job": np.array(["smith", "clerk", "?", None, "cook"], dtype=object)[rng.integers(0, 5, n_rows)],
        "diagnosis": np.array(["flu", "cold", "ulcer"], dtype=object)[rng.integers(0, 3, n_rows)],
        "country": np.full(n_rows, "here", dtype=object),
    }
    with duckdb.connect() as database:
        database.register("columns", columns)
        database.execute(f"COPY (SELECT * FROM columns) TO '{path}' (FORMAT {path.suffix[1:]})")
    return path


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_it_is_that_of_the_table(tmp_path: Path, form: str) -> None:
    path = put(tmp_path / f"people.{form}", 700)
    whole = shoal.profile(path, sweep=False)
    large = shoal.profile(path, shoal.Policy(memory="1GB"), sweep=False)
    assert large.columns == whole.columns
    assert {c.attribute.name: c.attribute.role for c in large.columns}["account"] == "identifying"
    assert (large.n_rows, large.risk, large.together) == (whole.n_rows, whole.risk, whole.together)
    assert large.notes == (*whole.notes, NO_PERSONS)
    assert replace(large, notes=whole.notes).to_toml() == whole.to_toml()


def test_a_method_is_tried_on_a_sample_of_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.sweep.propose.SAMPLE", 60)
    found = shoal.profile(put(tmp_path / "people.parquet", 300), shoal.Policy(memory="1GB"))
    assert found.proposal is not None
    assert found.proposal.n_tried == 60
    assert found.proposal.cells


def test_a_column_with_too_many_values_is_dropped_unseen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "people.parquet", 300)
    monkeypatch.setattr(large_profile, "MOST_VALUES", 15)
    found = shoal.profile(path, shoal.Policy(memory="1GB"), sweep=False)
    age = next(c for c in found.columns if c.attribute.name == "age")
    assert (age.attribute.role, age.n_distinct) == ("identifying", 20)
    assert "20 different values, too many to be looked at" in age.attribute.why


def test_what_does_not_fit_or_is_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "people.parquet", 300)
    with pytest.raises(PolicyError, match="is for files"):
        shoal.profile({"age": [1, 2]}, shoal.Policy(memory="1GB"))
    monkeypatch.setattr("shoal.data.tables.room.ROW_BYTES", 4 * 10**6)
    with pytest.raises(DataError, match="rows are distinct, too many for 1 GB"):
        shoal.profile(path, shoal.Policy(memory="1GB"), sweep=False)
