"""Rows and records that are compared in parts, beside the comparison of all at once."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.check.tables.compare_parts import compare_parts
from shoal.check.tables.compare_rows import Compared, ComparedTables, compare_kept, compare_labels
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.coded_rows import coded_originals, coded_rows
from shoal.data.tables.files import read_table
from shoal.data.tables.format import HowToRead
from shoal.data.tables.table import MARKERS, Table
from shoal.data.tables.write import read_back

NAMES = ["age", "town", "ill", "ward"]
QUASI, KEPT = ("age", "town"), ("ill", "ward")
ATTRIBUTES = {
    "age": Attribute("age", "continuous", "quasi"),
    "town": Attribute("town", "nominal", "quasi"),
    "ill": Attribute("ill", "nominal", "sensitive"),
    "ward": Attribute("ward", "continuous", "insensitive"),
}


def put(path: Path, columns: dict) -> Path:
    with duckdb.connect() as database:
        database.register(
            "columns", {n: np.array(c, dtype=object if n in ("town", "ill") else None) for n, c in columns.items()}
        )
        database.execute(f"COPY (SELECT * FROM columns) TO '{path}' (FORMAT {path.suffix[1:]})")
    return path


def drawn(seed: int, n_rows: int) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    return {
        "age": rng.integers(20, 60, n_rows).tolist(),
        "town": rng.choice(["Bonn", "Ulm", "Trier"], n_rows).tolist(),
        "ill": rng.choice(["flu", "=1", "?", "cold"], n_rows).tolist(),
        "ward": (rng.integers(0, 4, n_rows) / 2).tolist(),
    }


def generalised(records: dict[str, list], seed: int, n_wrong: int, n_mixed: int) -> dict[str, list]:
    """Labels that cover each record; then some that do not, and kept cells of some others."""
    rng = np.random.default_rng(seed)
    ages = [f"[{age // 10 * 10}..{age // 10 * 10 + 9}]" for age in records["age"]]
    towns = ["{Bonn, Ulm}" if town != "Trier" else "*" for town in records["town"]]
    made = {"age": ages, "town": towns, "ill": list(records["ill"]), "ward": list(records["ward"])}
    for row in rng.integers(0, len(ages), n_wrong):
        made["age"][row] = "[20..29]"
    for one, other in rng.integers(0, len(ages), (n_mixed, 2)):
        made["ill"][one], made["ill"][other] = made["ill"][other], made["ill"][one]
    order = rng.permutation(len(ages))
    return {n: [c[i] for i in order] for n, c in made.items()}


def held(published: Path, original: Path) -> tuple[Table, Table]:
    table = read_back(published, NAMES, markers=MARKERS, is_weighed=True)
    return table, read_table(original, markers=MARKERS, header="first", drops=lambda name: False)


def whole(table: Table, records: Table, quasi, kept, is_known: bool) -> Compared:
    tables = ComparedTables(table, records, ATTRIBUTES, quasi, kept, MARKERS, is_known)
    alone = [n for n in kept if compare_kept(ComparedTables(table, records, ATTRIBUTES, (), (n,), MARKERS, is_known))]
    said = "the column {!r} holds cells that the original does not have, or more of them"
    return Compared(tuple(said.format(n) for n in alone)) if alone else compare_labels(tables)


def parted(published: Path, original: Path, quasi, kept, is_known: bool, n_parts: int | None) -> Compared:
    reading = HowToRead(MARKERS, header="first")
    with coded_rows(published, NAMES, markers=MARKERS) as rows, coded_originals(original, reading) as records:
        how = {"is_meaning_known": is_known, "n_parts": n_parts}
        return compare_parts(rows, records, ATTRIBUTES, quasi, kept, MARKERS, **how)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 60),
    st.sampled_from([0, 1, 5]),
    st.sampled_from([0, 0, 3]),
    st.sampled_from([0, 1, 4]),
    st.sampled_from(["parquet", "csv"]),
    st.sampled_from([1, 2, 5]),
    st.booleans(),
)
def test_what_is_found_in_parts_is_what_is_found_at_once(
    tmp_path_factory, seed, n_rows, n_wrong, n_mixed, n_left_out, form, n_parts, is_known
) -> None:
    folder = tmp_path_factory.mktemp("compare")
    records = drawn(seed, n_rows)
    original = put(folder / f"original.{form}", records)
    shown = {n: c[: max(1, n_rows - n_left_out)] for n, c in generalised(records, seed, n_wrong, n_mixed).items()}
    published = put(folder / f"data.{form}", shown)
    both = held(published, original)
    for kept in (KEPT, KEPT[:1]):
        for quasi in (QUASI, ()):
            expected = whole(*both, quasi, kept, is_known)
            assert parted(published, original, quasi, kept, is_known, n_parts) == expected


def test_rows_that_stand_for_no_record_are_found(tmp_path: Path) -> None:
    records = drawn(3, 200)
    original, published = put(tmp_path / "original.parquet", records), tmp_path / "data.parquet"
    put(published, generalised(records, 3, 0, 0))
    assert parted(published, original, QUASI, KEPT, True, 4) == Compared()
    put(published, generalised(records, 3, 30, 0))
    (finding,) = parted(published, original, QUASI, KEPT, True, 4).findings
    assert "that no record of the original is left for: whose labels do not cover it" in finding


def test_without_kept_columns_it_is_said_that_rows_are_not_compared(tmp_path: Path) -> None:
    records = drawn(3, 50)
    original, published = (
        put(tmp_path / "original.csv", records),
        put(tmp_path / "data.csv", generalised(records, 3, 0, 0)),
    )
    found = parted(published, original, QUASI, (), True, None)
    assert found.findings == ()
    (left,) = found.not_compared
    assert left.endswith("none is published as it is")


@pytest.mark.parametrize("header", ["first", "none"])
def test_an_original_is_read_as_it_was(tmp_path: Path, header: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(("a;b;c\n" if header == "first" else "") + "1,5;x;k\n2,5;x;l\n1,5;x;k\n2;y;k\n")
    names = ["a", "c"] if header == "first" else ["c1", "c3"]
    reading = HowToRead(MARKERS, ";", None, header, decimal=",", drops=lambda name: name not in names)
    with coded_originals(path, reading) as rows:
        assert (rows.names, rows.n_rows, rows.n_records) == (names, 3, 4)
        assert rows.dictionaries[names[0]].values.tolist() == ["1.5", "2", "2.5"]
        assert rows.counts(names[0]).tolist() == [2, 1, 1]
