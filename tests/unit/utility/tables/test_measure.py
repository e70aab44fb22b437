"""All measures of utility at once."""

from __future__ import annotations

import json

import numpy as np
import pytest

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table, encode_cells
from shoal.errors import ShoalError
from shoal.utility.tables.measure import measure

ROLES = {
    "id": Attribute("id", "nominal", "identifying"),
    "age": Attribute("age", "continuous", "quasi"),
    "sex": Attribute("sex", "nominal", "quasi"),
    "ill": Attribute("ill", "nominal", "sensitive"),
    "note": Attribute("note", "nominal", "insensitive"),
}


def objects(*cells: str | None) -> np.ndarray:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def original() -> Table:
    return Table.of(
        [
            encode_cells("id", objects("p1", "p2", "p3", "p4", "p5")),
            encode_cells("age", objects("20", "30", "40", "60", "60")),
            encode_cells("sex", objects("f", "m", "f", "f", "m")),
            encode_cells("ill", objects("flu", "flu", "cold", "flu", "cold")),
            encode_cells("note", objects("x", "x", "x", "x", "y")),
        ]
    )


def published() -> Table:
    return Table.of(
        [
            encode_cells("age", objects("[20..30]", "[20..30]", "[40..60]", "[40..60]")),
            encode_cells("sex", objects("f|m", "f|m", "f", "f")),
            encode_cells("ill", objects("flu", "flu", "flu", "cold")),
            encode_cells("note", objects("x", "x", "x", "x")),
        ]
    )


ROWS = np.array([1, 0, 3, 2])
GROUPS = np.array([0, 0, 1, 1], dtype=np.int32)


def test_losses_by_hand() -> None:
    found = measure(original(), published(), ROWS, GROUPS, ROLES, 2)
    age = (2 * 0.25 + 2 * 0.5 + 1) / 5
    sex = (2 * 1.0 + 2 * 0.0 + 1) / 5
    assert found["GCP"] == pytest.approx((age + sex) / 2)
    assert found["DM"] == 4 + 4 + 5
    assert found["C_avg"] == 1.0
    assert {a.name: a.ncp for a in found.attributes} == {
        "age": pytest.approx(age),
        "sex": pytest.approx(sex),
        "ill": None,
        "note": None,
    }


def test_identifiers_are_not_looked_at() -> None:
    found = measure(original(), published(), ROWS, GROUPS, ROLES, 2)
    assert [a.name for a in found.attributes] == ["age", "sex", "ill", "note"]
    assert found.correlation.names == ("age", "sex", "ill")
    assert "p1" not in json.dumps(found.to_dict())


def test_an_unchanged_table_loses_nothing() -> None:
    table = original()
    rows = np.arange(5)
    found = measure(table, table, rows, rows.astype(np.int32), ROLES, 1)
    assert (found["GCP"], found["SSE/SST"], found["DM"]) == (0.0, 0.0, 5.0)
    assert all(a.distance == 0 for a in found.attributes)
    assert found.correlation.mean_change == 0.0


def test_averages_have_a_share_of_squared_error() -> None:
    table = published().with_columns({"age": encode_cells("age", np.array([25.0, 25.0, 50.0, 50.0]))})
    found = measure(original(), table, ROWS, GROUPS, ROLES, 2)
    ages = np.array([30.0, 20.0, 60.0, 40.0])
    sse = 25 + 25 + 100 + 100
    assert found["SSE/SST"] == pytest.approx(sse / ((ages - ages.mean()) ** 2).sum())


def test_the_order_of_published_rows_does_not_matter() -> None:
    turned = np.array([3, 1, 0, 2])
    one = measure(original(), published(), ROWS, GROUPS, ROLES, 2)
    other = measure(original(), published().take(turned), ROWS[turned], GROUPS[turned], ROLES, 2)
    assert json.dumps(one.to_dict()) == json.dumps(other.to_dict())


def test_results_are_json_without_nan() -> None:
    text = json.dumps(measure(original(), published(), ROWS, GROUPS, ROLES, 2).to_dict(), allow_nan=False)
    assert json.loads(text)["losses"][0]["name"] == "GCP"


def test_a_release_without_records() -> None:
    empty = published().take(np.zeros(0, dtype=np.intp))
    found = measure(original(), empty, ROWS[:0], GROUPS[:0], ROLES, 2)
    assert found["GCP"] == 1.0
    json.dumps(found.to_dict(), allow_nan=False)


def test_lengths_must_agree() -> None:
    with pytest.raises(ShoalError, match="4 rows but comes with 3 original rows"):
        measure(original(), published(), ROWS[:3], GROUPS, ROLES, 2)


def test_the_notebook_view_names_each_loss() -> None:
    view = measure(original(), published(), ROWS, GROUPS, ROLES, 2)._repr_html_()
    assert all(name in view for name in ("GCP", "DM", "C_avg"))


def test_a_target_of_numbers_has_no_cm() -> None:
    table = Table.of([*original().columns.values(), encode_cells("cost", np.arange(5.0))])
    roles = ROLES | {"cost": Attribute("cost", "continuous", "insensitive")}
    found = measure(table, published(), ROWS, GROUPS, roles, 2, target="cost")
    assert "CM" not in {loss.name for loss in found.losses}
