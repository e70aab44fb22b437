"""What holds of every release in slices, whatever the table and the policy: from the public interface alone."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import shoal
from shoal.data.tables.files import read_table
from shoal.data.tables.frames import from_frame
from shoal.data.tables.read_slices import slice_frames
from shoal.data.tables.table import Column, Table
from shoal.data.tables.write import write_table
from shoal.manifest import checksum
from tests.properties.test_release_properties import cells, columns

pytestmark = pytest.mark.unattacked

QUASI = ["age", "city", "country", "born", "grade", "zip"]
SENSITIVE = ["disease", "cost"]


@st.composite
def tables(draw):
    """Mixed columns with gaps, ties, and columns of one value or of none."""
    n_rows = draw(st.integers(4, 40))
    gaps = draw(st.sampled_from([0.0, 0.0, 0.3]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = {}
    for name, cell in cells.items():
        column = draw(st.lists(cell, min_size=n_rows, max_size=n_rows))
        table[name] = ["" if rng.random() < gaps else c for c in column]
    for name in draw(st.sets(st.sampled_from(QUASI), max_size=2)):
        table[name] = [draw(st.sampled_from(["", table[name][0]]))] * n_rows
    return table


@st.composite
def policies(draw):
    chosen = draw(st.lists(st.sampled_from(QUASI), min_size=1, max_size=4, unique=True))
    kept = draw(st.sampled_from([["disease"], ["cost"], SENSITIVE]))
    roles = {}
    for name, column in columns.items():
        is_used = name in chosen or name in kept or column["role"] == "insensitive"
        roles[name] = column if is_used else {"role": "insensitive"}
    k = draw(st.integers(2, 5))
    require = [{"model": "k-anonymity", "k": k}]
    diverse = {
        "distinct": {"model": "l-diversity", "l": draw(st.integers(2, 3)), "kind": "distinct"},
        "probabilistic": {"model": "l-diversity", "l": draw(st.sampled_from([1.5, 2])), "kind": "probabilistic"},
        "entropy": {"model": "l-diversity", "l": draw(st.sampled_from([1.5, 2])), "kind": "entropy"},
        "recursive": {"model": "l-diversity", "l": 2, "kind": "recursive", "c": draw(st.sampled_from([1.0, 3.0]))},
        "t": {"model": "t-closeness", "t": draw(st.sampled_from([0.2, 0.5]))},
        "alpha": {"model": "alpha-k", "alpha": draw(st.sampled_from([0.4, 0.7])), "k": k},
        "beta": {"model": "beta-likeness", "beta": draw(st.sampled_from([0.5, 2.0]))},
    }
    jointly = len(kept) > 1 and draw(st.booleans())
    for name in draw(st.sets(st.sampled_from(sorted(diverse)), max_size=2)):
        named = {} if jointly and name not in ("t", "beta") else {"sensitive": draw(st.sampled_from(kept))}
        require.append({**diverse[name], **named})
    form = draw(st.sampled_from(["bucketize", "slice", "screen"]))
    cut = draw(st.integers(0, len(chosen)))
    given_slices = [s for s in (chosen[:cut], chosen[cut:]) if s]
    return shoal.Policy(
        columns=roles,
        require=require,
        limits={"singled_out": 1.0},
        missing=draw(st.sampled_from(["value", "any"])),
        method={
            "publish": form,
            "strict": draw(st.booleans()),
            "jointly": jointly,
            "slices": "best" if form == "bucketize" else draw(st.sampled_from(["best", 1, 2, 3, given_slices])),
        },
    )


def made(table, policy, seed=1):
    """A release, or nothing where the policy cannot be met or slices make no sense."""
    try:
        return shoal.anonymize(table, policy, seed=seed)
    except (shoal.Infeasible, shoal.PolicyError):
        assume(False)


def contents(release) -> list[Counter]:
    """The rows of every slice with their bucket, whatever their order."""
    data = release.data
    return [Counter(zip(data["bucket"], *(data[c] for c in s.columns), strict=True)) for s in release.layout.slices]


many = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
few = settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))


@many
@given(tables(), policies())
def test_every_release_passes_the_checker_and_loses_nothing(table, policy) -> None:
    release = made(table, policy)
    assert all(g.holds for g in release.guarantees)
    assert release.records == {"in": len(table["age"]), "out": len(table["age"]), "suppressed": 0}
    data, form = release.data, policy.method.publish
    assert list(data["bucket"]) == sorted(data["bucket"])
    assert set(data["bucket"]) == set(range(1, max(data["bucket"]) + 1))
    sizes = Counter(data["bucket"])
    assert min(sizes.values()) >= policy.k
    held = Counter(a for s in release.layout.slices for a in s.attributes)
    n_slices = len(release.layout.slices)
    for name, column in policy.columns.items():
        assert held[name] == (n_slices if column.role == "sensitive" and form == "screen" else 1), name
    for s in release.layout.slices:
        quasi = [a for a in s.attributes if policy.columns[a].role == "quasi"]
        if form == "screen" and quasi:
            regions = Counter(zip(data["bucket"], *(data[s.column_of(a)] for a in quasi), strict=True))
            assert min(regions.values()) >= policy.k
        exact = [a for a in s.attributes if form != "screen" or a not in quasi]
        published = Counter(zip(*(data[s.column_of(a)] for a in exact), strict=True))
        assert published == Counter(zip(*(table[a] for a in exact), strict=True))
    for frame in slice_frames(release.table, release.layout):
        assert Counter(frame["bucket"].tolist()) == sizes


@many
@given(tables(), policies(), st.randoms(use_true_random=False))
def test_order_changes_nothing_and_the_seed_no_strict_bucket(table, policy, random) -> None:
    release = made(table, policy)
    order = list(range(len(table["age"])))
    random.shuffle(order)
    names = list(table)
    random.shuffle(names)
    turned = {n: [table[n][i] for i in order] for n in names}
    again = shoal.anonymize(turned, policy, seed=1)
    assert again.layout == release.layout
    assert again.data == release.data
    if policy.method.strict:  # relaxed cuts part equal records, and a secret says which
        assert contents(shoal.anonymize(turned, policy, seed=2)) == contents(release)


@few
@given(tables(), policies(), st.data())
def test_same_bytes_twice_and_changed_cells_are_caught(table, policy, data) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder, source = Path(scratch), Path(scratch) / "people.csv"
        write_table(from_frame(table), source)
        release = made(source, policy)
        release.save(folder / "one", keep=["groups"])
        shoal.anonymize(source, policy, seed=1).save(folder / "two", keep=["groups"])
        for path in sorted((folder / "one").rglob("*.*")):
            assert path.read_bytes() == (folder / "two" / path.relative_to(folder / "one")).read_bytes()
        publish, private = folder / "one" / "publish", folder / "one" / "private"
        assert shoal.check(publish, source, policy).holds
        assert shoal.check(publish, source, policy, private=private).holds
        released = read_table(publish / "data.csv")
        for _ in range(3):  # a release takes longer than a check
            _change_one_cell(released, publish, data)
            found = shoal.check(publish, source, policy, private=private)
            assert not found.holds
            assert not any("checksum" in f for f in found.findings)
            assert not shoal.check(publish, source, policy).holds


def _change_one_cell(table: Table, publish: Path, data) -> None:
    """A cell of any slice gets a text that nobody has, and the manifest the checksum of the new file."""
    column = table[data.draw(st.sampled_from(table.names[1:]))]
    row = data.draw(st.integers(0, table.n_rows - 1))
    codes = np.where(column.missing, column.codes + 1, column.codes).astype(np.int32)
    codes[row] = len(column.values)
    edited = Column(column.name, codes, np.append(column.values.astype(object), "changed"), column.markers)
    write_table(table.with_columns({column.name: edited}), publish / "data.csv")
    manifest = json.loads((publish / "manifest.json").read_text(encoding="utf-8"))
    manifest["checksums"]["data.csv"] = checksum(publish / "data.csv")
    (publish / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
