"""One recoding for all, through the whole of a release."""

from __future__ import annotations

from collections import defaultdict

import pytest

import shoal
from shoal.data.clinic import clinic


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


def test_diversity_is_bought_with_suppression_or_refused() -> None:
    with pytest.raises(shoal.Infeasible, match="allow more suppression"):
        made(partition="full-domain", suppression=0.1, require=[{"model": "t-closeness", "t": 0.01}])
    _, release = made(
        partition="full-domain",
        suppression=0.5,
        require=[{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 3}],
    )
    assert all(g.holds for g in release.guarantees)


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
