"""Buckets of distinct rows: the bytes and claims of the same table in memory, and a report from some buckets."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import duckdb
import numpy as np
import pytest

import shoal
from shoal.check.slices import matching
from shoal.data.tables import slices_apart
from shoal.data.tables.room import TooManyDistinct
from shoal.data.tables.table import Table
from shoal.errors import DataError, Infeasible, NotVerified, PolicyError, ShoalError
from shoal.kinds.tables import bucketed
from shoal.kinds.tables.bucketed import BucketedTableRelease
from shoal.manifest import checksum
from shoal.tables.publish.slices import in_runs, slice_table
from tests.unit.kinds.tables.test_large import ROLES, published, put

pytestmark = pytest.mark.unattacked

ASKED = [
    {"insensitive": ["ward"]},
    {"others": "identifying", "l": 2, "missing": "any"},
    {"insensitive": ["ward"], "t": 0.4},
    {"others": "identifying", "require": [{"model": "l-diversity", "l": 2, "kind": "entropy"}]},
    {"others": "identifying", "require": [{"model": "beta-likeness", "beta": 2}]},
    {"sensitive": ["ill", "ward"], "jointly": True, "t": 0.5},
    {"others": "identifying", "identifying": [], "person": "id", "l": 2},
    {"insensitive": ["ward"], "publish": "slice"},
    {"quasi": ["age", "job", "ward"], "publish": "slice", "slices": [["age", "job"], ["ward"]], "t": 0.5},
    {
        "quasi": ["age", "job", "ward"],
        "publish": "slice",
        "slices": [["age"], ["job"], ["ward", "ill"]],
        "t": 0.5,
        "missing": "any",
    },
    {"quasi": ["age", "job", "ward"], "publish": "slice", "slices": 2, "t": 0.5},
    {"others": "identifying", "publish": "slice", "identifying": [], "person": "id"},
]


@pytest.fixture(autouse=True)
def in_short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if few records could be drawn at once."""
    monkeypatch.setattr(in_runs, "RUN_RECORDS", 40)


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("n_rows", [150, 3000])
def test_the_bytes_and_the_claims_are_those_of_all_records(tmp_path: Path, n_rows: int, asked: dict) -> None:
    path = put(tmp_path / "people.parquet", n_rows)
    policy = shoal.Policy.of(**{**ROLES, "publish": "bucketize", **asked})
    whole = shoal.anonymize(path, policy, seed=3)
    large = shoal.anonymize(path, policy.changed(memory="1 GB"), seed=3)
    assert isinstance(large, BucketedTableRelease)
    assert published(large, tmp_path / "large") == published(whole, tmp_path / "whole")
    assert large.records == whole.records == {"in": n_rows, "out": n_rows, "suppressed": 0}
    assert (large.guarantees, large.findings) == (whole.guarantees, whole.findings)
    for ours, theirs in ((large.risk_before, whole.risk_before), (large.risk_after, whole.risk_after)):
        for name, told in theirs.to_dict().items():
            found = getattr(ours, name)
            assert found == (pytest.approx(told) if isinstance(told, float) else told)
    assert large.exposure.joined == pytest.approx(whole.exposure.joined)
    assert large.check() == large.guarantees


