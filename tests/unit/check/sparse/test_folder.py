"""The tests of `check/sparse/folder.py`."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.check.sparse.folder import asked_of
from shoal.check.sparse.verify import verify_sketches
from shoal.data.samples.quest import labelled_records
from shoal.data.sparse.records import Sparse
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.sparse.release import SparseRelease, release_sparse
from shoal.sparse.signs import new_key

pytestmark = pytest.mark.unattacked

POLICY = SparsePolicy.of(publish="sketch", k=5)


@pytest.fixture(scope="module")
def baskets() -> Sparse:
    return labelled_records("C20.I4.D400", seed=5)


@pytest.fixture(scope="module")
def release(baskets: Sparse) -> SparseRelease:
    return release_sparse(baskets, POLICY, key=new_key(3))


@pytest.fixture(scope="module")
def folder(release: SparseRelease, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release.save(tmp_path_factory.mktemp("reviewed") / "out", keep=["rows", "key"], report=False)


def test_what_one_record_reaches_is_published_with_two_digits(folder: Path, release: SparseRelease) -> None:
    """With all digits, whoever has the worst record could confirm that it is in the data."""
    content = json.loads((folder / "publish" / "manifest.json").read_text())
    exact = {g.model: g.achieved for g in release.guarantees}
    told = {g["model"]: g for g in content["guarantees"]}
    for model in ("delta-anonymity", "k-variance", "recovery-cap"):
        assert len(f"{told[model]['achieved']:g}".replace(".", "").lstrip("0")) <= 2
    assert told["delta-anonymity"]["achieved"] <= exact["delta-anonymity"]
    assert told["recovery-cap"]["achieved"] >= exact["recovery-cap"]
    sheet = (folder / "publish" / "datasheet.html").read_text()
    digits = f"{100 * exact['recovery-cap']:.4f}".rstrip("0")
    assert digits not in sheet
    assert digits not in json.dumps(content)


def test_a_manifest_cannot_excuse_few_records_from_true_neighbours(
    baskets: Sparse, folder: Path, tmp_path: Path
) -> None:
    """ "partition" in the manifest let a made-up list of neighbours in private/ stand for the nearest."""
    assert asked_of(POLICY, "partition", len(baskets)).neighbours == "exact"
    assert asked_of(POLICY, "partition", 300_000).neighbours == "partition"
    assert asked_of(POLICY.changed(neighbours="partition"), "partition", len(baskets)).neighbours == "partition"
    out = tmp_path / "out"
    shutil.copytree(folder, out)
    content = json.loads((out / "publish" / "manifest.json").read_text())
    content["neighbours"] = "partition"
    (out / "publish" / "manifest.json").write_text(json.dumps(content))
    wrong = np.random.default_rng(0).integers(0, len(baskets), (len(baskets), 5)).astype(np.int32)
    np.save(out / "private" / "neighbours.npy", wrong)
    found = shoal.check(out / "publish", baskets, None, out / "private")
    edges = next(g for g in found.guarantees if g.model == "k-variance")
    assert edges.holds
    assert "approximate" not in edges.sentence


def test_a_list_that_misses_most_of_the_nearest_is_no_list_of_neighbours(
    baskets: Sparse, release: SparseRelease
) -> None:
    """Edges to far records were taken as they are, however few of the nearest they led to."""
    n = len(baskets)
    far = ((np.arange(n)[:, None] + np.arange(1, 6)[None, :] * 61) % n).astype(np.int32)
    asked = replace(asked_of(POLICY, None), delta=0.01, recovery_cap=False, neighbours="partition")
    evidence = replace(release._evidence, neighbours=far)
    found = next(g for g in verify_sketches(release.sketches, asked, evidence).guarantees if g.model == "k-variance")
    assert not found.holds
    assert "not a list of neighbours" in found.sentence
    assert found.n_failing == found.n_classes


def test_without_the_key_single_numbers_are_not_verified(baskets: Sparse, folder: Path, tmp_path: Path) -> None:
    """One component changed by a step passed the check where the rows were kept and the key was not."""
    private = tmp_path / "private"
    shutil.copytree(folder / "private", private)
    assert shoal.check(folder / "publish", baskets, None, private).holds
    (private / "key.txt").unlink()
    found = shoal.check(folder / "publish", baskets, None, private)
    assert not found.fails
    assert not found.holds
    assert any("takes the key" in sentence for sentence in found.unverified)
