"""Releases from distinct rows are, to the byte, those from all records; what needs all records is refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from unittest.mock import patch

import duckdb
import numpy as np
import pytest

import shoal
from shoal.check.tables.parts import verify_file
from shoal.data.memory import bounded
from shoal.data.tables import room, write
from shoal.data.tables.coded_rows import CodedRows
from shoal.errors import DataError, Infeasible, NotVerified, PolicyError
from shoal.report.tables.datasheet import render_datasheet

pytestmark = pytest.mark.unattacked

ROLES = {
    "quasi": ["age", "job"],
    "sensitive": ["ill"],
    "identifying": ["id"],
    "k": 4,
    "accept": {"singled_out": "invented"},
}


def put(path: Path, n_rows: int, seed: int = 0, ids: np.ndarray | None = None) -> Path:
    rng = np.random.default_rng(seed)
    columns = {
        "id": np.arange(n_rows) if ids is None else ids,
        "age": rng.integers(20, 50, n_rows),
        "job": np.array(["smith", "clerk", "?", None, "cook"], dtype=object)[rng.integers(0, 5, n_rows)],
        "ill": np.array(["flu", "cold", "ulcer"], dtype=object)[rng.integers(0, 3, n_rows)],
        "ward": rng.integers(0, 2, n_rows) / 2,
    }
    with duckdb.connect() as database:
        database.register("columns", columns)
        database.execute(f"COPY (SELECT * FROM columns) TO '{path}' (FORMAT {path.suffix[1:]})")
    return path


def published(release, out: Path) -> dict[str, str]:
    release.save(out, report=False)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (out / "publish").iterdir()}


@pytest.mark.parametrize(
    "asked",
    [
        {"insensitive": ["ward"]},
        {"others": "identifying", "l": 2, "missing": "any"},
        {"insensitive": ["ward"], "t": 0.4},
        {"others": "identifying", "ends": "exact", "require": [{"model": "l-diversity", "l": 2, "kind": "entropy"}]},
        {"insensitive": ["ward"], "partition": "datafly"},
        {"others": "identifying", "partition": "full-domain", "t": 0.4},
        {"insensitive": ["ward"], "partition": "local-recoding"},
        {"others": "identifying", "partition": "local-recoding", "l": 2, "missing": "any"},
    ],
)
@pytest.mark.parametrize(("n_rows", "form"), [(150, "parquet"), (3000, "parquet"), (900, "csv")])
def test_the_bytes_and_the_claims_are_those_of_all_records(tmp_path: Path, n_rows: int, form: str, asked: dict) -> None:
    path = put(tmp_path / f"people.{form}", n_rows)
    policy = shoal.Policy.of(**ROLES, **asked)
    whole = shoal.anonymize(path, policy, seed=3)
    large = shoal.anonymize(path, policy.changed(memory="1 GB"), seed=3)
    assert published(large, tmp_path / "large") == published(whole, tmp_path / "whole")
    assert large.records == whole.records == {"in": n_rows, "out": n_rows, "suppressed": 0}
    assert (large.guarantees, large.findings) == (whole.guarantees, whole.findings)
    assert (large.risk_before, large.risk_after) == (whole.risk_before, whole.risk_after)
    assert large.published.n_rows < n_rows


def keys(n_rows: int, n_persons: int, spelled: str) -> np.ndarray:
    """Whose each row is: everybody's in one row, or drawn."""
    rng = np.random.default_rng(5)
    ids = rng.permutation(n_rows) if n_persons == n_rows else rng.integers(0, n_persons, n_rows)
    return np.array([spelled.format(i) for i in ids], dtype=object) if spelled else ids