@pytest.mark.parametrize("seed", range(6))
def test_the_bytes_are_those_of_all_records_where_equal_cells_are_spelled_in_two_ways(
    tmp_path: Path, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    columns = {
        "age": np.array([-0.0, 0.0, 1.0, 2.5])[rng.integers(0, 4, 200)],
        "job": np.array(["cook", "", "?", None], dtype=object)[rng.integers(0, 4, 200)],
        "ill": np.array(["flu", "cold", "", "?", None], dtype=object)[rng.integers(0, 5, 200)],
        "ward": np.array(["", None, "b"], dtype=object)[rng.integers(0, 3, 200)],
    }
    path = tmp_path / "people.parquet"
    with duckdb.connect() as database:
        database.register("columns", columns)
        database.execute(f"COPY (SELECT * FROM columns) TO '{path}' (FORMAT parquet)")
    policy = shoal.Policy.of(quasi=["age", "job"], sensitive=["ill"], insensitive=["ward"], k=4, publish="bucketize")
    whole = published(shoal.anonymize(path, policy, seed=3), tmp_path / "whole")
    assert published(shoal.anonymize(path, policy.changed(memory="1 GB"), seed=3), tmp_path / "large") == whole


def test_the_report_is_about_some_buckets_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_runs, "SAMPLE_RECORDS", 60)
    policy = shoal.Policy.of(**ROLES, insensitive=["ward"], publish="bucketize", memory="1 GB")
    path = put(tmp_path / "people.parquet", 3000)
    release = shoal.anonymize(path, policy, seed=3)
    release.save(tmp_path / "out")
    n_some = release._original.n_records
    assert 0 < n_some <= 60
    whole = shoal.anonymize(path, policy.changed(memory=None), seed=3).exposure
    told = release.exposure
    sizes = (told.n_buckets, told.smallest, told.median, told.largest)
    assert sizes == (whole.n_buckets, whole.smallest, whole.median, whole.largest)
    assert f"used {n_some:,} of 3,000 records" in release.sampled
    assert f"used {n_some:,} of 3,000 records" in (tmp_path / "out" / "private" / "report.html").read_text()
    manifest = json.loads((tmp_path / "out" / "publish" / "manifest.json").read_text())
    assert manifest["records"]["in"] == 3000
    assert shoal.check(tmp_path / "out" / "publish", path).holds
    # What is measured is a part of what is published: whole buckets, as they stand in the file.
    written = duckdb.sql(f"SELECT * FROM '{tmp_path / 'out' / 'publish' / 'data.parquet'}'").fetchnumpy()
    shown = release.published
    numbers = shown["bucket"].cells().astype(int)
    there = np.isin(written["bucket"], numbers)
    assert np.array_equal(written["bucket"][there], numbers)
    for name in ("age", "ill"):
        assert np.array_equal(np.ma.getdata(written[name][there]), shown[name].cells())


def test_buckets_too_large_for_the_sample_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_runs, "SAMPLE_RECORDS", 5)
    policy = shoal.Policy.of(**ROLES, others="identifying", publish="bucketize", memory="1 GB")
    release = shoal.anonymize(put(tmp_path / "people.parquet", 300), policy, seed=3)
    assert any("and are not among them" in note for note in release.notes)
    assert 4 <= release._original.n_records < 300


def test_attacks_get_what_they_get_on_all_records(tmp_path: Path) -> None:
    path = put(tmp_path / "people.parquet", 600)
    policy = shoal.Policy.of(**ROLES, others="identifying", publish="bucketize")
    whole, large = (shoal.anonymize(path, policy.changed(memory=memory), seed=3) for memory in (None, "1GB"))
    ours, theirs = ([r.to_dict() for r in made.attack(seed=1).results] for made in (large, whole))
    assert ours == theirs
    assert len(ours) > 1


def test_a_copy_can_be_written(tmp_path: Path) -> None:
    policy = shoal.Policy.of(**ROLES, insensitive=["ward"], publish="bucketize", memory="1 GB")
    release = shoal.anonymize(put(tmp_path / "people.parquet", 300), policy)
    assert published(copy.deepcopy(release), tmp_path / "one") == published(release, tmp_path / "two")
    with pytest.raises(PolicyError, match="memory is bounded"):
        _ = release.data


