"""Releases of rows in files: the bytes and claims of the same table in memory, and a report from some groups."""

from __future__ import annotations

import copy
import errno
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import duckdb
import numpy as np
import pytest

import shoal
from shoal.data.tables import parquet, room
from shoal.data.tables.table import Table
from shoal.errors import NotVerified, PolicyError, ShoalError
from shoal.kinds.tables import spilled
from shoal.kinds.tables.spilled import SpilledTableRelease
from shoal.tables.spilled import make
from tests.unit.kinds.tables.test_large import ROLES, published, put

pytestmark = pytest.mark.unattacked


@pytest.fixture(autouse=True)
def spilling(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no distinct row fitted into memory, and few rows into a block."""
    monkeypatch.setattr(parquet, "does_fit", lambda *_: False)
    monkeypatch.setattr(make, "MOST_BLOCK_ROWS", 40)


@pytest.mark.parametrize(
    "asked",
    [
        {"insensitive": ["ward"]},
        {"others": "identifying", "l": 2, "missing": "any"},
        {"insensitive": ["ward"], "t": 0.4},
        {"others": "identifying", "ends": "exact", "require": [{"model": "l-diversity", "l": 2, "kind": "entropy"}]},
        {"others": "identifying", "require": [{"model": "beta-likeness", "beta": 2}]},
        {"others": "identifying", "identifying": [], "person": "id"},
    ],
)
@pytest.mark.parametrize("n_rows", [150, 3000])
def test_the_bytes_and_the_claims_are_those_of_all_records(tmp_path: Path, n_rows: int, asked: dict) -> None:
    path, policy = put(tmp_path / "people.parquet", n_rows), shoal.Policy.of(**{**ROLES, **asked})
    whole = shoal.anonymize(path, policy, seed=3)
    spilled = shoal.anonymize(path, policy.changed(memory="1 GB"), seed=3)
    assert isinstance(spilled, SpilledTableRelease)
    assert published(spilled, tmp_path / "spilled") == published(whole, tmp_path / "whole")
    assert spilled.records == whole.records == {"in": n_rows, "out": n_rows, "suppressed": 0}
    assert (spilled.guarantees, spilled.findings) == (whole.guarantees, whole.findings)
    for name, told in whole.risk_before.to_dict().items():
        found = getattr(spilled.risk_before, name)
        assert found == (pytest.approx(told) if isinstance(told, float) else told)
    assert spilled.risk_of_records == whole.risk_of_records
    assert spilled.check() == spilled.guarantees


@pytest.mark.parametrize("seed", range(3))
def test_the_bytes_are_those_of_all_records_where_equal_cells_are_spelled_in_two_ways(
    tmp_path: Path, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    columns = {
        "age": np.array([-0.0, 0.0, 1.0, 2.5])[rng.integers(0, 4, 200)],
        "ill": np.array(["flu", "cold", "", "?", None], dtype=object)[rng.integers(0, 5, 200)],
        "ward": np.array([0.0, -0.0, -1.0])[rng.integers(0, 3, 200)],
    }
    path = tmp_path / "people.parquet"
    with duckdb.connect() as database:
        database.register("columns", columns)
        database.execute(f"COPY (SELECT * FROM columns) TO '{path}' (FORMAT parquet)")
    accept = {"singled_out": "invented"}
    policy = shoal.Policy.of(quasi=["age"], sensitive=["ill"], insensitive=["ward"], k=4, accept=accept)
    whole = published(shoal.anonymize(path, policy, seed=3), tmp_path / "whole")
    assert published(shoal.anonymize(path, policy.changed(memory="1 GB"), seed=3), tmp_path / "spilled") == whole
    with pytest.MonkeyPatch.context() as held:
        held.setattr(parquet, "does_fit", lambda *_: True)
        assert published(shoal.anonymize(path, policy.changed(memory="1 GB"), seed=3), tmp_path / "weighed") == whole


def test_the_report_is_about_some_groups_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "SAMPLE_ROWS", 60)
    policy = shoal.Policy.of(**ROLES, insensitive=["ward"], memory="1 GB")
    release = shoal.anonymize(put(tmp_path / "people.parquet", 3000), policy, seed=3)
    release.save(tmp_path / "out")
    n_some = release._original.n_records
    assert 0 < n_some < 1000
    assert f"used {n_some:,} of 3,000 records" in release.sampled
    assert f"used {n_some:,} of 3,000 records" in (tmp_path / "out" / "private" / "report.html").read_text()
    assert any("do not fit into memory" in note for note in release.notes)
    manifest = json.loads((tmp_path / "out" / "publish" / "manifest.json").read_text())
    assert manifest["records"]["in"] == 3000
    assert shoal.check(tmp_path / "out" / "publish").holds


def test_a_copy_is_not_written(tmp_path: Path) -> None:
    policy = shoal.Policy.of(**ROLES, insensitive=["ward"], memory="1 GB")
    release = shoal.anonymize(put(tmp_path / "people.parquet", 300), policy, seed=3)
    with pytest.raises(NotVerified, match="no longer there"):
        copy.deepcopy(release).save(tmp_path / "out")
    with pytest.raises(PolicyError, match="memory is bounded"):
        _ = release.data


def test_what_is_not_written_as_made_is_not_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, right = put(tmp_path / "people.parquet", 300), spilled.write_parquet_pieces
    policy = shoal.Policy.of(**ROLES, insensitive=["ward"], memory="1 GB")

    def spoil(change: Callable[[np.ndarray], np.ndarray], n_lost: int = 0) -> None:
        def write(table: Table, pieces: Iterable[np.ndarray], to: Path, n_records: int) -> None:
            right(table, [change(np.concatenate(list(pieces)))], to, n_records - n_lost)

        monkeypatch.setattr(spilled, "write_parquet_pieces", write)

    def alone(rows: np.ndarray) -> np.ndarray:
        shown = rows.copy()
        shown[0, 0] = (shown[0, 0] + 1) % 3  # the labels of one row are those of another group
        return shown

    first = shoal.anonymize(path, policy, seed=3)
    spoil(lambda rows: rows)
    assert shoal.anonymize(path, policy, seed=3).guarantees == first.guarantees
    spoil(lambda rows: rows[1:] if rows[0, -1] == 1 else np.vstack([rows[:1] - [0, 0, 0, 0, 1], rows[1:]]), 1)
    with pytest.raises(NotVerified, match="does not read back"):
        shoal.anonymize(path, policy, seed=3)
    spoil(alone)
    with pytest.raises(NotVerified, match="failed its own check"):
        shoal.anonymize(path, policy, seed=3)


def test_what_is_serious_and_not_taken_is_not_published(tmp_path: Path) -> None:
    policy = shoal.Policy.of(**ROLES, insensitive=["ward"], memory="1 GB")
    strict = policy.limits.model_copy(update={"singled_out": 0})
    refusing = policy.model_copy(update={"accept": {}, "limits": strict})
    with pytest.raises(shoal.Infeasible, match="so nothing was published"):
        shoal.anonymize(put(tmp_path / "people.parquet", 150), refusing, seed=3)


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    path = put(tmp_path / "people.parquet", 300)
    shoal.anonymize(path, shoal.Policy.of(**ROLES, insensitive=["ward"], memory="1 GB"), seed=3)
    with pytest.raises(shoal.Infeasible):
        shoal.anonymize(path, shoal.Policy.of(**{**ROLES, "k": 301}, insensitive=["ward"], memory="1 GB"), seed=3)
    assert not list(scratch.iterdir())


@pytest.mark.parametrize("name", ["save", "savez"])
def test_a_full_disk_ends_in_one_sentence_whatever_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, name, full)
    policy = shoal.Policy.of(**ROLES, insensitive=["ward"], memory="1 GB")
    with pytest.raises(ShoalError, match="No space left on device; make room there"):
        shoal.anonymize(put(tmp_path / "people.parquet", 300), policy, seed=3)


def test_others_and_earlier_releases_are_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "people.parquet", 300)
    policy = shoal.Policy.of(**ROLES, insensitive=["ward"], memory="1 GB")
    with pytest.raises(PolicyError, match="hold none out"):
        shoal.anonymize(path, policy, hold_out=0.2)
    with pytest.raises(PolicyError, match=r"several releases|one release alone"):
        shoal.anonymize(path, policy, after=tmp_path)


def test_recodings_are_still_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "BASE_BYTES", 1 << 40)
    policy = shoal.Policy.of(**ROLES, insensitive=["ward"], memory="1 GB", partition="datafly")
    with pytest.raises(parquet.TooManyDistinct, match="rows are distinct, too many"):
        shoal.anonymize(put(tmp_path / "people.parquet", 300), policy, seed=3)