@pytest.mark.parametrize(
    "asked",
    [
        {"insensitive": ["ward"]},
        {"others": "identifying", "l": 2, "missing": "any"},
        {"insensitive": ["ward"], "t": 0.4},
        {"insensitive": ["ward"], "partition": "datafly"},
        {"others": "identifying", "partition": "full-domain", "t": 0.4, "suppression": 0.5},
        {"others": "identifying", "person_knowledge": "history", "suppression": 0.3},
    ],
)
@pytest.mark.parametrize(
    ("form", "spelled", "n_persons"), [("parquet", "", 400), ("parquet", "P{:04d}", 250), ("csv", "{:03d}", 400)]
)
def test_persons_are_counted_as_they_are_of_all_records(
    tmp_path: Path, form: str, spelled: str, n_persons: int, asked: dict
) -> None:
    path = put(tmp_path / f"people.{form}", 400, ids=keys(400, n_persons, spelled))
    roles = {name: given for name, given in ROLES.items() if name != "identifying"}
    policy = shoal.Policy.of(**roles, person="id", **asked)
    whole = shoal.anonymize(path, policy, seed=3)
    large = shoal.anonymize(path, policy.changed(memory="1 GB"), seed=3)
    assert published(large, tmp_path / "large") == published(whole, tmp_path / "whole")
    assert (large.records, large.guarantees, large.findings) == (whole.records, whole.guarantees, whole.findings)
    assert large.told_counts == whole.told_counts
    for ours, theirs in ((large.risk_before, whole.risk_before), (large.risk_after, whole.risk_after)):
        assert (ours.unit, ours.n_records, ours.n_below_k) == (theirs.unit, theirs.n_records, theirs.n_below_k)
        assert ours.records_by_class_size == theirs.records_by_class_size
        assert (ours.marketer, ours.prosecutor_highest) == pytest.approx((theirs.marketer, theirs.prosecutor_highest))
    is_weighed = n_persons == 400
    told = "Every distinct row was read once" if is_weighed else "Nothing was attacked: attacks look at all records"
    assert [note for note in large.notes if not note.startswith(told)] == list(whole.notes)
    assert (large.unattacked_because is None) == is_weighed
    assert (large._original.weights is not None) == is_weighed
    assert (tmp_path / "large" / "private" / "persons.csv").is_file() != is_weighed
    losses = [{x.name: x.value for x in release.utility.losses} for release in (large, whole)]
    assert losses[0]["GCP-person"] == pytest.approx(losses[1]["GCP-person"])


