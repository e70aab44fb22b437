"""Pseudo-baskets of a file that is read in blocks are, to the byte, those of records in memory; the rest is refused."""

from __future__ import annotations

import gzip
import os
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
from shoal.check.sparse import baskets_in_blocks
from shoal.data import ragged, ragged_rows
from shoal.errors import DataError, Infeasible, NotVerified, PolicyError, ShoalError
from shoal.kernels.compile import interpreted
from shoal.kinds.sparse import unheld, unheld_baskets
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.sparse import deal_units, mean_weights, near_groups
from tests.unit.kinds.sparse.test_unheld import made, small_blocks

pytestmark = pytest.mark.unattacked


def put(path: Path, n: int = 600, seed: int = 0, n_items: int = 40, n_labels: int = 3) -> Path:
    """Baskets of some patterns with noise, or SVMlight with counts and classes, by the name."""
    rng = np.random.default_rng(seed)
    patterns = [rng.choice(n_items, 4, replace=False) for _ in range(8)]
    lines = []
    for _ in range(n):
        drawn = {*patterns[rng.integers(8)][: rng.integers(0, 5)].tolist(), *rng.integers(0, n_items, 3).tolist()}
        items = sorted(i + 1 for i in drawn if rng.random() < 0.9)
        if ".svm" in path.suffixes:
            weights = rng.integers(1, 6, len(items)) if seed % 2 else np.ones(len(items), int)
            lines.append(
                " ".join([str(rng.integers(n_labels)), *(f"{i}:{w}" for i, w in zip(items, weights, strict=True))])
            )
        else:
            lines.append(" ".join(map(str, [*items, *items[: seed % 3]])))
    text = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def in_small_parts(n_entries: int) -> ExitStack:
    """Rows are looked at, put in order and dealt so many entries at a time, and few are parted at once."""
    stack = ExitStack()
    for where, name, value in (
        (ragged, "ENTRIES_AT_ONCE", n_entries),
        (ragged_rows, "ENTRIES_OF_A_RANGE", 2 * n_entries),
        (deal_units, "UNITS_AT_ONCE", n_entries),
        (mean_weights, "ENTRIES_OF_A_RUN", n_entries),
        (baskets_in_blocks, "ENTRIES_AT_ONCE", n_entries),
    ):
        stack.enter_context(patch.object(where, name, value))
    return stack


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from([".dat", ".svm", ".svm.gz", ".dat.gz"]),
    st.sampled_from([20, 90, 400]),
    st.integers(0, 99),
    st.integers(2, 9),
    st.sampled_from([2, 3]),
    st.sampled_from([2, 16]),
    st.sampled_from([5, 60, 1 << 20]),
)
def test_the_bytes_are_those_of_records_in_memory(
    suffix: str, n: int, seed: int, k: int, support: int, together: int, at_once: int
) -> None:
    weights = "counts" if seed % 5 else "binary"
    asked = {"k": k, "support": support, "together": together, "suppression": 0.9, "weights": weights}
    policy = SparsePolicy.of(publish="pseudo", **asked)
    with tempfile.TemporaryDirectory() as folder, patch.object(near_groups, "LEAF", 30):
        path = put(Path(folder) / f"records{suffix}", n, seed)
        held = made(path, policy, Path(folder) / "held")
        with in_small_parts(at_once), small_blocks(20 * at_once):
            assert made(path, policy.changed(memory="1GB"), Path(folder) / "bounded") == held


def test_many_records_are_parted_in_files(tmp_path: Path) -> None:
    policy = SparsePolicy.of(publish="pseudo", k=5)
    for seed, name in ((2, "records.dat"), (3, "records.svm")):
        path = put(tmp_path / name, 9000, seed)
        held = made(path, policy, tmp_path / f"held{seed}")
        with patch.object(unheld_baskets, "BYTES_AN_ENTRY", 60_000), in_small_parts(5000):
            assert made(path, policy.changed(memory="1GB"), tmp_path / f"bounded{seed}") == held


@pytest.mark.parametrize("name", ["records.dat", "records.svm"])
def test_groups_are_kept_and_the_folder_holds_with_them(tmp_path: Path, name: str) -> None:
    path = put(tmp_path / name, seed=1)
    policy = SparsePolicy.of(publish="pseudo", k=5, memory="1GB", weights="counts")
    with interpreted(False):
        release = shoal.anonymize(path, policy, seed=7)
    out = release.save(tmp_path / "out", keep=("groups",))
    found = shoal.check(out, path, private=out / "private")
    assert found.holds, found.to_dict()
    assert shoal.check(out, path, policy, out / "private").holds
    assert release.check() == release.guarantees
    with pytest.raises(NotVerified, match="cannot be written again"):  # a copy has no file
        pickle.loads(pickle.dumps(release)).save(tmp_path / "copy")
    assert (out / "private" / "report.html").is_file()


