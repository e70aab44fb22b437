"""A secret that is in every group of a person, beside others that are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.tables.case import TableCase
from shoal.attack.tables.history import History
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table, encode_cells
from tests.unit.attack.tables.small_cases import texts

N_PERSONS, N_VISITS, SIZE = 300, 4, 5


def visits(is_constant: bool = True, n_visits: int = N_VISITS) -> TableCase:
    """Every visit stands in a group of five with four strangers; one day a visit, one of ten illnesses a person."""
    rng = np.random.default_rng(2)
    n = N_PERSONS * n_visits
    persons = np.concatenate([rng.permutation(N_PERSONS) for _ in range(n_visits)])
    ill = rng.integers(0, 10, N_PERSONS)[persons] if is_constant else rng.integers(0, 10, n)
    original = Table.of([encode_cells("day", np.arange(n)), texts("disease", [f"d{i}" for i in ill])])
    labels = [f"[{SIZE * (i // SIZE)}..{SIZE * (i // SIZE) + SIZE - 1}]" for i in range(n)]
    attributes = {
        "day": Attribute("day", "continuous", "quasi"),
        "disease": Attribute("disease", "nominal", "sensitive"),
    }
    return TableCase(
        original.with_columns({"day": texts("day", labels)}),
        original,
        None,
        ["day"],
        ["disease"],
        attributes,
        rows=np.arange(n),
        persons=persons,
    )


def test_a_secret_in_all_groups_of_a_person_is_guessed_from_all_and_not_from_one() -> None:
    result = History().run(visits(), np.random.default_rng(1))
    assert result.main.attempts == N_PERSONS
    assert result.main.value > 0.9
    assert result.baseline is not None
    assert result.baseline.value == pytest.approx(1 / SIZE + 0.1, abs=0.1)
    assert result.succeeds
    assert result.columns == ("disease",)


def test_where_secrets_change_from_visit_to_visit_all_tell_little_more_than_one() -> None:
    result = History().run(visits(is_constant=False), np.random.default_rng(1))
    assert result.main.value < 0.75


def test_it_is_for_persons_with_several_records_of_whom_one_is_taken_to_be_known() -> None:
    case = visits()
    attack = History()
    assert attack.missing(case) is None
    assert "whose each is" in (attack.missing(replace(case, persons=None)) or "")
    assert "count with that" in (attack.missing(replace(case, knows_history=True)) or "")
    assert attack.missing(visits(n_visits=1)) == "No person has several records."
    assert "nothing to guess" in (attack.missing(replace(case, sensitive=())) or "")