@pytest.mark.parametrize(
    "ids",
    [
        ["7", "007", *map(str, range(10, 108))],
        ["a-1", "A--1", *map(str, range(98))],
        ["x y", *map(str, range(99))],
        ["1e400", "1e500", *map(str, range(98))],
        ["inf", *map(str, range(99))],
    ],
)
def test_keys_that_may_be_one_persons_are_not_taken_for_two(tmp_path: Path, ids: list[str]) -> None:
    path = put(tmp_path / "people.csv", 100, ids=np.array(ids, dtype=object))
    roles = {name: given for name, given in ROLES.items() if name != "identifying"}
    policy = shoal.Policy.of(**roles, person="id", insensitive=["ward"])
    made = [shoal.anonymize(path, policy.changed(memory=memory), seed=3) for memory in (None, "1GB")]
    assert made[1]._original.weights is None
    assert published(made[1], tmp_path / "large") == published(made[0], tmp_path / "whole")


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_persons_who_cannot_be_counted_or_held_are_refused(tmp_path: Path, form: str) -> None:
    roles = {name: given for name, given in ROLES.items() if name != "identifying"}
    policy = shoal.Policy.of(**roles, person="id", insensitive=["ward"], memory="500MB")
    path = put(tmp_path / f"some.{form}", 100, ids=np.array([None, *map(str, range(99))], dtype=object))
    with pytest.raises(DataError, match="is missing in 1 of 100 rows"):
        shoal.anonymize(path, policy)
    path = put(tmp_path / f"many.{form}", 900, ids=np.arange(900) // 2)
    refused = pytest.raises(DataError, match="900 records are to be held, as some may be of one person, too many for")
    with patch.object(room, "ROW_BYTES", 1 << 20), refused:
        shoal.anonymize(path, policy)
    few = put(tmp_path / f"few.{form}", 3, ids=np.arange(3))
    with pytest.raises(Infeasible, match="groups of 4 persons are required but the table has 3"):
        shoal.anonymize(few, policy)


def test_several_row_groups_are_written_as_they_would_be_from_memory(tmp_path: Path) -> None:
    path = put(tmp_path / "people.parquet", 260_000)
    policy = shoal.Policy.of(**ROLES, insensitive=["ward"])
    made = [shoal.anonymize(path, policy.changed(memory=memory), seed=3) for memory in (None, "1GB")]
    assert published(made[1], tmp_path / "large") == published(made[0], tmp_path / "whole")


@pytest.mark.parametrize(
    "asked",
    [
        {"insensitive": ["ward"]},
        {"insensitive": ["ward"], "partition": "full-domain", "suppression": 0.2, "k": 6},
        {"others": "identifying", "ends": "exact", "missing": "any", "columns": {"age": {"type": "ordinal"}}},
    ],
)
def test_what_it_cost_is_that_of_all_records(tmp_path: Path, asked: dict) -> None:
    path = put(tmp_path / "people.parquet", 800)
    policy = shoal.Policy.of(**{**ROLES, **asked})
    whole, large = (shoal.anonymize(path, policy.changed(memory=memory), seed=3).utility for memory in (None, "1GB"))
    found, expected = ({x.name: x.value for x in side.losses} for side in (large, whole))
    assert {"GCP", "DM", "C_avg", "IL", "distortion", "ILoss", "imprecision"} <= found.keys()
    assert expected.keys() - found.keys() <= {"IL1", "IL2", "IL3", "IL4", "IL5", "IL-mean"}
    # Other queries are asked, fewer where rows are more, so that their median is another one.
    assert {n: v for n, v in found.items() if n not in ("query-error", "imprecision")} == pytest.approx(
        {n: expected[n] for n in found if n not in ("query-error", "imprecision")}
    )
    assert np.array(large.correlation.before) == pytest.approx(np.array(whole.correlation.before))
    assert np.array(large.correlation.after) == pytest.approx(np.array(whole.correlation.after))
    for ours, theirs in zip(large.attributes, whole.attributes, strict=True):
        assert (ours.labels, ours.edges, ours.n_values) == (theirs.labels, theirs.edges, theirs.n_values)
        assert (*ours.before, *ours.after) == pytest.approx((*theirs.before, *theirs.after))
        for name in ("distance", "missing_before", "missing_after", "mean_before", "mean_after", "sd_after", "ncp"):
            assert getattr(ours, name) == pytest.approx(getattr(theirs, name)), (ours.name, name)


def test_a_report_is_made_and_says_how_many_records_were_attacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.release.ATTACK_SECONDS", 3600.0)
    path = put(tmp_path / "people.parquet", 100)
    release = shoal.anonymize(path, shoal.Policy.of(**ROLES, insensitive=["ward"], memory="1GB"))
    assert release.notes[0].startswith("Every distinct row was read once")
    release.save(tmp_path / "out")
    sampled = "Attacks on single records tried a sample of at most 100 of 100, against the whole release."
    page = (tmp_path / "out" / "private" / "report.html").read_text(encoding="utf-8")
    assert sampled in page
    assert sampled in release.verdict.worst
    assert {"singling-out", "linkage", "homogeneity"} <= {result.attack for result in release.attacked.results}
    told = release.summary()
    assert told["utility"]["losses"]
    with pytest.raises(PolicyError, match="leave memory out"):
        _ = release.data
    with pytest.raises(PolicyError, match="leave memory out"):
        release.save(tmp_path / "kept", keep="groups")


def test_a_large_release_is_green_where_nothing_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.release.ATTACK_SECONDS", 3600.0)
    asked = {**ROLES, "identifying": [], "person": "id"}
    policy = shoal.Policy.of(**asked, others="identifying", l=2, partition="full-domain", memory="1GB")
    release = shoal.anonymize(put(tmp_path / "people.parquet", 5000), policy)
    assert release.verdict.level == "green"
    assert "a sample of at most 2,000 of 5,000" in release.verdict.worst


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"partition": "k-member"}, "method = k-member needs all records"),
        ({"strict": False}, "method = mondrian needs all records"),
        ({"publish": "screen", "l": 2}, "publish = screen needs all records"),
        ({"effort": "balanced"}, "effort = balanced needs"),
        ({"diversity": "blind", "l": 2}, "diversity = blind needs"),
        ({"order": "original"}, "order = original needs"),
        ({"person": "id", "keep_person": True, "person_knowledge": "history"}, "keep_person needs"),
        ({"memory": "much"}, "such as 2GB"),
        ({"memory": "3 MB"}, "at least 500 MB"),
    ],
)
def test_what_needs_all_records_is_refused_with_the_policy(asked: dict, why: str) -> None:
    roles = {name: given for name, given in ROLES.items() if not (name == "identifying" and "person" in asked)}
    with pytest.raises(PolicyError, match=why):
        shoal.Policy.of(**{**roles, "memory": "1GB", **asked})