def test_what_is_measured_is_drawn_and_the_rest_is_of_all(tmp_path: Path) -> None:
    path = put(tmp_path / "records.svm", 900, seed=1)
    policy = SparsePolicy.of(publish="pseudo", k=5, memory="1GB")
    with patch.object(unheld_baskets, "N_DRAWN", 60):
        release = shoal.anonymize(path, policy, seed=7)
    whole = shoal.anonymize(path, policy.changed(memory=None), seed=7)
    evidence, groups = release._evidence, release._all_groups
    assert 40 <= len(release._original) <= 60
    assert release.sampled.startswith(f"Measures and attacks used {len(release.published)} of {release.records['out']}")
    assert len(set(evidence.groups.tolist()) - set(evidence.original_groups.tolist())) == 0
    # Whole groups: as many originals and pseudo-baskets as these have of all.
    drawn = np.unique(evidence.original_groups)
    sizes = np.sort(np.bincount(evidence.original_groups))
    assert drawn.tolist() == list(range(len(drawn)))
    assert set(sizes.tolist()) <= set(np.bincount(groups.original[groups.original >= 0]).tolist())
    assert release.records == whole.records
    assert release.items == whole.items
    assert (release.facts.n_items, release.facts.mean_size) == (whole.facts.n_items, whole.facts.mean_size)
    assert np.bincount(release.facts.labels).tolist() == np.bincount(whole.baskets.labels).tolist()
    assert release.summary()["records"] == whole.records
    assert shoal.anonymize(path, policy, seed=7).sampled == ""


def test_what_cannot_be_bounded_is_refused_by_name(tmp_path: Path) -> None:
    policy = SparsePolicy.of(publish="pseudo", k=5, memory="1GB")
    path = put(tmp_path / "records.svm")
    (tmp_path / "reals.svm").write_text("1 1:0.5 2:1\n" * 40)
    (tmp_path / "table.csv").write_text("items\na b\n")
    (tmp_path / "wide.svm").write_text("1e999 1:1\n" * 40)
    with pytest.raises(PolicyError, match="weights that are not whole numbers are averaged in the order of all"):
        shoal.anonymize(tmp_path / "reals.svm", policy)
    with pytest.raises(PolicyError, match=r"table.csv is a table: leave memory out"):
        shoal.anonymize(tmp_path / "table.csv", policy)
    with pytest.raises(PolicyError, match="some classes are not numbers that SVMlight could hold"):
        shoal.anonymize(tmp_path / "wide.svm", policy)
    with pytest.raises(PolicyError, match="together = 1 groups records of three classes or more"):
        shoal.anonymize(path, policy.changed(together=1))
    with pytest.raises(PolicyError, match="columns, persons and headers are of tables"):
        shoal.anonymize(path, policy.changed(person=("who",)))
    with pytest.raises(PolicyError, match="a key is for sketches"):
        shoal.anonymize(path, policy, key=b"0" * 32)
    with pytest.raises(PolicyError, match="records are held out of those in memory"):
        shoal.anonymize(path, policy, hold_out=0.1)
    with pytest.raises(PolicyError, match="these records are in memory: leave memory out"):
        shoal.anonymize([["a", "b"]] * 20, policy)
    (tmp_path / "short.dat").write_text("a\nb\nc\nd\ne\nf\n")
    with pytest.raises(Infeasible, match="nothing can be published: no k = 5 records of a class"):
        shoal.anonymize(tmp_path / "short.dat", policy)


def test_what_does_not_fit_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    path, policy = put(tmp_path / "records.dat", 400), SparsePolicy.of(publish="pseudo", k=5, memory="1GB")
    with (
        patch.object(unheld, "BYTES_A_RECORD", 10_000_000),
        pytest.raises(Infeasible, match="400 records take about 4,350 MB, however few items they have"),
    ):
        shoal.anonymize(path, policy)
    with (
        patch.object(unheld, "BYTES_A_NAME", 100_000_000),
        pytest.raises(Infeasible, match="40 different items and classes take about 4,350 MB"),
    ):
        shoal.anonymize(path, policy)
    with (
        patch.object(baskets_in_blocks, "BYTES_A_PLACE", 10**9),
        pytest.raises(Infeasible, match="40 items of 1 classes are counted, which does not fit into the bound"),
    ):
        shoal.anonymize(path, policy)
    with (
        patch.object(unheld_baskets, "BYTES_AN_ENTRY", 10**8),
        pytest.raises(Infeasible, match=r"do(es)? not fit into the bound: raise memory"),
    ):
        shoal.anonymize(path, policy)
    (tmp_path / "long.dat").write_text(" ".join(map(str, range(20_000))) + "\n")
    with (
        small_blocks(1000),
        patch.object(unheld, "BYTES_A_BYTE", 10**6),
        pytest.raises(DataError, match="is too long for the bound on memory"),
    ):
        shoal.anonymize(tmp_path / "long.dat", policy)


