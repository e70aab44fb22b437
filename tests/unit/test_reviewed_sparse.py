"""Holes that a review of releases of sketches found, each with a test that it is closed."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shoal.check.sparse.bounds import bounds_of, class_size, coarse
from shoal.check.sparse.folder import asked_of, check_sparse_folder
from shoal.check.sparse.sketches import rounding
from shoal.check.sparse.verify import verify_sketches
from shoal.data.samples.quest import labelled_records
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError, Infeasible
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.sparse.release import SparseRelease, release_sparse
from shoal.sparse import anonymize as method
from shoal.sparse.anonymize import anonymize_sparse
from shoal.sparse.delta import delta_counts
from shoal.sparse.signs import new_key

POLICY = SparsePolicy.of(k=5)


@pytest.fixture(scope="module")
def baskets() -> Sparse:
    return labelled_records("C20.I4.D400", seed=5)


@pytest.fixture(scope="module")
def release(baskets: Sparse) -> SparseRelease:
    return release_sparse(baskets, POLICY, key=new_key(3))


@pytest.fixture(scope="module")
def folder(release: SparseRelease, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release.save(tmp_path_factory.mktemp("reviewed") / "out", keep=["rows", "key"], report=False)


def lists(n: int, size: int, n_items: int = 300, seed: int = 0) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [[f"w{i}" for i in rng.choice(n_items, size, replace=False)] for _ in range(n)]


def test_one_huge_weight_does_not_hide_how_little_the_others_are() -> None:
    """2^58 + 33 is 2^58 + 64 in double precision: the difference allowed 127 components instead of 65."""
    records = Sparse.of([{**dict.fromkeys(items, 1), "amount": 2**29} for items in lists(3, 33)])
    assert delta_counts(records, 0.5).tolist() == [65, 65, 65]
    assert bounds_of(records, 1.0, 1, False).spread.tolist() == [33.0, 33.0, 33.0]


@pytest.mark.parametrize("kind", ["counts", "mixed", "real"])
def test_all_but_the_largest_is_what_it_says(kind: str) -> None:
    rng = np.random.default_rng(4)
    draw = {
        "counts": lambda: int(rng.integers(1, 4)),
        "mixed": lambda: int(rng.choice([-3, -1, 2, 3])),
        "real": rng.normal,
    }
    rows = [{item: draw[kind]() for item in items[: rng.integers(0, 8)]} for items in lists(60, 8)]
    rows[0] = {}
    records = Sparse.of(rows)
    truth = np.array([sum(w * w for w in r.values()) - max((w * w for w in r.values()), default=0) for r in rows])
    assert bounds_of(records, 1.0, 1, False).spread == pytest.approx(truth)
    assert delta_counts(records, 0.07).tolist() == np.floor(truth / 0.07 * (1 - 1e-12)).tolist()


def test_no_records_are_refused_in_words() -> None:
    with pytest.raises(DataError, match="no records"):
        release_sparse(Sparse.of([]), SparsePolicy.of(model="delta"))


def test_secrets_and_records_are_not_in_what_python_shows(release: SparseRelease) -> None:
    assert repr(release._evidence) == "SparseEvidence()"
    assert "names=" not in repr(release)


def test_a_class_of_which_few_are_left_is_not_published() -> None:
    """Five records of a class, four too short to be published: the label pointed at the fifth."""
    data = Sparse.of([*lists(45, 15), *lists(4, 1, seed=1)], [*["many"] * 44, *["few"] * 5])
    made = anonymize_sparse(data, SparsePolicy.of(model="delta"), new_key(1))
    assert {made.sketches.classes[c] for c in made.sketches.labels} == {"many"}
    assert method.REASONS[made.reasons[44]] == "small_class"
    assert [method.REASONS[r] for r in made.reasons[45:]] == ["too_short"] * 4


def test_the_check_finds_a_class_of_which_few_are_left() -> None:
    data = Sparse.of(lists(10, 15), ["a"] * 5 + ["b"] * 5)
    rows = np.array([0, 1, 2, 3, 4, 5])
    assert not class_size(data, rows, data.labels[rows].astype(np.int64), 5).holds
    assert class_size(data, rows[:5], data.labels[rows[:5]].astype(np.int64), 5).holds


def test_the_sign_of_a_zero_is_found() -> None:
    """-0.0 equals 0.0, and would tell which way a component was rounded."""
    honest = Sketches(np.array([0, 3]), np.array([0.0, 0.5, -0.5]), 0.5)
    assert rounding(honest, None).holds
    assert not rounding(replace(honest, components=np.array([-0.0, 0.5, -0.5])), None).holds


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


def test_two_digits_are_on_the_safe_side_and_within_the_limit() -> None:
    assert coarse(0.3331, 0.333) == 0.333
    assert coarse(0.4812, 0.5, is_most=True) == 0.49
    assert coarse(1234.5, 10.0) == 1200.0
    assert coarse(float("inf"), 1.0) == float("inf")


def test_a_key_from_a_seed_and_a_key_used_again_are_told(baskets: Sparse, release: SparseRelease) -> None:
    seeded = release_sparse(baskets, POLICY, seed=3)
    assert any("tries seeds" in note for note in seeded.notes)
    assert any("another release" in note and "same components" in note for note in release.notes)
    assert not any("seed" in note for note in release_sparse(baskets, POLICY).notes)


def test_an_item_that_most_records_have_is_told() -> None:
    """Of baskets with one item in 90 % of them, the mean of the sketches gave 21 of its 24 signs away."""
    plain = Sparse.of(lists(60, 15))
    popular = Sparse.of([[*items, "bag"] if i % 10 else items for i, items in enumerate(lists(60, 15))])
    notes = [anonymize_sparse(r, POLICY, new_key(2)).notes for r in (plain, popular)]
    assert not any("mean of all sketches" in note for note in notes[0])
    assert any(note.startswith("one item is in more than half") for note in notes[1])


def test_a_delta_that_is_nothing_beside_the_weights_is_told() -> None:
    heavy = Sparse.of([dict.fromkeys(items, 100) for items in lists(60, 15)])
    assert any("small beside the square" in note for note in anonymize_sparse(heavy, POLICY, new_key(2)).notes)
    light = Sparse.of(lists(60, 15))
    assert not any("small beside the square" in note for note in anonymize_sparse(light, POLICY, new_key(2)).notes)


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
    found = check_sparse_folder(out / "publish", baskets, None, out / "private")
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
    assert "no list of neighbours" in found.sentence
    assert found.n_failing == found.n_classes


def test_a_search_that_finds_few_of_the_nearest_is_refused(baskets: Sparse, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = method._within_edges

    def blind(*given: object) -> object:
        counts, found, n_passes = honest(*given)
        return counts, replace(found, how="partition", recall=0.3), n_passes

    monkeypatch.setattr(method, "_within_edges", blind)
    with pytest.raises(Infeasible, match="30 %"):
        release_sparse(baskets, POLICY.changed(neighbours="partition"))


def test_without_the_key_single_numbers_are_not_verified(baskets: Sparse, folder: Path, tmp_path: Path) -> None:
    """One component changed by a step passed the check where the rows were kept and the key was not."""
    private = tmp_path / "private"
    shutil.copytree(folder / "private", private)
    assert check_sparse_folder(folder / "publish", baskets, None, private).holds
    (private / "key.txt").unlink()
    found = check_sparse_folder(folder / "publish", baskets, None, private)
    assert not found.fails
    assert not found.holds
    assert any("takes the key" in sentence for sentence in found.unverified)


def test_the_release_does_not_depend_on_threads_or_order(baskets: Sparse, monkeypatch: pytest.MonkeyPatch) -> None:
    one = anonymize_sparse(baskets, POLICY, new_key(9))
    monkeypatch.setattr("os.cpu_count", lambda: 7)
    shuffled = np.random.default_rng(1).permutation(len(baskets))
    other = anonymize_sparse(baskets.take(shuffled), POLICY, new_key(9))
    assert np.array_equal(one.sketches.starts, other.sketches.starts)
    assert np.array_equal(one.sketches.components, other.sketches.components)
    assert np.array_equal(one.sketches.labels, other.sketches.labels)
    assert np.array_equal(one.reasons[shuffled], other.reasons)
