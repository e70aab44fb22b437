"""What holds of every release, whatever the table and the policy."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import shoal
from shoal.check.tables.classes import classes_of
from shoal.data.tables.files import read_table
from shoal.data.tables.frames import from_frame
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import Column, Table
from shoal.data.tables.write import write_table
from shoal.tables.partition.base import PARTITIONS as REGISTERED

COUNTRY = Hierarchy((("fr", "west", "*"), ("de", "west", "*"), ("pl", "east", "*"), ("cz", "east", "*")))
GRADES = ("low", "middle", "high")
PARTITIONS = list(REGISTERED)
ORDERED = ["age", "born", "grade"]

cells = {
    "age": st.integers(0, 12).map(str),
    "city": st.sampled_from(["ab", "b,c", 'say "hi"', "=1+1", "ä\nö"]),
    "country": st.sampled_from(["fr", "de", "pl", "cz"]),
    "born": st.sampled_from(["2020-01-01", "2020-01-31", "2021-05-05", "1999-12-31"]),
    "grade": st.sampled_from(GRADES),
    "zip": st.sampled_from(["48101", "48102", "48201", "99999"]),
    "disease": st.sampled_from(["flu", "cold", "ulcer", "gout"]),
    "cost": st.integers(-3, 30).map(lambda v: str(v / 2)),
    "note": st.sampled_from(["", "x", "-y", "z"]),
}
columns = {
    "age": {"role": "quasi", "type": "continuous"},
    "city": {"role": "quasi", "type": "nominal"},
    "country": {"role": "quasi", "hierarchy": COUNTRY},
    "born": {"role": "quasi", "type": "date"},
    "grade": {"role": "quasi", "order": GRADES},
    "zip": {"role": "quasi", "type": "prefix"},
    "disease": {"role": "sensitive", "type": "nominal"},
    "cost": {"role": "sensitive", "type": "continuous"},
    "note": {"role": "insensitive"},
}


@st.composite
def tables(draw, min_rows: int = 1):
    n_rows = draw(st.integers(min_rows, 30))
    gaps = draw(st.sampled_from([0.0, 0.0, 0.3]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = {}
    for name, cell in cells.items():
        column = draw(st.lists(cell, min_size=n_rows, max_size=n_rows))
        table[name] = ["" if rng.random() < gaps else c for c in column]
    return table


@st.composite
def policies(draw):
    partition = draw(st.sampled_from(PARTITIONS))
    if partition == "univariate":
        chosen = {draw(st.sampled_from(ORDERED))}
    else:
        chosen = draw(st.sets(st.sampled_from([*ORDERED, "city", "country", "zip"]), min_size=1))
    roles = {n: c if c["role"] != "quasi" or n in chosen else {"role": "insensitive"} for n, c in columns.items()}
    k = draw(st.integers(2, 6))
    require = [{"model": "k-anonymity", "k": k}]
    diverse = {
        "distinct": {"model": "l-diversity", "l": draw(st.integers(2, 3)), "kind": "distinct"},
        "probabilistic": {"model": "l-diversity", "l": draw(st.sampled_from([1.5, 2])), "kind": "probabilistic"},
        "entropy": {"model": "l-diversity", "l": draw(st.sampled_from([1.5, 2])), "kind": "entropy"},
        "recursive": {"model": "l-diversity", "l": 2, "kind": "recursive", "c": draw(st.sampled_from([1.0, 3.0]))},
        "t": {"model": "t-closeness", "t": draw(st.sampled_from([0.1, 0.3, 0.6]))},
        "alpha": {"model": "alpha-k", "alpha": draw(st.sampled_from([0.4, 0.7])), "k": k},
        "beta": {"model": "beta-likeness", "beta": draw(st.sampled_from([0.5, 2.0]))},
        "basic": {"model": "beta-likeness", "beta": draw(st.sampled_from([0.5, 2.0])), "kind": "basic"},
    }
    for name in draw(st.sets(st.sampled_from(sorted(diverse)), max_size=2)):
        require.append({**diverse[name], "sensitive": draw(st.sampled_from(["disease", "cost"]))})
    is_recoding = REGISTERED[partition].is_recoding
    publish = None if is_recoding else draw(st.sampled_from(["aggregate", "generalise", "condense"]))
    return shoal.Policy(
        columns=roles,
        require=require,
        limits={"singled_out": 1.0},
        missing=draw(st.sampled_from(["value", "any"])),
        order="sorted" if publish == "condense" else draw(st.sampled_from(["sorted", "original"])),
        method={
            "partition": partition,
            "publish": publish,
            "effort": "fast" if is_recoding else draw(st.sampled_from(["fast", "fast", "fast", "balanced"])),
            "diversity": draw(st.sampled_from(["local", "local", "blind"])),
            "strict": draw(st.booleans()),
            "restore_variance": draw(st.booleans()),
            "suppression": draw(st.sampled_from([0.0, 0.3])),
        },
    )


def made(table, policy):
    """A release, or nothing where the policy cannot be met."""
    try:
        return shoal.anonymize(table, policy, seed=1)
    except shoal.Infeasible:
        assume(False)


def rows_of(table, names=None) -> Counter:
    return Counter(zip(*(table[n] for n in names or sorted(table)), strict=True))


some = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
many = settings(some, max_examples=200)


@some
@given(tables(), policies())
def test_every_release_passes_the_checker_and_nothing_is_lost_or_duplicated(table, policy) -> None:
    release = made(table, policy)
    _passes_the_checker(release, table, policy)
    _nothing_is_lost_or_duplicated(release, table, policy)


@pytest.mark.slow
@many
@given(tables(), policies())
def test_each_of_many_releases_passes_the_checker_and_nothing_is_lost_or_duplicated(table, policy) -> None:
    release = made(table, policy)
    _passes_the_checker(release, table, policy)
    _nothing_is_lost_or_duplicated(release, table, policy)


def _passes_the_checker(release, table, policy) -> None:
    assert all(g.holds for g in release.guarantees)
    quasi = [n for n, c in policy.columns.items() if c.role == "quasi"]
    if policy.method.publish == "condense":
        assert all(g.details["copies"] == 0 for g in release.guarantees if g.model == "no-copies")
        originals, published = rows_of(table, quasi), rows_of(release.data, quasi)
        assert not any(0 < originals[row] < policy.k for row in published)
        return
    published = rows_of(release.data, quasi)
    assert min(published.values()) >= policy.k


def _nothing_is_lost_or_duplicated(release, table, policy) -> None:
    untouched = [n for n, c in policy.columns.items() if c.role != "quasi"]
    n_rows = len(table["age"])
    assert release.records["in"] == n_rows
    assert release.records["out"] + release.records["suppressed"] == n_rows
    assert release.records["suppressed"] <= policy.method.suppression * n_rows
    before = rows_of(table, untouched)
    after = rows_of(release.data, untouched)
    assert not after - before
    assert sum(after.values()) == release.records["out"]
    if policy.order == "original" and not release.records["suppressed"]:
        for name in untouched:
            assert list(release.data[name]) == list(table[name])


@settings(some, max_examples=40)
@given(tables(min_rows=4), policies(), st.randoms(use_true_random=False))
def test_order_of_rows_and_columns_does_not_matter(table, policy, random) -> None:
    _has_no_order(table, policy, random)


@pytest.mark.slow
@settings(many, max_examples=100)
@given(tables(min_rows=4), policies(), st.randoms(use_true_random=False))
def test_order_of_rows_and_columns_does_not_matter_in_many_releases(table, policy, random) -> None:
    _has_no_order(table, policy, random)


def _has_no_order(table, policy, random) -> None:
    policy = policy.changed(order="sorted")
    release = made(table, policy)
    order = list(range(len(table["age"])))
    random.shuffle(order)
    names = list(table)
    random.shuffle(names)
    again = shoal.anonymize({n: [table[n][i] for i in order] for n in names}, policy, seed=1)
    for name in table:
        assert list(again.data[name]) == list(release.data[name]), name


@settings(some, max_examples=4)
@given(tables(min_rows=4), policies(), st.data())
def test_same_bytes_twice_and_edits_are_caught(table, policy, data) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "people.csv"
        write_table(from_frame(table), source)
        try:
            shoal.anonymize(source, policy, seed=1).save(Path(scratch) / "one", keep=["groups"])
        except shoal.Infeasible:
            assume(False)
        shoal.anonymize(source, policy, seed=1).save(Path(scratch) / "two", keep=["groups"])
        for path in sorted((Path(scratch) / "one").rglob("*.*")):
            assert path.read_bytes() == (Path(scratch) / "two" / path.relative_to(Path(scratch) / "one")).read_bytes()
        private = Path(scratch) / "one" / "private"
        assert shoal.check(Path(scratch) / "one" / "publish", source, private=private).holds
        if policy.method.publish == "condense":
            return
        publish = Path(scratch) / "one" / "publish"
        released = read_table(publish / "data.csv")
        for _ in range(3):  # a release takes longer than a check
            _edit_one_cell_is_caught(released, publish, policy, data)


def _edit_one_cell_is_caught(table: Table, folder: Path, policy, data) -> None:
    """Change one cell so that a class of k shrinks: the guarantee itself must fail, not only the checksum."""
    quasi = [n for n, c in policy.columns.items() if c.role == "quasi"]
    sizes = classes_of(table, quasi).sizes
    column = table[data.draw(st.sampled_from(quasi))]
    row = data.draw(st.integers(0, table.n_rows - 1))
    n_values = len(column.values)
    codes = np.where(column.missing, column.codes + 1, column.codes).astype(np.int32)
    codes[row] = n_values
    edited = Column(column.name, codes, np.append(column.values, "changed by someone"), column.markers)
    write_table(table.with_columns({column.name: edited}), folder / "data.csv")
    found = shoal.check(folder)
    assert not found.holds
    assert any("checksum" in f for f in found.findings)
    k_anonymity = next(g for g in found.guarantees if g.model == "k-anonymity")
    assert not k_anonymity.holds
    assert k_anonymity.achieved == 1
    assert sizes.min() >= policy.k


def test_pandas_comes_back_as_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1, 2, 3, 4], "disease": ["a", "b", "a", "b"], "weight": [1.5, 2.5, 3.5, 4.5]})
    policy = shoal.Policy.of(quasi=["age"], sensitive=["disease"], insensitive=["weight"], k=2, order="original")
    policy = policy.changed(singled_out=1.0, ends="exact")
    release = shoal.anonymize(frame, policy)
    assert isinstance(release.data, pandas.DataFrame)
    assert list(release.data.columns) == list(frame.columns)
    assert release.data["weight"].tolist() == frame["weight"].tolist()
    assert release.data["age"].tolist() == ["[1..2]", "[1..2]", "[3..4]", "[3..4]"]
