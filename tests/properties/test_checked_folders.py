"""A release passes its check beside the original, whatever it holds; what no records can have left does not."""

from __future__ import annotations

import csv
import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

import shoal
from shoal.check.tables.assignment import count_unplaced
from shoal.data.tables.guarded import unguarded
from shoal.data.tables.labels import read_label
from shoal.kinds.tables.kind import load
from shoal.kinds.tables.policy import Policy
from shoal.secrets import write_rows

pytestmark = pytest.mark.unattacked

AGES = st.sampled_from(["1", "2", "3.5", "40", "41.", "-7", ".5", "1e-3", None])
TOWNS = st.sampled_from(["Ayr", "Bath, UK", "{Cork}", "*", "Ayr or missing", '"Oban"', None])
DISEASES = st.sampled_from(["flu", "cold", "gout", None])
RECORDS = st.lists(st.tuples(AGES, TOWNS, DISEASES, st.sampled_from("xy")), min_size=4, max_size=14)
SLOW = settings(
    max_examples=5,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TAMPERED = settings(SLOW, max_examples=12)
METHODS = [
    {"partition": "mondrian"},
    {"partition": "mondrian", "strict": False},
    {"partition": "mondrian", "publish": "aggregate"},
    {"partition": "mdav"},
    {"partition": "mdav", "publish": "generalise"},
    {"partition": "k-member"},
    {"partition": "full-domain", "suppression": 0.3},
    {"partition": "datafly"},
    {"partition": "mdav", "restore_variance": True},
]


def frame_of(records: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    names = ("age", "town", "disease", "ward")
    return {n: [r[i] for r in records] for i, n in enumerate(names)}


def policy_of(method: dict[str, Any], missing: str = "value", order: str = "sorted") -> Policy:
    columns = {
        "age": {"role": "quasi", "type": "continuous"},
        "town": {"role": "quasi", "type": "nominal"},
        "disease": {"role": "sensitive", "type": "nominal"},
        "ward": {"role": "insensitive", "type": "nominal"},
    }
    return Policy(
        columns=columns,
        require=({"model": "k-anonymity", "k": 2},),
        limits={"singled_out": 1.0},
        method=method,
        missing=missing,
        order=order,
    )


def released(folder: Path, frame: dict[str, list[Any]], policy: Policy) -> Path:
    try:
        release = shoal.anonymize(frame, policy, seed=3)
    except (shoal.Infeasible, shoal.DataError, shoal.PolicyError):
        assume(False)
    release._write_publish(folder / "publish")  # the report takes long and is not looked at
    (folder / "private").mkdir()
    write_rows(folder / "private", release._rows)
    return folder / "publish"


def edit_rows(publish: Path, change: Any) -> list[dict[str, str]]:
    path = publish / "data.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    change(rows)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    manifest = json.loads((publish / "manifest.json").read_text())
    manifest["checksums"]["data.csv"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (publish / "manifest.json").write_text(json.dumps(manifest))
    return rows


@pytest.mark.parametrize("method", METHODS, ids=lambda m: "-".join(map(str, m.values())))
@SLOW
@given(records=RECORDS, missing=st.sampled_from(["value", "any"]), order=st.sampled_from(["sorted", "original"]))
def test_an_untouched_release_passes(method, records, missing, order):
    frame = frame_of(records)
    policy = policy_of(method, missing, order)
    with tempfile.TemporaryDirectory() as folder:
        publish = released(Path(folder), frame, policy)
        original = load(frame, policy.missing_markers)
        for asked in (None, policy):
            for private in (None, publish.parent / "private"):
                found = shoal.check(publish, original, asked, private)
                assert not found.fails, found.findings
                # Of averages over missing cells the groups would have to be kept.
                assert all("present values" in sentence for sentence in found.unverified), found.unverified
        assert shoal.check(publish).holds


@pytest.mark.parametrize("publish", ["bucketize", "slice", "screen", "condense"])
@SLOW
@given(records=RECORDS)
def test_an_untouched_release_of_other_forms_has_nothing_wrong(publish, records):
    frame = frame_of(records)
    policy = policy_of({"publish": publish})
    with tempfile.TemporaryDirectory() as folder:
        try:
            shoal.anonymize(frame, policy, seed=3).save(Path(folder) / "out", keep=["groups"])
        except (shoal.Infeasible, shoal.DataError, shoal.PolicyError):
            assume(False)
        for original, private in ((None, None), (frame, None), (frame, Path(folder) / "out" / "private")):
            found = shoal.check(Path(folder) / "out", original, policy, private)
            assert not found.fails, found.findings
        assert found.holds, found.unverified


def test_parquet_and_typed_columns_pass(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    frame = pandas.DataFrame(
        {
            "age": rng.integers(20, 60, 40),
            "seen": pandas.to_datetime("2020-01-01") + pandas.to_timedelta(rng.integers(0, 90, 40), unit="D"),
            "pay": np.where(rng.random(40) < 0.2, np.nan, rng.random(40).round(3)),
            "at": pandas.to_datetime("2020-01-01") + pandas.to_timedelta(rng.integers(0, 9, 40) * 12, unit="h"),
            "ok": rng.random(40) < 0.5,
        }
    )
    frame.to_parquet(tmp_path / "people.parquet")
    columns = {n: {"role": "quasi"} for n in ("age", "seen")} | {
        "pay": {"role": "sensitive"},
        "*": {"role": "insensitive"},
    }
    for name, source in (("frame", frame), ("file", tmp_path / "people.parquet")):
        for publish in ("generalise", "aggregate"):
            policy = Policy(columns=columns, require=({"model": "k-anonymity", "k": 3},), method={"publish": publish})
            policy = policy.changed(singled_out=1.0)
            out = shoal.anonymize(source, policy, seed=1).save(tmp_path / f"{name}-{publish}", keep=["rows"])
            for private in (None, out / "private"):
                found = shoal.check(out, source, policy, private)
                assert found.holds, found.findings


# ---------------------------------------------------------------- tampering


def covers(text: str, value: str | None, is_number: bool, markers: tuple[str, ...] = ("",)) -> bool:
    """Read slowly: whether a published cell stands for a value."""
    text = unguarded(text)
    if text in markers or value is None:
        return (text in markers) == (value is None) or (value is None and read_label(text).may_miss)
    label = read_label(text)
    if label.kind == "everything":
        return True
    if label.kind == "range":
        return float(label.values[0]) <= float(value) <= float(label.values[1])
    return any(float(v) == float(value) if is_number else v == value for v in label.values)


def most_paired(edges: list[list[int]]) -> int:
    """Kuhn's algorithm: how many rows get a record of their own."""
    of_record: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for record in edges[row]:
            if record not in seen:
                seen.add(record)
                if record not in of_record or place(of_record[record], seen):
                    of_record[record] = row
                    return True
        return False

    return sum(place(row, set()) for row in range(len(edges)))


@TAMPERED
@given(
    records=RECORDS,
    partition=st.sampled_from(["mondrian", "k-member", "mdav"]),
    kind=st.sampled_from(["swap disease", "swap ward", "alter label", "swap label"]),
    places=st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)),
)
def test_rows_that_no_records_can_have_left_are_found(records, partition, kind, places):
    frame = frame_of(records)
    policy = policy_of({"partition": partition, "publish": "generalise"})
    with tempfile.TemporaryDirectory() as folder:
        publish = released(Path(folder), frame, policy)

        def change(rows):
            one, other = rows[places[0] % len(rows)], rows[places[1] % len(rows)]
            what, name = kind.split()
            name = "age" if name == "label" else name
            if what == "alter":
                one[name] = "[200..300]"
            else:
                one[name], other[name] = other[name], one[name]

        before = (publish / "data.csv").read_bytes()
        rows = edit_rows(publish, change)
        edges = [
            [
                i
                for i, (age, town, disease, ward) in enumerate(records)
                if covers(row["age"], age, True) and covers(row["town"], town, False)
                and row["disease"] == (disease or "") and row["ward"] == ward
            ]
            for row in rows
        ]  # fmt: skip
        found = shoal.check(publish, frame, policy)
        told = [f for f in found.findings if "no record of the original" in f or "no value of the original" in f]
        told += [f for f in found.findings if "holds cells that the original does not have" in f]
        assert bool(told) == (most_paired(edges) < len(edges)), (found.findings, rows)
        if (publish / "data.csv").read_bytes() != before and kind == "swap disease":
            kept = shoal.check(publish, frame, policy, publish.parent / "private")
            assert any("with other cells than its record has" in f for f in kept.findings)


@TAMPERED
@given(
    records=RECORDS,
    key=st.sampled_from(["achieved", "required", "holds", "sentence", "model", "n_classes"]),
)
def test_a_guarantee_that_was_edited_is_found(records, key):
    frame = frame_of(records)
    with tempfile.TemporaryDirectory() as folder:
        publish = released(Path(folder), frame, policy_of({"partition": "mondrian"}))
        manifest = json.loads((publish / "manifest.json").read_text())
        edits = {"required": {"k": 3}, "holds": False, "sentence": "All is well.", "model": "l-diversity"}
        claim = manifest["guarantees"][0]
        claim[key] = edits.get(key, claim.get(key, 0) + 1 if isinstance(claim.get(key, 0), int | float) else None)
        (publish / "manifest.json").write_text(json.dumps(manifest))
        assert shoal.check(publish).fails
        assert shoal.check(publish, frame).fails


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_rows_are_placed_as_a_slow_search_places_them(data):
    n_rows = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
    n_records = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
    pairs = [(a, b) for a in range(len(n_rows)) for b in range(len(n_records))]
    chosen = sorted(data.draw(st.sets(st.sampled_from(pairs))))
    row, record = (np.array([p[i] for p in chosen], dtype=np.int64) for i in (0, 1))
    fits = [(i, j) for i, a in enumerate(np.repeat(np.arange(len(n_rows)), n_rows))
            for j, b in enumerate(np.repeat(np.arange(len(n_records)), n_records)) if (a, b) in chosen]  # fmt: skip
    edges = [[j for i_, j in fits if i_ == i] for i in range(sum(n_rows))]
    found = count_unplaced(row, record, np.array(n_rows), np.array(n_records))
    assert found == len(edges) - most_paired(edges)
