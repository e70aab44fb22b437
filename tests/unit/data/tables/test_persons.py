"""Whose row is it?"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shoal.data.tables import persons as module
from shoal.data.tables.frames import from_frame
from shoal.data.tables.persons import look_like_persons, person_codes
from shoal.errors import DataError


def test_rows_that_agree_in_all_columns_are_of_one_person():
    table = from_frame(pd.DataFrame({"house": [1, 1, 2, 1], "member": ["a", "b", "a", "a"]}))
    assert person_codes(table, ["house", "member"]).tolist() == [0, 1, 2, 0]
    assert person_codes(table, ["house"]).tolist() == [0, 0, 1, 0]


def test_a_row_of_nobody_known_is_refused():
    table = from_frame(pd.DataFrame({"id": ["a", None, "b", None], "n": [1, 2, 3, 4]}))
    with pytest.raises(DataError, match="'id', which says whose row it is, is missing in 2 of 4 rows"):
        person_codes(table, ["id"])
    with pytest.raises(DataError, match="'n' or 'id'"):
        person_codes(table, ["n", "id"])


def visits(n_persons=60, seed=4):
    """Several visits of a person, who keeps sex, town and year of birth; what is paid changes."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n_persons), rng.integers(1, 5, n_persons))
    town, born, sex = rng.integers(0, 9, n_persons), rng.integers(1940, 2000, n_persons), rng.integers(0, 2, n_persons)
    return pd.DataFrame(
        {
            "zz": who * 7919 % 100_003,
            "town": town[who],
            "born": born[who],
            "sex": sex[who],
            "paid": rng.integers(0, 40, len(who)),
            "cost": rng.random(len(who)).round(3),
        }
    )


def test_a_key_of_persons_is_found_by_how_it_repeats():
    assert look_like_persons(from_frame(visits())) == ["zz"]
    assert look_like_persons(from_frame(visits().drop(columns=["town", "born", "sex"]))) == []
    once = visits().drop_duplicates("zz")
    assert look_like_persons(from_frame(once)) == []
    assert look_like_persons(from_frame(visits().rename(columns={"paid": "patient_id"})))[0] == "patient_id"


@pytest.mark.parametrize(
    ("spelled", "is_key"),
    [
        (lambda n: f"756.{n:04d}.5678.97", True),
        (lambda n: f"{n}.0", True),
        (lambda n: f"{n:06d}-{n % 7}", True),
        (lambda n: f"{n / 8:.3f}", False),
        (lambda n: f"{n},5", False),
    ],
)
def test_numbers_with_decimals_are_no_keys(spelled, is_key):
    frame = visits()
    frame["zz"] = [spelled(n) for n in pd.factorize(frame["zz"])[0].tolist()]
    assert look_like_persons(from_frame(frame)) == ["zz"] * is_key


def test_some_keys_are_enough_to_speak_against_persons(monkeypatch):
    rng = np.random.default_rng(4)
    persons = np.repeat(np.arange(300), 3)
    columns = {"key": persons, "other": rng.integers(0, 40, 900), "constant": persons % 40}
    key, other, constant = from_frame(pd.DataFrame(columns)).columns.values()
    rows, looks = np.arange(900), []
    agreement = module._agreement
    monkeypatch.setattr(module, "ENOUGH_KEYS", 50)
    monkeypatch.setattr(module, "_agreement", lambda *given: looks.append(len(given[2])) or agreement(*given))
    assert not module._is_constant(key, other, rows, 300)
    assert looks == [150]
    assert module._is_constant(key, constant, rows, 300)
    assert looks == [150, 150, 900]


def test_survey_weights_that_repeat_within_strata_are_no_keys():
    """Records with one weight are of one sex and origin, nearly, as those of a person are, but of many people."""
    rng = np.random.default_rng(3)
    n, strata = 4000, 6
    sex, origin = rng.integers(0, 2, n), rng.integers(0, strata // 2, n)
    weight = 1000 * (sex * 3 + origin) + rng.integers(0, 300, n)
    moved = rng.random(n) < 0.03
    sex[moved] = 1 - sex[moved]
    origin[rng.random(n) < 0.03] = 0
    frame = pd.DataFrame({"c3": weight, "c9": origin, "c10": sex, "c1": rng.integers(17, 90, n)})
    assert look_like_persons(from_frame(frame)) == []
    persons = visits(1500).rename(columns={"zz": "c3", "town": "c9", "born": "c10", "sex": "c1"})
    assert look_like_persons(from_frame(persons)) == ["c3"]


@pytest.mark.parametrize(
    ("trip", "person"),
    [("trajectory_id", "user_id"), ("trip no", "cab_id"), ("fahrt_nr", "fahrer_nr"), ("voyage_id", "conducteur_id")],
)
def test_whose_trips_they_are_comes_before_the_trips(trip, person):
    """Though a person may have hundreds of rows, and a trip a few."""
    rng = np.random.default_rng(5)
    trips = np.repeat(np.arange(600), rng.integers(5, 30, 600))
    frame = pd.DataFrame({"lat": rng.random(len(trips)), trip: trips, person: trips // 25, "paid": trips % 7})
    assert look_like_persons(from_frame(frame)) == [person, trip]
    assert look_like_persons(from_frame(frame.drop(columns=person))) == [trip]
    few = frame.assign(**{person: trips % 4})
    assert look_like_persons(from_frame(few)) == [trip]


@pytest.mark.parametrize(
    ("keys", "persons"),
    [
        (["007", "7", "8", "7.0"], [0, 0, 1, 0]),
        (["1.0", "1", "x", "3"], [0, 0, 2, 1]),
        (["A1", "a1", " A1", "b"], [0, 0, 0, 1]),
        (["9007199254740993", "9007199254740992", "1", "2"], [3, 2, 0, 1]),  # no float tells these two apart
    ],
)
def test_keys_that_say_the_same_are_one_persons(keys, persons):
    found = person_codes(from_frame(pd.DataFrame({"id": keys})), ["id"])
    assert len(set(zip(found.tolist(), persons, strict=True))) == len(set(persons)) == found.max() + 1
