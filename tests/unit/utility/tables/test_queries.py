"""Count queries against answers worked out by hand and by loops over records."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import Column, Table, encode_cells
from shoal.errors import PolicyError
from shoal.tables.encoding import rank
from shoal.tables.groups import Groups
from shoal.tables.publish.aggregate import aggregate
from shoal.tables.publish.generalise import generalise
from shoal.utility.tables.grouping import Grouping
from shoal.utility.tables.queries import (
    Queries,
    QueryError,
    estimated_counts,
    query_error,
    random_queries,
    summarise,
    true_counts,
)
from shoal.utility.tables.reading import read_published
from shoal.utility.tables.scale import Scale, scale_of

TREE = Hierarchy(tuple((leaf, "x" if leaf in "ab" else "y", "*") for leaf in "abcde"))
ATTRIBUTES = {
    "age": Attribute("age", "continuous", "quasi"),
    "income": Attribute("income", "continuous", "quasi"),
    "size": Attribute("size", "ordinal", "quasi", order=("low", "mid", "high")),
    "town": Attribute("town", "nominal", "quasi", hierarchy=TREE),
    "word": Attribute("word", "nominal", "quasi"),
}


def objects(cells: list[str | None]) -> np.ndarray:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def people(n: int, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    word = [None if v > 4 else "pqrst"[v] for v in rng.integers(0, 6, n)]
    income = np.where(rng.random(n) < 0.1, np.nan, rng.normal(50, 20, n))
    return Table.of(
        [
            encode_cells("age", rng.integers(18, 90, n)),
            encode_cells("income", income),
            encode_cells("size", objects([("low", "mid", "high", None)[v] for v in rng.integers(0, 4, n)])),
            encode_cells("town", objects(["abcde"[v] for v in rng.integers(0, 5, n)])),
            encode_cells("word", objects(word)),
        ]
    )


def publish(table: Table, labels: np.ndarray, how: str = "generalise") -> Table:
    groups = Groups.of(labels)
    columns: dict[str, Column] = {}
    for name, attribute in ATTRIBUTES.items():
        ranked = rank(table[name], attribute)
        if how == "generalise":
            columns[name] = generalise(table[name], ranked, groups, attribute.hierarchy, missing="value")
        else:
            columns[name] = aggregate(table[name], ranked, groups, k=1, missing="value", restore_variance=False).column
    return table.with_columns(columns)


def holds(scale: Scale, queries: Queries, q: int, j: int, value: str | None) -> bool:
    """Whether a spelled value satisfies a predicate: the slow twin's reading of a query."""
    if value is None:
        return False
    code = scale.texts.index(value)
    chosen = queries.sets[j]
    if chosen is not None:
        return bool(chosen[q, code])
    line = TREE.leaf_order().index(value) if scale.positions is None else scale.positions[code]
    return bool(queries.low[q, j] <= line <= queries.high[q, j])


def cells_of(table: Table, name: str) -> list[str | None]:
    column = table[name]
    return [None if m else column.texts()[c] for c, m in zip(column.codes, column.missing, strict=True)]


def slow_share(scale: Scale, queries: Queries, q: int, j: int, members: list[str | None]) -> tuple[float, bool]:
    """Share of a group's label that satisfies a predicate when every value it covers is equally likely."""
    present = [m for m in members if m is not None]
    if not present:
        return 0.0, False
    part = len(present) / len(members)
    low, high = queries.low[q, j], queries.high[q, j]
    if scale.name == "age":
        ends = sorted(int(p) for p in present)
        inside = [v for v in range(ends[0], ends[-1] + 1) if low <= v <= high]
        return len(inside) / (ends[-1] - ends[0] + 1), bool(inside)
    if scale.name == "income":
        ends = sorted(float(p) for p in present)
        width = ends[-1] - ends[0]
        overlap = min(ends[-1], high) - max(ends[0], low)
        return (float(overlap >= 0) if width == 0 else max(overlap, 0) / width) * part, overlap >= 0
    if scale.name == "word":
        covered: list[str | None] = list(dict.fromkeys(members))
        part = 1.0  # a missing value is one of the set
    elif scale.name == "size":
        order = ("low", "mid", "high")
        at = sorted(order.index(p) for p in present)
        covered = list(order[at[0] : at[-1] + 1])
    else:
        height = next(h for h in range(3) if len({TREE.label(p, h) for p in present}) == 1)
        label = TREE.label(present[0], height)
        covered = [leaf for leaf in TREE.leaves if TREE.label(leaf, height) == label]
    share = sum(holds(scale, queries, q, j, c) for c in covered) / len(covered) * part
    return share, share > 0