def test_what_is_not_written_as_made_is_not_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, right = put(tmp_path / "people.parquet", 1200), bucketed.write_parquet_pieces
    policy = shoal.Policy.of(**ROLES, others="identifying", publish="bucketize", l=2, memory="1 GB")

    def spoil(change: Callable[[np.ndarray], np.ndarray], n_lost: int = 0) -> None:
        def write(table: Table, pieces: Iterable[np.ndarray], to: Path, n_records: int) -> None:
            right(table, [change(np.concatenate(list(pieces)))], to, n_records - n_lost)

        monkeypatch.setattr(bucketed, "write_parquet_pieces", write)

    def aligned(rows: np.ndarray) -> np.ndarray:
        """As if nothing had been permuted: a secret that goes with the age."""
        shown = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
        shown[:, 3] = shown[np.lexsort((shown[:, 3], shown[:, 0])), 3]
        return shown

    def traded(rows: np.ndarray) -> np.ndarray:
        """Two secrets of different buckets trade places."""
        shown = rows.copy()
        other = next(i for i in range(len(rows)) if rows[i, 0] != rows[0, 0] and rows[i, 3] != rows[0, 3])
        shown[[0, other], 3] = shown[[other, 0], 3]
        return shown

    def moved(rows: np.ndarray) -> np.ndarray:
        shown = rows.copy()
        shown[0, 0] = shown[-1, 0]
        return shown

    def joined(rows: np.ndarray) -> np.ndarray:
        """All in one bucket, which is no lie about any record, but not what was made."""
        shown = rows.copy()
        shown[:, 0] = 0
        return shown

    spoil(np.array)
    shoal.anonymize(path, policy, seed=3)
    for change in (traded, moved, joined):
        spoil(change)
        with pytest.raises(NotVerified):
            shoal.anonymize(path, policy, seed=3)
    spoil(lambda rows: rows[:-1], n_lost=1)
    with pytest.raises(NotVerified, match="does not read back"):
        shoal.anonymize(path, policy, seed=3)


def test_what_was_not_permuted_is_not_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    columns = {"age": rng.permutation(2000), "ill": np.array([f"ill {i}" for i in rng.integers(0, 500, 2000)])}
    path = tmp_path / "people.parquet"
    with duckdb.connect() as database:
        database.register("columns", columns)
        database.execute(f"COPY (SELECT * FROM columns) TO '{path}' (FORMAT parquet)")
    accept = {"singled_out": "invented"}
    policy = shoal.Policy.of(quasi=["age"], sensitive=["ill"], k=50, publish="bucketize", memory="1GB", accept=accept)
    shoal.anonymize(path, policy)
    rows = in_runs.Permuted.rows

    def not_permuted(self: in_runs.Permuted, *asked: object) -> list[np.ndarray]:
        found = rows(self, *asked)
        return [found[0]] * len(found)

    monkeypatch.setattr(in_runs.Permuted, "rows", not_permuted)
    with pytest.raises(NotVerified, match="not permuted apart"):
        shoal.anonymize(path, policy)
    monkeypatch.setattr(slices_apart, "MOST_AT_ONCE", 150)
    with pytest.raises(NotVerified, match="not permuted apart"):
        shoal.anonymize(path, policy)


def test_the_help_tells_what_can_be_bounded() -> None:
    told = str(shoal.Policy.model_fields["memory"].description)
    assert all(name in told for name in ("generalise", "bucketize", "slice", "mdav"))


@pytest.mark.parametrize("asked", [{"publish": "screen"}, {"publish": "bucketize", "strict": False}])
def test_what_needs_single_records_is_refused_by_name(asked: dict) -> None:
    with pytest.raises(PolicyError, match="needs all records in memory: leave memory out"):
        shoal.Policy.of(**ROLES, others="identifying", memory="1GB", **asked)


