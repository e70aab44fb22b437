"""Releases of one small clinic, from raw to strong."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attack.tables.case import TableCase
from shoal.data.samples.clinic import clinic
from shoal.data.tables.table import Table, encode_cells
from shoal.kinds.tables.policy import Policy
from shoal.tables.anonymize import anonymize_table

QUASI = ["age", "sex", "zip", "marital_status", "occupation", "admission"]
SENSITIVE = ["diagnosis", "length_of_stay"]
COLUMNS = [*QUASI, *SENSITIVE]


@pytest.fixture(scope="session")
def people():
    """600 patients who are in the releases, and 600 who are not."""
    cells = clinic(1200, seed=11)
    table = Table.of(encode_cells(name, cells[name]) for name in COLUMNS)
    return table.take(np.arange(600)), table.take(np.arange(600, 1200))


@pytest.fixture(scope="session")
def release(people):
    """Makes a release of the clinic, as a case with controls."""
    original, control = people
    made_before = {}

    def make(k=5, l=None, **method):  # noqa: E741  the paper's name
        key = (k, l, *sorted(method.items()))
        if key not in made_before:
            required = [{"model": "k-anonymity", "k": k}] if l is None else [{"model": "l-diversity", "l": l}]
            roles = {n: {"role": "quasi" if n in QUASI else "sensitive"} for n in COLUMNS}
            policy = Policy.model_validate({"columns": roles, "require": required, "method": method})
            made = anonymize_table(original, policy, seed=3)
            rows = None if made.layout is not None else made.rows.astype(np.int64)
            made_before[key] = TableCase(
                published=made.table,
                original=original,
                control=control,
                quasi=QUASI,
                sensitive=SENSITIVE,
                attributes=made.attributes,
                publication=method.get("publish", "generalise"),
                layout=made.layout,
                rows=rows,
            )
        return made_before[key]

    return make


@pytest.fixture(scope="session")
def raw(people, release):
    """The originals themselves, published."""
    original, control = people
    attributes = release(partition="mondrian", publish="generalise").attributes
    return TableCase(
        original, original, control, QUASI, SENSITIVE, attributes, "aggregate", rows=np.arange(600, dtype=np.int64)
    )


@pytest.fixture(scope="session")
def coarse(release):
    """Groups of 150 and more of the 600."""
    return release(k=150, partition="mondrian", publish="generalise")


@pytest.fixture
def rng():
    return np.random.default_rng(5)
