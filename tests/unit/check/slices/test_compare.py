"""The tests of `check/slices/compare.py`."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.data.tables.slices import SlicedTable
from shoal.manifest import checksum
from tests.unit.check.slices.honest_slices import honest
from tests.unit.check.slices.single_steps import compare_slices
from tests.unit.check.slices.slow_slices import ATTRIBUTES, GROUPS, random_case
from tests.unit.tables.publish.slices.people import N, asked, people

pytestmark = pytest.mark.unattacked

FORMS = list(GROUPS)


def swapped(table, layout, number, a, b):
    """The published table with the cells of one slice exchanged between two rows."""
    places = np.arange(table.n_rows)
    places[[a, b]] = b, a
    columns = {n: table[n].take(places) for n in layout.slices[number].columns}
    return table.with_columns(columns)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("known", [True, False])
def test_two_rows_that_change_buckets_are_caught(form, known):
    n_tried = 0
    for seed in range(12):
        case, rng = honest(form, seed)
        table = case.published(rng)
        secrets = {"rows": case.rows, "buckets": case.bucket_of_row} if known else {}

        def findings(t, case=case, secrets=secrets):
            return compare_slices(SlicedTable(t, case.layout, ATTRIBUTES), case.original, form=form, **secrets)

        assert findings(table) == []
        for number in range(len(case.groups)):
            a, b = int(rng.integers(6)), int(6 + rng.integers(18))
            changed = swapped(table, case.layout, number, a, b)
            names = case.layout.slices[number].columns
            if all(table[n].codes[a] == table[n].codes[b] for n in names):
                continue
            if form == "bucketize" and number == 0 and not known:
                pays = [next(r["pay"] for r in case.records if r["age"] == table["age"].cells()[x]) for x in (a, b)]
                if pays[0] == pays[1]:
                    # As good a slicing as the first: the two people could have stood in each other's bucket.
                    assert findings(changed) == []
                    continue
            n_tried += 1
            assert findings(changed), (form, seed, number)
    assert n_tried >= 10


@pytest.mark.parametrize("form", FORMS)
def test_whole_rows_of_the_file_that_change_buckets_are_caught(form):
    """All slices at once. In a screened table nobody can see that two people changed places, except the owner."""
    n_seen = 0
    for seed in range(10):
        case, rng = honest(form, seed)
        table = case.published(rng)
        a, b = int(rng.integers(6)), int(6 + rng.integers(18))
        for number in range(len(case.groups)):
            table = swapped(table, case.layout, number, a, b)
        secrets = {"rows": case.rows, "buckets": case.bucket_of_row}
        assert compare_slices(SlicedTable(table, case.layout, ATTRIBUTES), case.original, form=form, **secrets)
        n_seen += bool(compare_slices(SlicedTable(table, case.layout, ATTRIBUTES), case.original, form=form))
    assert n_seen >= 5


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("known", [True, False])
def test_a_random_slicing_has_no_findings(form, known):
    for seed in range(25):
        rng = np.random.default_rng([seed, 11])
        case = random_case(rng, GROUPS[form], 1 + seed % 4, sizes=(2, 12), generalise=form == "screen")
        secrets = {"rows": case.rows, "buckets": case.bucket_of_row} if known else {}
        assert (
            compare_slices(
                SlicedTable(case.published(rng), case.layout, ATTRIBUTES), case.original, form=form, **secrets
            )
            == []
        )


@pytest.mark.parametrize("form", FORMS)
def test_a_changed_sensitive_value_is_caught(form):
    case, rng = honest(form, 3)
    table = case.published(rng)
    name = next(n for n, a in case.layout.attributes.items() if a == "pay")
    codes = table[name].codes.copy()
    codes[0] = (codes[0] + 1) % 3
    assert compare_slices(
        SlicedTable(table.with_columns({name: replace(table[name], codes=codes)}), case.layout, ATTRIBUTES),
        case.original,
        form=form,
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
    content["checksums"] = {name: checksum(publish / name) for name in content["checksums"]}
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


@pytest.mark.parametrize("cell", ["changed", ""])  # no number, and one that may hide any
@pytest.mark.parametrize("publish", ["bucketize", "slice"])
def test_a_cell_that_no_distance_can_read_is_told_as_a_change(tmp_path: Path, publish: str, cell: str) -> None:
    source = tmp_path / "people.csv"
    with source.open("w", newline="") as file:
        csv.writer(file).writerows([list(people()), *zip(*people().values(), strict=True)])
    policy = asked(publish, "pay", t=0.9, missing="any").changed(singled_out=1.0)
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