def test_nothing_is_left_in_the_temporary_folder_nor_when_it_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, scratch = put(tmp_path / "records.dat"), tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    policy = SparsePolicy.of(publish="pseudo", k=5, memory="1GB")
    release = shoal.anonymize(path, policy, seed=7)
    assert os.listdir(scratch) == []
    del release
    write = ragged_rows.ValueFile.write
    for n_written in (0, 3, 12):
        left = [n_written]

        def full(self: Any, at: int, values: Any, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(28, "No space left on device")
            write(self, at, values)

        with monkeypatch.context() as patched:
            patched.setattr(ragged_rows.ValueFile, "write", full)
            with pytest.raises(ShoalError, match=r"temporary folder .*: No space left on device; make room there"):
                shoal.anonymize(path, policy, seed=7)
        assert os.listdir(scratch) == []


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "records.dat")
    policy = SparsePolicy.of(publish="pseudo", k=5, memory="1GB")
    records = unheld.UnheldRecords.of(path, policy)
    lines = path.read_text().splitlines()
    for changed in ([*lines, "1 2 3"], [*lines[:-1], "new"], sorted(lines)):
        path.write_text("\n".join(changed) + "\n")
        with pytest.raises(DataError, match="changed while they were read"):
            unheld_baskets.release_unheld_baskets(records, policy, shoal.kind.Run(seed=1))


def edited(release_rows: list[str], fault: str) -> list[str]:
    """The published lines with a planted fault, sorted as they were."""
    rows = [line.split() for line in release_rows]
    at = max(range(len(rows)), key=lambda i: len(rows[i]))
    if fault == "rare basket":
        rows[at] = ["1", "77"]
    if fault == "rare item":
        rows[at][-1] = "99"
    if fault == "foreign item":
        rows[at][-1] = "ghost"
    if fault == "wrong size":
        rows[at] = sorted({*rows[at], *(str(i) for i in range(1, 15))})
    return [" ".join(row) for row in rows]


@pytest.mark.parametrize(
    ("fault", "broken"),
    [
        ("rare basket", "rare-copies"),
        ("rare item", "item-support"),
        ("foreign item", "item-support"),
        ("wrong size", "sizes"),
        ("pool below k", "k-anonymity"),
    ],
)
def test_planted_faults_are_caught_by_both_checks(tmp_path: Path, fault: str, broken: str) -> None:
    path = put(tmp_path / "records.dat", 300)
    path.write_text(path.read_text() + "1 77\n" + "77 2\n" * 20 + "99 3\n" * 2)
    policy = SparsePolicy.of(publish="pseudo", k=5, memory="1GB")
    release = shoal.anonymize(path, policy, seed=7)
    out = release.save(tmp_path / "out", keep=("groups",), report=False)
    data, groups = out / "publish" / "data.dat", release._all_groups
    original_groups = groups.original.copy()
    if fault == "pool below k":
        one = int(groups.published[0])
        original_groups[np.flatnonzero(original_groups == one)[1:]] = -1
        kept = out / "private" / "groups.csv"
        lines = kept.read_text().splitlines()
        first = next(i for i, line in enumerate(lines) if line.endswith(f",{one}"))
        kept.write_text(
            "\n".join(line for i, line in enumerate(lines) if i <= first or not line.endswith(f",{one}")) + "\n"
        )
    else:
        data.write_text("\n".join(edited(data.read_text().splitlines(), fault)) + "\n")
    found = shoal.check(out, path, private=out / "private")
    assert broken in {g.model for g in found.guarantees if not g.holds}
    verdict = baskets_in_blocks.verify_baskets_in_blocks(
        lambda: unheld_baskets.blocks_back(data, release.form, 1 << 20),
        unheld_baskets.baskets_asked(policy),
        release._unheld.blocks,
        original_groups,
        groups.published,
        10**9,
    )
    # Both checks tell the same of the same folder.
    assert [g.to_dict() for g in verdict.guarantees] == [g.to_dict() for g in found.guarantees]
