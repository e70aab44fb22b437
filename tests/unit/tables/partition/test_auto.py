"""The tests of `tables/partition/auto.py`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.kinds.tables.policy import Method
from shoal.tables.encoding import Ranked
from shoal.tables.partition import auto
from shoal.tables.partition.base import PARTITIONS, GroupingTask
from shoal.tables.partition.k_member import k_member_labels
from shoal.tables.partition.local_recoding import local_recoding_labels
from shoal.tables.partition.mondrian import mondrian_labels


def people(n: int) -> dict[str, list[Any]]:
    rng = np.random.default_rng(0)
    return {
        "age": rng.integers(20, 80, n).tolist(),
        "job": rng.choice(["nurse", "cook", "clerk", "smith"], n).tolist(),
        "town": rng.choice(["A", "B", "C", "D", "E"], n).tolist(),
        "disease": rng.choice(["flu", "gout", "asthma"], n).tolist(),
    }


def columns(n: int, *kinds: Any) -> list[Ranked]:
    rng = np.random.default_rng(1)
    return [
        Ranked(f"x{i}", kind, rng.integers(0, 9, n).astype(np.int32), np.arange(9.0)) for i, kind in enumerate(kinds)
    ]


def task(ranked: list[Ranked], k: int = 3) -> GroupingTask:
    return GroupingTask(ranked, k, Method(partition="auto"), (), auto.run_here, lambda _: None)


def slow_mean_width(ranked: list[Ranked], labels: Any) -> float:
    """A record at a time."""
    total = 0.0
    for row in range(len(labels)):
        group = [i for i in range(len(labels)) if labels[i] == labels[row]]
        for column in ranked:
            cells = [column.positions[column.ranks[i]] for i in group]
            if column.kind == "number":
                total += (max(cells) - min(cells)) / (column.positions.max() - column.positions.min() or 1)
            else:
                total += len(set(cells)) > 1
    return total / (len(labels) * len(ranked))


@pytest.mark.parametrize(
    ("kinds", "better", "labels_of"),
    [
        (("number", "number"), "k-member", k_member_labels),
        (("number", "category"), "local-recoding", local_recoding_labels),
    ],
    ids=["numbers", "others"],
)
def test_the_narrower_one_is_chosen_and_both_widths_are_told(
    kinds: tuple[str, ...], better: str, labels_of: Any
) -> None:
    ranked = columns(90, *kinds)
    chosen = auto.choose(task(ranked))
    order = auto._evenly(ranked, auto.SAMPLE)
    sorted_ = [r.take(order) for r in ranked]
    widths = {
        "mondrian": slow_mean_width(sorted_, mondrian_labels(sorted_, 3)),
        better: slow_mean_width(sorted_, labels_of(sorted_, 3)),
    }
    assert chosen.way.name == min(widths, key=lambda name: widths[name])
    for width in widths.values():
        assert f"{100 * width:.1f} %" in chosen.why
    assert "on all records" in chosen.why


def test_a_tie_is_told_as_one_and_goes_to_mondrian() -> None:
    same = [Ranked("x", "number", np.repeat(np.arange(4, dtype=np.int32), 5), np.arange(4.0))]
    chosen = auto.choose(task(same, k=5))
    assert chosen.way.name == "mondrian"
    assert "as narrow as those of k-member" in chosen.why
    assert "0.0 % of its column, against 0.0 %" in chosen.why


def test_a_slow_method_is_left_out_where_records_are_many() -> None:
    better = PARTITIONS["k-member"]
    try:
        PARTITIONS.register(replace(better, most_records=89))
        chosen = auto.choose(task(columns(90, "number")))
    finally:
        PARTITIONS.register(better)
    assert chosen.way.name == "mondrian"
    assert "k-member would take long on 90 records" in chosen.why


def test_the_sample_does_not_depend_on_the_order_of_rows_or_columns() -> None:
    ranked = columns(2_000, "number", "category", "order")
    mixed = np.random.default_rng(2).permutation(2_000)
    some = auto._evenly(ranked, 300)
    other = auto._evenly([r.take(mixed) for r in reversed(ranked)], 300)
    assert len(np.unique(some)) == 300
    for column in ranked:
        assert column.ranks[some].tolist() == column.ranks[mixed][other].tolist()


def test_a_release_tells_the_method_that_was_chosen_and_the_same_bytes_as_by_its_name() -> None:
    asked = {"quasi": ["age", "job", "town"], "sensitive": ["disease"], "k": 4}
    chosen = shoal.anonymize(people(300), shoal.Policy.of(**asked, partition="auto"), seed=5)
    name = chosen.policy.method.partition
    assert name in ("mondrian", "local-recoding")
    assert chosen.notes[0].startswith(f"Method chosen for this table: {name}.")
    named = shoal.anonymize(people(300), shoal.Policy.of(**asked, partition=name), seed=5)
    assert chosen.data == named.data


def test_sensitive_values_and_what_is_required_of_them_decide_nothing() -> None:
    table = people(300)
    asked = {"quasi": ["age", "job", "town"], "sensitive": ["disease"], "k": 4, "partition": "auto"}
    plain = shoal.anonymize(table, shoal.Policy.of(**asked), seed=5)
    other = {**table, "disease": table["disease"][::-1]}
    diverse = shoal.anonymize(other, shoal.Policy.of(**asked, l=2), seed=5)
    assert plain.notes[0] == diverse.notes[0]


def test_too_few_records_are_refused_as_always() -> None:
    with pytest.raises(shoal.errors.Infeasible, match="the table has 3 rows"):
        shoal.anonymize(people(3), shoal.Policy.of(quasi=["age"], others="identifying", k=4, partition="auto"))


def test_where_persons_have_several_records_mondrian_makes_the_blocks() -> None:
    table = {**people(300), "id": [f"p{i // 2}" for i in range(300)]}
    asked = {"quasi": ["age", "job", "town"], "sensitive": ["disease"], "person": ["id"], "k": 4}
    release = shoal.anonymize(table, shoal.Policy.of(**asked, partition="auto"), seed=5)
    assert release.policy.method.partition == "mondrian"
    assert release.notes[0] == auto.SEVERAL
    alone = {**table, "id": [f"p{i}" for i in range(300)]}
    assert "narrow" in shoal.anonymize(alone, shoal.Policy.of(**asked, partition="auto"), seed=5).notes[0]
