"""Workers of a real cluster read and write the files themselves, and one that is lost in any step changes no byte."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import shoal
from shoal.data.tables import parquet
from tests.e2e import cluster_jobs
from tests.e2e.test_cluster_engine import Cluster, local_cluster

pytest.importorskip("distributed")
pytestmark = pytest.mark.unattacked

N_ROWS = 300_000
STEPS = {
    "collapse": ("shoal.data.tables.workers", "collapse_run"),
    "merge": ("shoal.data.tables.workers", "merge_bucket"),
    "cut": ("shoal.tables.partition.mondrian", "finish_block"),
    "write": ("shoal.data.tables.parquet_write", "write_part"),
}
POLICY = shoal.Policy.of(quasi=["age", "zip"], sensitive=["ill"], others="identifying", k=5, block_rows=1000)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("storage") / "people.parquet"
    rng = np.random.default_rng(5)
    columns = {
        "name": np.arange(N_ROWS),
        "age": rng.integers(20, 60, N_ROWS),
        "zip": rng.integers(0, 50, N_ROWS),
        "ill": np.array(["flu", "cold", "ulcer"], dtype=object)[rng.integers(0, 3, N_ROWS)],
    }
    with duckdb.connect() as database:
        database.register("columns", columns)
        database.execute(f"COPY (SELECT * FROM columns) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 20480)")
    return path


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with local_cluster(2) as running:
        yield running


def released(path: Path, **where: Any) -> tuple[str, tuple[str, ...]]:
    """The checksum of what is published, and what was noted."""
    release = shoal.anonymize(path, POLICY.changed(memory="1GB"), seed=4, **where)
    out = path.parent / f"out-{len(os.listdir(path.parent))}"
    release.save(out, report=False)
    digest = hashlib.sha256()
    for file in sorted((out / "publish").iterdir()):
        digest.update(file.read_bytes())
    return digest.hexdigest(), release.notes


def test_the_driver_scans_no_row_and_the_bytes_are_the_same(
    people: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = released(people)
    scans: list[str] = []
    collapse = parquet._read_collapsed

    def noted(database: Any, path: Any, scan: str, *rest: Any, **more: Any) -> Any:
        scans.append(scan)
        return collapse(database, path, scan, *rest, **more)

    monkeypatch.setattr(parquet, "_read_collapsed", noted)
    assert released(people, cluster=cluster.address) == expected
    assert released(people, workers=2, pool="processes") == expected
    originals = [scan for scan in scans if "people.parquet" in scan]
    assert not originals
    assert len([scan for scan in scans if "bucket-" in scan]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("step", list(STEPS))
def test_a_worker_that_is_lost_in_a_step_is_survived(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    module, name = STEPS[step]
    expected, notes = released(people)
    home = import_module(module)
    with local_cluster(2) as running:
        marker = tmp_path / "lost"
        monkeypatch.setattr(home, f"{name}_itself", getattr(home, name), raising=False)
        monkeypatch.setattr(home, name, partial(cluster_jobs.die_once, os.getpid(), str(marker), module, name))
        found, more = released(people, cluster=running.address)
        assert marker.exists()
        assert sum(worker.poll() is not None for worker in running.workers) == 1
    assert found == expected
    assert [n for n in more if n not in notes] == [next(n for n in more if "gave no result" in n)]
