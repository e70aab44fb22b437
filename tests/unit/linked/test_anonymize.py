"""Persons in groups by what all tables say of them."""

from __future__ import annotations

import pandas as pd
import pytest

import shoal
from shoal.errors import Infeasible, PolicyError
from tests.linked_samples import QUASI, clinic, policy, smallest_crowd


def test_persons_are_alike_in_all_tables_together() -> None:
    frames = clinic()
    release = shoal.anonymize(frames, policy(), seed=2)
    assert smallest_crowd(frames, "id", QUASI) == 1
    assert smallest_crowd(release.data, "id", QUASI) >= 3
    assert release.guarantees[0].achieved == smallest_crowd(release.data, "id", QUASI)
    for name, frame in frames.items():
        assert list(release.data[name].columns) == list(frame.columns)
        assert set(release.data[name]["id"]) <= set(release.data["patients"]["id"])


def test_days_between_dates_of_a_person_are_exact_in_all_tables() -> None:
    frames = clinic()
    release = shoal.anonymize(frames, policy(), seed=2)
    moves = []
    for name, column in (("labs", "taken"), ("visits", "seen")):
        before = frames[name].iloc[release._rows[name]].reset_index(drop=True)
        by = pd.to_datetime(release.data[name][column]) - pd.to_datetime(before[column])
        moves.append(pd.DataFrame({"who": before["id"], "new": release.data[name]["id"], "by": by.dt.days}))
    moved = pd.concat(moves)
    assert (moved.groupby("who")[["new", "by"]].nunique() == 1).all(axis=None)
    assert moved["by"].abs().max() <= 365
    assert moved["by"].nunique() > 5


def test_neither_order_of_rows_nor_names_of_persons_but_the_seed_decides() -> None:
    frames = clinic()
    turned = {name: frame.iloc[::-1].reset_index(drop=True) for name, frame in frames.items()}
    one, other = (shoal.anonymize(f, policy(), seed=2) for f in (frames, turned))
    for name in frames:
        pd.testing.assert_frame_equal(one.data[name], other.data[name])
    third = shoal.anonymize(frames, policy(), seed=3)
    assert not set(one.data["patients"]["id"]) & set(third.data["patients"]["id"])


def test_sensitive_values_are_diverse_in_each_group() -> None:
    frames = clinic(80)
    release = shoal.anonymize(frames, policy(l=2.0), seed=2)
    found = next(g for g in release.guarantees if g.sensitive == "labs: value")
    assert found.holds
    assert found.sentence.startswith("In 'labs': ")
    joined = release.data["labs"].merge(release.data["patients"], on="id")
    assert (joined.groupby(["age", "sex"])["value"].nunique() >= 2).all()


def test_rows_of_nobody_known_are_left_out_and_told() -> None:
    frames = clinic()
    strange = pd.DataFrame({"taken": ["2020-05-05"], "id": ["nobody"], "value": ["low"]})
    frames["labs"] = pd.concat([strange, frames["labs"]], ignore_index=True)
    release = shoal.anonymize(frames, policy(), seed=2)
    assert any("1 of " in note and "'labs' are of nobody in 'patients'" in note for note in release.notes)
    assert len(release.data["labs"]) < len(frames["labs"])
    assert 0 not in release._rows["labs"]


def test_several_rows_of_a_person_in_the_main_table_are_a_history() -> None:
    frames = clinic()
    frames["patients"] = pd.concat([frames["patients"], frames["patients"].iloc[:6]], ignore_index=True)
    release = shoal.anonymize(frames, policy(), seed=2)
    assert any("6 of 40 persons have several rows in 'patients'" in note for note in release.notes)
    assert smallest_crowd(release.data, "id", QUASI) >= 3


def test_what_cannot_be_is_said() -> None:
    frames = clinic()
    with pytest.raises(PolicyError, match="'seen' of 'visits' holds dates and would be published as they are"):
        shoal.anonymize(frames, policy(shift=["taken"], insensitive=["seen"]), seed=1)
    with pytest.raises(Infeasible, match=r"rows of 'visits' have to be left out.*suppression = 0\.\d+"):
        shoal.anonymize({**frames, "visits": frames["visits"].iloc[:7]}, policy(suppression=0.0), seed=1)
    with pytest.raises(Infeasible, match="41 persons are required but 'patients' has 40"):
        shoal.anonymize(frames, policy(k=41))
    with pytest.raises(PolicyError, match="no column of any table is quasi-identifying"):
        shoal.anonymize(frames, shoal.LinkedPolicy.of(link="id", others="insensitive"))
    same = frames["labs"].assign(value=["low"] * (len(frames["labs"]) - 1) + ["high"])
    with pytest.raises(Infeasible, match="persons with equally many rows in all tables have too few sensitive values"):
        shoal.anonymize({**frames, "labs": same}, policy(l=2.0), seed=1)
