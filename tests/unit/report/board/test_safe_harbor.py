"""The 18 identifiers: by names of columns, and by the spelling of values."""

from __future__ import annotations

import pytest

from shoal.report.board.safe_harbor import IDENTIFIERS, identifier_of


def test_there_are_eighteen() -> None:
    assert "".join(IDENTIFIERS) == "ABCDEFGHIJKLMNOPQR"


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        *(("patient_name", "A"), ("Nachname", "A"), ("zip", "B"), ("city", "B"), ("street", "B"), ("age", "C")),
        *(("date_of_birth", "C"), ("admission_date", "C"), ("phone", "D"), ("fax", "E"), ("email", "F"), ("ssn", "G")),
        *(("mrn", "H"), ("beneficiary", "I"), ("account", "J"), ("iban", "J"), ("passport", "K"), ("vin", "L")),
        *(("imei", "M"), ("homepage", "N"), ("ip", "O"), ("fingerprint", "P"), ("photo", "Q"), ("patient_id", "R")),
        *(("disease", ""), ("sex", ""), ("drug_name", ""), ("x", "")),
    ],
)
def test_names_of_columns(name: str, letter: str) -> None:
    assert identifier_of(name, None) == (letter, "its name" if letter else "")


@pytest.mark.parametrize(
    ("form", "letter"),
    [("e-mail addresses", "F"), ("dates", "C"), ("names of people", "A"), ("network addresses", "O"), ("years", "")],
)
def test_contents_come_first(form: str, letter: str) -> None:
    found = identifier_of("x", form)
    assert found == (letter, f"its contents: {form}" if letter else "")
    if letter:
        assert identifier_of("phone", form)[0] == letter
