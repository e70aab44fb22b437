"""What is told of a table in slices is what a reader could make of it."""

from __future__ import annotations

import numpy as np
import pytest

import shoal
from shoal.utility.tables.slices import rebuilt


def skewed(n_rows: int = 2000) -> dict[str, list]:
    """Ages of which nearly all are 20 and some 60; a reader of [20..60] cannot know that."""
    rng = np.random.default_rng(0)
    return {
        "age": np.where(rng.random(n_rows) < 0.9, 20, rng.integers(20, 61, n_rows)).tolist(),
        "born": np.where(rng.random(n_rows) < 0.9, "2000-01-01", "2020-01-01").tolist(),
        "city": np.where(rng.random(n_rows) < 0.95, "Ayr", "Bath").tolist(),
        "disease": rng.choice(["flu", "cold", "gout", "ulcer"], n_rows).tolist(),
    }


POLICY = shoal.Policy.of(
    columns={
        "age": {"role": "quasi", "type": "continuous"},
        "born": {"role": "quasi", "type": "date"},
        "city": {"role": "quasi", "type": "nominal"},
        "disease": {"role": "sensitive", "type": "nominal"},
    },
    k=2000,
    publish="screen",
    slices=1,
)


def cells(table, name: str) -> np.ndarray:
    return np.asarray(table[name].texts())[table[name].codes]


def test_labels_are_read_evenly() -> None:
    """One bucket of one region: the true distribution inside it is not published."""
    release = shoal.anonymize(skewed(), POLICY, seed=1)
    assert set(release.data["age"]) == {"[20..60]"}
    made = rebuilt(release._original, release.sliced, release._sources)
    ages = cells(made, "age").astype(float)
    assert ages.mean() == pytest.approx(40, abs=1.5)
    assert np.mean(cells(made, "city") == "Bath") == pytest.approx(0.5, abs=0.05)
    assert np.mean(cells(made, "born") == "2020-01-01") == pytest.approx(0.5, abs=0.05)


def test_one_slice_is_measured_like_generalisation() -> None:
    data = skewed()
    screened = shoal.anonymize(data, POLICY, seed=1)
    generalised = shoal.anonymize(data, POLICY.changed(method={"publish": "generalise", "slices": "best"}), seed=1)
    assert screened.utility["GCP"] == pytest.approx(generalised.utility["GCP"])
    assert screened.utility["query-error"] == pytest.approx(generalised.utility["query-error"], rel=0.2)


def test_values_that_are_published_as_they_are_stay() -> None:
    data = skewed()
    policy = POLICY.changed(k=2, l=2, method={"publish": "bucketize", "slices": "best"})
    release = shoal.anonymize(data, policy, seed=1)
    made = rebuilt(release._original, release.sliced, release._sources)
    for name in ("age", "born", "city"):
        assert sorted(cells(made, name)) == sorted(map(str, data[name]))
    assert release.utility["query-error"] == 0


def test_missing_values_keep_their_share() -> None:
    data = skewed()
    rng = np.random.default_rng(1)
    gone = rng.random(2000) < 0.3
    data = {n: ["" if g and n != "disease" else str(v) for v, g in zip(c, gone, strict=True)] for n, c in data.items()}
    release = shoal.anonymize(data, POLICY, seed=1)
    made = rebuilt(release._original, release.sliced, release._sources)
    for name in ("age", "born"):
        assert made[name].missing.mean() == pytest.approx(gone.mean(), abs=0.05)


@pytest.mark.parametrize("missing", ["value", "any"])
@pytest.mark.parametrize("name", ["age", "born", "city"])
def test_a_column_without_any_value(name: str, missing: str) -> None:
    data = {n: [str(v) for v in c[:40]] for n, c in skewed(40).items()} | {name: [""] * 40}
    release = shoal.anonymize(data, POLICY.changed(k=5, missing=missing), seed=1)
    made = rebuilt(release._original, release.sliced, release._sources)
    assert made[name].missing.all()
    assert release.utility["GCP"] >= 0
