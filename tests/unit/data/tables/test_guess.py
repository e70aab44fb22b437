from __future__ import annotations

import pytest

import shoal
from shoal.data.tables.column_words import words_of
from shoal.data.tables.files import read_table
from shoal.data.tables.frames import from_frame
from shoal.data.tables.guess import guess

COLUMNS = {
    "name": ([f"Person {i}" for i in range(40)], "nominal", "identifying"),
    "patient_id": ([str(1000 + 7 * i) for i in range(40)], "nominal", "identifying"),
    "row": ([str(i) for i in range(40)], "continuous", "identifying"),
    "remark": ([f"text number {i}" for i in range(40)], "nominal", "identifying"),
    "age": ([str(20 + i % 30) for i in range(40)], "continuous", "quasi"),
    "sex": (["f", "m"] * 20, "nominal", "quasi"),
    "zip": ([f"{10000 + i % 15}" for i in range(40)], "prefix", "quasi"),
    "zipCode": ([f"0{1000 + i % 15}" for i in range(40)], "prefix", "quasi"),
    "admitted": ([f"2020-0{1 + i % 9}-11" for i in range(40)], "date", "quasi"),
    "age_band": (["[0-10)", "[10-20)", "[100-110)", "[20-30)"] * 10, "ordinal", "quasi"),
    "disease": (["flu", "cold"] * 20, "nominal", "sensitive"),
    "income": ([str(1000.5 + i) for i in range(40)], "continuous", "sensitive"),
    "type_id": ([str(i % 4) for i in range(40)], "nominal", "quasi"),
    "num_visits": ([str(i % 4) for i in range(40)], "continuous", "quasi"),
    "quarter": ([f"Q{1 + i % 4} {2000 + i % 3}" for i in range(40)], "ordinal", "quasi"),
    "week": ([f"20{i:02d}-W08" for i in range(40)], "ordinal", "quasi"),
    "at": ([f"{i % 24:02d}:{i:02d}" for i in range(40)], "ordinal", "quasi"),
    "town": ([f"town {min(i, 30)}" for i in range(40)], "nominal", "identifying"),
    "borough": ([f"borough {i // 2}" for i in range(40)], "nominal", "quasi"),
    "sampling_weight": (["100"] * 40, "nominal", "insensitive"),
    "nothing": (["?"] * 40, "nominal", "insensitive"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_guess(name) -> None:
    cells, kind, role = COLUMNS[name]
    attribute = guess(from_frame({name: cells}))[name]
    assert (attribute.type, attribute.role) == (kind, role), attribute.why
    assert attribute.why


def test_bands_are_ordered_by_their_lower_end() -> None:
    cells = ["<18", "18-30", "30-65", ">65"] * 10
    assert guess(from_frame({"age": cells}))["age"].order == ("<18", "18-30", "30-65", ">65")


@pytest.mark.parametrize(
    "ascending",
    [
        ["Q3 1999", "q4 1999", "Q1 2000"],
        ["1999-Q4", "2000-Q1", "2000-Q2"],
        ["1999-W52", "2000-W01", "2000-W10-1", "2000-W10-7"],
        ["8:59", "09:00", "10:00:01", "23:15"],
        ["12:05 am", "1:00 AM", "12:00 pm", "1:30PM"],
    ],
)
def test_quarters_weeks_and_times_have_their_order(ascending) -> None:
    assert guess(from_frame({"x": ascending[::-1] * 5}))["x"].order == tuple(ascending)


def test_texts_that_few_records_have_alone_are_published() -> None:
    """Groups list the texts of their members, and so tell who is in them."""
    rows = [f"t{i % 5}" for i in range(960)]
    few, more = (guess(from_frame({"x": [*rows, *(f"u{i}" for i in range(n))]}))["x"] for n in (40, 80))
    assert (few.role, more.role) == ("quasi", "identifying")
    assert "8 % of the records have a text of their own" in more.why
    assert "with a hierarchy" in more.why


def test_words_of_a_name() -> None:
    assert words_of("hours-per-week") == {"hours", "per", "week"}
    assert words_of("A1Cresult") >= {"a1cresult"}


def test_real_tables(shared_data) -> None:
    adult = guess(read_table(shared_data / "adult" / "arx_adult.csv.gz"))
    quasi = {n for n, a in adult.items() if a.role == "quasi"}
    assert quasi == {"sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"}
    assert adult["salary-class"].role == "sensitive"
    diabetes = guess(read_table(shared_data / "diabetes130" / "diabetic_data.csv.gz"))
    assert {n for n, a in diabetes.items() if a.role == "identifying"} == {"encounter_id", "patient_nbr"}
    assert {"race", "gender", "age"} <= {n for n, a in diabetes.items() if a.role == "quasi"}
    assert diabetes["age"].type == "ordinal"
    assert diabetes["diag_1"].type == "prefix"
    survey = guess(read_table(shared_data / "sdcmicro_testdata" / "testdata.csv"))
    assert survey["ori_hid"].role == "identifying"
    assert survey["age"].type == "continuous"
    assert survey["sex"].type == "nominal"


def test_keys_that_repeat_are_told() -> None:
    table = {"patient_id": [str(i // 2) for i in range(40)], "age": [str(i % 5) for i in range(40)]}
    release = shoal.anonymize(table, shoal.Policy.of(identifying=["patient_id"], quasi=["age"], k=4))
    assert any("'patient_id' has " in note for note in release.notes)
    table["patient_id"] = [str(i) for i in range(40)]
    release = shoal.anonymize(table, shoal.Policy.of(identifying=["patient_id"], quasi=["age"], k=4))
    assert not release.notes
