"""Releases of k^m-anonymous records: made, checked, saved, read back, attacked and told."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.data.sparse.disassociated import Disassociated
from shoal.data.sparse.records import Sparse
from shoal.data.tables.hierarchy import Hierarchy
from shoal.errors import Infeasible, PolicyError
from shoal.kinds.sparse.policy import SparsePolicy
from tests.unit.sparse.slow_combinations import random_lists, rare, sets_of

LISTS = random_lists(np.random.default_rng(2), 120, 10, 5)
RECORDS = Sparse.of(LISTS)
TREE = Hierarchy(tuple((f"i{j:02}", f"g{j // 3}", "*") for j in range(12)))
WAYS = {
    "suppress": {},
    "disassociate": {},
    "generalise": {"item_hierarchy": TREE},
}


@pytest.mark.parametrize("publish", WAYS)
def test_a_release_is_whole(tmp_path: Path, publish: str) -> None:
    policy = SparsePolicy.of(publish=publish, k=3, **WAYS[publish])
    release = shoal.anonymize(RECORDS, policy, hold_out=0.2, seed=1)
    release.save(tmp_path / "out")
    checked = shoal.check(tmp_path / "out")
    assert checked.holds
    assert checked.guarantees[0].model == "km-anonymity"
    manifest = json.loads((tmp_path / "out" / "publish" / "manifest.json").read_text())
    assert manifest["method"]["name"] == publish
    assert ("published_as" in manifest) == (publish == "generalise")
    names = {result.attack for result in release.attacked.results}
    assert {"known-items", "one-more-item", "rare-item", "nearest-baskets", "basket-copies"} <= names
    page = (tmp_path / "out" / "publish" / "datasheet.html").read_text()
    assert "3^2-anonymity" in page
    assert str(tmp_path) not in page + json.dumps(manifest)
    attacked = shoal.attack(tmp_path / "out" / "publish", original=RECORDS, private=tmp_path / "out" / "private")
    assert {result.attack for result in attacked.results} == names


def test_lists_come_back_as_lists_and_are_anonymous() -> None:
    made = shoal.anonymize(LISTS, SparsePolicy.of(publish="suppress", k=3, m=3)).data
    assert not rare(map(frozenset, made), 3, 3)
    cut = shoal.anonymize(LISTS, SparsePolicy.of(publish="disassociate", k=3)).data
    assert isinstance(cut, Disassociated)


def test_weights_are_left_out_and_it_is_said() -> None:
    release = shoal.anonymize([{"a": 3, "b": 1}] * 4, SparsePolicy.of(publish="suppress", k=3))
    assert release.published.is_binary
    assert any("weights" in note for note in release.notes)


def test_empty_records_and_those_of_rare_items_are_counted() -> None:
    release = shoal.anonymize([["a"]] * 4 + [["b"], []], SparsePolicy.of(publish="suppress", k=3))
    assert release.suppressed == {"empty": 1, "emptied": 1}
    assert release.suppressed_sentence == "2 of 6 records were suppressed: 1 is empty; 1 has no item left."
    with pytest.raises(Infeasible, match="no item is held by k = 5 records"):
        shoal.anonymize([["a"]] * 4, SparsePolicy.of(publish="suppress", k=5))
    with pytest.raises(Infeasible, match="more than the 10 % that suppression allows"):
        shoal.anonymize([["a"]] * 4 + [["b"]], SparsePolicy.of(publish="suppress", k=3, suppression=0.1))


def test_sensitive_items_are_bounded() -> None:
    policy = SparsePolicy.of(publish="suppress", k=3, sensitive=("i01",), rho=0.4)
    release = shoal.anonymize(RECORDS, policy)
    assert [g.model for g in release.guarantees] == ["km-anonymity", "rho-uncertainty"]
    assert release.guarantees[1].achieved <= 0.4
    with pytest.raises(PolicyError, match=r"no record holds the sensitive item 'i1'; did you mean"):
        shoal.anonymize(RECORDS, policy.changed(sensitive=("i1",)))
    general = shoal.anonymize(RECORDS, policy.changed(publish="generalise", item_hierarchy=TREE))
    assert general.guarantees[1].holds


def test_a_sensitive_item_of_fewer_than_k_is_named_nowhere(tmp_path: Path) -> None:
    records = [["bread", "wine"], ["bread", "milk"], ["milk"], ["bread"]] * 6 + [["bread", "insulin"]]
    for sensitive, promised in ((("insulin", "wine"), ["wine"]), (("insulin",), [])):
        policy = SparsePolicy.of(publish="suppress", k=3, sensitive=sensitive, rho=0.5)
        out = tmp_path / f"{len(sensitive)}"
        release = shoal.anonymize(records, policy)
        release.save(out)
        manifest = json.loads((out / "publish" / "manifest.json").read_text())
        assert [name for r in manifest["require"] for name in r.get("sensitive", [])] == promised
        assert [g.model for g in release.guarantees][1:] == ["rho-uncertainty"] * len(promised)
        assert not [f.name for f in (out / "publish").iterdir() if b"insulin" in f.read_bytes()]
        assert shoal.check(out / "publish").holds


def test_a_hierarchy_is_needed_and_read_beside_the_policy(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="needs a hierarchy of the items"):
        shoal.anonymize(RECORDS, SparsePolicy.of(publish="generalise", k=3))
    TREE.write(tmp_path / "items.csv")
    (tmp_path / "policy.toml").write_text(
        'kind = "sparse"\n[[require]]\nmodel = "km-anonymity"\nk = 3\n[method]\npublish = "generalise"\n'
        'item_hierarchy = "items.csv"\n'
    )
    policy = SparsePolicy.read(tmp_path / "policy.toml")
    release = shoal.anonymize(RECORDS, policy)
    assert set(release.labels) == set(TREE.leaves)
    assert not rare(sets_of(release.published), 3, 2)
    assert set(release.baskets.names) <= set(TREE.leaves)


def test_neither_order_nor_seed_changes_what_is_published() -> None:
    order = np.random.default_rng(0).permutation(len(RECORDS))
    for publish, more in WAYS.items():
        policy = SparsePolicy.of(publish=publish, k=3, **more)
        one, other = shoal.anonymize(RECORDS, policy), shoal.anonymize(RECORDS.take(order), policy, seed=5)
        assert np.array_equal(one.published.items, other.published.items)
        assert np.array_equal(one.published.starts, other.published.starts)


def test_records_of_a_person_are_joined_from_file_to_check(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    lines = [f"{'ab'[i % 2]} c{i % 3},p{i // 2}" for i in range(60)]
    path.write_text("\n".join(["items,who", *lines]) + "\n")
    policy = SparsePolicy.of(publish="suppress", k=3, column="items", person="who")
    release = shoal.anonymize(path, policy)
    assert release.records["in"] == 30
    assert any("60 records are of 30 persons" in note for note in release.notes)
    assert not rare(sets_of(release.published), 3, 2)
    release.save(tmp_path / "out", report=False)
    assert shoal.check(tmp_path / "out", original=path).holds
    other = tmp_path / "other.csv"
    other.write_text("\n".join(["items,who", *lines[:-2]]) + "\n")
    assert not shoal.check(tmp_path / "out", original=other).holds
    with pytest.raises(PolicyError, match="not persons"):
        SparsePolicy.of(publish="sketch", person="who")


@pytest.mark.unattacked
def test_a_sensitive_item_is_not_hidden_by_a_label_that_others_could_have(tmp_path: Path) -> None:
    # Five of the six who hold "infection" hold HIV, and three in four of those with milk hold that label.
    tree = tmp_path / "items.csv"
    tree.write_text("HIV;infection;any\nflu;infection;any\nmilk;food;any\nbread;food;any\n")
    rows = [["HIV", "milk"]] * 5 + [["flu", "milk"]] + [["milk", "bread"]] * 2
    asked = {"publish": "generalise", "k": 6, "m": 1, "item_hierarchy": str(tree), "sensitive": ("HIV",)}
    shown = {item for row in shoal.anonymize(rows, SparsePolicy.of(rho=0.3, **asked)).data for item in row}
    assert shown == {"food"}
    assert {item for row in shoal.anonymize(rows, SparsePolicy.of(rho=0.8, **asked)).data for item in row} == {
        "food",
        "infection",
    }
