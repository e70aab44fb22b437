"""A folder of k^m-anonymous records is checked from its files; an edited line is found."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.check.sparse.km_folder import as_published, is_in_order, km_asked
from shoal.data.sparse.disassociated import read_disassociated
from shoal.data.sparse.records import Sparse
from shoal.kinds.sparse.policy import SparsePolicy
from tests.unit.sparse.slow_combinations import random_lists, sets_of

pytestmark = pytest.mark.unattacked

RECORDS = Sparse.of(random_lists(np.random.default_rng(1), 80, 8, 5))


def saved(folder: Path, **asked: object) -> Path:
    shoal.anonymize(RECORDS, SparsePolicy.of(k=3, **asked)).save(folder, report=False)
    return folder / "publish"


def rewrite(folder: Path, text: str) -> None:
    """Change the data and its checksum, as one would who wants it to go unseen."""
    path = folder / "data.dat"
    path.write_text(text)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["checksums"]["data.dat"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("publish", ["suppress", "disassociate"])
def test_a_planted_pair_is_found(tmp_path: Path, publish: str) -> None:
    folder = saved(tmp_path / "out", publish=publish)
    assert shoal.check(folder).holds
    assert shoal.check(folder, original=RECORDS).holds
    lines = (folder / "data.dat").read_text().splitlines()
    if publish == "suppress":
        lines[0] = "i00 planted"
    else:
        lines[1] += " planted"
    rewrite(folder, "\n".join(lines) + "\n")
    found = shoal.check(folder)
    assert not found.guarantees[0].holds
    assert found.fails
    assert shoal.check(folder, original=RECORDS).findings


def test_more_may_be_asked_of_a_folder_than_it_promises(tmp_path: Path) -> None:
    folder = saved(tmp_path / "out", publish="suppress")
    assert not shoal.check(folder, policy=SparsePolicy.of(publish="suppress", k=30)).holds
    assert shoal.check(folder, policy=SparsePolicy.of(publish="suppress", k=2)).holds


def test_an_order_that_tells_something_is_found(tmp_path: Path) -> None:
    folder = saved(tmp_path / "out", publish="suppress")
    lines = (folder / "data.dat").read_text().splitlines()
    rewrite(folder, "\n".join(reversed(lines)) + "\n")
    assert any("not sorted" in finding for finding in shoal.check(folder).findings)
    for lines, is_right in (("a,a b,b", True), ("a b,a", False), ("b,a", False), ("b a,b", False)):
        text = "cluster records chunk items\n" + "".join(f"1 3 1 {line}\n" for line in lines.split(","))
        (tmp_path / "chunks").write_text(text + "1 3 terms 0\n")
        assert is_in_order(read_disassociated(tmp_path / "chunks", None, has_classes=False)) == is_right


def test_a_label_is_sensitive_if_one_of_its_items_is() -> None:
    policy = SparsePolicy.of(publish="suppress", sensitive=("a", "b"), rho=0.5)
    assert km_asked(policy, {}).sensitive == ("a", "b")
    assert km_asked(policy, {"a": "x", "b": "y", "c": "y"}).sensitive == ("x", "y")
    assert km_asked(policy, {"a": "x", "b": "x", "c": "y"}).sensitive == ("x",)
    shown = as_published(Sparse.of([["a", "b"], ["c"], ["d"]]), {"a": "x", "b": "x", "c": "y"})
    assert sets_of(shown) == [frozenset("x"), frozenset("y"), frozenset()]
