"""What values are by their spelling, whatever the column is called."""

from __future__ import annotations

import pytest

from reproductions.role_tables import DATES, made_tables
from shoal.data.tables.frames import from_frame
from shoal.data.tables.guess import guess
from shoal.data.tables.value_forms import form_of

FORMS = {
    "e-mail addresses": ["ann@mail.org", "b.c@some-where.de"],
    "web addresses": ["https://a.example/b", "www.b.example"],
    "network addresses": ["10.0.0.1", "192.168.1.20"],
    "universal identifiers": ["123e4567-e89b-12d3-a456-426614174000"],
    "account numbers": ["DE89 3704 0044 0532 0130 00", "FR1420041010050500013M02606"],
    "social security numbers": ["123-45-6789", "987-65-4321"],
    "phone numbers": ["+49 30 1234567", "(212) 555-0134", "06 12 34 56 78", "0151-2345678"],
    "names of people": ["Anna Adler", "Costa, Peter", "Marie Diaz", "Emma Evans", "Q. Unknown"],
    "diagnoses (ICD)": ["E11.9", "I10", "J45.0"],
    "drugs (ATC)": ["A10BA02", "C09AA05"],
    "postcodes": ["SW1A 1AA", "M1 1AE", "1012 AB"],
    "coordinates": ["52.5200, 13.4050", "48.8566, 2.3522"],
    "times": ["14:35", "9:05:30", "11:15 pm"],
    "years": ["1999", "2001", "2003", "2010", "1985"],
    "dates": ["25 février 2002", "3 août 2001", "1. März 1999", "12 de enero de 1998", "Thu, 25 Feb 2002 10:00:00 GMT"],
    "seconds since 1970": ["1600000000", "1600000100", "1600003000", "1600004000", "1600100000"],
    "free text, which may name people": [f"{i} was seen on the ward, told us of pain, and went home" for i in range(5)],
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str) -> None:
    found = form_of(from_frame({"x": FORMS[form]})["x"])
    assert found is not None
    assert found.name == form


@pytest.mark.parametrize(
    "spelling", [s for s in DATES if s not in ("time of day", "milliseconds", "seconds since 1970")]
)
def test_every_spelling_of_a_date_is_one(spelling: str) -> None:
    from datetime import datetime

    cells = [DATES[spelling](datetime(2000 + i, 1 + i, 3 + 2 * i, i, 5)) for i in range(8)]
    table = from_frame({"x": cells})
    found = form_of(table["x"])
    assert found is not None
    assert found.name == "dates"
    assert guess(table)["x"].role == "quasi"


@pytest.mark.parametrize(
    "cells",
    [
        ["20", "31", "44", "58", "67"],
        ["2.5", "3.75", "-1.25", "0.5", "9.0"],
        ["nurse", "teacher", "clerk", "driver", "farmer"],
        ["Paris", "Rome", "Berlin", "Oslo", "Vienna"],
        ["A01", "B02", "C03"],
        ["tcp", "udp", "icmp"],
        ["20011301", "20010230", "20011399", "12345678", "99999999"],
    ],
)
def test_values_that_say_nothing(cells: list[str]) -> None:
    assert form_of(from_frame({"x": cells})["x"]) is None


def test_no_values_have_no_form() -> None:
    assert form_of(from_frame({"x": ["", "?"]})["x"]) is None


def test_roles_come_from_values_where_names_say_nothing() -> None:
    tables = made_tables()
    seen = {
        f"v{i}": cells
        for i, cells in enumerate(
            (tables["english"]["contact"], tables["english"]["pat_nm"], tables["french"]["téléphone"])
        )
    }
    assert {a.role for a in guess(from_frame(seen)).values()} == {"identifying"}
    assert guess(from_frame({"v": tables["english"]["icd10"]}))["v"].role == "sensitive"
    assert guess(from_frame({"v": tables["spanish"]["medicamento"]}))["v"].type == "prefix"
