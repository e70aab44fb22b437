"""Holes that a review of slices found, each with a small table that shows it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.errors import PolicyError
from shoal.kinds.tables.manifest import checksums

N = 120


def people() -> dict[str, list[Any]]:
    rng = np.random.default_rng(0)
    age = rng.integers(18, 60, N)
    return {
        "age": age.tolist(),
        "town": rng.choice(["ab", "cd", "ef"], N).tolist(),
        "sex": rng.choice(["m", "f"], N).tolist(),
        "pay": (age * 1000 + rng.permutation(N)).tolist(),
        "disease": rng.choice(list("uvwxyz"), N).tolist(),
    }


def asked(publish: str, sensitive: str = "disease", **more: Any) -> shoal.Policy:
    return shoal.Policy.of(
        quasi=["age", "town", "sex"], sensitive=[sensitive], others="identifying", k=5, publish=publish, **more
    )


def put_together(release: shoal.Release, folder: Path) -> None:
    """Undo the permutation in a saved folder, and mend the checksums."""
    publish = folder / "publish"
    place = [{int(o): j for j, o in enumerate(rows)} for rows in release._sources]
    cells = {n: release.table[n].cells() for n in release.table.names}
    layout = release.layout
    assert layout is not None
    with (publish / "data.csv").open("w", newline="") as file:
        write = csv.writer(file, lineterminator="\n").writerow
        write(layout.names)
        for record in release._rows.tolist():
            at = [p[record] for p in place]
            shown = [cells[c][j] for s, j in zip(layout.slices, at, strict=True) for c in s.columns]
            write([cells[layout.bucket][at[0]], *shown])
    content = json.loads((publish / "manifest.json").read_text())
    content["checksums"] = checksums(publish, list(content["checksums"]))
    (publish / "manifest.json").write_text(json.dumps(content))


@pytest.mark.parametrize(("publish", "slices"), [("bucketize", "best"), ("slice", 3), ("screen", 2)])
def test_slices_that_were_not_permuted_are_found(tmp_path: Path, publish: str, slices: Any) -> None:
    release = shoal.anonymize(people(), asked(publish, l=2, slices=slices), seed=1)
    release.save(tmp_path / "out", keep=["groups"])
    given = {"original": people(), "policy": release.policy, "private": tmp_path / "out" / "private"}
    assert shoal.check(tmp_path / "out", **given).holds
    put_together(release, tmp_path / "out")
    found = shoal.check(tmp_path / "out", **given)
    assert any("not permuted apart" in finding for finding in found.findings)
    if publish == "screen":  # the sensitive values of the slices tell it without the original
        assert shoal.check(tmp_path / "out").fails


@pytest.mark.parametrize("seed", range(20))
def test_true_permutations_are_not_suspected(seed: int) -> None:
    table = people()
    table["disease"] = ["u" if i % 3 else "v" for i in range(N)]  # chance makes many rows that look like records
    for publish in ("bucketize", "slice", "screen"):
        assert all(g.holds for g in shoal.anonymize(table, asked(publish), seed=seed).guarantees)


def test_without_diversity_no_quasi_identifier_stands_beside_the_sensitive_values() -> None:
    sliced = shoal.anonymize(people(), asked("slice", "pay"), seed=1)
    assert sliced.layout is not None
    assert sliced.layout.slices[-1].attributes == ("pay",)
    screened = shoal.anonymize(people(), asked("screen", "pay"), seed=1)
    for release in (sliced, screened):
        assert release.exposure is not None
        assert release.exposure.joined is not None
        assert release.exposure.joined.highest <= 1 / 5 + 1e-9
    limited = asked("slice", "pay", require=[{"model": "k-anonymity", "k": 5}])
    shown = shoal.anonymize(people(), limited.changed(slices=[["age", "pay"], ["town", "sex"]]), seed=1)
    assert any("Nothing but k is required of 'pay'" in note for note in shown.notes)
    assert all("permutes the sensitive values" not in g.sentence for g in shown.guarantees)
    joined = shoal.anonymize(people(), asked("screen", "pay", slices=2), seed=1)
    assert any("by joining the slices" in note for note in joined.notes)


def test_an_insensitive_copy_of_a_sensitive_column_is_refused_and_much_of_one_is_told() -> None:
    table = people()
    table["code"] = [f"code {d}" for d in table["disease"]]
    policy = asked("bucketize", l=2).changed(insensitive=["code"])
    with pytest.raises(PolicyError, match="'code' all but equals the sensitive 'disease'"):
        shoal.anonymize(table, policy, seed=1)
    table["code"] = [c if i % 6 else "code" for i, c in enumerate(table["code"])]
    notes = shoal.anonymize(table, policy, seed=1).notes
    assert any("'code' tells most of 'disease'" in note for note in notes)
    table["code"] = np.random.default_rng(1).permutation(table["code"]).tolist()
    assert not any("tells most" in note for note in shoal.anonymize(table, policy, seed=1).notes)


@pytest.mark.parametrize("values", [["{ab, cd}", "ab", "cd"], ["ab or missing", "ab", "ef"], ["ab, cd", "ab", "cd"]])
def test_values_that_look_like_labels(values: list[str]) -> None:
    table = people()
    table["town"] = values * (N // 3)
    for publish in ("bucketize", "slice", "screen"):
        assert shoal.anonymize(table, asked(publish, l=2), seed=1).guarantees


@pytest.mark.parametrize("key", [{"order": "original"}, {"restore_variance": True}])
def test_what_slices_cannot_have_is_refused(key: dict[str, Any]) -> None:
    with pytest.raises(shoal.PolicyError, match=r"^the policy: (?!:).*leave .*out$"):
        asked("slice", **key)


def test_published_pages_say_of_k_what_holds(tmp_path: Path) -> None:
    for publish in ("bucketize", "screen"):
        shoal.anonymize(people(), asked(publish, l=2), seed=1).save(tmp_path / publish)
        page = (tmp_path / publish / "publish" / "datasheet.html").read_text()
        assert "finds at least k records that fit equally well" not in page


def test_a_manifest_cannot_change_what_a_column_is(tmp_path: Path) -> None:
    columns = {"pay": {"role": "sensitive", "type": "continuous"}}
    policy = shoal.Policy.of(quasi=["age", "town"], others="identifying", k=5, t=0.4, publish="screen", columns=columns)
    policy = policy.changed(slices=2)
    shoal.anonymize(people(), policy, seed=1).save(tmp_path / "out")
    assert shoal.check(tmp_path / "out", original=people(), policy=policy).holds
    path = tmp_path / "out" / "publish" / "manifest.json"
    content = json.loads(path.read_text())
    for changed in ({"pay@1": "nominal", "pay@2": "nominal"}, {"pay@1": "nominal"}):
        edited = json.loads(json.dumps(content))
        for name, kind in changed.items():
            edited["columns"][name]["type"] = kind
        path.write_text(json.dumps(edited))
        if len(changed) == 1:
            with pytest.raises(shoal.DataError, match="not the manifest"):
                shoal.check(tmp_path / "out")
        else:
            found = shoal.check(tmp_path / "out", original=people(), policy=policy)
            assert any("continuous by the policy" in finding for finding in found.findings)


@pytest.mark.parametrize("cell", ["changed", ""])  # no number, and one that may hide any
@pytest.mark.parametrize("publish", ["bucketize", "slice"])
def test_a_cell_that_no_distance_can_read_is_told_as_a_change(tmp_path: Path, publish: str, cell: str) -> None:
    source = tmp_path / "people.csv"
    with source.open("w", newline="") as file:
        csv.writer(file).writerows([list(people()), *zip(*people().values(), strict=True)])
    policy = asked(publish, "pay", t=0.9, missing="any")
    shoal.anonymize(source, policy, seed=1).save(tmp_path / "out", keep=["groups"])
    publish_folder = tmp_path / "out" / "publish"
    with (publish_folder / "data.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    rows[1][rows[0].index("pay")] = cell
    with (publish_folder / "data.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    for private in (None, tmp_path / "out" / "private"):
        found = shoal.check(publish_folder, source, policy, private=private)
        assert not found.holds
        assert [g.model for g in found.guarantees] == ["k-anonymity"]
        assert [u.split()[0] for u in found.unverified] == ["t-closeness"]
        assert any("that the original does not have" in f for f in found.findings)