def test_what_cannot_be_read_so_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "people.parquet", 100)
    policy = shoal.Policy.of(**ROLES, memory="1GB")
    with pytest.raises(PolicyError, match="'ward' has no role"):
        shoal.anonymize(path, policy)
    with pytest.raises(PolicyError, match="is for files"):
        shoal.anonymize({"age": [1, 2], "job": ["a", "b"], "ill": ["a", "b"], "id": [1, 2]}, policy)
    (tmp_path / "people.csv").write_text("id,age,job,ill\r\n1,2,a,b\n2,3,a,b\n", encoding="utf-8")
    with pytest.raises(DataError, match="a text file has to be UTF-8"):
        shoal.anonymize(tmp_path / "people.csv", policy)
    stated = policy.changed(insensitive=["ward"])
    with pytest.raises(PolicyError, match="hold none out"):
        shoal.anonymize(path, stated, hold_out=0.2)
    with pytest.raises(PolicyError, match="leave memory out"):
        shoal.harden(path, stated)


def test_too_many_distinct_rows_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "people.parquet", 100)
    monkeypatch.setattr("shoal.data.tables.room.ROW_BYTES", 10**9)
    with pytest.raises(DataError, match="rows are distinct, too many for 1 GB; drop columns"):
        shoal.anonymize(path, shoal.Policy.of(**ROLES, insensitive=["ward"], memory="1GB", partition="datafly"))


@pytest.mark.parametrize("partition", ["full-domain", "datafly"])
def test_recodings_leave_out_the_same_records(tmp_path: Path, partition: str) -> None:
    path = put(tmp_path / "people.csv", 400, seed=2)
    asked = {"insensitive": ["ward"], "partition": partition, "suppression": 0.2, "k": 6, "l": 3}
    policy = shoal.Policy.of(**{**ROLES, **asked})
    made = [shoal.anonymize(path, policy.changed(memory=memory), seed=3) for memory in (None, "1GB")]
    assert published(made[1], tmp_path / "large") == published(made[0], tmp_path / "whole")
    assert made[0].records == made[1].records
    assert made[0].records["suppressed"]
    assert [n for n in made[1].notes if "suppressed" in n] == [n for n in made[0].notes if "suppressed" in n]


def test_lists_of_single_records_are_said_not_to_be_compared(tmp_path: Path) -> None:
    path = put(tmp_path / "people.parquet", 200)
    roles = {name: given for name, given in ROLES.items() if name != "identifying"}
    policy = shoal.Policy.of(**roles, person="id", insensitive=["ward"])
    shoal.anonymize(path, policy, seed=3).save(tmp_path / "out", report=False, keep="rows")
    held, bounded = (shoal.check(tmp_path / "out", path, memory=memory) for memory in (None, "1GB"))
    assert (held.holds, bounded.holds) == (True, True)
    assert bounded.guarantees == held.guarantees
    said = "the lists of rows and persons that the owner kept, as memory is bounded"
    assert [what for what in bounded.not_compared if what != said] == list(held.not_compared)
    assert said in bounded.not_compared
    alone = shoal.check(tmp_path / "out", memory="1GB")  # without the original, records are held to be counted by list
    assert alone.to_dict() == shoal.check(tmp_path / "out").to_dict()


