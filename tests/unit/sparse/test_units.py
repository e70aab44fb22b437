"""Units are those of a slow count of pairs, whatever fits at once."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.ragged_rows import DiskRows, Ragged, ValueFile
from shoal.data.sparse.record_rows import RecordRows
from shoal.data.sparse.records import Sparse
from shoal.errors import Infeasible
from shoal.sparse import units as units_module
from shoal.sparse.units import LEAST_LIFT, Units, joined_units


def draw(seed: int = 3) -> Sparse:
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(240):
        together = ((60, 61, 62, 63) if i % 9 == 0 else ()) + ((70, 71) if i % 11 == 0 else ())
        rows.append(sorted({*rng.integers(0, 50, 4).tolist(), *together}))
    return Sparse.of(rows)


def in_files(records: Sparse) -> RecordRows:
    """Sets, in files."""
    writer = DiskRows(ValueFile(np.int32))
    writer.add(records.sizes, records.items)
    return RecordRows(writer.done(), records.n_items)


def told(units: Units) -> list[list[tuple[int, ...]]]:
    """The items of the units of each record."""
    rows = units.rows.part(0, len(units.rows))
    items = [
        tuple(units.items[low:high].tolist()) for low, high in zip(units.starts[:-1], units.starts[1:], strict=True)
    ]
    named = [items[u] for u in rows.values[0].tolist()]
    return [named[low:high] for low, high in zip(rows.starts[:-1], rows.starts[1:], strict=True)]


def slow_round(rows: list[list[tuple[int, ...]]], k: int) -> list[list[tuple[int, ...]]]:
    """One round, pair by pair."""
    sets = [set(row) for row in rows]
    distinct = sorted({unit for row in rows for unit in row})
    support = {unit: sum(unit in row for row in sets) for unit in distinct}
    lifts = {}
    for one in distinct:
        for other in distinct:
            n = sum({one, other} <= row for row in sets)
            if one != other and n >= k and n * len(rows) / (support[one] * support[other]) >= LEAST_LIFT:
                lifts[one, other] = n * len(rows) / (support[one] * support[other])
    opened = []
    for row in rows:
        pairs = sorted(
            (-lifts[a, b], i, j) for i, a in enumerate(row) for j, b in enumerate(row) if i < j and (a, b) in lifts
        )
        mate: dict[int, int] = {}
        for _, i, j in pairs:
            if i not in mate and j not in mate:
                mate[i], mate[j] = j, i
        opened.append({i: j for i, j in mate.items() if i < j})
    counts: dict[tuple[tuple[int, ...], ...], int] = {}
    for row, pairs_of in zip(rows, opened, strict=True):
        for i, j in pairs_of.items():
            counts[row[i], row[j]] = counts.get((row[i], row[j]), 0) + 1
    made = []
    for row, pairs_of in zip(rows, opened, strict=True):
        kept = {i: j for i, j in pairs_of.items() if counts[row[i], row[j]] >= k}
        gone = set(kept.values())
        made.append([unit + row[kept[i]] if i in kept else unit for i, unit in enumerate(row) if i not in gone])
    return made


@pytest.mark.parametrize("n_rounds", [0, 1, 2])
def test_units_are_those_of_a_slow_count(n_rounds: int) -> None:
    records = draw()
    expected = [
        [(i,) for i in records.items[low:high].tolist()]
        for low, high in zip(records.starts[:-1], records.starts[1:], strict=True)
    ]
    for _ in range(n_rounds):
        expected = slow_round(expected, 12)
    units = joined_units(RecordRows.of(records), 12, n_rounds, 1 << 20)
    assert told(units) == expected
    if n_rounds == 2:
        assert max(len(unit) for row in expected for unit in row) == 4
    assert units.counts().sum() == sum(map(len, expected))
    apart = told(units.apart(records.n_items))
    assert apart == [[(i,) for unit in row for i in unit] for row in expected]


def test_counts_that_do_not_fit_are_made_in_several_passes_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    records = in_files(draw())
    expected = told(joined_units(records, 12, 3, 1 << 20))
    assert told(joined_units(RecordRows.of(draw()), 12, 3, 1 << 20)) == expected
    seen = []
    counted = units_module._counted

    def spy(units: Units, supports: np.ndarray, k: int, first: int, end: int, most: int) -> object:
        seen.append((first, end))
        return counted(units, supports, k, first, end, most)

    monkeypatch.setattr(units_module, "_counted", spy)
    assert told(joined_units(records, 12, 3, 1 << 11)) == expected
    assert len(seen) > 4
    with pytest.raises(Infeasible, match="the pairs of one item with all others do not fit"):
        joined_units(records, 12, 3, 1 << 4, is_bounded=True)
    assert told(joined_units(records, 12, 3, 1 << 4)) == expected
    monkeypatch.setattr(units_module, "LEAST_LIFT", 0.0)
    with pytest.raises(Infeasible, match="pairs of items and more stand together far more often than apart"):
        joined_units(records, 2, 3, 1 << 8, is_bounded=True)


def test_of_held_records_the_table_has_no_rare_pairs() -> None:
    rows = np.array([[i % 8, 8 + i // 8] for i in range(64)], np.int32)  # every item in 8 records, every pair in one
    units = units_module.single_units(Ragged(np.arange(0, 129, 2), [rows.ravel()]), 16)
    found = units_module._counted(units, units.counts(), 3, 0, 16, 16)
    assert found is not None
    assert len(found[0]) == 0
