"""The clinic's table: the same for the same seed, and with the dependencies that it promises."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.samples.clinic import clinic, diagnosis_hierarchy
from shoal.data.tables.hierarchy import calendar, intervals, prefixes
from shoal.data.tables.table import Table, encode_cells, row_keys
from shoal.errors import DataError


@pytest.fixture(scope="module")
def columns() -> dict[str, np.ndarray]:
    return clinic()


def test_the_same_seed_gives_the_same_table(columns: dict[str, np.ndarray]) -> None:
    again, other = clinic(), clinic(seed=8)
    for name, cells in columns.items():
        assert len(cells) == 3000
        np.testing.assert_array_equal(cells, again[name])
    assert (columns["age"] != other["age"]).any()


def test_columns_make_a_table(columns: dict[str, np.ndarray]) -> None:
    table = Table.of(encode_cells(name, cells) for name, cells in columns.items())
    kinds = {name: cells.dtype.kind for name, cells in columns.items()}
    assert {n for n, k in kinds.items() if k == "O"} == {
        "patient_id", "name", "sex", "zip", "marital_status", "occupation", "diagnosis", "smoker",
    }  # fmt: skip
    assert (kinds["age"], kinds["length_of_stay"], kinds["cost"]) == ("i", "i", "f")
    assert columns["admission"].dtype == np.dtype("datetime64[us]")
    missing = {n: int(c.missing.sum()) for n, c in table.columns.items() if c.has_missing}
    assert set(missing) == {"marital_status", "occupation", "smoker", "cost"}
    assert max(missing.values()) < 100


def test_identifiers_single_out_and_quasi_identifiers_nearly_do(columns: dict[str, np.ndarray]) -> None:
    assert len(set(columns["patient_id"])) == 3000
    assert len(set(columns["name"])) > 2900
    quasi = [encode_cells(name, columns[name]) for name in ("age", "sex", "zip")]
    sizes = np.bincount(row_keys(quasi))
    assert 0.3 < (sizes == 1).sum() / 3000 < 0.7


def test_zip_codes_share_prefixes(columns: dict[str, np.ndarray]) -> None:
    codes = set(columns["zip"])
    assert len(codes) == 40
    assert all(len(code) == 5 and code.isdigit() for code in codes)
    assert len({code[:3] for code in codes}) == 4


def test_dependencies_are_visible(columns: dict[str, np.ndarray]) -> None:
    age, cost, stay = columns["age"], columns["cost"], columns["length_of_stay"]
    diagnosis, sex, smoker = columns["diagnosis"], columns["sex"], columns["smoker"]
    assert set(sex[diagnosis == "childbirth"]) == {"female"}
    assert set(sex[diagnosis == "prostate cancer"]) == {"male"}
    assert age[diagnosis == "stroke"].mean() > age[diagnosis == "asthma"].mean() + 40
    assert (smoker[diagnosis == "chronic bronchitis"] == "yes").mean() > 2 * (smoker == "yes").mean()
    known = ~np.isnan(cost)
    assert np.corrcoef(stay[known], np.log(cost[known]))[0, 1] > 0.4
    assert np.corrcoef(age[known], np.log(cost[known]))[0, 1] > 0.2
    assert age[columns["occupation"] == "student"].max() < 29
    assert age[columns["marital_status"] == "widowed"].mean() > age.mean() + 20
    rural = np.char.startswith(columns["zip"].astype(str), "493")
    assert age[rural].mean() > age[~rural].mean() + 10


def test_every_value_has_its_place_in_a_hierarchy(columns: dict[str, np.ndarray]) -> None:
    tree = diagnosis_hierarchy()
    assert set(tree.leaves) == set(columns["diagnosis"])
    assert tree.height == 3
    assert intervals(columns["age"]).height >= 4
    assert prefixes(columns["zip"]).height == 5
    assert calendar(columns["admission"]).nodes(3) == ["2021", "2022", "2023"]


def test_any_number_of_rows() -> None:
    assert len(clinic(1)["name"]) == 1
    with pytest.raises(DataError, match="0 rows"):
        clinic(0)