def test_what_cannot_be_bounded_ends_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = shoal.Policy.of(**ROLES, others="identifying", publish="bucketize", memory="500MB")
    with pytest.raises(PolicyError, match="in bounded memory from Parquet, and 'people' is csv"):
        shoal.anonymize(put(tmp_path / "people.csv", 300), policy)
    twice = put(tmp_path / "twice.parquet", 300, ids=np.arange(300) // 2)
    with pytest.raises(PolicyError, match="persons with several records needs all records in memory"):
        shoal.anonymize(twice, policy.changed(person=["id"]))
    with pytest.raises(Infeasible, match="cannot be met"):
        shoal.anonymize(put(tmp_path / "people.parquet", 300), policy.changed(l=4))
    with monkeypatch.context() as larger:
        larger.setattr(slices_apart, "_ROW_BYTES", 1 << 24)
        with pytest.raises(TooManyDistinct, match=r"rows are distinct, too many for 0\.5 GB"):
            shoal.anonymize(tmp_path / "people.parquet", policy)
    monkeypatch.setattr(in_runs, "_RECORD_BYTES", 1 << 24)
    with pytest.raises(TooManyDistinct, match=r"records stand in one bucket, too many for 0\.5 GB"):
        shoal.anonymize(tmp_path / "people.parquet", policy)
    with pytest.raises(PolicyError, match="several releases are of the same people"):
        shoal.anonymize(tmp_path / "people.parquet", policy, after=tmp_path / "out")
    with pytest.raises(PolicyError, match="publish = bucketize needs all records in memory"):
        shoal.sweep(tmp_path / "people.parquet", policy, partitions=["mondrian"], publish=["bucketize"], k=[4])


def test_long_texts_are_counted_against_the_bound(tmp_path: Path) -> None:
    """100,000 of 1,000 characters took 1.8 GB."""
    path = tmp_path / "people.parquet"
    told = "i % 20 AS age, i % 3 AS ill, i::VARCHAR || repeat('x', {}) AS note FROM range({}) r(i)"
    policy = shoal.Policy.of(
        quasi=["age"],
        sensitive=["ill"],
        insensitive=["note"],
        k=4,
        publish="bucketize",
        memory="500MB",
        accept={"singled_out": "invented"},
    )
    for n_characters, n_rows in ((20, 400), (30_000, 400)):
        with duckdb.connect() as database:
            database.execute(f"COPY (SELECT {told.format(n_characters, n_rows)}) TO '{path}' (FORMAT parquet)")
        if n_characters == 20:
            shoal.anonymize(path, policy)
            continue
        with pytest.raises(TooManyDistinct, match=r"400 rows are distinct, too many for 0\.5 GB"):
            shoal.anonymize(path, policy)


def released(folder: Path, **asked: object) -> Path:
    """A release in bounded memory, with its original beside it."""
    path = put(folder / "people.parquet", 900)
    policy = shoal.Policy.of(**{**ROLES, "others": "identifying", "l": 2, "publish": "bucketize", **asked})
    shoal.anonymize(path, policy.changed(memory="1GB"), seed=3).save(folder / "out", report=False)
    return path


@pytest.mark.parametrize("asked", [{}, {"person": "id", "identifying": []}, {"missing": "any"}])
@pytest.mark.parametrize("is_beside", [False, True])
def test_a_folder_is_checked_as_with_all_records(tmp_path: Path, asked: dict, is_beside: bool) -> None:
    path = released(tmp_path, **asked)
    given = [path] if is_beside else []
    held, bounded = (shoal.check(tmp_path / "out" / "publish", *given, memory=memory) for memory in (None, "1GB"))
    assert bounded.holds == held.holds == is_beside
    assert (bounded.guarantees, bounded.unverified, bounded.findings) == (held.guarantees, held.unverified, ())
    assert bounded.not_compared == held.not_compared
    assert shoal.check(tmp_path / "out", *given, memory="1GB").guarantees == bounded.guarantees


@pytest.mark.parametrize(
    "spoilt",
    [
        "SELECT * REPLACE (CASE WHEN ill = 'flu' THEN 'cold' ELSE ill END AS ill) FROM data",
        "SELECT * REPLACE (CASE WHEN bucket = 1 THEN 2 ELSE bucket END AS bucket) FROM data",
        "SELECT * REPLACE (bucket + 7 AS bucket) FROM data",
        "SELECT * REPLACE ('one' AS bucket) FROM data",
        "SELECT * REPLACE (age + 1 AS age) FROM data",
        "SELECT * FROM data WHERE bucket > 1",
        "SELECT * FROM data UNION ALL SELECT * FROM data WHERE bucket = 1",
        "SELECT * EXCLUDE (ill) FROM data",
        "SELECT *, age AS further FROM data",
        "SELECT * REPLACE (NULL AS job) FROM data",
        "SELECT * REPLACE (CASE WHEN bucket = 1 THEN NULL ELSE bucket END AS bucket) FROM data",
    ],
)
def test_a_spoilt_folder_is_found_out_as_with_all_records(tmp_path: Path, spoilt: str) -> None:
    path = released(tmp_path)
    file = tmp_path / "out" / "publish" / "data.parquet"
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE data AS SELECT * FROM '{file}'")
        database.execute(f"COPY ({spoilt}) TO '{file}' (FORMAT parquet)")
    manifest = json.loads((file.parent / "manifest.json").read_text())
    manifest["checksums"][file.name] = checksum(file)
    (file.parent / "manifest.json").write_text(json.dumps(manifest))
    for given in ([], [path]):
        told = []
        for memory in (None, "1GB"):
            try:
                found = shoal.check(file.parent, *given, memory=memory)
                told.append((found.holds, sorted(found.findings), found.guarantees, sorted(found.unverified)))
            except ShoalError:
                told.append((False,))
        if len(told[0]) == len(told[1]):
            assert told[1] == told[0]
        assert not told[1][0]


def test_what_is_checked_and_attacked_with_all_records_is_refused_by_name(tmp_path: Path) -> None:
    path = released(tmp_path)
    with pytest.raises(PolicyError, match="publish = bucketize is attacked with all records in memory"):
        shoal.attack(tmp_path / "out" / "publish", path, memory="1GB")
    people = put(tmp_path / "people.csv", 300)
    shoal.anonymize(people, shoal.Policy.of(**ROLES, others="identifying", publish="bucketize")).save(tmp_path / "text")
    with pytest.raises(PolicyError, match="in bounded memory from Parquet alone"):
        shoal.check(tmp_path / "text" / "publish", people, memory="1GB")


def test_slices_are_chosen_on_the_same_records_however_they_are_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slice_table, "SAMPLE_ROWS", 90)
    monkeypatch.setattr(slice_table, "CORRELATED_ROWS", 70)
    policy = shoal.Policy.of(**{**ROLES, "quasi": ["age", "job", "ward"]}, publish="slice", t=0.6)
    for n_rows, seed in ((200, 1), (1500, 2)):
        path = put(tmp_path / f"people{seed}.parquet", n_rows, seed)
        whole, large = (shoal.anonymize(path, policy.changed(memory=memory), seed=3) for memory in (None, "1GB"))
        assert published(large, tmp_path / f"large{seed}") == published(whole, tmp_path / f"whole{seed}")


