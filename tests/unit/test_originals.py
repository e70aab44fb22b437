"""The tests of `originals.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.data.sparse.records import Sparse
from shoal.errors import PolicyError
from shoal.held_out import FILE_NAME, hold_out
from shoal.manifest import FILE_NAME as MANIFEST
from shoal.originals import kept_secrets, split_original

N = 60

SPARSE = Sparse.of([[f"i{i}", "all"] for i in range(N)])


def manifest(folder: Path, records: str) -> Path:
    folder.mkdir()
    (folder / MANIFEST).write_text(f'{{"records": {records}}}')
    return folder


def test_an_original_is_split_where_the_manifest_says_so(tmp_path: Path) -> None:
    whole = manifest(tmp_path / "whole", '{"in": 60, "out": 60, "suppressed": 0}')
    assert split_original(whole, SPARSE, None) == (SPARSE, None)
    part = manifest(tmp_path / "part", '{"in": 42, "out": 42, "suppressed": 0, "held_out": 18}')
    with pytest.raises(PolicyError, match=r"^records were held out .*--private"):
        split_original(part, SPARSE, None)
    few = manifest(tmp_path / "few", '{"in": 42, "out": 42, "suppressed": 0, "held_out": {"from": 1, "to": null}}')
    with pytest.raises(PolicyError, match=r"^records were held out .*--private"):
        split_original(few, SPARSE, None)
    with pytest.raises(PolicyError, match="--private"):
        split_original(part, SPARSE, tmp_path)
    _, out = hold_out(SPARSE, N, 0.3, seed=1)
    out.keep(tmp_path)
    kept, others = split_original(part, SPARSE, tmp_path)
    assert (len(kept), len(others)) == (42, 18)
    kept, others = split_original(few, SPARSE, tmp_path)
    assert (len(kept), len(others)) == (42, 18)


def test_a_folder_of_nothing_but_held_out_records_holds_no_other_secret(tmp_path: Path) -> None:
    assert kept_secrets(None, "rows.csv") is None
    assert kept_secrets(tmp_path, "rows.csv") == tmp_path  # who reads it says what is missing
    (tmp_path / FILE_NAME).write_text("original_row,held_out\n1,1\n")
    assert kept_secrets(tmp_path, "rows.csv") is None
    (tmp_path / "rows.csv").write_text("published_row,original_row\n1,1\n")
    assert kept_secrets(tmp_path, "rows.csv") == tmp_path
