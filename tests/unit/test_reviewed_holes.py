"""Holes that a review found, each with the smallest table that shows it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shoal
from shoal.data.tables.files import read_table
from shoal.data.tables.frames import from_frame
from shoal.data.tables.write import guarded, unguarded, write_table


def test_no_role_is_lost_between_two_ways_of_giving_it() -> None:
    policy = shoal.Policy.of(quasi=["hair"], columns={"town": {"role": "quasi", "type": "nominal"}}, k=2)
    assert policy.columns["hair"].role == policy.columns["town"].role == "quasi"
    policy = shoal.Policy.of(method={"partition": "mdav"}, effort="best")
    assert (policy.method.partition, policy.method.effort) == ("mdav", "best")
    with pytest.raises(shoal.PolicyError, match="two roles"):
        shoal.Policy.of(quasi=["a"], columns={"a": {"role": "sensitive"}})


def test_numbers_of_accounts_and_cases_are_dropped_and_others_told() -> None:
    rng = np.random.default_rng(0)
    table = {
        "age": rng.integers(20, 60, 200).tolist(),
        "account": rng.choice(np.arange(10**7, 10**8), 200, replace=False).tolist(),
        "reference": rng.choice(np.arange(10**5, 10**6), 200, replace=False).tolist(),
        "lat": rng.normal(size=200).tolist(),
    }
    release = shoal.anonymize(table, shoal.Policy.of(quasi=["age"], k=3))
    assert set(release.data) == {"age", "lat"}
    assert any("its own value of 'lat'" in note for note in release.notes)


def test_types_of_frames_list_no_value_that_is_not_published() -> None:
    jobs = ["pope"] + ["nurse"] * 3 + ["cook"] * 4
    policy = shoal.Policy.of(quasi=["job"], k=4, partition="mdav", publish="aggregate")
    frame = pd.DataFrame({"job": pd.Categorical(jobs)})
    assert list(shoal.anonymize(frame, policy).data["job"].cat.categories) == ["cook", "nurse"]
    other = pl.DataFrame({"job": pl.Series(jobs, dtype=pl.Enum(["cook", "nurse", "pope"]))})
    assert shoal.anonymize(other, policy).data["job"].dtype == pl.Enum(["cook", "nurse"])


def test_suppressed_values_shape_no_label(tmp_path) -> None:
    codes = ["48101", "48102"] * 2 + ["60201", "60202"] * 2 + ["990000000001"] * 4
    table = {"zip": codes, "s": ["a", "b", "c", "d"] * 2 + ["a"] * 4}
    policy = shoal.Policy.of(
        columns={"zip": {"role": "quasi", "type": "prefix"}}, sensitive=["s"], k=4, l=3, suppression=0.4, partition="mdav",
        publish="generalise",
    )  # fmt: skip
    release = shoal.anonymize(table, policy)
    assert release.records["suppressed"] == 4
    assert set(release.data["zip"]) == {"4810*", "6020*"}
    assert "990000000001" not in release.table["zip"].texts()
    times = {"day": ["2020-01-01"] * 3 + ["2020-01-01 06:30:00"], "x": list("aaab")}
    typed = pd.DataFrame({"day": pd.to_datetime(times["day"], format="mixed"), "x": times["x"]})
    kept = from_frame(typed).take(np.arange(3)).compact()
    assert kept["day"].texts() == ["2020-01-01"]


def test_guarded_texts_come_back_as_they_were(tmp_path) -> None:
    for text in ("=x", "'=x", "''=x", "-", "'-", "'tis", "", "-1", "@a"):
        assert unguarded(guarded(text)) == text
    assert len({guarded(t) for t in ("=x", "'=x", "''=x")}) == 3
    table = {"age": list("11112222"), "s": ["-", "a", "b", "c"] * 2}
    policy = shoal.Policy.of(quasi=["age"], sensitive=["s"], k=2, l=3, missing="any", missing_markers=("-",))
    shoal.anonymize(table, policy).save(tmp_path / "out")
    claimed = json.loads((tmp_path / "out" / "publish" / "manifest.json").read_text())["guarantees"]
    assert [g["achieved"] for g in claimed] == [4, 3]
    strict = policy.changed(l=4)
    assert not shoal.check(tmp_path / "out", policy=strict).holds
    for columns in ({"=a": [1, 1], "'=a": [2, 2]}, {" a ": [1, 1]}, {"a;b": [1, 1]}):
        out = tmp_path / str(len(list(tmp_path.iterdir())))
        shoal.anonymize(columns, shoal.Policy.of(others="quasi", k=2)).save(out)
        assert shoal.check(out).holds


def test_a_policy_overrules_the_markers_of_an_edited_manifest(tmp_path) -> None:
    table = {"age": ["1"] * 4, "s": ["a", "b", "?", "?"]}
    policy = shoal.Policy.of(quasi=["age"], sensitive=["s"], k=2, l=2, missing="any")
    shoal.anonymize(table, policy).save(tmp_path / "out")
    path = tmp_path / "out" / "publish" / "manifest.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "missing_markers": []}))
    found = shoal.check(tmp_path / "out", policy=policy.changed(l=3))
    assert not found.holds
    assert not all(g.holds for g in found.guarantees)


def test_the_datasheet_does_not_name_the_source(tmp_path) -> None:
    write_table(from_frame({"age": list("11112222")}), tmp_path / "ward_seven.csv")
    shoal.anonymize(tmp_path / "ward_seven.csv", shoal.Policy.of(quasi=["age"], k=2)).save(tmp_path / "out")
    assert all("ward_seven" not in p.read_text() for p in (tmp_path / "out" / "publish").iterdir())


def test_a_release_from_a_file_has_data(tmp_path) -> None:
    write_table(from_frame({"age": list("11112222")}), tmp_path / "people.csv")
    release = shoal.anonymize(tmp_path / "people.csv", shoal.Policy.of(quasi=["age"], k=2))
    assert list(release.data["age"]) == list("11112222")
    assert read_table(tmp_path / "people.csv").n_rows == 8


def test_restored_variance_of_huge_numbers_is_a_number() -> None:
    table = {"x": [1e200, 2e200, 3e200, 7e200, 8e200, 9e200]}
    policy = shoal.Policy.of(quasi=["x"], k=2, partition="mdav", restore_variance=True)
    assert np.isfinite(np.array(shoal.anonymize(table, policy).data["x"], dtype=float)).all()


@pytest.mark.parametrize(
    ("asked", "says"), [({"policy": {"k": 2}}, "not a Policy"), ({"seed": "x"}, "seed"), ({"seed": -1}, "seed")]
)
def test_wrong_arguments_are_refused_in_a_sentence(asked, says) -> None:
    with pytest.raises(shoal.PolicyError, match=says):
        shoal.anonymize({"age": [1, 1]}, **asked)


@pytest.mark.parametrize("pair", [("HIV", "HIV "), ("caf\u00e9", "cafe\u0301"), ("1", "1.0"), ("Flu", "flu")])
def test_spelling_is_no_diversity(pair) -> None:
    table = {"age": ["1"] * 4, "s": [*pair, *pair]}
    for partition in ("mondrian", "mdav"):
        with pytest.raises(shoal.Infeasible, match="reaches 1"):
            shoal.anonymize(table, shoal.Policy.of(quasi=["age"], sensitive=["s"], k=2, l=2, partition=partition))


def test_whole_numbers_beyond_the_exact_ones_are_refused() -> None:
    table = {"n": [2**53, 2**53 + 1, 2**53 + 2, 2**53 + 2]}
    with pytest.raises(shoal.DataError, match="too large"):
        shoal.anonymize(table, shoal.Policy.of(columns={"n": {"role": "quasi", "type": "continuous"}}, k=2))


def test_a_column_named_like_all_others_is_refused() -> None:
    with pytest.raises(shoal.DataError, match="rename it"):
        shoal.anonymize({"*": [1, 1], "age": [1, 1]}, shoal.Policy.of(quasi=["age"], k=2))


def test_levels_that_suppressed_records_shaped_are_told() -> None:
    table = {"age": [*range(21, 48), 99999, 99998]}
    policy = shoal.Policy.of(columns={"age": {"role": "quasi", "type": "continuous", "hierarchy": "auto"}}, k=3)
    release = shoal.anonymize(table, policy.changed(partition="full-domain", suppression=0.1))
    told = any("made before records were suppressed" in note for note in release.notes)
    assert told == (release.records["suppressed"] > 0)
    assert release.records["suppressed"] > 0