def test_a_policy_with_a_bound_checks_within_it(tmp_path: Path) -> None:
    path = put(tmp_path / "people.csv", 300)
    policy = shoal.Policy.of(**ROLES, insensitive=["ward"])
    shoal.anonymize(path, policy, seed=3).save(tmp_path / "out", report=False)
    with patch.object(write, "HowToRead", wraps=write.HowToRead) as reading:
        found = shoal.check(tmp_path / "out", path, policy.changed(memory="1GB"))
    assert found.to_dict() == shoal.check(tmp_path / "out", path, policy).to_dict()
    assert reading.call_args_list[0].kwargs["drops"] is not None


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"publish": "aggregate", "partition": "mdav"}, "publish = aggregate is checked with all records"),
        ({"person": "id", "person_knowledge": "history", "keep_person": True}, "a pseudonym is checked with"),
        ({"provider": "ward"}, "a provider is checked with"),
    ],
)
def test_what_is_checked_record_by_record_is_refused(tmp_path: Path, asked: dict, why: str) -> None:
    path = put(tmp_path / "people.parquet", 300)
    roles = {name: given for name, given in ROLES.items() if not (name == "identifying" and "person" in asked)}
    policy = shoal.Policy.of(**roles, others="identifying", **asked)
    shoal.anonymize(path, policy, seed=3).save(tmp_path / "out", report=False, keep="nothing")
    with pytest.raises(PolicyError, match=why):
        shoal.check(tmp_path / "out" / "publish", path, memory="1GB")
    plain = shoal.Policy.of(**ROLES, insensitive=["ward"])
    shoal.anonymize(path, plain, seed=3).save(tmp_path / "plain", report=False)
    with pytest.raises(PolicyError, match=r"another way to publish|provider|such as 2GB"):
        shoal.check(tmp_path / "plain", path, None if "keep_person" in asked else policy, memory="much")


def released(tmp_path: Path, n_rows: int, form: str = "parquet", **asked) -> Path:
    """The original of a release that stands in out/, made with all records in memory."""
    path = put(tmp_path / f"people.{form}", n_rows)
    roles = {name: given for name, given in ROLES.items() if not (name == "identifying" and "person" in asked)}
    shoal.anonymize(path, shoal.Policy.of(**roles, **asked), seed=3).save(tmp_path / "out", report=False)
    return path


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize(
    "asked", [{"insensitive": ["ward"], "l": 2}, {"others": "identifying", "partition": "datafly"}, {"person": "id"}]
)
def test_attacks_get_what_they_get_from_all_records(tmp_path: Path, form: str, asked: dict) -> None:
    path = released(tmp_path, 1200, form, **{"others": "identifying", **asked})
    given = {
        "control": put(tmp_path / "others.csv", 300, seed=8),
        "population": put(tmp_path / "all.csv", 2000, seed=9),
    }
    held, bounded = (shoal.attack(tmp_path / "out", path, **given, memory=memory) for memory in (None, "1GB"))
    ours, theirs = ({r.attack: r for r in found.results} for found in (bounded, held))
    alike = {"singling-out-univariate", "inference", "membership", "homogeneity", "skewness", "uniqueness"}
    assert {*alike, "singling-out"} == ours.keys()
    for name in alike:
        assert (ours[name].main, ours[name].control) == (theirs[name].main, theirs[name].control), name
        assert (ours[name].sentence, ours[name].knows) == (theirs[name].sentence, theirs[name].knows)
    assert ours["singling-out"].main.value == pytest.approx(theirs["singling-out"].main.value, abs=0.05)
    told, expected = bounded.to_dict(), held.to_dict()
    assert told["sample"] == expected["sample"] == {"drawn": 1200, "of": 1200}
    assert told.keys() == expected.keys()
    assert {a["attack"] for a in (*told["attacks"], *told["not_run"])} == {
        a["attack"] for a in (*expected["attacks"], *expected["not_run"])
    }
    why = dict(bounded.skipped)
    for name in ("inference-bayes", "linkability", "partition-replay"):
        assert why[name] == "It looks at records one by one, and of these every distinct row was read once."
    again = shoal.attack(tmp_path / "out", path, **given, memory="2GB")
    assert again.to_dict() == told


