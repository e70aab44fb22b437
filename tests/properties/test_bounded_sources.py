"""Whatever holds the rows of a table, several files or a database, its release has the bytes of one held file."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.data.tables import parquet
from shoal.errors import ShoalError
from tests.properties.test_bounded_memory import Cells, made, policies, put, tables

pytestmark = pytest.mark.unattacked

FORMS = ("folder", "glob", "hive", "duckdb", "sqlite")
NAME = "the 'people\" ?; --"


@contextmanager
def placed(columns: Cells, form: str, key: str, cuts: list[int]) -> Iterator[tuple[Path, str, Path]]:
    """The same rows in one file and in another form, and an empty folder."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, n_rows = Path(scratch), len(columns["age"])
        if form == "hive":
            columns = {**{n: c for n, c in columns.items() if n != key}, key: columns[key]}
        one = put(folder / "people.parquet", columns)
        parts = folder / "it's [in] parts"
        parts.mkdir()
        (parts / "_SUCCESS").touch()
        where = str(parts)
        if form in ("folder", "glob"):
            ends = [0, *sorted(cut % (n_rows + 1) for cut in cuts), n_rows]
            for i, (begin, end) in enumerate(pairwise(ends)):
                _write(parts / f"part-{i}*.parquet", one, f"file_row_number >= {begin} AND file_row_number < {end}")
            where += "/part-*.parquet" if form == "glob" else ""
        elif form == "hive":
            for value in dict.fromkeys(columns[key].tolist()):
                inner = parts / f"{key}={'__HIVE_DEFAULT_PARTITION__' if value is None else value}"
                inner.mkdir()
                known = f"IS NOT DISTINCT FROM {'NULL' if value is None else repr(value)}"
                _write(inner / "0.parquet", one, f"{key} {known}", leaving=key)
        else:
            where = f"{folder / 'people.db'}?table={NAME}"
            _put_table(folder / "people.db", columns, form)
        yield one, where, folder / "out"


def _write(path: Path, one: Path, some: str, leaving: str = "") -> None:
    told = str(path).replace("'", "''")
    without = f"EXCLUDE ({', '.join(filter(None, ['file_row_number', leaving]))})"
    duckdb.execute(
        f"COPY (SELECT * {without} FROM read_parquet('{one}', file_row_number = true) WHERE {some}) TO '{told}' "
        "(FORMAT parquet)"
    )


def _put_table(path: Path, columns: Cells, form: str) -> None:
    name = '"' + NAME.replace('"', '""') + '"'
    if form == "duckdb":
        with duckdb.connect(str(path)) as database:
            database.register("columns", columns)
            database.execute(f"CREATE TABLE {name} AS SELECT * FROM columns; CREATE TABLE other (x INTEGER)")
        return
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        rows = zip(*(cells.tolist() for cells in columns.values()), strict=True)
        database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)
        database.execute("CREATE TABLE other (x)")


sources = st.tuples(
    tables(),
    st.sampled_from(FORMS),
    st.sampled_from(["age", "town", "ill"]),
    st.lists(st.integers(0, 200), max_size=3),
)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(sources, policies())
def test_a_release_has_the_bytes_of_one_held_file(drawn: Any, policy: shoal.Policy) -> None:
    with placed(*drawn) as (one, where, out):
        held = made(one, policy, out)
        bounded = made(Path(where), policy.changed(memory="1GB"), out)
        if isinstance(held[0], type):
            assert bounded[0] is held[0]
            return
        assert bounded == held
        if drawn[1] not in ("duckdb", "sqlite"):  # of which another format goes out if it is held
            assert made(Path(where), policy, out) == held


def told(call: Any) -> Any:
    try:
        return call()
    except ShoalError as error:
        return type(error)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(sources, policies())
def test_a_check_and_attacks_find_what_they_find_beside_one_held_file(drawn: Any, policy: shoal.Policy) -> None:
    with placed(*drawn) as (one, where, out):
        if isinstance(made(one, policy, out)[0], type):
            return
        publish = out / "publish"
        checks = [shoal.check(publish, path, memory="1GB").to_dict() for path in (one, where)]
        assert checks[0] == checks[1]
        asked = {"names": ("inference", "homogeneity", "singling-out-univariate"), "memory": "1GB"}
        found = [told(lambda path=path: shoal.attack(publish, path, **asked)) for path in (one, where)]
        if isinstance(found[0], type):
            assert found[0] is found[1]
            return
        assert [r.main for r in found[0].results] == [r.main for r in found[1].results]


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(sources, policies())
def test_a_profile_and_a_sweep_find_what_they_find_in_one_file(drawn: Any, policy: shoal.Policy) -> None:
    with placed(*drawn) as (one, where, _):
        asked = policy.changed(memory="1GB")
        found = [shoal.profile(path, shoal.Policy(memory="1GB"), sweep=False).to_dict() for path in (one, where)]
        assert found[0] == found[1]
        sweeps = [
            told(lambda path=path: shoal.sweep(path, asked, k=[2, 4], methods=["mondrian"])) for path in (one, where)
        ]
        if isinstance(sweeps[0], type):
            assert sweeps[0] is sweeps[1]
            return
        for ours, theirs in zip(sweeps[1].cells, sweeps[0].cells, strict=True):
            assert (ours.status, ours.n_out, ours.guarantees) == (theirs.status, theirs.n_out, theirs.guarantees)
            assert ours.losses == pytest.approx(theirs.losses, nan_ok=True)


@pytest.mark.parametrize("asked", [{"partition": "mondrian"}, {"partition": "mdav"}])
def test_rows_that_are_left_in_files_come_from_all_parts(tmp_path: Path, asked: Cells) -> None:
    rng = np.random.default_rng(5)
    columns = {
        "age": rng.integers(0, 90, 4000),
        "cost": rng.integers(0, 50, 4000),
        "year": rng.integers(1980, 2010, 4000),
    }
    one, parts = put(tmp_path / "people.parquet", columns), tmp_path / "parts"
    for year in range(1980, 2010):
        (parts / f"year={year}").mkdir(parents=True)
        _write(parts / f"year={year}" / "0.parquet", one, f"year = {year}", leaving="year")
    policy = shoal.Policy.of(quasi=["age", "cost", "year"], k=5, memory="1GB", **asked)
    with patch.object(parquet, "does_fit", lambda *_: False):
        found = [made(path, policy, tmp_path / "out") for path in (one, parts)]
    assert found[0] == found[1]
    assert not isinstance(found[0][0], type), found


def test_two_processes_write_the_same_bytes_of_a_folder(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    parts = tmp_path / "parts"
    for year in (2019, 2020):
        (parts / f"year={year}").mkdir(parents=True)
        for i in range(2):
            columns = {
                "age": rng.integers(0, 90, 3000),
                "zip": rng.integers(0, 20, 3000),
                "ill": rng.integers(0, 3, 3000),
            }
            put(parts / f"year={year}" / f"{i}.parquet", columns)
    policy = shoal.Policy.of(quasi=["age", "zip", "year"], sensitive=["ill"], k=5, memory="1GB")
    releases = [shoal.anonymize(parts, policy, seed=3, **more) for more in ({}, {"workers": 2, "pool": "processes"})]
    data = [release.save(tmp_path / f"out-{i}", report=False) for i, release in enumerate(releases)]
    assert len({(out / "publish" / "data.parquet").read_bytes() for out in data}) == 1
    assert not any("do not see the files" in note for note in releases[1].notes)
