"""A file that is checked in parts, beside the same file as one table in memory."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.check.tables import singled_out
from shoal.check.tables.classes import classes_of
from shoal.check.tables.parts import ClassSizes, findings_in_parts, verify_file, verify_parts
from shoal.check.tables.risk import risk_of
from shoal.check.tables.singled_out import findings_of
from shoal.check.tables.verify import verify
from shoal.check.verdict import Asked
from shoal.data.memory import bounded
from shoal.data.tables import room
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.coded_rows import coded_rows
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.room import TooManyDistinct
from shoal.data.tables.table import MARKERS, Source, Table
from shoal.data.tables.write import read_back, write_table
from shoal.errors import Infeasible, NotVerified, PolicyError
from shoal.models.alpha_k import AlphaK
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness
from tests.unit.check.tables.slow_check import column

QUASI = ["age", "town"]
LEAVES = ["flu", "Flu ", "cold", "burn", "cut", "?", "unknown", "'=1", "=1"]
TREE = Hierarchy(
    tuple(
        (leaf, group, "*")
        for leaf, group in [
            ("flu", "ill"),
            ("Flu ", "ill"),
            ("cold", "ill"),
            ("burn", "hurt"),
            ("cut", "hurt"),
            ("=1", "odd"),
            ("'=1", "odd"),
        ]
    )
)
ATTRIBUTES = {
    "age": Attribute("age", "continuous", "quasi"),
    "town": Attribute("town", "nominal", "quasi"),
    "why": Attribute("why", "nominal", "sensitive", None, TREE),
    "pay": Attribute("pay", "continuous", "sensitive"),
    "ward": Attribute("ward", "nominal", "insensitive"),
}
REQUIRED = [
    KAnonymity(k=3),
    *(LDiversity(l=2, kind=kind) for kind in ("distinct", "probabilistic", "entropy", "recursive")),
    AlphaK(alpha=0.6, k=3),
    *(TCloseness(t=0.3, distance=d, sensitive="why") for d in ("equal", "ordered", "hierarchical")),
    TCloseness(t=0.3, sensitive="pay"),
    *(BetaLikeness(beta=1.5, kind=kind) for kind in ("basic", "enhanced")),
]


def people(seed: int, n_rows: int, *, gaps: float = 0.0, is_parquet: bool = True) -> Table:
    """Few labels, so that there are classes; cells that are spelled in several ways, or missing in several."""
    rng = np.random.default_rng(seed)

    def missing(cells):
        return [rng.choice(["", "?", None]) if rng.random() < gaps else cell for cell in cells]

    pay = rng.choice([1.0, 2.5, -0.0, 0.0, 1e6], n_rows)
    return Table.of(
        [
            column("age", missing(rng.choice(["1..5", "[6, 9]", "7"], n_rows).tolist())),
            column("town", missing(rng.choice(["Ulm", "*", "=Bonn"], n_rows).tolist())),
            column("why", missing(rng.choice(LEAVES, n_rows).tolist())),
            column("pay", [None if rng.random() < gaps else float(v) for v in pay]),
            column("ward", missing([f"w{i}" for i in rng.integers(0, 12, n_rows)])),
        ],
        Source(format="parquet" if is_parquet else "csv"),
    )


def write(table: Table, folder: Path) -> Path:
    path = folder / ("data.parquet" if table.source.format == "parquet" else "data.csv")
    write_table(table, path)
    return path


def whole(path: Path, names: list[str]) -> Table:
    return read_back(path, names, markers=MARKERS, is_weighed=True)


@pytest.mark.parametrize("is_parquet", [True, False])
@pytest.mark.parametrize("n_parts", [1, 2, 5])
@pytest.mark.parametrize("missing", ["value", "any"])
def test_guarantees_are_those_of_the_whole_table(tmp_path, is_parquet: bool, n_parts: int, missing: str) -> None:
    for seed in range(3):
        made = people(seed, 150, gaps=0.1 if missing == "value" else 0.02 * seed, is_parquet=is_parquet)
        path = write(made, tmp_path)
        same_of_both(path, made.names, n_parts, missing)
        path.unlink()


def same_of_both(
    path: Path, names: list[str], n_parts: int, missing: str, *, is_one_each: bool = False, knows_history: bool = False
) -> None:
    table = whole(path, names)
    with coded_rows(path, names, markers=MARKERS) as rows:
        assert (rows.names, rows.n_rows, rows.n_records) == (table.names, table.n_rows, table.n_records)
        told = {"missing": missing, "attributes": ATTRIBUTES, "knows_history": knows_history}
        persons = np.arange(table.n_rows) if is_one_each else None
        for required in REQUIRED:
            columns = ([required], QUASI, ["why", "pay"])
            expected = outcome(partial(verify, table, *columns, **told, persons=persons))
            asked = Asked(*columns, **told, counts_persons=is_one_each)
            assert outcome(partial(verify_parts, rows, asked, n_parts=n_parts, is_one_each=is_one_each)) == expected


def outcome(check) -> list[dict] | str:
    """What a check says, or why it says nothing."""
    try:
        return [g.to_dict() for g in check()]
    except Infeasible as error:
        return str(error)


@pytest.mark.parametrize("knows_history", [False, True])
def test_persons_of_one_record_each_are_counted(tmp_path, knows_history: bool) -> None:
    made = people(1, 120)
    same_of_both(write(made, tmp_path), made.names, 3, "value", is_one_each=True, knows_history=knows_history)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 90),
    st.sampled_from([0.0, 0.1, 0.6]),
    st.booleans(),
    st.sampled_from([1, 2, 5]),
    st.sampled_from(["value", "any"]),
)
def test_parts_of_any_table(tmp_path_factory, seed, n_rows, gaps, is_parquet, n_parts, missing) -> None:
    made = people(seed, n_rows, gaps=gaps, is_parquet=is_parquet)
    path = write(made, tmp_path_factory.mktemp("parts"))
    same_of_both(path, made.names, n_parts, missing)
    table = whole(path, made.names)
    with coded_rows(path, made.names, markers=MARKERS) as rows:
        for limit in (0.01, 0.3, 1.0):
            expected = findings_of(table, ATTRIBUTES, has_labels=True, limit=limit, accepted={"singled_out": "so"})
            assert findings_in_parts(rows, ATTRIBUTES, limit=limit, accepted={"singled_out": "so"}) == expected
        sizes = ClassSizes(*rows.class_sizes(QUASI))
    for k in (1, 3, 20):
        assert sizes.risk(k) == risk_of(classes_of(table, QUASI), k)


def test_findings_stop_at_the_columns_that_they_look_at(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(singled_out, "MOST_CELLS", 100)
    made = people(4, 60, gaps=0.1)
    path = write(made, tmp_path)
    table = whole(path, made.names)
    with coded_rows(path, made.names, markers=MARKERS) as rows:
        for persons in (None, np.arange(table.n_rows)):
            expected = findings_of(table, ATTRIBUTES, has_labels=True, limit=0.6, persons=persons)
            assert findings_in_parts(rows, ATTRIBUTES, limit=0.6, are_persons=persons is not None) == expected


ASKED = Asked(REQUIRED, QUASI, ["why", "pay"], attributes=ATTRIBUTES)


def test_a_written_file_is_verified(tmp_path) -> None:
    made = people(5, 400)
    path = write(made, tmp_path)
    found = verify_file(path, made.names, asked=ASKED, n_records=400, n_parts=4)
    table = whole(path, made.names)
    assert found.guarantees == verify(table, REQUIRED, QUASI, ["why", "pay"], attributes=ATTRIBUTES)
    assert found.findings == findings_of(table, ATTRIBUTES, has_labels=True)
    assert (found.n_records, found.n_rows) == (400, table.n_rows)
    assert found.sizes.risk(3) == risk_of(classes_of(table, QUASI), 3)


def test_a_file_that_is_not_what_was_made_is_not_verified(tmp_path) -> None:
    made = people(5, 40)
    path = write(made, tmp_path)
    for names, n_records in ((made.names, 39), (made.names[::-1], 40)):
        with pytest.raises(NotVerified, match="does not read back"):
            verify_file(path, names, asked=ASKED, n_records=n_records)
    with pytest.raises(NotVerified, match="persons"):
        verify_file(path, made.names, asked=replace(ASKED, counts_persons=True), n_records=40)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(NotVerified, match="damaged"):
        verify_file(path, made.names, asked=ASKED, n_records=40)


def test_as_many_parts_as_it_takes_and_no_fewer_rows_than_a_class_has(tmp_path, monkeypatch) -> None:
    made = people(6, 600)
    path = write(made, tmp_path)
    table = whole(path, made.names)
    expected = verify(table, REQUIRED, QUASI, ["why", "pay"], attributes=ATTRIBUTES)
    seen = []
    asked = {"asked": ASKED, "n_records": 600, "progress": lambda what, done, n: seen.append((done, n))}
    with bounded(500 << 20):
        monkeypatch.setattr(room, "ROW_BYTES", 2 << 20)  # a hundred rows fit
        found = verify_file(path, made.names, **asked)
        assert found.guarantees == expected
        assert seen[-1][1] > 1
        monkeypatch.setattr(room, "ROW_BYTES", 50 << 20)
        with pytest.raises(NotVerified, match="share quasi-identifiers"):
            verify_file(path, made.names, **asked)
        with coded_rows(path, made.names, markers=MARKERS) as rows, pytest.raises(TooManyDistinct):
            list(rows.parts(QUASI, ["why"]))


def test_what_needs_a_column_that_is_not_there_is_refused(tmp_path) -> None:
    made = people(7, 30)
    with coded_rows(write(made, tmp_path), made.names, markers=MARKERS) as rows:
        with pytest.raises(PolicyError, match="no quasi-identifier"):
            verify_parts(rows, Asked(REQUIRED, []))
        with pytest.raises(PolicyError, match="none is named"):
            verify_parts(rows, Asked([LDiversity(l=2)], QUASI))