def test_a_sample_is_stated_and_kept_with_the_results(tmp_path: Path) -> None:
    path = put(tmp_path / "people.parquet", 5000)
    policy = shoal.Policy.of(**ROLES, others="identifying", memory="1GB")
    shoal.anonymize(path, policy, seed=3).save(tmp_path / "out")
    private = tmp_path / "out" / "private"
    found = shoal.attack(tmp_path / "out", path, private=private, memory="1GB")
    sentence = "Attacks on single records tried a sample of at most 2,000 of 5,000, against the whole release."
    assert found.to_dict()["sample"] == {"drawn": 2000, "of": 5000}
    assert found.shown()[-1] == sentence
    assert json.loads((private / "attacks.json").read_text())["sample"] == {"drawn": 2000, "of": 5000}
    section = (private / "report.html").read_text(encoding="utf-8").partition("What attackers got</h2>")[2]
    assert sentence in section


def test_rows_that_were_kept_name_single_records(tmp_path: Path) -> None:
    path = put(tmp_path / "people.csv", 300)
    shoal.anonymize(path, shoal.Policy.of(**ROLES, others="identifying"), seed=3).save(
        tmp_path / "out", report=False, keep="rows"
    )
    given = {"private": tmp_path / "out" / "private", "memory": "1GB"}
    why = dict(shoal.attack(tmp_path / "out", path, **given).skipped)
    for name, so in (("linkage", "links cannot be counted"), ("label-ends", "claims cannot be checked")):
        assert why[name] == (
            f"Which original each published record stands for is kept of single records, and memory is bounded, so {so}."
        )


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"publish": "aggregate", "partition": "mdav"}, "publish = aggregate is attacked with all records"),
        ({"person": "id", "person_knowledge": "history", "keep_person": True}, "a pseudonym is attacked with"),
        ({"provider": "ward"}, "a provider is attacked with"),
    ],
)
def test_what_is_attacked_record_by_record_is_refused(tmp_path: Path, asked: dict, why: str) -> None:
    path = released(tmp_path, 300, others="identifying", **asked)
    with pytest.raises(PolicyError, match=f"{why}.*: leave memory out"):
        shoal.attack(tmp_path / "out" / "publish", path, memory="1GB")


def test_held_out_records_and_other_releases_are_attacked_in_memory(tmp_path: Path) -> None:
    path = put(tmp_path / "people.parquet", 400)
    policy = shoal.Policy.of(**ROLES, others="identifying")
    shoal.anonymize(path, policy, seed=3, hold_out=0.2).save(tmp_path / "held", report=False)
    with pytest.raises(PolicyError, match="what was held out is attacked with all records in memory"):
        shoal.attack(tmp_path / "held", path, private=tmp_path / "held" / "private", memory="1GB")
    shoal.anonymize(path, policy, seed=3).save(tmp_path / "out", report=False)
    with pytest.raises(PolicyError, match="another release beside it is attacked with all records in memory"):
        shoal.attack(tmp_path / "out", path, other=tmp_path / "held" / "publish", memory="1GB")


