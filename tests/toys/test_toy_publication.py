"""A publication is two files that register themselves, itself and its check: a made-up one is released and checked.

They stand in `tables/publish/` and `check/tables/publications/`; nothing else in the package names either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.check.evidence import Evidence
from shoal.check.tables.compare_rows import Compared, ComparedTables
from shoal.check.tables.publication import CHECKS, PublicationCheck
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Column
from shoal.tables.publish.base import PUBLICATIONS, GroupedRecords, Publication, PublishedGroups

pytestmark = pytest.mark.unattacked

PEOPLE = {"age": list(range(20, 40)), "disease": ["flu", "cold", "ulcer", "gout"] * 5}


# All that a publication is, first file.


class Medians(Publication):
    """The lower median of each group, a value that one of its records has."""

    name = "toy-median"
    help = "Each record carries the median of its group"
    done_to_quasi = "replaced by medians"

    def publish(self, records: GroupedRecords) -> PublishedGroups:
        columns = {}
        for ranked in records.ranked:
            assert ranked.labels is not None
            present = np.ones(len(ranked.ranks), dtype=bool)
            median = records.groups.median_rank(ranked.ranks, present)
            used, codes = np.unique(median[records.groups.labels], return_inverse=True)
            columns[ranked.name] = Column(ranked.name, codes.astype(np.int32), ranked.positions[used])
        return PublishedGroups(columns, records.groups)

    def treatment(self, attribute: Attribute, *, by_hierarchy: bool) -> str:
        return "replaced by the median of its group"


# Second file: its check, which knows nothing of the first.


def compare(tables: ComparedTables, evidence: Evidence, method: Mapping[str, Any]) -> Compared:
    """Every published value is one of the original."""
    strange = [
        name
        for name in tables.quasi
        if set(np.asarray(tables.published[name].values, float)) - set(np.asarray(tables.original[name].values, float))
    ]
    return Compared(tuple(f"the column {name!r} holds medians that no record has" for name in strange))


CHECK = PublicationCheck("toy-median", compare=compare)


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    PUBLICATIONS.register(Medians())
    CHECKS.register(CHECK)
    yield
    PUBLICATIONS.forget("toy-median")
    CHECKS.forget("toy-median")


def release(**asked: Any) -> shoal.Release:
    policy = shoal.Policy.of(quasi=["age"], sensitive=["disease"], k=4, publish="toy-median", **asked)
    return shoal.anonymize(PEOPLE, policy, seed=1)


def test_a_policy_that_names_it_is_released_saved_and_checked(tmp_path: Path) -> None:
    made = release()
    assert set(made.data["age"]) <= set(PEOPLE["age"])
    made.save(tmp_path / "out")
    assert "median of its group" in (tmp_path / "out" / "publish" / "datasheet.html").read_text(encoding="utf-8")
    assert shoal.check(tmp_path / "out", PEOPLE).holds


def test_its_own_check_catches_an_edit(tmp_path: Path) -> None:
    made = release()
    made.save(tmp_path / "out")
    data = next((tmp_path / "out" / "publish").glob("*.csv"))
    lines = data.read_text(encoding="utf-8").splitlines()
    first = lines[1].split(",")[0]
    edited = [line.replace(f"{first},", "999.0,", 1) if line.startswith(f"{first},") else line for line in lines]
    data.write_text("\n".join(edited) + "\n", encoding="utf-8")
    found = shoal.check(tmp_path / "out", PEOPLE)
    assert "the column 'age' holds medians that no record has" in found.findings


def test_what_it_cannot_do_is_refused_by_its_facts() -> None:
    with pytest.raises(shoal.PolicyError, match="datafly gives all records one recoding"):
        release(partition="datafly")
    with pytest.raises(shoal.PolicyError, match="slices and jointly are for publish = bucketize, slice, screen"):
        release(slices=2)
    with pytest.raises(shoal.PolicyError, match="did you mean 'toy-median'"):
        shoal.Policy.of(quasi=["age"], publish="toy-medial")