def test_more_buckets_of_a_record_than_fit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "people.parquet", 900)
    policy = shoal.Policy.of(**ROLES, others="identifying", publish="bucketize", missing="any", l=2, memory="500MB")
    shoal.anonymize(path, policy)
    monkeypatch.setattr(matching, "_PAIR_BYTES", 1 << 24)
    with pytest.raises(DataError, match=r'could hold it are too many for 0\.5 GB; set missing = "value"'):
        shoal.anonymize(path, policy)
    shoal.anonymize(path, policy.changed(memory=None))


def test_a_folder_whose_slices_do_not_fit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = released(tmp_path)
    monkeypatch.setattr(slices_apart, "_ROW_BYTES", 1 << 24)
    with pytest.raises(TooManyDistinct, match=r"rows are distinct, too many for 0\.5 GB"):
        shoal.check(tmp_path / "out" / "publish", path, memory="500MB")


def test_buckets_that_the_owner_kept_are_not_read_and_that_is_said(tmp_path: Path) -> None:
    path = put(tmp_path / "people.parquet", 600)
    policy = shoal.Policy.of(**ROLES, others="identifying", publish="bucketize", l=2)
    shoal.anonymize(path, policy, seed=3).save(tmp_path / "out", report=False, keep=["groups"])
    given = {"private": tmp_path / "out" / "private"}
    held, bounded = (shoal.check(tmp_path / "out" / "publish", path, memory=m, **given) for m in (None, "1GB"))
    assert held.holds
    assert bounded.holds
    assert bounded.guarantees == held.guarantees
    assert bounded.not_compared == (
        *held.not_compared,
        "the buckets of records that the owner kept, as memory is bounded",
    )
