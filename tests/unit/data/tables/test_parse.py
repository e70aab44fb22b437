"""Numbers and dates as they are spelled."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.tables.parse import numbers_of, parse_dates, parse_numbers
from shoal.data.tables.table import encode_cells


def objects(*values: object) -> np.ndarray:
    return np.array(values, dtype=object)


@pytest.mark.parametrize("values", [("1_000",), ("nan", "1"), ("1", "x"), ("",), ("1,5",)])
def test_what_a_person_does_not_read_as_a_number_is_none(values: tuple[str, ...]) -> None:
    assert parse_numbers(objects(*values)) is None


@pytest.mark.parametrize(
    ("values", "form", "first"),
    [
        (("2020-02-01", "2021-12-31"), "%Y-%m-%d", "2020-02-01"),
        (("2020/2/1",), "%Y/%m/%d", "2020-02-01"),
        (("1.2.2020", "31.12.2021"), "%d.%m.%Y", "2020-02-01"),
        (("03/04/2021", "05/06/2021"), "%m/%d/%Y", "2021-03-04"),  # the month first where both fit
        (("03/04/2021", "13/06/2021"), "%d/%m/%Y", "2021-04-03"),
        (("03-04-2021",), "%d-%m-%Y", "2021-04-03"),
        (("2020-02-01 06:30:00",), "%Y-%m-%d", "2020-02-01T06:30"),
    ],
)
def test_dates_have_one_form(values: tuple[str, ...], form: str, first: str) -> None:
    found = parse_dates(objects(*values))
    assert found is not None
    assert found.form == form
    assert found.values[0] == np.datetime64(first)


@pytest.mark.parametrize("values", [("2020-02-30",), ("2020-02-01", "1.2.2020"), ("x",), (), ("0020-01-01",)])
def test_what_is_no_date(values: tuple[str, ...]) -> None:
    assert parse_dates(objects(*values)) is None


def test_cells_become_numbers_with_gaps() -> None:
    assert np.array_equal(numbers_of(encode_cells("x", objects("2", None, "1.5"))), [2, np.nan, 1.5], equal_nan=True)
    assert numbers_of(encode_cells("x", objects("1970-01-03", "1970-01-01"))).tolist() == [2, 0]
    assert numbers_of(encode_cells("x", objects("a", "1"))) is None


@pytest.mark.parametrize(
    ("texts", "form", "first"),
    [
        (["25-Feb-2002", "1-MAR-2003"], "%d-%b-%Y", "2002-02-25"),
        (["Feb 25 2002", "mar 1 2003"], "%b %d %Y", "2002-02-25"),
        (["Feb 25, 2002"], "%b %d, %Y", "2002-02-25"),
        (["25 Feb 2002 10:30"], "%d %b %Y", "2002-02-25T10:30"),
        (["2002-02", "2003-11"], "%Y-%m", "2002-02-01"),
        (["2002.02.25", "2003.12.01"], "%Y.%m.%d", "2002-02-25"),
        (["20Jun1969", "1FEB1970"], "%d%b%Y", "1969-06-20"),
        (["04/1953", "12/1950"], "%m/%Y", "1953-04-01"),
        (["2002-02-25T00:30:00+01:00", "2002-02-25T10:00:00Z"], "%Y-%m-%d", "2002-02-24T23:30"),
        (["2002-02-25 10:00:00-0530"], "%Y-%m-%d", "2002-02-25T15:30"),
    ],
)
def test_dates_in_other_spellings(texts: list[str], form: str, first: str) -> None:
    found = parse_dates(np.array(texts, dtype=object))
    assert found is not None
    assert found.form == form
    assert found.values[0] == np.datetime64(first)


@pytest.mark.parametrize("text", ["31-Feb-2002", "25-Foo-2002", "2002-13", "12-1234", "may", "Feb 2002"])
def test_what_is_no_date_is_none(text: str) -> None:
    assert parse_dates(np.array([text], dtype=object)) is None


def test_dates_are_read_some_at_once_in_the_form_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which form it is may show in the last of them."""
    days = objects(*(f"{m:02}/03/2021" for m in range(1, 8)))
    american, european = parse_dates(days), parse_dates(np.append(days, "25/03/2021"))
    monkeypatch.setattr("shoal.data.tables.parse._DATES_AT_ONCE", 2)
    for cells, once in ((days, american), (np.append(days, "25/03/2021"), european)):
        found = parse_dates(cells)
        assert found is not None
        assert once is not None
        assert found.form == once.form
        assert found.values.tolist() == once.values.tolist()
    assert parse_dates(np.append(days, "no date")) is None
