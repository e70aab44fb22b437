"""The tests of `tables/anonymize.py`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.data.tables.frames import from_frame


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
    assert release.attributes["lat"].role == "quasi"
    release = shoal.anonymize(table, shoal.Policy.of(quasi=["age"], insensitive=["lat"], k=3, singled_out=1.0))
    assert any("knows 'lat' finds 100 %" in note for note in release.notes)


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


@pytest.mark.parametrize("pair", [("HIV", "HIV "), ("caf\u00e9", "cafe\u0301"), ("1", "1.0"), ("Flu", "flu")])
def test_spelling_is_no_diversity(pair) -> None:
    table = {"age": ["1"] * 4, "s": [*pair, *pair]}
    for partition in ("mondrian", "mdav"):
        with pytest.raises(shoal.Infeasible, match="reaches 1"):
            shoal.anonymize(table, shoal.Policy.of(quasi=["age"], sensitive=["s"], k=2, l=2, partition=partition))


def test_levels_that_suppressed_records_shaped_are_told() -> None:
    table = {"age": [*range(21, 48), 99999, 99998]}
    policy = shoal.Policy.of(columns={"age": {"role": "quasi", "type": "continuous", "hierarchy": "auto"}}, k=3)
    release = shoal.anonymize(table, policy.changed(partition="full-domain", suppression=0.1))
    told = any("made before records were suppressed" in note for note in release.notes)
    assert told == (release.records["suppressed"] > 0)
    assert release.records["suppressed"] > 0
