"""A release of sketches in Python: what comes back, what is checked, what is written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.data.samples.quest import labelled_records
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketch_files import write_sketches
from shoal.errors import DataError, Infeasible, NotVerified, PolicyError
from shoal.kinds.sparse import release as sparse_release
from shoal.kinds.sparse.manifest import SketchManifest
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.sparse.release import SparseRelease, release_sparse
from shoal.manifest import checksum
from shoal.secrets import read_key
from shoal.sparse.signs import new_key

POLICY = SparsePolicy.of(publish="sketch", k=5)


@pytest.fixture(scope="module")
def baskets() -> Sparse:
    return labelled_records("C20.I4.D400", seed=5)


@pytest.fixture(scope="module")
def release(baskets: Sparse) -> SparseRelease:
    return shoal.anonymize(baskets, POLICY, seed=1)


@pytest.fixture(scope="module")
def folder(release: SparseRelease, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release.save(tmp_path_factory.mktemp("sparse") / "out", keep=["rows", "key"])


def test_everything_that_is_claimed_was_checked(baskets: Sparse, release: SparseRelease) -> None:
    models = {g.model for g in release.guarantees}
    assert {"k-variance", "delta-anonymity", "recovery-cap", "sketch-form"} <= models
    assert all(g.holds for g in release.guarantees)
    assert release.records["in"] == len(baskets)
    assert release.records["out"] + sum(release.suppressed.values()) == len(baskets)
    assert release.neighbours == "exact"


def test_only_data_manifest_and_datasheet_are_published_and_they_hold_no_secret(
    release: SparseRelease, folder: Path
) -> None:
    assert sorted(p.name for p in (folder / "publish").iterdir()) == ["data.parquet", "datasheet.html", "manifest.json"]
    assert sorted(p.name for p in (folder / "private").iterdir()) == [
        "attacks.json",
        "key.txt",
        "neighbours.npy",
        "report.html",
        "report.json",
        "rows.csv",
    ]
    key = release._evidence.key
    shown = ("report.html", "report.json", "attacks.json")
    for path in [*(folder / "publish").iterdir(), *(folder / "private" / n for n in shown)]:
        content = path.read_bytes()
        assert key not in content
        assert key.hex().encode() not in content
    assert (folder / "private" / "report.html").stat().st_size < 1_000_000
    assert all(p.stat().st_mode & 0o077 == 0 for p in (folder / "private").iterdir())
    assert repr(key)[2:-1] not in repr(release)


def test_nothing_but_the_file_is_needed_to_mine(release: SparseRelease, folder: Path) -> None:
    read = shoal.read_sketches(folder / "publish" / "data.parquet")
    assert np.array_equal(read.components, release.sketches.components)
    assert read.is_integral
    assert [read.classes[c] for c in read.labels] == [release.sketches.classes[c] for c in release.sketches.labels]


def test_a_folder_is_checked_with_the_original_and_the_secrets(baskets: Sparse, folder: Path) -> None:
    found = shoal.check(folder / "publish", baskets, private=folder / "private")
    assert found.holds, (found.findings, found.unverified, [str(g) for g in found.guarantees])
    without = shoal.check(folder / "publish", baskets)
    assert not without.fails
    assert not without.holds
    assert any("k-variance" in s or "neighbour" in s for s in without.unverified)
    assert shoal.check(folder / "publish").unverified
    stricter = shoal.check(folder / "publish", baskets, POLICY.changed(delta=5.0), folder / "private")
    assert [g.model for g in stricter.guarantees if not g.holds] == ["delta-anonymity"]


def test_the_same_key_makes_releases_comparable_and_a_new_one_does_not(baskets: Sparse, folder: Path) -> None:
    key = read_key(folder / "private")
    again = shoal.anonymize(baskets, POLICY, key=key)
    other = shoal.anonymize(baskets, POLICY)
    first = shoal.read_sketches(folder / "publish" / "data.parquet")
    assert np.array_equal(again.sketches.components, first.components)
    assert any("another release" in note for note in again.notes)
    assert not np.array_equal(other.sketches.components, first.components)


def test_the_manifest_is_read_as_it_was_written(release: SparseRelease, folder: Path) -> None:
    manifest = SketchManifest.read(folder / "publish")
    assert manifest.policy == release.policy
    assert manifest.records == release.records
    assert SketchManifest.read(folder / "publish").to_json() == (folder / "publish" / "manifest.json").read_text()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda c: c.pop("step"),
        lambda c: c.update(step=0),
        lambda c: c.update(data="../data.parquet"),
        lambda c: c["method"].pop("recovery_cap"),
        lambda c: c.update(require=[]),
        lambda c: c.update(neighbours=None),
        lambda c: c.update(neighbours="guessed"),
        lambda c: c["input"].pop("weights"),
    ],
)
def test_a_manifest_that_promises_less_is_no_manifest(folder: Path, tmp_path: Path, spoil) -> None:
    content = json.loads((folder / "publish" / "manifest.json").read_text())
    spoil(content)
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(DataError, match="manifest"):
        SketchManifest.read(tmp_path)


def test_an_edited_release_is_caught(baskets: Sparse, release: SparseRelease, folder: Path, tmp_path: Path) -> None:
    publish = tmp_path / "publish"
    publish.mkdir()
    for name in ("datasheet.html", "manifest.json"):
        (publish / name).write_bytes((folder / "publish" / name).read_bytes())
    components = release.sketches.components.copy()
    components[-1] += 2  # of the last sketch, so that all stay sorted
    write_sketches(replace(release.sketches, components=components), publish / "data.parquet")
    assert any("data.parquet" in f for f in shoal.check(publish).findings)
    content = json.loads((publish / "manifest.json").read_text())
    content["checksums"]["data.parquet"] = checksum(publish / "data.parquet")
    (publish / "manifest.json").write_text(json.dumps(content))
    found = shoal.check(publish, baskets, private=folder / "private")
    assert all(f.startswith("the manifest's guarantee of sketch-form is not") for f in found.findings)
    assert [g.model for g in found.guarantees if not g.holds] == ["sketch-form"]


def test_a_release_that_fails_its_check_is_not_written(baskets: Sparse, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = sparse_release.anonymize_sparse

    def greedy(records, policy, key, **rest):
        return honest(records, policy.changed(delta=policy.delta / 10, recovery_cap=False), key, **rest)

    monkeypatch.setattr(sparse_release, "anonymize_sparse", greedy)
    with pytest.raises(NotVerified, match="failed its own check"):
        shoal.anonymize(baskets, POLICY)


def test_what_cannot_be_met_is_said() -> None:
    with pytest.raises(Infeasible):
        shoal.anonymize(Sparse.of([["a"], ["b"], ["c"]]), SparsePolicy.of(publish="sketch", k=2))
    with pytest.raises(Infeasible):
        shoal.anonymize(Sparse.of([["a", "b", "c"]] * 3), SparsePolicy.of(publish="sketch", k=5))
    with pytest.raises(PolicyError, match="key"):
        shoal.anonymize({"age": [1, 2]}, key=b"0" * 32)
    with pytest.raises(PolicyError, match="32 bytes"):
        shoal.anonymize(Sparse.of([["a", "b", "c"]] * 30), SparsePolicy.of(publish="sketch", k=5), key=b"short")


def test_keeping_is_checked_before_anything_is_written(release: SparseRelease, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="rows"):
        release.save(tmp_path / "out", keep=["row"])
    assert not (tmp_path / "out").exists()


def test_lists_and_matrices_are_taken_too() -> None:
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    dense = (rng.random((60, 30)) < 0.4) * rng.integers(1, 4, (60, 30))
    found = shoal.anonymize(csr_array(dense), SparsePolicy.of(publish="sketch", k=3), seed=1)
    assert isinstance(found, SparseRelease)
    listed = [[f"i{j}" for j in np.flatnonzero(row)] for row in dense]
    assert shoal.anonymize(listed, SparsePolicy.of(publish="sketch", k=3)).records["in"] == 60


def test_held_out_records_are_left_out_and_compared_on(baskets: Sparse, tmp_path: Path) -> None:
    made = shoal.anonymize(baskets, POLICY, seed=1, hold_out=0.25)
    assert made.records["in"] == 300
    assert made.records["held_out"] == 100
    assert any(r.control is not None for r in made.attacked.results)
    out = made.save(tmp_path / "out", keep=["rows", "key"])
    assert "What attackers got" in (out / "private" / "report.html").read_text()
    with pytest.raises(PolicyError, match="held out"):
        shoal.check(out / "publish", baskets)
    assert shoal.check(out / "publish", baskets, private=out / "private").holds


def test_a_profile_proposes_what_can_be_read_back(baskets: Sparse, tmp_path: Path) -> None:
    found = shoal.profile(baskets)
    (tmp_path / "policy.toml").write_text(found.to_toml())
    assert SparsePolicy.read(tmp_path / "policy.toml") == found.policy
    assert found.n_records == 400
    assert found.classes == (("1", 200), ("2", 200))
    doubled = baskets.take(np.repeat(np.arange(400), 2))
    assert shoal.profile(doubled).n_duplicates >= 400
    json.dumps(found.to_dict())


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"cluster": "tcp://127.0.0.1:1"}, "cluster is for tables, strings"),
        ({"workers": 2}, "workers = 2 is for tables, strings"),
        ({"pool": "processes"}, "pool = 'processes' is for tables, strings"),
        ({"stop": lambda: True}, "stop is for tables"),
    ],
)
def test_a_wish_that_sparse_records_cannot_grant_is_refused(baskets: Sparse, asked: dict, named: str) -> None:
    with pytest.raises(PolicyError, match=named):
        shoal.anonymize(baskets, SparsePolicy.of(publish="sketch", k=3), seed=1, **asked)


def test_one_worker_on_threads_is_what_sparse_records_have_anyway(baskets: Sparse) -> None:
    usual = shoal.anonymize(baskets, SparsePolicy.of(publish="sketch", k=3), seed=1)
    asked = shoal.anonymize(
        baskets, SparsePolicy.of(publish="sketch", k=3), seed=1, workers=1, pool="threads", cluster=None, stop=None
    )
    assert (usual.sketches.components == asked.sketches.components).all()


def test_no_records_are_refused_in_words() -> None:
    with pytest.raises(DataError, match="no records"):
        shoal.anonymize(Sparse.of([]), SparsePolicy.of(model="delta"))


def test_secrets_and_records_are_not_in_what_python_shows(release: SparseRelease) -> None:
    assert repr(release._evidence) == "SparseEvidence()"
    assert "names=" not in repr(release)


def test_a_key_from_a_seed_and_a_key_used_again_are_told(baskets: Sparse) -> None:
    seeded = release_sparse(baskets, POLICY, seed=3)
    assert any("tries seeds" in note for note in seeded.notes)
    keyed = release_sparse(baskets, POLICY, key=new_key(3))
    assert any("another release" in note and "same components" in note for note in keyed.notes)
    assert not any("seed" in note for note in release_sparse(baskets, POLICY).notes)


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda m: m["method"].update(certified="by nobody"), "'method.certified' is none of a release"),
        (lambda m: m["columns"].update(name="of a person"), "'columns.name' is none of a release"),
        (lambda m: m.update(classes="no"), None),
        (lambda m: m.pop("data"), None),
    ],
)
def test_an_entry_of_the_manifest_that_nobody_wrote_is_found(
    release: SparseRelease, tmp_path: Path, edit: Any, says: str | None
) -> None:
    release.save(tmp_path / "out", report=False)
    path = tmp_path / "out" / "publish" / "manifest.json"
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))
    if says is None:
        with pytest.raises(DataError, match="is not the manifest"):
            shoal.check(tmp_path / "out")
    else:
        assert any(says in finding for finding in shoal.check(tmp_path / "out").findings)
