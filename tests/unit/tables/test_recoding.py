"""One recoding for all, through the whole of a release."""

from __future__ import annotations

from collections import defaultdict

import pytest

import shoal
from shoal.data.samples.clinic import clinic


def made(**asked):
    table = clinic(600)
    columns = {n: table[n] for n in ("age", "sex", "zip", "marital_status", "diagnosis")}
    policy = shoal.Policy.of(quasi=["age", "sex", "zip", "marital_status"], sensitive=["diagnosis"], k=5, **asked)
    return columns, shoal.anonymize(columns, policy.changed(order="original"))


@pytest.mark.parametrize("partition", ["full-domain", "datafly"])
def test_equal_values_get_equal_labels(partition) -> None:
    columns, release = made(partition=partition, suppression=0.1)
    assert all(g.holds for g in release.guarantees)
    assert release.records["suppressed"] <= 60
    for name in ("age", "sex", "zip", "marital_status"):
        labels = defaultdict(set)
        for row, label in zip(release._rows, release.data[name], strict=True):
            labels[str(columns[name][row])].add(label)
        assert all(len(found) == 1 for found in labels.values()), name


def test_the_search_loses_no_more_than_the_greedy_way() -> None:
    _, searched = made(partition="full-domain", suppression=0.1)
    _, greedy = made(partition="datafly", suppression=0.1)
    assert searched.utility["GCP"] <= greedy.utility["GCP"]
    assert any("no other recoding loses less" in note for note in searched.notes)


@pytest.mark.parametrize("partition", ["full-domain", "datafly"])
def test_diversity_is_bought_with_coarser_levels_or_suppression(partition) -> None:
    asked = [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 3}, {"model": "t-closeness", "t": 0.01}]
    for suppression in (0.0, 0.1, 0.5):
        for require in (asked[:2], [asked[0], asked[2]]):
            _, release = made(partition=partition, suppression=suppression, require=require)
            assert all(g.holds for g in release.guarantees)
            assert release.records["suppressed"] <= suppression * 600


@pytest.mark.parametrize("partition", ["full-domain", "datafly"])
def test_a_value_that_is_too_frequent_is_left_out_or_the_release_refused(partition) -> None:
    columns = {"x": ["a"] * 10 + ["b"] * 10, "s": ["1", "2"] * 5 + ["1"] * 9 + ["2"]}
    half = [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2, "kind": "probabilistic"}]
    asked = shoal.Policy.of(quasi=["x"], sensitive=["s"], k=5, partition=partition, require=half, suppression=0.5)
    assert shoal.anonymize(columns, asked).data["x"] == ["a"] * 10
    with pytest.raises(shoal.Infeasible, match="at most 9 of 20 records may be left out; allow more suppression"):
        shoal.anonymize(columns, asked.changed(method=asked.method.model_copy(update={"suppression": 0.45})))


@pytest.mark.parametrize("partition", ["full-domain", "datafly", "mondrian"])
def test_what_all_codes_share_is_published(partition) -> None:
    codes = {"zip": ["48101", "48102", "48103", "48104"], "sex": ["f", "f", "f", "f"]}
    asked = shoal.Policy.of(quasi=["zip", "sex"], k=4, partition=partition)
    release = shoal.anonymize(codes, asked)
    assert set(release.data["zip"]) == {"4810*"}
    assert set(release.data["sex"]) == {"f"}
    other = shoal.anonymize({**codes, "zip": ["48101", "48102", "48103", "90210"]}, asked)
    assert set(other.data["zip"]) == {"*"}


@pytest.mark.parametrize("missing", ["value", "any"])
def test_a_column_of_missing_values_alone_is_recoded(missing) -> None:
    columns = {"zip": [None] * 4, "sex": ["f", "f", "m", "m"]}
    asked = shoal.Policy.of(quasi=["zip", "sex"], k=2, partition="full-domain", missing=missing)
    assert list(shoal.anonymize(columns, asked).data["sex"]) == ["f", "f", "m", "m"]


def test_averages_and_effort_do_not_go_with_one_recoding() -> None:
    for asked in ({"publish": "aggregate"}, {"effort": "best"}):
        with pytest.raises(shoal.PolicyError, match="one recoding"):
            shoal.Policy.of(partition="full-domain", **asked)
