"""What holds of every release of pseudo-records, whatever the table and the policy, and what a check must find."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import shoal
import shoal.kinds.tables.kind
from shoal.data.tables.frames import from_frame
from shoal.data.tables.table import encode_cells
from shoal.data.tables.write import write_table
from tests.properties.test_release_properties import policies, rows_of, tables

pytestmark = pytest.mark.unattacked

some = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
few = settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def condensing(draw):
    """A table with its policy: wide enough that draws need not be copies."""
    policy = draw(policies())
    assume(not policy.method.is_recoding)
    alone = policy.method.partition == "univariate"  # groups by one number; equal heights would not be taken for one
    asked = policy.changed(
        quasi=["height"] if alone else ["age", "height", "city"],
        insensitive=quasi_of(policy) if alone else (),
        columns={"height": {"type": "continuous"}} if alone else {},
        order="sorted",
        publish="condense",
        slices="best",
        jointly=False,
    )
    table = draw(tables(min_rows=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    heights = rng.normal(170, draw(st.sampled_from([0.0, 1e-6, 9.0, 1e6])), len(table["age"]))
    decimals = draw(st.integers(0, 3))  # one spelling a number, so that texts can be counted
    table["height"] = [f"{h:.{decimals}f}" for h in heights]
    return table, asked


def made(table, policy, seed=1):
    try:
        return shoal.anonymize(table, policy, seed=seed)
    except shoal.Infeasible:
        assume(False)


def quasi_of(policy) -> list[str]:
    return [n for n, c in policy.columns.items() if c.role == "quasi"]


@some
@given(condensing())
def test_groups_are_large_nothing_is_lost_and_nothing_is_a_copy(given) -> None:
    table, policy = given
    release = made(table, policy)
    assert all(g.holds for g in release.guarantees)
    assert [g.model for g in release.guarantees[:2]] == ["condensation", "no-copies"]
    assert np.bincount(release._groups).min() >= policy.k
    n_rows = len(table["age"])
    assert release.records["out"] + release.records["suppressed"] == n_rows
    assert release.records["suppressed"] <= policy.method.suppression * n_rows
    untouched = [n for n in release.table.names if n not in quasi_of(policy)]
    assert not rows_of(release.data, untouched) - rows_of(table, untouched)
    originals = rows_of(table, quasi_of(policy))
    assert not any(0 < originals[row] < policy.k for row in rows_of(release.data, quasi_of(policy)))
    for name in ("city", "country", "grade", "zip"):
        if name in quasi_of(policy):
            kept, shown = np.array(table[name])[release._rows], np.array(release.data[name])
            for g in set(release._groups.tolist()):
                assert set(shown[release._groups == g]) <= set(kept[release._groups == g])


@some
@given(condensing(), st.randoms(use_true_random=False))
def test_neither_rows_nor_columns_have_an_order(given, random) -> None:
    table, policy = given
    release = made(table, policy)
    order = list(range(len(table["age"])))
    random.shuffle(order)
    names = list(table)
    random.shuffle(names)
    again = shoal.anonymize({n: [table[n][i] for i in order] for n in names}, policy, seed=1)
    for name in table:
        assert list(again.data[name]) == list(release.data[name]), name


@few
@given(condensing(), st.data())
def test_same_bytes_twice_and_what_is_put_in_is_found(given, data) -> None:
    table, policy = given
    with tempfile.TemporaryDirectory() as scratch:
        source, one, two = (Path(scratch) / name for name in ("people.csv", "one", "two"))
        write_table(from_frame(table), source)
        try:
            shoal.anonymize(source, policy, seed=1).save(one, keep=["groups"])
        except shoal.Infeasible:
            assume(False)
        shoal.anonymize(source, policy, seed=1).save(two, keep=["groups"])
        for path in sorted(one.rglob("*.*")):
            assert path.read_bytes() == (two / path.relative_to(one)).read_bytes()
        assert shoal.check(one, source, private=one).holds
        row = data.draw(st.integers(0, shoal.kinds.tables.kind.load(one / "publish" / "data.csv").n_rows - 1))
        if "city" in quasi_of(policy):
            _a_category_of_no_member_is_found(one, source, policy, row)
        _a_copy_is_found(two, source, policy, row)


def put(folder: Path, row: int, cells: dict[str, str]) -> None:
    """Change cells of one row of the published file."""
    path = folder / "publish" / "data.csv"
    table = shoal.kinds.tables.kind.load(path, markers=())
    changed = {}
    for name, text in cells.items():
        shown = np.array([table[name].texts()[c] for c in table[name].codes], dtype=object)
        shown[row] = text
        changed[name] = encode_cells(name, shown)
    write_table(table.with_columns(changed), path)


def failing(found) -> set[str]:
    return {g.model for g in found.guarantees if not g.holds}


def _a_category_of_no_member_is_found(folder: Path, source: Path, policy, row: int) -> None:
    put(folder, row, {"city": "nowhere"})
    assert "condensation" in failing(shoal.check(folder, source, private=folder))


def _a_copy_is_found(folder: Path, source: Path, policy, row: int) -> None:
    originals = rows_of({n: _cells(source, n) for n in quasi_of(policy)}, quasi_of(policy))
    rare = sorted(cells for cells, count in originals.items() if count < policy.k)
    assume(rare)
    put(folder, row, dict(zip(quasi_of(policy), rare[row % len(rare)], strict=True)))
    assert "no-copies" in failing(shoal.check(folder, source))
    assert "no-copies" in failing(shoal.check(folder, source, private=folder))


def _cells(source: Path, name: str) -> list[str]:
    column = shoal.kinds.tables.kind.load(source)[name]
    return [column.texts()[c] for c in column.codes]
