"""The tests of `check/tables/publication.py`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.check.evidence import Evidence
from shoal.check.tables.publication import NEEDS_ROWS, needs_original, verify_publication
from shoal.check.verdict import Asked
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import MARKERS, Table, encode_cells
from shoal.models.k_anonymity import KAnonymity

pytestmark = pytest.mark.unattacked


def column(name: str, cells) -> object:
    """Texts with None for missing, or numbers."""
    if not any(isinstance(c, str) or c is None for c in cells):
        return encode_cells(name, np.asarray(cells))
    objects = np.empty(len(cells), dtype=object)
    objects[:] = cells
    return encode_cells(name, objects)


def table(**columns) -> Table:
    return Table.of([column(n, c) for n, c in columns.items()])


def attributes(**types: str) -> dict[str, Attribute]:
    return {n: Attribute(n, t, "quasi") for n, t in types.items()}  # type: ignore[arg-type]


def release():
    """Two groups of five, drawn by hand: x in 3 +- 2.4 and 103 +- 2.4."""
    original = table(x=[1, 2, 3, 4, 5, 101, 102, 103, 104, 105], w=list("aabbbccddd"), s=list("pqpqpqpqpq"))
    published = table(x=[2, 2, 3, 4, 4, 102, 102, 103, 104, 104], w=list("bbaaaddccc"), s=list("qpqpppqqqp"))
    groups = np.repeat([0, 1], 5)
    return published, original, groups


def asked(*more, k: int = 5, missing: str = "value") -> Asked:
    types = attributes(x="continuous", w="nominal")
    known = {**types, "s": Attribute("s", "nominal", "sensitive")}
    return Asked([KAnonymity(k=k), *more], ["x", "w"], ["s"], missing, MARKERS, known)  # type: ignore[arg-type]


def test_publications_are_checked_by_name() -> None:
    published, original, groups = release()
    assert needs_original("condense")
    assert not needs_original("generalise")
    evidence = Evidence(original, groups, groups)
    assert verify_publication(published, "condense", asked(), evidence).holds
    alike = verify_publication(published, "generalise", asked(), evidence)
    assert [g.model for g in alike.guarantees] == ["k-anonymity"]
    assert not alike.holds  # pseudo-records are not alike


@pytest.mark.parametrize("is_repeating", [False, True])
def test_without_rows_persons_are_counted_where_each_has_one_record(tmp_path, is_repeating) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"who": np.arange(60) // (1 + is_repeating), "age": rng.integers(20, 60, 60)})
    frame.to_csv(tmp_path / "people.csv", index=False)
    policy = shoal.Policy.of(quasi=["age"], person="who", k=4)
    shoal.anonymize(tmp_path / "people.csv", policy, seed=1).save(tmp_path / "out", keep="nothing")
    found = shoal.check(tmp_path / "out/publish", original=tmp_path / "people.csv", policy=policy)
    assert not found.findings
    assert found.unverified == ((NEEDS_ROWS,) if is_repeating else ())
    assert ("person" in found.guarantees[0].sentence) is not is_repeating
