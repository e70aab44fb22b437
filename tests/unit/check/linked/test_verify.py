"""What is required of linked tables, recomputed; what is wrong is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import shoal
from shoal.check.linked.verify import LinkedAsked, compare_linked
from shoal.data.linked.linked import Linked
from shoal.data.tables.frames import from_frame
from shoal.errors import Infeasible, NotVerified
from shoal.kinds.linked.release import LinkedRelease
from shoal.linked import anonymize as methods
from tests.linked_samples import clinic, policy


def made(**asked):
    data = Linked.of({n: from_frame(f) for n, f in clinic().items()}, "id")
    wanted = policy(**asked)
    return data, methods.anonymize_linked(data, wanted.of_tables(data.tables), seed=2), wanted


def changed(found, name, column, cells):
    """What the methods made, with other cells."""
    table = found.tables[name]
    frame = {n: c.cells().tolist() for n, c in table.columns.items()} | {column: cells}
    again = from_frame(frame)
    return replace(found, tables={**found.tables, name: replace(again, source=table.source)})


def test_a_method_that_leaves_one_alone_is_caught() -> None:
    data, found, wanted = made()
    cells = found.tables["visits"]["ward"].cells().tolist()
    cells[0] = "a" if cells[0] != "a" else "b"
    with pytest.raises(NotVerified, match="k-anonymity fails"):
        LinkedRelease.of(data, changed(found, "visits", "ward", cells), wanted)


def test_a_table_of_pseudonyms_alone_is_released_and_its_persons_are_compared() -> None:
    data, found, wanted = made(quasi=["age", "sex"], identifying=["ward"], shift=["taken"], others="identifying")
    assert found.tables["visits"].names == ["id"]
    assert LinkedRelease.of(data, found, wanted).tables["visits"].n_rows == len(clinic()["visits"])
    cells = found.tables["visits"]["id"].cells().tolist()
    other = next(c for c in cells if c != cells[0])
    swap = {cells[0]: other, other: cells[0]}
    with pytest.raises(NotVerified, match="of several persons"):
        LinkedRelease.of(data, changed(found, "visits", "id", [swap.get(c, c) for c in cells]), wanted)


def test_a_pseudonym_that_joins_nobody_is_caught() -> None:
    data, found, wanted = made()
    cells = found.tables["labs"]["id"].cells().tolist()
    with pytest.raises(NotVerified, match="1 row of 'labs' whose pseudonym is not in 'patients'"):
        LinkedRelease.of(data, changed(found, "labs", "id", ["p0", *cells[1:]]), wanted)


def test_pseudonyms_that_change_places_are_caught() -> None:
    data, found, wanted = made()
    cells = found.tables["labs"]["id"].cells().tolist()
    other = next(c for c in cells if c != cells[0])
    swap = {cells[0]: other, other: cells[0]}
    with pytest.raises(NotVerified, match="of several persons"):
        LinkedRelease.of(data, changed(found, "labs", "id", [swap.get(c, c) for c in cells]), wanted)


def test_days_of_one_table_that_moved_otherwise_are_caught() -> None:
    data, found, wanted = made()
    cells = (found.tables["labs"]["taken"].cells().astype("datetime64[D]") + 1).astype(str).tolist()
    with pytest.raises(NotVerified, match="moved by different numbers"):
        LinkedRelease.of(data, changed(found, "labs", "taken", cells), wanted)


def test_cells_of_other_rows_are_caught() -> None:
    data, found, wanted = made()
    cells = found.tables["labs"]["value"].cells().tolist()
    turned = [{"low": "high", "high": "low"}[cells[0]], *cells[1:]]
    with pytest.raises(NotVerified, match="other cells than its record has"):
        LinkedRelease.of(data, changed(found, "labs", "value", turned), wanted)


def test_what_rows_tell_together_stops_a_release() -> None:
    data, found, wanted = made()
    with pytest.raises(Infeasible, match="tie together"):
        LinkedRelease.of(data, found, wanted.model_copy(update={"accept": {}}))
    release = LinkedRelease.of(data, found, wanted)
    assert release.findings[0].name == "known_history"


def test_rows_of_another_release_are_told() -> None:
    release = shoal.anonymize(clinic(), policy(), seed=2)
    rows = {n: np.zeros(t.n_rows, dtype=np.int64) for n, t in release.tables.items()}
    asked = LinkedAsked("id", (), release.attributes, dict.fromkeys(rows, ()))
    assert "not those of this release" in compare_linked(release.tables, release._original, rows, asked).findings[0]
    assert compare_linked(release.tables, release._original, None, asked).not_compared