def test_persons_with_several_records_are_attacked_in_memory(tmp_path: Path) -> None:
    path = put(tmp_path / "people.parquet", 300, ids=np.arange(300) // 2)
    roles = {name: given for name, given in ROLES.items() if name != "identifying"}
    policy = shoal.Policy.of(**roles, person="id", others="identifying")
    shoal.anonymize(path, policy, seed=3).save(tmp_path / "out", report=False)
    with pytest.raises(PolicyError, match="persons with several records are attacked with all records in memory"):
        shoal.attack(tmp_path / "out", path, memory="1GB")
    single = put(tmp_path / "single.parquet", 300)
    shoal.anonymize(single, policy, seed=3).save(tmp_path / "each", report=False)
    with pytest.raises(PolicyError, match="persons with several records are attacked with all records in memory"):
        shoal.attack(tmp_path / "each", single, path, memory="1GB")


def test_what_cannot_be_attacked_within_the_bound_is_refused(tmp_path: Path) -> None:
    path = released(tmp_path, 300, others="identifying")
    for memory, why in (("3 MB", "at least 500 MB"), ("much", "such as 2GB")):
        with pytest.raises(PolicyError, match=why):
            shoal.attack(tmp_path / "out", path, memory=memory)
    with patch.object(room, "ROW_BYTES", 10**9), pytest.raises(DataError, match=r"rows are distinct, too many for"):
        shoal.attack(tmp_path / "out", path, memory="1GB")
    many = put(tmp_path / "many.csv", 6000, seed=4)
    for given in ("control", "population"):
        too_many = pytest.raises(DataError, match=f"the {given}: .* rows are distinct, too many for 1 GB")
        with patch.object(room, "ROW_BYTES", 2 * 10**6), too_many:
            shoal.attack(tmp_path / "out", path, memory="1GB", **{given: many})
    with pytest.raises(PolicyError, match="a bound on memory is for files"):
        shoal.attack(tmp_path / "out", {"age": [1, 2], "job": ["a", "b"], "ill": ["a", "b"]}, memory="1GB")
    with pytest.raises(DataError, match="no such file"):
        shoal.attack(tmp_path / "out", tmp_path / "absent.csv", memory="1GB")
    (tmp_path / "few.csv").write_text("id,age,ill\n1,2,flu\n2,3,cold\n")
    with pytest.raises(DataError, match="the original has no column 'job', which was published"):
        shoal.attack(tmp_path / "out", tmp_path / "few.csv", memory="1GB")
    (tmp_path / "people.json").write_text('{"id": 1, "age": 2, "job": "cook", "ill": "flu"}\n')
    with pytest.raises(DataError, match="with a bound on memory only Parquet, text, SQLite and DuckDB are read"):
        shoal.attack(tmp_path / "out", tmp_path / "people.json", memory="1GB")
    shoal.anonymize(["ACGTAC", "ACGTTC"] * 40, shoal.StringPolicy.of(k=2), seed=3).save(tmp_path / "s", report=False)
    with pytest.raises(PolicyError, match="a bound on memory is for tables; leave it out for strings"):
        shoal.attack(tmp_path / "s", ["ACGTAC", "ACGTTC"] * 40, memory="1GB")


def test_records_that_do_not_fit_are_not_held_to_be_checked(tmp_path: Path) -> None:
    path = put(tmp_path / "people.parquet", 300, ids=np.arange(300) // 2)
    roles = {name: given for name, given in ROLES.items() if name != "identifying"}
    shoal.anonymize(path, shoal.Policy.of(**roles, person="id", others="identifying"), seed=3).save(
        tmp_path / "out", report=False
    )
    for original in (path, None):
        refused = pytest.raises(DataError, match="300 records are to be held")
        with patch.object(room, "ROW_BYTES", 4 << 20), refused:
            shoal.check(tmp_path / "out", original, memory="500MB")
    strings = tmp_path / "strings"
    policy = shoal.StringPolicy.of(k=2)
    shoal.anonymize(["ACGTAC", "ACGTTC"] * 40, policy, seed=3).save(strings, report=False)
    with pytest.raises(PolicyError, match="a bound on memory is for tables; leave it out for strings"):
        shoal.check(strings, memory="1GB")


def in_parts(*asked, row_bytes: int = 2 << 20, **told):
    """A check with so little memory that the distinct rows do not fit; also how many parts it took."""
    seen = []
    parts = CodedRows.parts

    def counted(self, *args, **kwargs):
        for number, n_parts, table in parts(self, *args, **kwargs):
            seen.append(n_parts)
            yield number, n_parts, table

    with patch.object(room, "ROW_BYTES", row_bytes), patch.object(CodedRows, "parts", counted):
        return shoal.check(*asked, **told, memory="500MB"), max(seen)


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize(
    "asked",
    [
        {"l": 2},
        {"t": 0.5, "missing": "any"},
        {"person": "id", "others": "identifying"},
    ],
)
def test_a_folder_is_checked_in_parts_as_it_is_in_one(tmp_path: Path, form: str, asked: dict) -> None:
    path = put(tmp_path / f"people.{form}", 900)
    roles = {name: given for name, given in ROLES.items() if not (name == "identifying" and "person" in asked)}
    policy = shoal.Policy.of(**{**roles, "insensitive": ["ward"], "k": 2, **asked})
    shoal.anonymize(path, policy, seed=3).save(tmp_path / "out", report=False, keep="nothing")
    publish = tmp_path / "out" / "publish"
    for told in ({}, {"policy": policy}, {"policy": policy.changed(k=9)}):
        expected = shoal.check(publish, **told, memory="1GB")
        found, n_parts = in_parts(publish, **told)
        assert n_parts > 1
        assert found.to_dict() == expected.to_dict() == shoal.check(publish, **told).to_dict()
        assert found.holds == ("policy" not in told or told["policy"].k == 2) or "person" in asked
    data = next(publish.glob("data.*"))
    lines = duckdb.sql(f"SELECT * REPLACE ('x' AS job) FROM '{data}' OFFSET 1")
    lines.write_parquet(str(data)) if form == "parquet" else lines.write_csv(str(data))
    found, _ = in_parts(publish)
    assert found.to_dict() == shoal.check(publish).to_dict()
    assert found.fails


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("asked", [{"identifying": ["id"]}, {"person": "id", "others": "identifying"}])
def test_an_original_that_does_not_fit_is_compared_in_parts(tmp_path: Path, form: str, asked: dict) -> None:
    path = put(tmp_path / f"people.{form}", 900)
    roles = {**ROLES, **asked}
    roles = {name: given for name, given in roles.items() if not (name == "identifying" and "person" in asked)}
    policy = shoal.Policy.of(**{**roles, "insensitive": ["ward"], "k": 2})
    shoal.anonymize(path, policy, seed=3).save(tmp_path / "out", report=False, keep="nothing")
    publish = tmp_path / "out" / "publish"
    whole = shoal.check(publish, path, memory="1GB")
    found, n_parts = in_parts(publish, path, row_bytes=1 << 19)
    assert n_parts > 1
    assert found.to_dict() == whole.to_dict()
    assert found.is_whole
    for other in (put(tmp_path / f"fewer.{form}", 899), put(tmp_path / f"other.{form}", 900, seed=1)):
        found, _ = in_parts(publish, other, row_bytes=1 << 19)
        assert found.to_dict() == shoal.check(publish, other, memory="1GB").to_dict()
        assert found.fails
    found, _ = in_parts(publish, path)
    (left,) = found.not_compared
    assert "too many share their cells in columns published as they are" in left


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("asked", [{"l": 2}, {"t": 0.6}, {"person": "id", "others": "identifying"}])
def test_a_written_file_is_verified_as_a_release_verifies_it(tmp_path: Path, form: str, asked: dict) -> None:
    path = put(tmp_path / f"people.{form}", 900)
    roles = {name: given for name, given in ROLES.items() if not (name == "identifying" and "person" in asked)}
    policy = shoal.Policy.of(**{**roles, "insensitive": ["ward"], "k": 2, **asked})
    release = shoal.anonymize(path, policy.changed(memory="1GB"), seed=3)
    release.save(tmp_path / "out", report=False)
    data = next((tmp_path / "out" / "publish").glob("data.*"))
    names, n_records = release.table.names, release.records["out"]
    told = {
        "asked": release._asked(names, release._published_attributes),
        "n_records": n_records,
        "delimiter": ",",
        "limit": policy.limits.singled_out,
        "accepted": policy.accept,
        "is_one_each": "person" in asked,
    }
    with bounded(500_000_000), patch.object(room, "ROW_BYTES", 2 << 20):
        found = verify_file(data, names, **told)
    assert found.guarantees == release.guarantees
    assert found.findings == release.findings
    assert found.sizes.risk(policy.k) == release.risk_after
    context = release._context(is_public=True)
    assert render_datasheet(context, found.marginals) == render_datasheet(context, release.table)
    with pytest.raises(NotVerified, match="does not read back"):
        verify_file(data, names, **{**told, "n_records": n_records + 1})


def test_a_key_that_nobody_looked_at_is_doubted_until_it_is_the_person(tmp_path: Path) -> None:
    source = put(tmp_path / "in.parquet", 300)
    asked = {**ROLES, "memory": "1GB", "insensitive": ["ward"]}
    release = shoal.anonymize(source, shoal.Policy.of(**asked), seed=1)
    (doubt,) = release.doubts
    assert (doubt.name, doubt.columns) == ("records_counted", ("id",))
    assert release.verdict.level == "amber"
    asked.pop("identifying")
    assert shoal.anonymize(source, shoal.Policy.of(**asked, person="id"), seed=1).doubts == ()
