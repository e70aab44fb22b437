"""The data of a folder: held, or slice by slice where memory is bounded."""

from __future__ import annotations

from pathlib import Path

import pytest

import shoal
from shoal.check.folder import PublishedFolder
from shoal.check.tables.published_data import published_rows, published_table
from shoal.data.memory import bounded
from shoal.data.tables.slices import SlicesApart
from shoal.data.tables.table import Table
from shoal.kinds.tables.manifest import TableManifest
from tests.unit.kinds.tables.test_large import ROLES, put

pytestmark = pytest.mark.unattacked


@pytest.mark.parametrize("publish", ["generalise", "bucketize"])
def test_slices_are_read_one_by_one_where_memory_is_bounded(tmp_path: Path, publish: str) -> None:
    policy = shoal.Policy.of(**ROLES, others="identifying", publish=publish)
    path = put(tmp_path / "people.parquet", 200)
    shoal.anonymize(path, policy).save(tmp_path / "out", report=False)
    folder = PublishedFolder.open(tmp_path / "out" / "publish")
    manifest = TableManifest.parse(folder.content, folder.path)
    held = published_table(folder, manifest)
    for memory, kind in ((None, Table), (10**9, SlicesApart if publish == "bucketize" else Table)):
        told = (folder, manifest, manifest.missing_markers, None, 1)
        with bounded(memory), published_rows(*told, is_weighed=memory is not None) as rows:
            assert isinstance(rows, kind)
            assert rows.n_records == held.n_records == 200
            assert list(rows.names) == held.names