@pytest.mark.parametrize("seed", range(3))
def test_counts_agree_with_loops_over_records(seed: int) -> None:
    table = people(60, seed)
    labels = np.random.default_rng(seed).permutation(np.arange(60) // 4).astype(np.int32)
    grouping, kept = Grouping.of(60, np.arange(60), labels)
    scales = [scale_of(table[n], a) for n, a in ATTRIBUTES.items()]
    published = publish(table, labels)
    readings = [read_published(s, published[s.name], kept, grouping) for s in scales]
    queries = random_queries(scales, 40, 2, 0.2, seed)
    true = true_counts(scales, queries)
    estimate, overlap = estimated_counts(scales, readings, grouping, queries)
    cells = {s.name: cells_of(table, s.name) for s in scales}
    assert (queries.asked.sum(axis=1) == 2).all()
    for q in range(40):
        asked = np.flatnonzero(queries.asked[q])
        slow = sum(all(holds(scales[j], queries, q, j, cells[scales[j].name][i]) for j in asked) for i in range(60))
        assert true[q] == slow
        expected = touched = 0.0
        for g in range(15):
            members = np.flatnonzero(labels == g)
            parts = [slow_share(scales[j], queries, q, j, [cells[scales[j].name][i] for i in members]) for j in asked]
            expected += 4 * np.prod([p[0] for p in parts])
            touched += 4 * all(p[1] for p in parts)
        assert estimate[q] == pytest.approx(expected)
        assert overlap[q] == touched


def test_a_release_that_changes_nothing_has_no_error() -> None:
    table = people(80, 5)
    found = query_error(table, table, np.arange(80), np.arange(80, dtype=np.int32) // 4, ATTRIBUTES, n_queries=200)
    assert (found.median_error, found.mean_error, found.imprecision) == (0, 0, 0)


def test_columns_of_single_values_and_of_labels_can_be_mixed() -> None:
    table = people(60, 6)
    labels = np.arange(60, dtype=np.int32) // 5
    wide = publish(table, labels)
    mixed = table.with_columns({"age": wide["age"], "town": wide["town"]})
    grouping, kept = Grouping.of(60, np.arange(60), labels)
    scales = [scale_of(table[n], a) for n, a in ATTRIBUTES.items()]
    queries = random_queries(scales, 60, 2, 0.2, 1)
    units = [read_published(s, mixed[s.name], kept, grouping) for s in scales]
    estimate, _ = estimated_counts(scales, units, grouping, queries)
    both = [read_published(s, wide[s.name], kept, grouping) for s in scales]
    labelled, _ = estimated_counts(scales, both, grouping, queries)
    exact = true_counts(scales, queries)
    kinds = np.array([s.name in ("age", "town") for s in scales])
    only_labels = (queries.asked <= kinds).all(axis=1)
    only_values = (queries.asked <= ~kinds).all(axis=1)
    assert only_labels.any()
    assert only_values.any()
    assert estimate[only_labels] == pytest.approx(labelled[only_labels])
    assert estimate[only_values] == pytest.approx(exact[only_values])


def test_larger_groups_answer_worse_and_averages_are_read_too() -> None:
    table = people(2000, 7)
    order = np.lexsort([table[n].codes for n in ("word", "town", "size", "income", "age")])
    errors: dict[tuple[int, str], QueryError] = {}
    for size, how in product((4, 100), ("generalise", "aggregate")):
        labels = np.empty(2000, dtype=np.int32)
        labels[order] = np.arange(2000) // size
        release = publish(table, labels, how)
        errors[size, how] = query_error(table, release, np.arange(2000), labels, ATTRIBUTES, n_queries=400, seed=3)
    for how in ("generalise", "aggregate"):
        small, large = errors[4, how], errors[100, how]
        assert small.median_error < large.median_error
        assert small.median_low <= small.median_error <= small.median_high
    assert errors[4, "generalise"].imprecision < errors[100, "generalise"].imprecision
    assert errors[4, "generalise"].selectivity > 0.05  # few categories make queries wider than asked


def test_queries_are_as_selective_as_asked() -> None:
    scales = [scale_of(encode_cells("x", np.random.default_rng(1).normal(size=5000)), ATTRIBUTES["income"])]
    for share in (0.01, 0.3, 1.0):
        counts = true_counts(scales, random_queries(scales, 200, 1, share, 2))
        assert counts / 5000 == pytest.approx(np.full(200, share), abs=0.001)


def test_sets_come_as_near_to_the_share_as_their_values_allow() -> None:
    counts = {"p": 500, "q": 300, "r": 150, "s": 50}
    cells = objects([w for w, n in counts.items() for _ in range(n)])
    scales = [scale_of(encode_cells("word", cells), ATTRIBUTES["word"])]
    found = np.unique(true_counts(scales, random_queries(scales, 500, 1, 0.2, 3)))
    # p, q alone; r alone or with s; s with r, or alone where p or q would come next
    assert found.tolist() == [50, 150, 200, 300, 350, 500]


def test_the_same_seed_asks_the_same_queries() -> None:
    table, labels = people(100, 8), np.arange(100, dtype=np.int32) // 5
    release = publish(table, labels)
    one, two, three = (
        query_error(table, release, np.arange(100), labels, ATTRIBUTES, n_queries=50, seed=s) for s in (1, 1, 2)
    )
    assert one == two
    assert one != three


def test_suppressed_records_are_missed() -> None:
    table = people(50, 9)
    labels = np.where(np.arange(50) < 25, 0, -1).astype(np.int32)
    found = query_error(table, table, np.arange(50), labels, ATTRIBUTES, n_queries=100, selectivity=1.0, n_attributes=1)
    assert found.median_error == pytest.approx(0.5, abs=0.15)


def test_summary_by_hand() -> None:
    true, estimate = np.array([10, 0, 100, 50]), np.array([15.0, 1.0, 100.0, 40.0])
    found = summarise(true, estimate, np.array([30.0, 5.0, 100.0, 40.0]), 1000, 2, 0.01)
    assert found.median_error == pytest.approx((0.1 + 0.2) / 2)  # errors 0.5, 0.1, 0, 0.2
    assert found.mean_error == pytest.approx(0.2)
    assert found.imprecision == pytest.approx((20 + 5 + 0 + 0) / 4 / 1000)
    assert (found.median_low, found.median_high) == (0.0, 0.5)


def test_queries_that_make_no_sense_are_refused() -> None:
    table = people(10, 10)
    labels = np.zeros(10, dtype=np.int32)
    with pytest.raises(PolicyError, match="selectivity"):
        query_error(table, table, np.arange(10), labels, ATTRIBUTES, selectivity=0)
    with pytest.raises(PolicyError, match="no quasi-identifier"):
        query_error(table, table, np.arange(10), labels, {})
