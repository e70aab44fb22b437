"""Sketches of a file that is read in blocks are, to the byte, those of records in memory; the rest is refused by name."""

from __future__ import annotations

import hashlib
import pickle
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.data import line_blocks
from shoal.data.sparse.sketch_files import read_sketches
from shoal.errors import DataError, Infeasible, NotVerified, PolicyError, ShoalError
from shoal.kinds.sparse import unheld
from shoal.kinds.sparse.policy import SparsePolicy

pytestmark = pytest.mark.unattacked


def put(path: Path, n: int = 600, seed: int = 0, least: int = 0) -> Path:
    """Baskets, or SVMlight with counts and classes, by the name."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        items = np.sort(rng.choice(120, rng.integers(least, 25), replace=False)) + 1
        if path.suffix == ".svm":
            entries = [f"{i}:{w}" for i, w in zip(items, rng.integers(1, 5, len(items)), strict=True)]
            lines.append(" ".join([str(rng.integers(0, 3)), *entries]))
        else:
            lines.append(" ".join(map(str, items)))
    path.write_text("\n".join(lines) + "\n")
    return path


def small_blocks(n_bytes: int) -> Any:
    """A file is read, and cut into blocks, so many bytes at a time."""
    stack = ExitStack()
    stack.enter_context(patch.object(line_blocks, "_PIECE", n_bytes))
    stack.enter_context(patch.object(unheld, "BYTES_AT_ONCE", n_bytes))
    return stack


def made(path: Path, policy: SparsePolicy, out: Path, **more: Any) -> Any:
    """The checksums of what is published and what is said of it, or why there is nothing."""
    try:
        release = shoal.anonymize(path, policy, seed=7, **more)
    except ShoalError as error:
        return type(error), str(error)
    release.save(out, report=False)
    files = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in (out / "publish").iterdir()}
    return files, release.records, release.guarantees, release.findings, dict(release.suppressed), release.notes


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from([".dat", ".svm"]),
    st.integers(2, 150),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.3, 0.5, 2.0]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 2, 60]),
    st.sampled_from([1, 60, 1 << 22]),
)
def test_the_bytes_are_those_of_records_in_memory(
    suffix: str, n: int, seed: int, delta: float, is_capped: bool, is_coarse: bool, rare: int, at_once: int
) -> None:
    asked = {"recovery_cap": is_capped, "coarse_counts": is_coarse, "rare": rare, "suppression": 0.9}
    policy = SparsePolicy.of(model="delta", delta=delta, **asked)
    with tempfile.TemporaryDirectory() as folder, small_blocks(at_once):
        path = put(Path(folder) / f"records{suffix}", n, seed)
        if suffix == ".svm":
            with path.open("a") as file:
                file.write("7 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1\n")
        held = made(path, policy, Path(folder) / "held")
        assert made(path, policy.changed(memory="1GB"), Path(folder) / "bounded") == held


def test_row_groups_are_cut_as_of_records_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "many.dat"
    lines = [" ".join(map(str, range(i % 7, i % 7 + 9))) for i in range(130_000)]
    path.write_text("\n".join(lines) + "\n")
    policy = SparsePolicy.of(model="delta", recovery_cap=False, max_components=4)
    held = made(path, policy, tmp_path / "held")
    assert made(path, policy.changed(memory="1GB"), tmp_path / "bounded") == held


@pytest.mark.parametrize("suffix", [".dat", ".svm"])
def test_rows_and_key_are_kept_and_the_folder_holds_with_them(tmp_path: Path, suffix: str) -> None:
    path = put(tmp_path / f"records{suffix}", least=10)
    policy = SparsePolicy.of(model="delta", memory="1GB")
    release = shoal.anonymize(path, policy, seed=7)
    out = release.save(tmp_path / "out", keep=("rows", "key"))
    found = shoal.check(out, path, private=out / "private")
    assert found.holds, found.to_dict()
    assert shoal.check(out, path, policy, out / "private").holds
    assert release.check() == release.guarantees
    with pytest.raises(NotVerified, match="cannot be written again"):  # a copy has no file
        pickle.loads(pickle.dumps(release)).save(tmp_path / "copy")
    assert (out / "private" / "report.html").is_file()


def test_what_is_measured_is_drawn_and_the_rest_is_of_all(tmp_path: Path) -> None:
    path = put(tmp_path / "records.svm", 900, least=10)
    policy = SparsePolicy.of(model="delta", memory="1GB", recovery_cap=False)
    with patch.object(unheld, "N_DRAWN", 50), small_blocks(500):
        release = shoal.anonymize(path, policy, seed=7)
    assert len(release.published) == len(release._original) == 50
    assert release.sampled.startswith("Measures and attacks used 50 of 900 records, drawn at random")
    release.save(tmp_path / "out", report=False)
    whole = read_sketches(tmp_path / "out" / "publish" / "data.parquet")
    assert np.sort(release.component_counts).tolist() == np.sort(whole.counts).tolist()
    labels, names = release.classes
    assert np.bincount(labels).tolist() == np.bincount(whole.labels).tolist()
    assert names == whole.classes
    assert (release.records["in"], release.records["out"]) == (900, len(whole))
    assert release.summary()["records"] == release.records
    assert shoal.anonymize(path, policy, seed=7).sampled == ""


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"publish": "suppress"}, 'publish = "suppress" needs all records in memory'),
        ({"publish": "sketch"}, "k-variance, which looks at the nearest of all records, needs all records in memory"),
        ({"unit": "group"}, 'unit = "group" needs all records in memory'),
        ({"model": "delta", "format": "text"}, 'format = "text" needs all records in memory'),
        ({"model": "delta", "memory": "20MB"}, "memory is a size of at least 500 MB, such as 2GB"),
        ({"model": "delta", "memory": "much"}, "memory is a size of at least 500 MB, such as 2GB"),
    ],
)
def test_policies_that_need_all_records_are_refused_by_name(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        SparsePolicy.of(**{"memory": "1GB", **asked})


def test_what_cannot_be_read_in_blocks_is_refused_by_name(tmp_path: Path) -> None:
    policy = SparsePolicy.of(model="delta", memory="1GB")
    path = put(tmp_path / "records.dat")
    (tmp_path / "table.csv").write_text("items\na b\n")
    (tmp_path / "reals.svm").write_text("1 1:1 2:1\n" * 40_000 + "1 1:0.5 2:1\n")
    with pytest.raises(PolicyError, match=r"table.csv is a table: leave memory out"):
        shoal.anonymize(tmp_path / "table.csv", policy)
    with pytest.raises(PolicyError, match="is folder: leave memory out"):
        shoal.anonymize(tmp_path, policy)
    with pytest.raises(PolicyError, match="weights that are not whole numbers are rounded to a grid"):
        shoal.anonymize(tmp_path / "reals.svm", policy)
    with pytest.raises(PolicyError, match="these records are in memory: leave memory out"):
        shoal.anonymize([["a", "b"], ["b"]], policy)
    with pytest.raises(PolicyError, match="columns, persons and headers are of tables"):
        shoal.anonymize(path, policy.changed(header="none"))
    with pytest.raises(PolicyError, match="records are held out of those in memory"):
        shoal.anonymize(path, policy, hold_out=0.1)
    with pytest.raises(PolicyError, match="all are held here: leave memory out"):
        shoal.anonymize(path, policy, control=path)
    with pytest.raises(PolicyError, match="all are held here: leave memory out"):
        shoal.profile(path, policy)
    with pytest.raises(DataError, match="no such file"):
        shoal.anonymize(tmp_path / "absent.dat", policy)
    (tmp_path / "short.dat").write_text("a\nb\nc\n")
    with pytest.raises(Infeasible, match="no record can be published: 3 have too few items for even one component"):
        shoal.anonymize(tmp_path / "short.dat", policy)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "records.dat", least=5)
    policy = SparsePolicy.of(model="delta", memory="1GB")
    records = unheld.UnheldRecords.of(path, policy)
    for more in ("1 2 3 4 5 6 7 8 9 10\n", "new 2 3 4 5 6 7 8 9 10\n"):
        path.write_text(path.read_text() + more)
        with pytest.raises(DataError, match="changed while they were read"):
            unheld.release_unheld(records, policy, seed=1)


def test_a_file_that_is_written_anew_with_as_many_records_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "records.dat", least=5)
    policy = SparsePolicy.of(model="delta", memory="1GB")
    records = unheld.UnheldRecords.of(path, policy)
    path.write_text("".join(sorted(path.read_text().splitlines(keepends=True))))
    with pytest.raises(DataError, match="changed while they were read"):
        unheld.release_unheld(records, policy, seed=1)
