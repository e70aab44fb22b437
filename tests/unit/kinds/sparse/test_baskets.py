"""A release of pseudo-baskets: checked bytes, the format that came in, and nothing that ties records to persons."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import shoal
from shoal.data.sparse.records import Sparse, SparseSource
from shoal.errors import Infeasible, PolicyError
from shoal.kinds.sparse.baskets import BasketRelease, settled
from shoal.kinds.sparse.manifest import SparseManifest
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.sparse.pseudo_baskets import TOGETHER

POLICY = SparsePolicy.of(k=4, format="baskets")


def lines(n: int = 160, seed: int = 0) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [sorted({f"{20 + i % 4}", f"{30 + i % 4}", *map(str, rng.integers(0, 9, 3).tolist())}) for i in range(n)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("baskets")
    (here / "in.dat").write_text("".join(" ".join(row) + "\n" for row in [*lines(), ["secret", "20"]]))
    release = shoal.anonymize(here / "in.dat", POLICY, seed=1, hold_out=0.2)
    assert isinstance(release, BasketRelease)
    release.save(here / "out", keep="groups")
    return here


def test_what_is_published_is_what_came_in_without_secrets(made: Path) -> None:
    names = {p.name for p in (made / "out" / "publish").iterdir()}
    assert names == {"data.dat", "datasheet.html", "manifest.json"}
    published = shoal.read_sparse(made / "out" / "publish" / "data.dat", format="baskets")
    assert published.sizes.min() >= 1
    shown = "".join(p.read_text() for p in (made / "out" / "publish").iterdir())
    assert "secret" not in shown
    assert "nearly those of the original" not in shown  # which nobody promises, least of all of 128 records
    assert "seed" not in json.loads((made / "out" / "publish" / "manifest.json").read_text())["method"]
    report = (made / "out" / "private" / "report.html").read_text()
    assert "Permuted columns" in report
    assert "secret" not in report.split("Notes")[0].replace("secret key", "")


def test_a_folder_is_checked_with_original_and_groups(made: Path) -> None:
    folder = made / "out" / "publish"
    whole = shoal.check(folder, made / "in.dat", private=made / "out" / "private")
    assert whole.holds
    assert [g.model for g in whole.guarantees] == [
        "k-anonymity",
        "pool-support",
        "sizes",
        "item-support",
        "rare-copies",
    ]
    alone = shoal.check(folder)
    assert not alone.fails
    assert not alone.holds
    strict = shoal.check(folder, made / "in.dat", SparsePolicy.of(k=50), private=made / "out" / "private")
    assert strict.fails
    with pytest.raises(PolicyError, match='asks for "sketch"'):
        shoal.check(folder, policy=SparsePolicy.of(publish="sketch"))


@pytest.mark.parametrize(
    ("planted", "told"),
    [
        ("20 secret", "are held by fewer than 4 records"),
        (" ".join(lines()[3]), "have the very items of a record that fewer than 4 hold"),
    ],
)
def test_a_planted_line_is_caught(made: Path, tmp_path: Path, planted: str, told: str) -> None:
    out = tmp_path / "publish"
    out.mkdir()
    for file in (made / "out" / "publish").iterdir():
        (out / file.name).write_bytes(file.read_bytes())
    data = (out / "data.dat").read_text().splitlines()
    (out / "data.dat").write_text("\n".join([planted, *data[1:]]) + "\n")
    found = shoal.check(out, made / "in.dat", private=made / "out" / "private")
    assert found.fails
    assert any("checksum" in f for f in found.findings)
    assert any(told in g.sentence for g in found.guarantees if not g.holds)


def test_a_pool_below_k_is_caught(made: Path, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    for file in (made / "out" / "private").iterdir():
        (private / file.name).write_bytes(file.read_bytes())
    rows = (private / "groups.csv").read_text().splitlines()
    moved = [row.rpartition(",")[0] + ",0" if i < 3 else row for i, row in enumerate(rows[1:])]
    emptied = [row if not row.endswith(",1") or i % 2 else row[:-1] + "2" for i, row in enumerate(moved)]
    (private / "groups.csv").write_text("\n".join([rows[0], *emptied]) + "\n")
    found = shoal.check(made / "out" / "publish", made / "in.dat", private=private)
    assert not found.guarantees[0].holds
    assert "fewer than 4 records" in found.guarantees[0].sentence


def test_attacks_run_on_a_folder(made: Path) -> None:
    found = shoal.attack(made / "out" / "publish", made / "in.dat", private=made / "out" / "private")
    assert {r.attack for r in found.results} == {
        "known-items",
        "rarest-pair",
        "one-more-item",
        "rare-item",
        "nearest-baskets",
        "basket-copies",
    }


def test_the_manifest_is_read_as_it_was_written(made: Path) -> None:
    folder = made / "out" / "publish"
    manifest = SparseManifest.read(folder)
    assert manifest.policy == POLICY.changed(together=TOGETHER)
    assert manifest.to_json() == (folder / "manifest.json").read_text()


def test_what_came_in_comes_back() -> None:
    rows = lines(60)
    listed = shoal.anonymize(rows, SparsePolicy.of(k=3), seed=1)
    assert isinstance(listed.data, list)
    assert all(isinstance(row, list) and row for row in listed.data)
    dense = np.zeros((60, 40), np.int64)
    for i, row in enumerate(rows):
        dense[i, [int(x) for x in row]] = 1
    matrix = shoal.anonymize(csr_array(dense), SparsePolicy.of(k=3), seed=1)
    assert matrix.data.shape[1] == 40
    assert set(np.unique(matrix.data.toarray())) <= {0, 1}
    assert matrix.form.format == "svmlight"


def test_texts_come_out_as_bags_of_words(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    words = ["harbour", "vessel", "cargo", "pilot", "anchor", "tide"]
    texts = [f'"{" ".join(rng.choice(words, 4))}",{"ab"[i % 2]}' for i in range(80)]
    (tmp_path / "texts.csv").write_text("text,kind\n" + "\n".join(texts) + "\n")
    policy = SparsePolicy.of(k=4, column="text", class_column="kind", format="text", weights="counts")
    release = shoal.anonymize(tmp_path / "texts.csv", policy, seed=1)
    release.save(tmp_path / "out")
    assert any("bags of words" in note for note in release.notes)
    assert "bags of words" in (tmp_path / "out" / "publish" / "datasheet.html").read_text()
    assert (tmp_path / "out" / "publish" / "data.csv").read_text().startswith("text,kind\n")
    assert shoal.check(tmp_path / "out" / "publish").findings == ()


def test_what_cannot_be_met_is_said() -> None:
    with pytest.raises(Infeasible, match="lower k, add records"):
        shoal.anonymize([["a"], ["b"]], SparsePolicy.of(k=2))
    with pytest.raises(PolicyError, match="a key is for sketches"):
        shoal.anonymize(lines(40), SparsePolicy.of(k=2), key=b"x" * 32)
    with pytest.raises(PolicyError, match="cannot keep 'rows'"):
        shoal.anonymize(Sparse.of(lines(40)), SparsePolicy.of(k=2)).save("nowhere", keep="rows")


def test_persons_are_counted_in_a_release_its_hold_out_and_its_check(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = [f"{rng.integers(60)},{';'.join(row)}" for row in lines(240)]
    alone = ["99,own;20;30"] * 8  # eight visits of one person
    (tmp_path / "visits.csv").write_text("\n".join(["who,items", *rows, *alone]) + "\n")
    policy = SparsePolicy.of(k=4, column="items", delimiter=";", person="who")
    release = shoal.anonymize(tmp_path / "visits.csv", policy, seed=1, hold_out=0.2)
    assert isinstance(release, BasketRelease)
    assert "own" not in release.baskets.names
    kept, out = release._original, release._control
    assert out is not None
    assert not set(kept.persons.tolist()) & set(out.persons.tolist())
    assert "persons" in release.guarantees[0].sentence
    release.save(tmp_path / "out", keep="groups")
    assert "who" not in (tmp_path / "out" / "publish" / "data.csv").read_text()
    found = shoal.check(tmp_path / "out" / "publish", tmp_path / "visits.csv", private=tmp_path / "out" / "private")
    assert found.holds
    assert not found.findings
    # Each row of a person of its own is another claim, and another release.
    plain = shoal.anonymize(tmp_path / "visits.csv", SparsePolicy.of(k=4, column="items", delimiter=";"), seed=1)
    assert "own" in plain.baskets.names


def test_persons_are_refused_where_they_are_not_counted() -> None:
    with pytest.raises(PolicyError, match="counts records"):
        SparsePolicy.of(publish="sketch", column="items", person="who")
    with pytest.raises(PolicyError, match="with_persons"):
        shoal.anonymize(lines(40), SparsePolicy.of(k=4, person="who"))


def test_how_many_items_are_dealt_as_one_is_told_by_the_data() -> None:
    records = Sparse.of(lines())
    texts = replace(records, source=SparseSource(format="text"))
    policy = SparsePolicy.of(k=4)
    assert policy.method.together is None
    assert [settled(policy, r.source).method.together for r in (records, texts)] == [TOGETHER, 1]
    assert settled(SparsePolicy.of(k=4, together=2), texts).method.together == 2
    release = shoal.anonymize(records, policy, seed=1)
    assert release.policy.method.together == TOGETHER
    assert release.policy.k == 4


@pytest.mark.unattacked
def test_many_records_of_one_person_that_are_left_out_are_not_counted_in_public(tmp_path: Path) -> None:
    rows = [(f"p{i}", " ".join(row)) for i, row in enumerate(lines(60))] + [("odd", f"own{i}") for i in range(8)]
    source = tmp_path / "in.csv"
    source.write_text("\n".join(["who,items", *map(",".join, rows), ""]))
    policy = SparsePolicy.of(k=4, format="column", column="items", delimiter=" ", person="who")
    release = shoal.anonymize(source, policy, seed=1)
    assert release.suppressed["rare_items"] == 8
    release.save(tmp_path / "out", keep="groups", report=False)
    told = json.loads((tmp_path / "out" / "publish" / "manifest.json").read_text())
    assert told["suppressed_because"]["rare_items"] == {"from": 1, "to": None}
    assert told["records"]["in"]["to"] is None
    assert shoal.check(tmp_path / "out", source, private=tmp_path / "out").holds


@pytest.mark.parametrize("publish", ["pseudo", "suppress"])
def test_records_of_one_class_called_0_are_published(tmp_path: Path, publish: str) -> None:
    """Many SVMlight files that have no classes say 0."""
    rng = np.random.default_rng(1)
    lines = [" ".join(["0", *(f"{i}:1" for i in np.sort(rng.choice(9, 4, replace=False)) + 1)]) for _ in range(90)]
    (tmp_path / "records.svm").write_text("\n".join(lines) + "\n")
    release = shoal.anonymize(tmp_path / "records.svm", SparsePolicy.of(publish=publish, k=3), seed=1)
    out = release.save(tmp_path / "out", report=False)
    assert shoal.check(out, tmp_path / "records.svm").guarantees
    assert not shoal.check(out, tmp_path / "records.svm").findings
