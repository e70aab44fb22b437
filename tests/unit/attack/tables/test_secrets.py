"""What is taken for a secret, and which of several decides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.tables.case import TableCase
from shoal.attack.tables.homogeneity import Homogeneity
from shoal.attack.tables.inference import Inference
from shoal.attack.tables.secrets import known_beside, secrets_of
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import Layout
from shoal.data.tables.table import Table, encode_cells
from tests.unit.attack.tables.small_cases import texts

N = 1200


def quasi_case(told: float) -> TableCase:
    """Groups of six of one age band, town and illness: labels tell the illness of a share of the groups."""
    rng = np.random.default_rng(3)
    group = np.arange(N) // 6
    ill = rng.permutation(np.arange(N) % 6)
    alone = rng.random(N // 6) < told
    ill = np.where(alone[group], group % 6, ill)
    labels = [str(ill[i]) if alone[group[i]] else "{0, 1, 2, 3, 4, 5}" for i in range(N)]
    original = Table.of(
        [
            encode_cells("age", np.arange(N)),
            texts("town", [f"t{g % 7}" for g in group]),
            texts("diagnosis", ill.astype(str).tolist()),
        ]
    )
    bands = [f"[{6 * g}..{6 * g + 5}]" for g in group]
    published = original.with_columns({"age": texts("age", bands), "diagnosis": texts("diagnosis", labels)})
    types = {"age": "continuous", "town": "nominal", "diagnosis": "nominal"}
    attributes = {n: Attribute(n, t, "quasi") for n, t in types.items()}
    return TableCase(published, original, None, list(types), [], attributes, rows=np.arange(N))


def test_a_quasi_identifier_that_looks_sensitive_is_a_secret_to_whoever_knows_the_others() -> None:
    case = quasi_case(0.5)
    assert secrets_of(case) == ["diagnosis"]
    assert known_beside(case, "diagnosis") == ["age", "town"]
    assert known_beside(case, "other") == ["age", "town", "diagnosis"]
    result = Homogeneity().run(case, np.random.default_rng(1))
    assert result.main.value == pytest.approx(0.5, abs=0.1)
    assert result.succeeds
    assert result.columns == ("diagnosis",)
    assert "role sensitive" in result.remedy


def test_labels_of_several_values_tell_no_more_than_their_share() -> None:
    case = quasi_case(0.0)
    assert not Homogeneity().run(case, np.random.default_rng(1)).succeeds
    guessed = Inference().run(case, np.random.default_rng(1))
    assert guessed.main.value == pytest.approx(1 / 6, abs=0.03)


def test_slices_have_no_labels_that_could_tell() -> None:
    case = replace(quasi_case(0.5), layout=Layout.of([["age", "town"], ["diagnosis"]]))
    assert secrets_of(case) == []


@pytest.mark.parametrize("attack", [Homogeneity(), Inference()])
def test_one_secret_that_is_told_is_not_lost_among_many_that_are_not(attack) -> None:
    rng = np.random.default_rng(4)
    n = 3000
    group = np.arange(n) // 3
    columns = {"age": encode_cells("age", np.arange(n)), "hiv": texts("hiv", [f"v{g % 5}" for g in group])}
    for i in range(19):
        columns[f"lab{i}"] = encode_cells(f"lab{i}", rng.normal(50, 200, n).round(3))
    original = Table.of(columns.values())
    bands = [f"[{3 * g}..{3 * g + 2}]" for g in group]
    published = original.with_columns({"age": texts("age", bands)})
    attributes = {m: Attribute(m, "continuous", "sensitive") for m in columns}
    attributes["age"] = replace(attributes["age"], role="quasi")
    attributes["hiv"] = replace(attributes["hiv"], type="nominal")
    secrets = [m for m in columns if m != "age"]
    case = TableCase(published, original, None, ["age"], secrets, attributes, rows=np.arange(n))
    result = attack.run(case, rng)
    assert result.columns == ("hiv",)
    assert result.main.value > 0.95
    assert result.main.attempts <= 2000
