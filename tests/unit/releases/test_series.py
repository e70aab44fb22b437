"""One release after another: what is refused, and what the ledger learns."""

from __future__ import annotations

import numpy as np
import pytest

import shoal
from shoal.data.ledger import Ledger
from shoal.errors import DataError, Infeasible, PolicyError
from tests.series_samples import ILLNESSES, classes, fewest_candidates, people, policy


def kept(folder, data, asked, **more):
    """A release, and the folder with its ledger."""
    release = shoal.anonymize(data, asked, **{"seed": 1, **more})
    folder.mkdir()
    release._keep(folder, ["ledger"])
    return release, folder


def test_the_ledger_knows_what_all_releases_published(tmp_path):
    asked = policy(k=3)
    first, one = kept(tmp_path / "1", people(range(40)), asked)
    second, two = kept(tmp_path / "2", people(range(5, 45), 1), asked, after=one)
    found = Ledger.read(two)
    assert found.n_releases == 2
    assert len(found.persons) == 45
    assert (found.classes >= 0).sum(axis=0).tolist() == [first.records["out"], second.records["out"]]
    assert len(set(found.checksums)) == 2
    assert Ledger.read(one).key == found.key
    ids = [people(range(40))["id"], people(range(5, 45))["id"]]
    assert fewest_candidates([classes(first, ids[0]), classes(second, ids[1])]) >= 3


def test_order_of_rows_does_not_matter(tmp_path):
    asked = policy(k=3, l=2)
    _, one = kept(tmp_path / "1", people(range(40)), asked)
    again = people(range(5, 50), 1)
    turned = {name: cells[::-1] for name, cells in again.items()}
    releases = [shoal.anonymize(data, asked, seed=3, after=one).data for data in (again, turned)]
    assert {n: list(c) for n, c in releases[0].items()} == {n: list(c) for n, c in releases[1].items()}


def test_persons_with_several_rows_are_carried_as_one(tmp_path):
    data = people([*range(30), *range(30)])
    data["age"] = [a + (i >= 30) for i, a in enumerate(data["age"])]
    release, one = kept(tmp_path / "1", data, policy(k=3))
    assert release.records["out"] == 60
    second, _ = kept(tmp_path / "2", people([*range(4, 30), *range(4, 20)], 1), policy(k=3), after=one)
    assert all(g.holds for g in second.guarantees)
    with pytest.raises(PolicyError, match="one row a person"):
        shoal.anonymize(data, policy(k=3, l=2), seed=1)


def test_another_view_of_the_same_persons_is_checked_with_the_first(tmp_path):
    wide = people(range(60))
    wide["salary"] = [1000 * (7 * i % 13) for i in range(60)]
    asked = policy(k=3)
    release, one = kept(tmp_path / "1", {n: wide[n] for n in ("id", "age", "town", "illness")}, asked)
    view = shoal.Policy.of(
        quasi=["salary"], person="id", k=3, releases="several", others="identifying", suppression=0.9
    )
    second, _ = kept(tmp_path / "2", wide, view, after=one)
    column = second.table["salary"]
    labels = np.array(column.texts(), dtype=object)[column.codes]
    shown = {wide["id"][row]: (labels[i],) for i, row in enumerate(second._rows.tolist())}
    assert fewest_candidates([classes(release, wide["id"]), shown]) >= 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"person": "name"}, "knows persons by 'id', and the policy by 'name'"),
        ({"k": 5}, "earlier releases were made with groups of 3"),
        ({"l": 2}, "protect no sensitive column, and the policy asks for 2 of 'illness'"),
        ({"t": 0.3}, "cannot be kept over several releases"),
    ],
)
def test_a_ledger_of_another_policy_is_refused(tmp_path, change, message):
    data = people(range(30))
    _, one = kept(tmp_path / "1", data, policy(k=3))
    data["name"] = data["id"]
    roles = {"identifying": ["name"]} if "person" not in change else {}
    with pytest.raises(PolicyError, match=message):
        shoal.anonymize(data, policy(k=3).changed(**roles, **change), after=one)


def test_other_columns_beside_the_secret_are_refused():
    data = people(range(30))
    data["score"] = list(range(30))
    with pytest.raises(PolicyError, match="'score' would tie rows of two releases together"):
        shoal.anonymize(data, policy(k=3, l=2, columns={"score": {"role": "insensitive"}}), seed=1)


def test_changed_and_missing_values_are_refused(tmp_path):
    data = people(range(30))
    _, one = kept(tmp_path / "1", data, policy(k=3, l=2))
    changed = {**data, "illness": [ILLNESSES[0], *data["illness"][1:-1], data["illness"][0]]}
    with pytest.raises(DataError, match="is not what it was in an earlier release"):
        shoal.anonymize(changed, policy(k=3, l=2), after=one)
    with pytest.raises(DataError, match="has missing values"):
        shoal.anonymize({**data, "illness": [None, *data["illness"][1:]]}, policy(k=3, l=2), after=one)


@pytest.mark.parametrize("gone", ["250.00", "001", "1E5"])
def test_counterfeits_are_spelled_as_persons_were(tmp_path, gone):
    """Nobody in the second release has the value, so that another spelling of it would be nobody's."""
    data = people(range(60))
    data["illness"] = [("250.00", "001", "1E5", "V27")[i % 4] for i in range(60)]
    asked = policy(k=3, l=2)
    _, one = kept(tmp_path / "1", data, asked)
    stay = [i for i in range(60) if data["illness"][i] != gone]
    second, _ = kept(tmp_path / "2", {n: [c[i] for i in stay] for n, c in data.items()}, asked, after=one)
    assert set(second.table["illness"].texts()) == set(data["illness"])
    assert second.records["counterfeits"] > 0


def test_a_value_in_several_spellings_is_refused(tmp_path):
    data = people(range(60))
    asked = policy(k=3, l=2)
    _, one = kept(tmp_path / "1", data, asked)
    with pytest.raises(DataError, match="spelled in several ways"):
        shoal.anonymize(data | {"illness": [v.upper() for v in data["illness"]]}, asked, seed=1, after=one)
    mixed = [v.upper() if i % 2 else v for i, v in enumerate(data["illness"])]
    with pytest.raises(DataError, match="spelled in several ways"):
        shoal.anonymize(data | {"illness": mixed}, asked, seed=1)


def test_counterfeits_are_no_persons_in_what_is_promised(tmp_path):
    """Persons of a class are counted here by whose rows they are; no candidates over releases are promised."""
    asked = policy(k=3, l=2)
    _, one = kept(tmp_path / "1", people(range(60)), asked)
    release, _ = kept(tmp_path / "2", people(range(19, 60), 1), asked, after=one)
    assert release.records["counterfeits"] > 0
    shown = [tuple(row) for row in zip(*(release.data[n] for n in ("age", "town")), strict=True)]
    real = [label for label, row in zip(shown, release._rows.tolist(), strict=True) if row < 41]
    fewest = min(real.count(label) for label in shown)
    promised = {g.model: g.achieved for g in release.guarantees}
    assert promised["k-anonymity"] == fewest
    assert fewest < min(shown.count(label) for label in shown)
    assert "k-candidates" not in promised
    release.save(tmp_path / "out")
    assert "belong to nobody" in (tmp_path / "out/publish/datasheet.html").read_text()
    for more in ({}, {"original": people(range(19, 60), 1)}):
        found = shoal.check(tmp_path / "out/publish", private=tmp_path / "out/private", **more)
        assert not found.findings
        assert found.guarantees[0].achieved == fewest


def test_who_is_left_alone_is_told(tmp_path):
    asked = policy(k=3, reserve=0, suppression=0.0)
    _, one = kept(tmp_path / "1", people(range(30)), asked)
    with pytest.raises(Infeasible, match="have to be left out, as fewer than 3"):
        shoal.anonymize(people(range(0, 30, 2)), asked, seed=1, after=one)
    with pytest.raises(Infeasible, match="nobody can be published"):
        shoal.anonymize(people([0, 1, 29]), policy(k=3, reserve=0, suppression=0.999), seed=1, after=one)


@pytest.mark.parametrize(
    "change",
    [
        {"person_knowledge": "history"},
        {"partition": "full-domain"},
        {"publish": "condense"},
        {"publish": "aggregate", "partition": "mdav"},
        {"partition": "mdav"},  # which publishes averages, and two averages tell the values of who left
        {"missing": "any"},
    ],
)
def test_what_is_for_one_release_alone_is_refused(change):
    with pytest.raises(PolicyError, match="is for one release alone"):
        policy(**change)
    with pytest.raises(PolicyError, match="nothing says who is who"):
        shoal.Policy.of(quasi=["age"], releases="several")


def test_a_ledger_has_to_be_asked_for_before(tmp_path):
    with pytest.raises(PolicyError, match="ask for it before it is made"):
        shoal.anonymize(people(range(30)), policy(releases="one"), seed=1).save(tmp_path / "o", keep="ledger")


def test_counterfeits_are_counted_and_stand_where_nobody_sees_them(tmp_path):
    asked = policy(k=2, l=2)
    _, one = kept(tmp_path / "1", people(range(40)), asked)
    release, _ = kept(tmp_path / "2", people(range(13, 40), 1), asked, after=one)
    records = release.records
    assert records["counterfeits"] > 0
    assert records["in"] == 27
    assert records["out"] - records["counterfeits"] + records["suppressed"] == 27
    assert "id" not in release.table.names
    assert set(release.table["illness"].texts()) <= set(ILLNESSES)
